/* shapes.h - quality of a mesh's elements: range and histogram of each measure, and the worst elements. It
 * describes the mesh as read, before any repair.
 */
#ifndef PLIANT_ENGINE_MESH_SHAPES_H
#define PLIANT_ENGINE_MESH_SHAPES_H

#include "engine/mesh/mesh.h"

#include <stdbool.h>

/* Measures of tetrahedra or, in brackets, of triangles if a mesh has no tetrahedra. */
typedef enum pl_shape_measure {
    PL_SHAPE_LEAST_ANGLE,    /* dihedral [interior] angle, degrees: 70.5 [60] where regular */
    PL_SHAPE_GREATEST_ANGLE, /* the same */
    PL_SHAPE_RADIUS_RATIO,   /* 3 [2] r / R: 1 where regular, 0 where flat */
    PL_SHAPE_ASPECT, /* longest edge over r, relative to the regular element: 1 there, else above */
    PL_SHAPE_EXTENT, /* absolute volume, m^3 [area, m^2] */
    PL_SHAPE_MEASURES
} pl_shape_measure;

enum { PL_SHAPE_BINS = 12, PL_SHAPE_WORST = 10 };

/* Over the elements that are not flat; all 0 if none. */
typedef struct pl_shape_range {
    double least, mean, greatest;
    double edge[PL_SHAPE_BINS + 1]; /* bin k: edge[k] <= value < edge[k + 1]; the last bin
                                       includes its upper edge */
    int64_t count[PL_SHAPE_BINS];
} pl_shape_range;

typedef struct pl_shape {
    int64_t element; /* index within its kind, in the file's order */
    double value[PL_SHAPE_MEASURES];
    double centre[3];
    bool flat, inverted;
} pl_shape;

typedef struct pl_shapes {
    int corners; /* 4: tetrahedra, 3: triangles, 0: the mesh has neither */
    int64_t elements;
    int64_t flat;     /* |6 volume| <= 1e-12 longest edge^3 [2 area, edge^2]: rejected in a scene */
    int64_t inverted; /* negative volume: reversed in a scene */
    pl_shape_range range[PL_SHAPE_MEASURES];
    int32_t worst_count;
    pl_shape worst[PL_SHAPE_WORST]; /* flat ones first, then by radius ratio; ties by index */
} pl_shapes;

/* Indices must be in range, as every reader ensures. */
void pl_mesh_shapes(const pl_mesh *mesh, pl_shapes *out);

#endif
