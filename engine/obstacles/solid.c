#include "engine/obstacles/solid.h"

#include "engine/scene/transform.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pl_obstacle_is_solid(const pl_obstacle *o)
{
    return o->kind == PL_OBSTACLE_MESH || o->kind == PL_OBSTACLE_HEIGHTFIELD;
}

/* Triangles of a heightfield: two per cell, and three for each piece of the border. */
int64_t pl_obstacle_triangles(const pl_obstacle *o)
{
    if (o->kind == PL_OBSTACLE_MESH)
        return o->mesh.source.triangle_count;
    if (o->kind != PL_OBSTACLE_HEIGHTFIELD)
        return 0;
    int64_t down = o->rows - 1, across = o->columns - 1;
    return 2 * down * across + 6 * (down + across);
}

void pl_solid_arrays_clear(pl_solid_arrays *a)
{
    free(a->vertex);
    free(a->triangle);
    *a = (pl_solid_arrays){0};
}

pl_status pl_solid_arrays_reserve(int64_t vertices, int64_t triangles, pl_solid_arrays *out)
{
    *out = (pl_solid_arrays){0};
    out->vertex = malloc((size_t)(3 * vertices + 1) * sizeof *out->vertex);
    out->triangle = malloc((size_t)(3 * triangles + 1) * sizeof *out->triangle);
    if (out->vertex && out->triangle)
        return PL_OK;
    pl_solid_arrays_clear(out);
    return PL_NO_MEMORY;
}

/* Placed as bodies are. */
static pl_status place_mesh(const pl_obstacle *o, pl_solid_arrays *out)
{
    const pl_mesh_source *m = &o->mesh.source;
    if (pl_solid_arrays_reserve(m->vertex_count, m->triangle_count, out) != PL_OK)
        return PL_NO_MEMORY;
    out->vertex_count = m->vertex_count;
    out->triangle_count = m->triangle_count;
    pl_transform_points(&o->mesh.transform, m->vertices, m->vertex_count, out->vertex);
    memcpy(out->triangle, m->triangles, (size_t)(3 * m->triangle_count) * sizeof *out->triangle);
    return PL_OK;
}

void pl_solid_put_vertex(pl_solid_arrays *a, double x, double y, double z)
{
    double *v = a->vertex + 3 * a->vertex_count++;
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

void pl_solid_put_triangle(pl_solid_arrays *a, int64_t i, int64_t j, int64_t k)
{
    int64_t *t = a->triangle + 3 * a->triangle_count++;
    t[0] = i;
    t[1] = j;
    t[2] = k;
}

/* The k-th sample of the border: along the first row, the last column, and back. */
static int64_t border(const pl_obstacle *o, int64_t k)
{
    int64_t across = o->columns - 1, down = o->rows - 1;
    if (k < across)
        return k;
    if (k < across + down)
        return (k - across) * o->columns + across;
    if (k < 2 * across + down)
        return down * o->columns + across - (k - across - down);
    return (2 * (across + down) - k) % (2 * (across + down)) * o->columns;
}

/* Samples, then the bottom's border under them, then its middle. */
static void put_heights(const pl_obstacle *o, pl_solid_arrays *a)
{
    int64_t across = o->columns - 1, down = o->rows - 1, around = 2 * (across + down);
    double width = (double)across * o->spacing, length = (double)down * o->spacing;
    double lowest = INFINITY;
    for (int64_t i = 0; i < (int64_t)o->rows * o->columns; i++) {
        lowest = fmin(lowest, o->heights[i]);
        pl_solid_put_vertex(a, (double)(i % o->columns) * o->spacing - width / 2, o->heights[i],
                            (double)(i / o->columns) * o->spacing - length / 2);
    }
    double bottom = lowest - (o->has_depth ? o->depth : fmax(width, length));
    int64_t below = a->vertex_count, middle = below + around;
    for (int64_t k = 0; k < around; k++) {
        const double *top = a->vertex + 3 * border(o, k);
        pl_solid_put_vertex(a, top[0], bottom, top[2]);
    }
    pl_solid_put_vertex(a, 0, bottom, 0);
    for (int64_t r = 0; r < down; r++)
        for (int64_t c = 0; c < across; c++) {
            int64_t i = r * o->columns + c, next = i + o->columns;
            pl_solid_put_triangle(a, i, next, i + 1);
            pl_solid_put_triangle(a, i + 1, next, next + 1);
        }
    for (int64_t k = 0; k < around; k++) {
        int64_t l = (k + 1) % around;
        pl_solid_put_triangle(a, border(o, k), border(o, l), below + k);
        pl_solid_put_triangle(a, border(o, l), below + l, below + k);
        pl_solid_put_triangle(a, below + k, below + l, middle);
    }
}

pl_status pl_solid_arrays_create(const pl_obstacle *o, pl_solid_arrays *out)
{
    if (o->kind == PL_OBSTACLE_MESH)
        return place_mesh(o, out);
    int64_t around = 2 * ((int64_t)o->rows + o->columns - 2);
    pl_status status = pl_solid_arrays_reserve((int64_t)o->rows * o->columns + around + 1,
                                               pl_obstacle_triangles(o), out);
    if (status != PL_OK)
        return status;
    put_heights(o, out);
    return PL_OK;
}
