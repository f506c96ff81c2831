/* mesh.h - the engine's mesh, and its sources.
 *
 * A mesh consists of rest positions and elements in the order of its source: tetrahedra, triangles (cloth) and
 * edges (ropes), each with an optional tag. Generators, and readers of mesh files from memory ranges, create
 * meshes; the checks report their errors, by element. No function here does I/O.
 */
#ifndef PLIANT_ENGINE_MESH_MESH_H
#define PLIANT_ENGINE_MESH_MESH_H

#include "engine/scene/fault.h"

#include <stddef.h>
#include <stdint.h>

/* A named group of the mesh file (a Gmsh physical group). dimension 3 tags tetrahedra, 2 tags
 * triangles, 1 edges, 0 vertices. */
typedef struct pl_mesh_group {
    char *name; /* may be empty */
    int32_t tag;
    int32_t dimension;
} pl_mesh_group;

/* Element data of a file (Gmsh's $ElementData). If a mesh has fields, its elements are of one kind. */
typedef struct pl_mesh_field {
    char *name;         /* unique in the mesh */
    int32_t components; /* 1 or 3 */
    double *values;     /* [elements][components]; NAN where the file has none */
} pl_mesh_field;

typedef struct pl_mesh {
    int64_t vertex_count;
    double *vertices; /* [vertex_count][3], metres, rest positions */
    int64_t tet_count;
    int32_t *tets;     /* [tet_count][4], 0-based; det[b-a, c-a, d-a] > 0 after pl_mesh_check */
    int32_t *tet_tags; /* [tet_count] or NULL: physical tag or region, 0 = none */
    /* Elements that deform beside or instead of tetrahedra. */
    int64_t triangle_count;
    int32_t *triangles;     /* [triangle_count][3] */
    int32_t *triangle_tags; /* [triangle_count] or NULL */
    int64_t edge_count;
    int32_t *edges;     /* [edge_count][2] */
    int32_t *edge_tags; /* [edge_count] or NULL */
    /* Tagged surface triangles and points of the file, kept for selections; may be 0/NULL. */
    int64_t face_count;
    int32_t *faces;     /* [face_count][3] */
    int32_t *face_tags; /* [face_count] */
    int64_t point_count;
    int32_t *points;     /* [point_count] vertex index */
    int32_t *point_tags; /* [point_count] */
    int32_t group_count;
    pl_mesh_group *groups;
    int32_t field_count;
    pl_mesh_field *fields;
    int64_t repaired; /* number of tetrahedra whose orientation pl_mesh_check reversed */
    int64_t unused;   /* number of the file's vertices that no element used; they are dropped */
} pl_mesh;

void pl_mesh_clear(pl_mesh *mesh);

/* ---- sources ---- */

/* A box centred at the origin: size in metres, cells along each axis, every cell divided into 6 Kuhn tetrahedra
 * along the main diagonal. Vertices are ordered x fastest, then y, then z: index = i + (nx+1) (j + (ny+1) k). The
 * caller checks sizes > 0 and cells >= 1. Fails only with PL_NO_MEMORY or, if the counts exceed INT32_MAX,
 * PL_INVALID without a fault. */
pl_status pl_mesh_box(const double size[3], const int32_t cells[3], pl_mesh *out);

/* A ball centred at the origin with a radius of `radius` metres, about `cells` cells across. Near-uniform,
 * well-shaped tetrahedra: a cube grid of Kuhn tetrahedra mapped to the ball, or better. */
pl_status pl_mesh_sphere(double radius, int32_t cells, pl_mesh *out);

/* Tubes: discs of cells[0] x cells[0] cells (an odd number is rounded up), swept along cells[1] cells of a curve,
 * each divided as the ball's. The caller checks sizes > 0 and cells >= 1, and that no disc intersects the next:
 * tube < radius of curvature. Fail as the box does. */
/* Along x, centred at the origin. */
pl_status pl_mesh_cylinder(double radius, double length, const int32_t cells[2], pl_mesh *out);
/* Around z: the tube's middle is the circle of `radius` in the plane z = 0. At least 3 cells around.
 */
pl_status pl_mesh_torus(double radius, double tube, const int32_t cells[2], pl_mesh *out);
/* Around z, centred at the origin, right-handed: `turns` turns of a curve that rises by `pitch` in each; `strands`
 * such curves, rotated by equal angles: separate pieces of one mesh, one after the other. */
typedef struct pl_mesh_helix_shape {
    double radius, tube, pitch, turns; /* m, m, m, 1 */
    int32_t strands;
} pl_mesh_helix_shape;
pl_status pl_mesh_helix(const pl_mesh_helix_shape *shape, const int32_t cells[2], pl_mesh *out);

/* How the cells of a sheet are divided in two. */
typedef enum pl_mesh_diagonal {
    PL_MESH_DIAGONAL_ALTERNATING, /* diagonals of neighbouring cells meet: no preferred direction */
    PL_MESH_DIAGONAL_UP,          /* from (i, j) to (i + 1, j + 1) */
    PL_MESH_DIAGONAL_DOWN,        /* from (i + 1, j) to (i, j + 1) */
} pl_mesh_diagonal;

/* A sheet in the plane z = 0, centred at the origin, size[0] m along x and size[1] m along y, of cells[0] x
 * cells[1] rectangles with two triangles each, facing +z. Vertices x fastest: index = i + (cells[0] + 1) j. Sizes
 * and cells as for the box. */
pl_status pl_mesh_cloth(const double size[2], const int32_t cells[2], pl_mesh_diagonal diagonal,
                        pl_mesh *out);

/* The same sheet made of springs. Its edges are the sides of the cells, along x and then along y; one diagonal of
 * each; and, against bending, edges from every vertex to the next but one along x and y (Provot 1995; the cloth of
 * Liu 2013 and 2017). */
pl_status pl_mesh_spring_cloth(const double size[2], const int32_t cells[2],
                               pl_mesh_diagonal diagonal, pl_mesh *out);

/* A straight rope of `segments` equal edges, centred at the origin, `length` m along the unit
 * vector `direction`; vertices and edges in order along it. */
pl_status pl_mesh_rope(double length, int32_t segments, const double direction[3], pl_mesh *out);

typedef enum pl_mesh_format {
    PL_MESH_GMSH,   /* msh 2.2 and 4.1, ascii and binary (both byte orders) */
    PL_MESH_TETGEN, /* .node + .ele, 0- or 1-based */
    PL_MESH_MEDIT,  /* .mesh ascii */
    PL_MESH_OBJ,    /* Wavefront .obj: triangles, polygons and lines */
    PL_MESH_VTK,    /* VTK's old format, 2.0 to 5.1, text and binary */
    PL_MESH_VTU,    /* VTK's XML format of unstructured grids */
    PL_MESH_VEGA,   /* .veg */
    PL_MESH_ABAQUS, /* .inp */
    PL_MESH_STL,    /* .stl, text and binary: equal corners are one vertex */
    PL_MESH_PLY,    /* .ply, text and binary */
    PL_MESH_FORMATS,
} pl_mesh_format;

/* The bytes of a file, held by the caller. */
typedef struct pl_blob {
    const void *data;
    size_t size;
} pl_blob;

/* Limits that a reader enforces, whatever the file claims. */
typedef struct pl_mesh_limits {
    int64_t max_vertices, max_tets;
} pl_mesh_limits;

/* Reads a mesh from memory: one blob, or {node, ele} for TetGen. Every fault of the file is appended with
 * `pointer`, code mesh_*, and a `got` that starts with its place ("line 17: ..." for text, "byte 1042: ..." for
 * binary, "element 12: ..."). The elements are those of the highest dimension in the file: its triangles are cloth
 * only if it has no tetrahedra, its lines ropes only if it has neither. Element kinds other than points, lines,
 * triangles and linear tetrahedra are rejected by name with their count (hexahedra, second-order tetrahedra, ..).
 * Vertices that no element uses are dropped and counted in `unused`. On failure *out is zeroed. Never reads outside
 * the blobs, and never allocates more than the blobs' size justifies. */
pl_status pl_mesh_read(pl_mesh_format format, const pl_blob *blobs, const pl_mesh_limits *limits,
                       const char *pointer, pl_mesh *out, pl_faults *faults);

/* Elements as arrays (inline JSON), 0-based: vertices [][3], tets [][4], triangles [][3], edges [][2]. An absent
 * kind has a count of 0. */
typedef struct pl_mesh_arrays {
    int64_t vertex_count, tet_count, triangle_count, edge_count;
    const double *vertices;
    const int64_t *tets, *triangles, *edges;
} pl_mesh_arrays;

/* Copies a mesh from arrays. Vertices that no element uses are dropped and counted. */
pl_status pl_mesh_from_arrays(const pl_mesh_arrays *arrays, const char *pointer, pl_mesh *out,
                              pl_faults *faults);

/* Drops the vertices that no element uses, and the faces and points on them; indices must be in range. Adds to
 * mesh->unused. */
pl_status pl_mesh_remove_unused(pl_mesh *mesh);

/* ---- checks ---- */

typedef enum pl_mesh_orientation {
    PL_MESH_ORIENTATION_REPAIR, /* swap two corners of a negative tetrahedron and count it */
    PL_MESH_ORIENTATION_REFUSE, /* a negative tetrahedron is a fault */
} pl_mesh_orientation;

/* Requirements on a mesh for simulation: at least one element, finite coordinates, indices in range, distinct
 * corners, no duplicate element, sufficient extent relative to edge length (|6 volume| > 1e-12 longest edge^3,
 * |2 area| > 1e-12 longest edge^2, an edge of more than 1e-12 of the mesh; else "degenerate"), orientation of
 * tetrahedra. Faults name the first few element ids and the number of further ones. Sheet edges with more than two
 * triangles are measured, not rejected: they matter to obstacles (pl_mesh_check_closed), but not to deforming
 * bodies. */
pl_status pl_mesh_check(pl_mesh *mesh, pl_mesh_orientation orientation, const char *pointer,
                        pl_faults *faults);

/* Elements below this radius ratio make solvers slow and pictures ugly. */
#define PL_MESH_POOR 1e-3
enum { PL_MESH_WORST = 5 };

typedef struct pl_mesh_quality {
    double lo[3], hi[3]; /* bounding box, m */
    double volume;       /* m^3, of the tetrahedra */
    double area;         /* m^2, of the triangles */
    double length;       /* m, of the edges */
    /* 1 for the regular tetrahedron and triangle, 0 for a flat one: radius ratio, over all elements of both kinds;
     * 1 if none. The ids are of the worst tetrahedra, worst first. */
    double worst_quality, mean_quality;
    int64_t poor; /* number of elements below PL_MESH_POOR */
    int32_t worst_count;
    int64_t worst[PL_MESH_WORST]; /* tetrahedra first, then triangles: tet_count + triangle */
    int64_t components;           /* number of connected pieces */
    /* For the body's own triangles: number of edges of one triangle, of three and more, and of two that traverse it
     * in the same direction (and so face opposite sides). */
    int64_t open_edges, crowded_edges, turned_edges;
} pl_mesh_quality;
pl_status pl_mesh_measure(const pl_mesh *mesh, pl_mesh_quality *out);

/* Checks that every edge belongs to two triangles that traverse it in opposite directions, as an obstacle's surface
 * requires. Faults name the first few edges. */
pl_status pl_mesh_check_closed(const pl_mesh *mesh, const char *pointer, pl_faults *faults);

/* The visible surface, also used for contact: the faces that belong to one tetrahedron, outward, then the mesh's
 * own triangles, in a fixed order: *triangles is malloc'ed [*count][3]. O(n); deterministic. */
pl_status pl_mesh_surface(const pl_mesh *mesh, int32_t **triangles, int64_t *count);

/* The field of that name, or NULL. */
const pl_mesh_field *pl_mesh_find_field(const pl_mesh *mesh, const char *name);

/* Number of elements of all kinds. */
static inline int64_t pl_mesh_element_count(const pl_mesh *mesh)
{
    return mesh->tet_count + mesh->triangle_count + mesh->edge_count;
}

#endif
