/* vtu.h - frames for ParaView and VTK: one .vtu per frame (unstructured grid, appended raw data with 32-bit block
 * headers, which every common reader supports) and the .pvd that lists them with their times. A file is a list of
 * pieces of memory, so that writing it copies nothing.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_VTU_H
#define PLIANT_PROTOCOL_EXPORT_VTU_H

#include "protocol/export/zip.h"

enum {
    PL_VTU_ARRAYS = 8,
    PL_VTU_BLOCKS = 2 * PL_VTU_ARRAYS + 5,
    PL_VTU_KINDS = 4,
    PL_VTU_NAME = 64
};

/* Shared by all frames of a session. */
typedef struct pl_vtu_mesh {
    int64_t vertices;
    int bodies;                             /* number per vertex: 0 means 1 */
    const int32_t *body;                    /* [vertices][bodies] index of the body; or NULL */
    int64_t tets, triangles, edges, points; /* the cells, in this order */
    const int32_t *tet;                     /* [tets][4] */
    const int32_t *triangle;                /* [triangles][3] */
    const int32_t *edge;                    /* [edges][2] */
    const int32_t *point;                   /* [points] */
} pl_vtu_mesh;

typedef struct pl_vtu_array {
    const char *name;
    int components;
    const float *data; /* [vertices or cells][components]; NULL: it is left out */
} pl_vtu_array;
/* A number for the whole frame. */
typedef struct pl_vtu_number {
    char name[PL_VTU_NAME];
    double value;
} pl_vtu_number;
typedef struct pl_vtu_frame {
    double time;
    int numbers;
    const pl_vtu_number *number;        /* [numbers] */
    const float *positions;             /* [vertices][3] */
    pl_vtu_array points[PL_VTU_ARRAYS]; /* up to one without a name */
    pl_vtu_array cells[PL_VTU_ARRAYS];
} pl_vtu_frame;

typedef struct pl_vtu {
    pl_vtu_mesh mesh;
    int64_t cells;
    int32_t *ends;        /* [cells] */
    unsigned char *types; /* [cells] */
    pl_span_sum sums[PL_VTU_KINDS + 3];
} pl_vtu;
/* The mesh's arrays must outlive it. PL_NO_MEMORY. */
pl_status pl_vtu_open(pl_vtu *v, const pl_vtu_mesh *mesh);
void pl_vtu_clear(pl_vtu *v);

/* A file in pieces; zero-initialise before the first, and reuse it for the next. */
typedef struct pl_vtu_file {
    pl_text head;
    uint32_t sizes[PL_VTU_BLOCKS];
    pl_span spans[2 * PL_VTU_BLOCKS + PL_VTU_KINDS + 2];
    int count;
} pl_vtu_file;
/* Builds the file of a frame, to whose arrays it points. PL_INVALID if a block would reach 4 GiB. */
pl_status pl_vtu_build(pl_vtu *v, const pl_vtu_frame *frame, pl_vtu_file *out);
void pl_vtu_file_clear(pl_vtu_file *file);

/* The file name of a frame, relative to the .pvd; malloc'ed. */
char *pl_vtu_name(const char *prefix, int64_t frame);
/* The .pvd of frames (their numbers name the files) at times. */
void pl_pvd_write(pl_text *out, const char *prefix, const int64_t *frames, const double *times,
                  int64_t count);

#endif
