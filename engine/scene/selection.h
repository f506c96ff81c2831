/* selection.h - a selection of a body's vertices. */
#ifndef PLIANT_ENGINE_SCENE_SELECTION_H
#define PLIANT_ENGINE_SCENE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_selection_kind {
    PL_SELECT_ALL,     /* every vertex */
    PL_SELECT_SIDE,    /* vertices on a face of the body's bounding box, within 1e-6 of its size */
    PL_SELECT_BOX,     /* lo <= x <= hi */
    PL_SELECT_SPHERE,  /* |x - center| <= radius */
    PL_SELECT_PLANE,   /* normal . x <= offset */
    PL_SELECT_INDICES, /* mesh order, 0-based */
    PL_SELECT_TAG,     /* vertices of the mesh file's group: its name, or its number in decimal */
} pl_selection_kind;

/* A selection of a body's vertices. Coordinates are of the body as placed by its transform, at rest. With
 * `relative`, they run from 0 to 1 over its bounding box (a sphere's radius over the box's longest edge, a plane's
 * offset along its normal in those coordinates). */
typedef struct pl_selection {
    pl_selection_kind kind;
    bool relative;
    int32_t side_axis;   /* 0 x, 1 y, 2 z */
    int32_t side_sign;   /* -1 or +1 */
    double lo[3], hi[3]; /* box */
    double center[3];    /* sphere */
    double radius;       /* sphere, m */
    double normal[3];    /* plane */
    double offset;       /* plane, m */
    int64_t *indices;
    int64_t index_count;
    char *tag;
} pl_selection;

#endif
