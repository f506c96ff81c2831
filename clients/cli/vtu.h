/* vtu.h - frames for ParaView and VTK: one .vtu a frame (unstructured grid, appended raw data with
 * 32-bit block headers, which every reader in use takes) and the .pvd that lists them with their
 * times.
 */
#ifndef PLIANT_CLIENTS_CLI_VTU_H
#define PLIANT_CLIENTS_CLI_VTU_H

#include "engine/fault.h"

#include <stdint.h>

typedef struct pl_vtu_frame {
    int64_t vertices;
    const float *positions;         /* [vertices][3] */
    const float *displacement;      /* [vertices][3], from the initial state; or NULL */
    const float *velocity;          /* [vertices][3], m/s, or NULL */
    const int32_t *body;            /* [vertices] index of the body; or NULL */
    int64_t tets, triangles, edges; /* the cells, in this order */
    const int32_t *tet;             /* [tets][4] */
    const int32_t *triangle;        /* [triangles][3] */
    const int32_t *edge;            /* [edges][2] */
    const float *volume_ratio;      /* [tets + triangles + edges], or NULL: see strain.h */
    const float *stretch;           /* the same */
    double time;
} pl_vtu_frame;

/* PL_INVALID where a block would reach 4 GiB. */
pl_status pl_vtu_write(const char *path, const pl_vtu_frame *frame);

typedef struct pl_pvd_entry {
    double time;
    int64_t frame; /* names the file: PREFIX_000012.vtu */
} pl_pvd_entry;
/* The file a frame goes to, relative to the .pvd; malloc'ed. */
char *pl_vtu_name(const char *prefix, int64_t frame);
/* Replaced atomically, so that a viewer may open a series that is still being written. */
pl_status pl_pvd_write(const char *path, const char *prefix, const pl_pvd_entry *entries,
                       int64_t count);

#endif
