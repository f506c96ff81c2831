/* vtk_grid.h - the cells of a VTK file, in its old format or in XML, on their way into a draft.
 *
 * Both formats contain arrays of points, of corners, ends and types of cells, and of values of cells; this code
 * checks them together. An array with one component that is named "tag", "region" or as other programs name it
 * gives tags; the others are fields.
 */
#ifndef PLIANT_ENGINE_MESH_VTK_GRID_H
#define PLIANT_ENGINE_MESH_VTK_GRID_H

#include "engine/mesh/draft.h"
#include "engine/mesh/numbers.h"

/* Zero-initialise; malloc'ed. */
typedef struct pl_vtk_array {
    int64_t count;
    double *reals;     /* either these or */
    int64_t *integers; /* these */
    int64_t *where;    /* text: byte position of each; NULL otherwise, and then: */
    int64_t at;        /* byte of the file where the array begins, */
    int stride;        /* stride in bytes from one number to the next, 0: packed */
} pl_vtk_array;
void pl_vtk_array_clear(pl_vtk_array *a);
/* Byte position of number i. */
int64_t pl_vtk_array_where(const pl_vtk_array *a, int64_t i);

typedef struct pl_vtk_values {
    const char *name;
    size_t length;
    int32_t components;  /* 1 or 3 */
    pl_vtk_array values; /* reals */
} pl_vtk_values;

typedef struct pl_vtk_grid {
    int64_t first_cell;                /* number of the file's cells before these */
    pl_vtk_array points;               /* reals */
    pl_vtk_array corners, ends, types; /* integers; ends[i]: one past the last corner of cell i */
    bool cut; /* divide polygons and strips into triangles; otherwise reject them */
    pl_vtk_values values[PL_DRAFT_FIELDS_MAX + 1];
    int32_t value_count;
} pl_vtk_grid;
void pl_vtk_grid_clear(pl_vtk_grid *g);

/* VTK's numbers of the cell types that readers create. */
enum {
    PL_VTK_VERTEX = 1,
    PL_VTK_POLY_VERTEX = 2,
    PL_VTK_POLY_LINE = 4,
    PL_VTK_STRIP = 6,
    PL_VTK_POLYGON = 7,
};

/* Append nodes, cells and fields. Arrays that do not match each other are a fault. */
void pl_vtk_grid_add(const pl_vtk_grid *g, pl_draft *draft, const pl_place *place);

#endif
