#include "engine/mesh/vtk_grid.h"

#include "engine/mesh/text.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 3, TRIANGLE = 5, TETRA = 10, TYPES = 82 };

/* Rejected types, by name; others by number. */
static const char *const names[TYPES] = {
    [2] = "poly-vertices",
    [4] = "poly-lines",
    [6] = "triangle strips",
    [7] = "polygons",
    [8] = "pixels",
    [9] = "quadrilaterals",
    [11] = "voxels",
    [12] = "hexahedra",
    [13] = "prisms",
    [14] = "pyramids",
    [15] = "pentagonal prisms",
    [16] = "hexagonal prisms",
    [21] = "second-order lines",
    [22] = "second-order triangles",
    [23] = "second-order quadrilaterals",
    [24] = "second-order tetrahedra",
    [25] = "second-order hexahedra",
    [26] = "second-order prisms",
    [27] = "second-order pyramids",
    [28] = "second-order quadrilaterals",
    [29] = "second-order hexahedra",
    [32] = "second-order prisms",
    [33] = "second-order hexahedra",
    [34] = "second-order triangles",
    [35] = "third-order lines",
    [42] = "polyhedra",
    [68] = "Lagrange lines",
    [69] = "Lagrange triangles",
    [70] = "Lagrange quadrilaterals",
    [71] = "Lagrange tetrahedra",
    [72] = "Lagrange hexahedra",
    [73] = "Lagrange prisms",
    [75] = "Bezier lines",
    [76] = "Bezier triangles",
    [78] = "Bezier tetrahedra",
    [79] = "Bezier hexahedra",
};

typedef struct adder {
    const pl_vtk_grid *grid;
    pl_draft *draft;
    const pl_place *place;
    int64_t base;  /* nodes of the draft before these */
    int64_t nodes; /* of the grid */
    const pl_vtk_array *tags;
    int64_t refused[TYPES], refused_at[TYPES];
} adder;

void pl_vtk_array_clear(pl_vtk_array *a)
{
    free(a->reals);
    free(a->integers);
    free(a->where);
    *a = (pl_vtk_array){0};
}

int64_t pl_vtk_array_where(const pl_vtk_array *a, int64_t i)
{
    return a->where ? a->where[i] : a->at + i * a->stride;
}

void pl_vtk_grid_clear(pl_vtk_grid *g)
{
    pl_vtk_array_clear(&g->points);
    pl_vtk_array_clear(&g->corners);
    pl_vtk_array_clear(&g->ends);
    pl_vtk_array_clear(&g->types);
    for (int32_t i = 0; i < g->value_count; i++)
        pl_vtk_array_clear(&g->values[i].values);
    g->value_count = 0;
}

/* Number of corners of a cell of the type; 0: any number, or the type is not accepted. */
static int corners_of_type(int64_t type)
{
    return type == PL_VTK_VERTEX ? 1
           : type == LINE        ? 2
           : type == TRIANGLE    ? 3
           : type == TETRA       ? 4
                                 : 0;
}

/* ---- nodes ---- */

static void add_nodes(adder *a)
{
    const pl_vtk_array *p = &a->grid->points;
    for (int64_t i = 0; i < a->nodes && !a->draft->stopped; i++) {
        const double *x = p->reals + 3 * i;
        int64_t where = pl_vtk_array_where(p, 3 * i);
        if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]))
            pl_draft_add_node(a->draft, a->base + i, x, where);
        else
            pl_draft_fault(a->draft, a->place, a->place->base + where, "mesh_number",
                           "finite coordinates", PL_HINT_FILE,
                           "a coordinate of point %" PRId64 " of %" PRId64
                           " is not a finite number",
                           i, a->nodes);
    }
}

/* ---- cells ---- */

/* The draft's name for a corner. A corner that is not one of these points is unknown. */
static int64_t node_of(const adder *a, int64_t corner)
{
    if (a->base == 0)
        return corner;
    return corner >= 0 && corner < a->nodes ? a->base + corner : -1;
}

static int32_t tag_of(const adder *a, int64_t cell)
{
    double value = a->tags ? a->tags->reals[cell] : 0;
    return value == floor(value) && fabs(value) <= INT32_MAX ? (int32_t)value : 0;
}

/* Each piece of a divided cell has its own byte position, that of its last corner. */
static void add_cell(adder *a, pl_draft_cells *cells, int64_t cell, const int64_t *corner,
                     int64_t last)
{
    int64_t node[4], where = pl_vtk_array_where(&a->grid->corners, last);
    for (int k = 0; k < cells->corners; k++)
        node[k] = node_of(a, corner[k]);
    int32_t tag = tag_of(a, cell);
    if (cells != &a->draft->points || tag != 0)
        pl_draft_add_cell(a->draft, cells, node, a->grid->first_cell + cell, tag, where);
    pl_draft_too_many(a->draft, a->place, a->place->base + where, "cells", cells->count,
                      a->draft->limits.max_tets);
}

/* A polygon is a fan about its first corner; in a strip, every other triangle is reversed; a poly-line is the lines
 * between its corners. */
static void cut_cell(adder *a, int64_t type, int64_t cell, int64_t first, int64_t end)
{
    const int64_t *c = a->grid->corners.integers;
    bool line = type == PL_VTK_POLY_LINE;
    if (type == PL_VTK_POLY_VERTEX)
        return;
    for (int64_t i = first + (line ? 1 : 2); i < end && !a->draft->stopped; i++) {
        bool turned = type == PL_VTK_STRIP && (i - first) % 2 == 1;
        int64_t corner[3] = {type == PL_VTK_POLYGON ? c[first] : c[i - 2 + line], c[i - 1 + line],
                             c[i]};
        if (turned) {
            corner[0] = c[i - 1];
            corner[1] = c[i - 2];
        }
        add_cell(a, line ? &a->draft->lines : &a->draft->faces, cell, corner, i);
    }
}

static pl_draft_cells *cells_of(pl_draft *draft, int corners)
{
    pl_draft_cells *const of[] = {&draft->points, &draft->lines, &draft->faces, &draft->tets};
    return of[corners - 1];
}

static void refuse(adder *a, int64_t type, int64_t cell)
{
    int64_t kind = type > 0 && type < TYPES ? type : 0;
    if (a->refused[kind]++ == 0)
        a->refused_at[kind] = pl_vtk_array_where(&a->grid->types, cell);
}

static void read_cell(adder *a, int64_t cell, int64_t first, int64_t end)
{
    int64_t type = a->grid->types.integers[cell];
    int corners = corners_of_type(type);
    const pl_vtk_array *c = &a->grid->corners;
    if (a->grid->cut && corners == 0) {
        cut_cell(a, type, cell, first, end);
    } else if (corners == 0) {
        refuse(a, type, cell);
    } else if (end - first != corners) {
        int64_t at = first < c->count ? pl_vtk_array_where(c, first) : c->at;
        pl_draft_fault(a->draft, a->place, a->place->base + at, "mesh_syntax",
                       "as many corners as the cell's type has", PL_HINT_FILE,
                       "cell %" PRId64 " (counting from 0) is of type %" PRId64 " and has %" PRId64
                       " corners",
                       cell, type, end - first);
    } else {
        add_cell(a, cells_of(a->draft, corners), cell, c->integers + first, end - 1);
    }
}

static void read_cells(adder *a)
{
    const pl_vtk_grid *g = a->grid;
    int64_t first = 0;
    for (int64_t i = 0; i < g->types.count && !a->draft->stopped; i++) {
        int64_t end = g->ends.integers[i];
        if (end < first || end > g->corners.count) {
            pl_draft_fault(a->draft, a->place, a->place->base + pl_vtk_array_where(&g->ends, i),
                           "mesh_syntax", PL_EXPECTED_OFFSETS, PL_HINT_FILE,
                           "cell %" PRId64 " (counting from 0) ends at corner %" PRId64
                           " of %" PRId64 ", the one before at %" PRId64,
                           i, end, g->corners.count, first);
            return;
        }
        read_cell(a, i, first, end);
        first = end;
    }
}

static void report_refused(adder *a)
{
    for (int type = 0; type < TYPES; type++) {
        char number[48];
        if (a->refused[type] == 0)
            continue;
        snprintf(number, sizeof number, "cells of VTK's type %d", type);
        pl_draft_fault(a->draft, a->place, a->place->base + a->refused_at[type], "mesh_unsupported",
                       PL_EXPECTED_LINEAR, PL_HINT_ORDER_1,
                       "%" PRId64 " %s, the first of them here", a->refused[type],
                       type == 0     ? "cells of an unknown type"
                       : names[type] ? names[type]
                                     : number);
    }
}

/* ---- values ---- */

static bool gives_tags(const pl_vtk_values *v)
{
    static const char *const known[] = {
        "tag",       "tags",          "region",     "physical",    "material",
        "medit:ref", "gmsh:physical", "MaterialID", "MaterialIds", "CellEntityIds"};
    for (size_t i = 0; v->components == 1 && i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == v->length && memcmp(known[i], v->name, v->length) == 0)
            return true;
    return false;
}

/* The draft's field of that name, started by an earlier piece of the file, or a new one. */
static pl_draft_field *field_of(adder *a, const pl_vtk_values *v)
{
    pl_draft *d = a->draft;
    for (int64_t i = 0; i < d->field_count; i++)
        if (strlen(d->fields[i].name) == v->length && d->fields[i].components == v->components &&
            memcmp(d->fields[i].name, v->name, v->length) == 0)
            return &d->fields[i];
    if (d->field_names == PL_DRAFT_FIELDS_MAX)
        return NULL; /* fields beyond the limit are left out */
    pl_draft_field *field = pl_draft_add_field(d, a->place, a->place->base + v->values.at, v->name,
                                               v->length);
    if (field)
        field->components = v->components;
    return field;
}

static void add_values(adder *a, const pl_vtk_values *v)
{
    pl_draft_field *field = field_of(a, v);
    for (int64_t i = 0; field && i < a->grid->types.count && !a->draft->stopped; i++) {
        double value[3] = {0};
        for (int32_t k = 0; k < v->components; k++) {
            value[k] = v->values.reals[i * v->components + k];
            value[k] = isfinite(value[k]) ? value[k] : NAN;
        }
        pl_draft_add_value(a->draft, field, a->grid->first_cell + i, value);
    }
}

static bool fits(adder *a, const pl_vtk_array *array, const char *name, int64_t expected)
{
    if (array->count == expected)
        return true;
    char text[64];
    snprintf(text, sizeof text, "%" PRId64 " of them", expected);
    pl_draft_fault(a->draft, a->place,
                   a->place->base + (array->count ? pl_vtk_array_where(array, 0) : array->at),
                   "mesh_count", text, PL_HINT_COMPLETE_OR_REWRITE, "%" PRId64 " %s", array->count,
                   name);
    return false;
}

void pl_vtk_grid_add(const pl_vtk_grid *g, pl_draft *draft, const pl_place *place)
{
    adder a = {.grid = g,
               .draft = draft,
               .place = place,
               .base = draft->node_count,
               .nodes = g->points.count / 3};
    bool fine = fits(&a, &g->points, "coordinates", 3 * a.nodes);
    fine &= fits(&a, &g->ends, "ends of cells", g->types.count);
    for (int32_t i = 0; i < g->value_count; i++) {
        const pl_vtk_values *v = &g->values[i];
        fine &= fits(&a, &v->values, "values of cells", v->components * g->types.count);
        if (gives_tags(v) && !a.tags)
            a.tags = &v->values;
    }
    if (!fine || pl_draft_too_many(draft, place, place->base + g->points.at, "points",
                                   a.base + a.nodes, draft->limits.max_vertices))
        return;
    add_nodes(&a);
    read_cells(&a);
    report_refused(&a);
    for (int32_t i = 0; i < g->value_count; i++)
        if (&g->values[i].values != a.tags)
            add_values(&a, &g->values[i]);
}
