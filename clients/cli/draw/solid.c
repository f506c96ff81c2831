#include "clients/cli/draw/solid.h"

#include <stdlib.h>

/* Faces that meet at a larger angle keep their own normals: a box has sharp edges. */
#define CREASE_COSINE 0.64f /* 50 degrees */

/* Twice the area times the unit normal: in sums, larger faces weigh more. */
static pl_vec face_normal(const pl_vec *corner)
{
    return vec_cross(vec_sub(corner[1], corner[0]), vec_sub(corner[2], corner[0]));
}

/* Triangles that share vertices: the bodies', or an obstacle's. */
typedef struct surface {
    int64_t vertices, triangles;
    const float *positions;
    const int32_t *triangle;
    const int32_t *body; /* NULL: PL_SOLID_OBSTACLE */
    const float *colour; /* NULL: none */
} surface;

/* The faces around each vertex, as lists in one array: start[v] .. start[v + 1]. */
static bool faces_of_vertices(const surface *p, int64_t **start_out, int32_t **faces_out)
{
    int64_t *start = calloc((size_t)p->vertices + 2, sizeof *start);
    int32_t *faces = malloc(((size_t)p->triangles * 3 + 1) * sizeof *faces);
    if (!start || !faces) {
        free(start);
        free(faces);
        return false;
    }
    for (int64_t i = 0; i < 3 * p->triangles; i++)
        start[p->triangle[i] + 2]++;
    for (int64_t v = 0; v < p->vertices; v++)
        start[v + 2] += start[v + 1];
    for (int64_t i = 0; i < 3 * p->triangles; i++)
        faces[start[p->triangle[i] + 1]++] = (int32_t)(i / 3);
    *start_out = start;
    *faces_out = faces;
    return true;
}

static pl_status add_surface(const surface *p, pl_solid *s)
{
    int64_t *start, first = s->triangles;
    int32_t *faces;
    pl_vec *corner = s->corner + 3 * first, *normal = s->normal + 3 * first;
    if (!faces_of_vertices(p, &start, &faces))
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < 3 * p->triangles; i++)
        corner[i] = vec_of(p->positions + 3 * (int64_t)p->triangle[i]);
    for (int64_t i = 0; p->colour && i < 3 * p->triangles; i++)
        s->colour[3 * first + i] = vec_of(p->colour + 3 * (int64_t)p->triangle[i]);
    for (int64_t m = 0; m < p->triangles; m++) {
        pl_vec own = vec_unit(face_normal(corner + 3 * m));
        s->body[first + m] = p->body ? p->body[p->triangle[3 * m]] : PL_SOLID_OBSTACLE;
        for (int i = 0; i < 3; i++) {
            int32_t v = p->triangle[3 * m + i];
            pl_vec sum = vec(0, 0, 0);
            for (int64_t j = start[v]; j < start[v + 1]; j++) {
                pl_vec other = face_normal(corner + 3 * (int64_t)faces[j]);
                if (vec_dot(own, vec_unit(other)) >= CREASE_COSINE)
                    sum = vec_add(sum, other);
            }
            normal[3 * m + i] = vec_dot(sum, sum) > 0 ? vec_unit(sum) : own;
        }
    }
    s->triangles += p->triangles;
    free(start);
    free(faces);
    return PL_OK;
}

static pl_status add_bodies(const pl_geometry *g, pl_solid *s)
{
    surface bodies = {g->vertices, g->triangles, g->positions, g->triangle, g->body, g->colour};
    int32_t *none = g->body ? NULL : calloc((size_t)g->vertices + 1, sizeof *none);
    if (!g->body)
        bodies.body = none;
    pl_status status = bodies.body ? add_surface(&bodies, s) : PL_NO_MEMORY;
    free(none);
    if (status != PL_OK)
        return status;
    pl_solid_add_rods(g, s);
    s->body_triangles = s->triangles;
    return PL_OK;
}

static pl_status add_obstacles(const pl_geometry *g, pl_solid *s)
{
    pl_status status = PL_OK;
    for (int32_t k = 0; status == PL_OK && k < g->obstacles; k++) {
        const pl_drawn_obstacle *o = &g->obstacle[k];
        status = add_surface(
            &(surface){o->vertices, o->triangles, o->positions, o->triangle, NULL, NULL}, s);
    }
    return status;
}

pl_status pl_solid_create(const pl_geometry *geometry, pl_solid *out)
{
    *out = (pl_solid){0};
    size_t count = (size_t)(geometry->triangles + PL_ROD_TRIANGLES * geometry->edges);
    for (int32_t k = 0; k < geometry->obstacles; k++)
        count += (size_t)geometry->obstacle[k].triangles;
    out->corner = malloc((3 * count + 1) * sizeof *out->corner);
    out->normal = malloc((3 * count + 1) * sizeof *out->normal);
    out->body = malloc((count + 1) * sizeof *out->body);
    if (geometry->colour)
        out->colour = malloc((3 * count + 1) * sizeof *out->colour);
    if (!out->corner || !out->normal || !out->body || (geometry->colour && !out->colour) ||
        count > INT32_MAX || add_bodies(geometry, out) != PL_OK ||
        add_obstacles(geometry, out) != PL_OK) {
        pl_solid_clear(out);
        return PL_NO_MEMORY;
    }
    return PL_OK;
}

void pl_solid_clear(pl_solid *s)
{
    free(s->corner);
    free(s->normal);
    free(s->body);
    free(s->colour);
    *s = (pl_solid){0};
}
