/* placed_body.h - a body's vertices at rest after its transform, with their bounding box. */
#ifndef PLIANT_SERVER_WORKER_PLACED_BODY_H
#define PLIANT_SERVER_WORKER_PLACED_BODY_H

#include "engine/mesh/mesh.h"
#include "engine/scene/body.h"

typedef struct pl_placed_body {
    const pl_body *body;
    const pl_mesh *mesh;
    double *x;              /* [vertices][3], m; malloc'ed */
    double lo[3], hi[3];    /* bounding box, m */
    double middle[3], size; /* its centre and its diagonal, m */
} pl_placed_body;

/* `body` and `mesh` (before its transform) are borrowed. PL_OK or PL_NO_MEMORY. */
pl_status pl_placed_body_init(pl_placed_body *p, const pl_body *body, const pl_mesh *mesh);
void pl_placed_body_clear(pl_placed_body *p);

#endif
