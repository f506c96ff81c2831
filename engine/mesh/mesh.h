/* mesh.h - a tetrahedral mesh as the engine takes it, and where it comes from.
 *
 * A mesh is rest positions, tetrahedra and an optional tag per tetrahedron, in the order of its
 * source. Generators, and readers of mesh files from memory ranges, make one; the checks say what
 * is wrong with it, by element. No function here does I/O.
 */
#ifndef PLIANT_ENGINE_MESH_MESH_H
#define PLIANT_ENGINE_MESH_MESH_H

#include "engine/fault.h"

#include <stddef.h>
#include <stdint.h>

/* A named group of the mesh file (a Gmsh physical group). dimension 3 tags tetrahedra, 2 tags
 * surface triangles, 0 tags vertices. */
typedef struct pl_mesh_group {
    char *name; /* may be empty */
    int32_t tag;
    int32_t dimension;
} pl_mesh_group;

typedef struct pl_mesh {
    int64_t vertex_count;
    double *vertices; /* [vertex_count][3], metres, rest positions */
    int64_t tet_count;
    int32_t *tets;     /* [tet_count][4], 0-based; det[b-a, c-a, d-a] > 0 after pl_mesh_check */
    int32_t *tet_tags; /* [tet_count] or NULL: physical tag or region, 0 = none */
    /* Tagged surface triangles and points of the file, kept for selections; may be 0/NULL. */
    int64_t face_count;
    int32_t *faces;     /* [face_count][3] */
    int32_t *face_tags; /* [face_count] */
    int64_t point_count;
    int32_t *points;     /* [point_count] vertex index */
    int32_t *point_tags; /* [point_count] */
    int32_t group_count;
    pl_mesh_group *groups;
    int64_t repaired; /* tetrahedra whose orientation was turned round by pl_mesh_check */
    int64_t unused;   /* vertices of the file that no tetrahedron used; they are dropped */
} pl_mesh;

void pl_mesh_clear(pl_mesh *mesh);

/* ---- sources ----------------------------------------------------------------------------------
 */

/* A box centred at the origin: size in metres, cells along each axis, every cell cut into 6 Kuhn
 * tetrahedra along the main diagonal. Vertices are ordered x fastest, then y, then z:
 * index = i + (nx+1) (j + (ny+1) k). Sizes > 0 and cells >= 1 were checked by the caller; fails
 * only with PL_NO_MEMORY or, if the counts pass INT32_MAX, PL_INVALID without a fault. */
pl_status pl_mesh_box(const double size[3], const int32_t cells[3], pl_mesh *out);

/* A ball centred at the origin of `radius` metres, about `cells` cells across. Near-uniform well
 * shaped tetrahedra: a cube grid of Kuhn tetrahedra mapped to the ball, or better. */
pl_status pl_mesh_sphere(double radius, int32_t cells, pl_mesh *out);

typedef enum pl_mesh_format {
    PL_MESH_GMSH,   /* msh 2.2 and 4.1, ascii and binary (both byte orders) */
    PL_MESH_TETGEN, /* .node + .ele, 0- or 1-based */
    PL_MESH_MEDIT,  /* .mesh ascii */
} pl_mesh_format;

/* Bytes of a file that the caller holds. */
typedef struct pl_blob {
    const void *data;
    size_t size;
} pl_blob;

/* Bounds that a reader keeps, whatever the file claims. */
typedef struct pl_mesh_limits {
    int64_t max_vertices, max_tets;
} pl_mesh_limits;

/* Read a mesh from memory: one blob, or for TetGen {node, ele}. Every fault of the file is appended
 * with `pointer`, code mesh_*, and a `got` that starts with where it is ("line 17: ..." for text,
 * "byte 1042: ..." for binary, "element 12: ..."). Element kinds other than points, lines,
 * triangles and linear tetrahedra are refused by name with their count (hexahedra, second-order
 * tetrahedra, ..). Vertices that no tetrahedron uses are dropped and counted in `unused`. On
 * failure *out is zeroed. Never reads outside the blobs, never allocates more than the blobs' size
 * justifies. */
pl_status pl_mesh_read(pl_mesh_format format, const pl_blob *blobs, const pl_mesh_limits *limits,
                       const char *pointer, pl_mesh *out, pl_faults *faults);

/* Copy a mesh from arrays (inline JSON): vertices [nv][3], tets [nt][4], 0-based. */
pl_status pl_mesh_from_arrays(int64_t nv, const double *vertices, int64_t nt, const int64_t *tets,
                              const char *pointer, pl_mesh *out, pl_faults *faults);

/* ---- checks -----------------------------------------------------------------------------------
 */

typedef enum pl_mesh_orientation {
    PL_MESH_ORIENTATION_REPAIR, /* swap two corners of a negative tetrahedron and count it */
    PL_MESH_ORIENTATION_REFUSE, /* a negative tetrahedron is a fault */
} pl_mesh_orientation;

/* What a mesh must be to be simulated: at least one tetrahedron, finite coordinates, indices in
 * range, four different corners, no duplicate tetrahedron, positive volume relative to edge length
 * (|det| > 1e-12 * longest edge^3, else "degenerate"), orientation. Faults name the first few
 * element ids and how many more there are. */
pl_status pl_mesh_check(pl_mesh *mesh, pl_mesh_orientation orientation, const char *pointer,
                        pl_faults *faults);

typedef struct pl_mesh_quality {
    double lo[3], hi[3]; /* bounding box, m */
    double volume;       /* m^3 */
    double worst_quality,
        mean_quality;   /* 1 for the regular tetrahedron, 0 for a flat one: radius ratio */
    int64_t components; /* connected pieces */
} pl_mesh_quality;
pl_status pl_mesh_measure(const pl_mesh *mesh, pl_mesh_quality *out);

/* The boundary triangles (faces that one tetrahedron has), outward, in a fixed order: *triangles is
 * malloc'ed [*count][3]. Sort-based, O(n log n) or radix; deterministic. */
pl_status pl_mesh_surface(const pl_mesh *mesh, int32_t **triangles, int64_t *count);

#endif
