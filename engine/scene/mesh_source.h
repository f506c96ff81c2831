/* mesh_source.h - source of the mesh of a body or an obstacle. */
#ifndef PLIANT_ENGINE_SCENE_MESH_SOURCE_H
#define PLIANT_ENGINE_SCENE_MESH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_mesh_source_kind {
    PL_SOURCE_BOX,
    PL_SOURCE_SPHERE,
    PL_SOURCE_UPLOAD,
    PL_SOURCE_INLINE,
    PL_SOURCE_CLOTH,
    PL_SOURCE_ROPE,
    PL_SOURCE_CYLINDER,
    PL_SOURCE_TORUS,
    PL_SOURCE_HELIX,
} pl_mesh_source_kind;

/* How the cells of a generated cloth are divided; engine/mesh/mesh.h describes the patterns. */
typedef enum pl_diagonal_kind {
    PL_DIAGONAL_ALTERNATING,
    PL_DIAGONAL_UP,
    PL_DIAGONAL_DOWN
} pl_diagonal_kind;

typedef enum pl_upload_format {
    PL_UPLOAD_GMSH,
    PL_UPLOAD_TETGEN,
    PL_UPLOAD_MEDIT,
    PL_UPLOAD_OBJ,
    PL_UPLOAD_VTK,
    PL_UPLOAD_VTU,
    PL_UPLOAD_VEGA,
    PL_UPLOAD_ABAQUS,
    PL_UPLOAD_STL,
    PL_UPLOAD_PLY
} pl_upload_format;

typedef struct pl_cloth_source {
    double size[2]; /* m */
    int32_t cells[2];
    pl_diagonal_kind diagonal;
    bool springs; /* replaces triangles */
} pl_cloth_source;

typedef struct pl_rope_source {
    double length;       /* m */
    double direction[3]; /* unit */
    int32_t segments;
} pl_rope_source;

/* Cylinder, torus, helix. */
typedef struct pl_tube_source {
    double radius;       /* of a cylinder, or of the curve, m */
    double tube;         /* radius of the tube around the curve, m */
    double length;       /* cylinder, m */
    double pitch, turns; /* helix: m a turn */
    int32_t strands;     /* helix */
    int32_t cells[2];    /* across, along */
} pl_tube_source;

typedef struct pl_mesh_source {
    pl_mesh_source_kind kind;
    double size[3];   /* box, m */
    int32_t cells[3]; /* box */
    double radius;    /* sphere, m */
    int32_t sphere_cells;
    pl_cloth_source cloth;
    pl_rope_source rope;
    pl_tube_source cylinder, torus, helix;
    pl_upload_format format;
    char *upload[2];      /* "sha256:<64 hex>": the file, or TetGen's node and ele */
    int32_t upload_count; /* 1 or 2 */
    bool refuse_negative; /* "orientation": "refuse" */
    int64_t vertex_count; /* inline; for an obstacle, also from its file once loaded */
    double *vertices;     /* [vertex_count][3] */
    int64_t tet_count, triangle_count, edge_count;
    int64_t *tets;      /* inline [tet_count][4] */
    int64_t *triangles; /* the same [triangle_count][3] */
    int64_t *edges;     /* inline [edge_count][2] */
} pl_mesh_source;

#endif
