/* Which bodies touch: their surfaces, the distance kept between them, and friction. */
#include "engine/contact/overlaps.h"
#include "engine/contact/pairs.h"
#include "engine/model/build/build.h"
#include "engine/scene/contact_between.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>

/* Relative to a surface's mean edge: the distance kept from others by default. */
static const double OF_EDGE = 0.01;
/* Relative to the distance that a body has from itself at rest: the maximum that it keeps from itself. */
static const double OF_REST = 0.9;
static const double PI = 3.14159265358979323846;

/* ---- the surface ---- */

typedef struct surfaces {
    int32_t *body;     /* [vertices] */
    uint8_t *solid;    /* [bodies] */
    int32_t *triangle; /* [triangles][3] */
    int32_t *segment;  /* [segments][2] */
    int64_t triangles, segments;
} surfaces;

static void clear_surfaces(surfaces *s)
{
    free(s->body);
    free(s->solid);
    free(s->triangle);
    free(s->segment);
}

static bool append(int32_t **list, int64_t *count, int width, const int32_t *from, int64_t more,
                   int32_t first)
{
    int32_t *longer = realloc(*list, (size_t)(width * (*count + more) + 1) * sizeof *longer);
    if (!longer)
        return false;
    *list = longer;
    for (int64_t i = 0; i < width * more; i++)
        longer[width * *count + i] = first + from[i];
    *count += more;
    return true;
}

/* Generated cloth of springs has the triangles of its cells, so that nothing slips through. */
static pl_status add_cells(const pl_mesh_source *source, int32_t first, surfaces *s)
{
    static const pl_mesh_diagonal diagonal[] = {PL_MESH_DIAGONAL_ALTERNATING, PL_MESH_DIAGONAL_UP,
                                                PL_MESH_DIAGONAL_DOWN};
    pl_mesh cells;
    pl_status status = pl_mesh_cloth(source->cloth.size, source->cloth.cells,
                                     diagonal[source->cloth.diagonal], &cells);
    if (status != PL_OK)
        return status;
    if (!append(&s->triangle, &s->triangles, 3, cells.triangles, cells.triangle_count, first))
        status = PL_NO_MEMORY;
    pl_mesh_clear(&cells);
    return status;
}

static pl_status add_surface(const pl_build *b, int32_t i, surfaces *s)
{
    const pl_mesh *mesh = &b->meshes[i];
    const pl_body *body = &b->scene->bodies[i];
    const double *scale = body->transform.scale;
    const int32_t first = (int32_t)b->model->first_vertex[i];
    if (body->mesh.kind == PL_SOURCE_CLOTH && body->mesh.cloth.springs)
        return add_cells(&body->mesh, first, s);
    int32_t *triangles = NULL;
    int64_t count = 0;
    pl_status status = pl_mesh_surface(mesh, &triangles, &count);
    if (status != PL_OK)
        return status;
    for (int64_t t = 0; scale[0] * scale[1] * scale[2] < 0 && t < count; t++) {
        int32_t second = triangles[3 * t + 1]; /* a mirror turns them inside out */
        triangles[3 * t + 1] = triangles[3 * t + 2];
        triangles[3 * t + 2] = second;
    }
    s->solid[i] = mesh->tet_count > 0;
    if (!append(&s->triangle, &s->triangles, 3, triangles, count, first) ||
        !append(&s->segment, &s->segments, 2, mesh->edges, mesh->edge_count, first))
        status = PL_NO_MEMORY;
    free(triangles);
    return status;
}

static pl_status make_surface(const pl_build *b, pl_contact_surface **out)
{
    const pl_model *m = b->model;
    surfaces s = {.body = malloc((size_t)m->vertices * sizeof *s.body),
                  .solid = calloc((size_t)m->body_count + 1, sizeof *s.solid)};
    pl_status status = s.body && s.solid ? PL_OK : PL_NO_MEMORY;
    for (int32_t i = 0; status == PL_OK && i < m->body_count; i++) {
        for (int64_t v = m->first_vertex[i]; v < m->first_vertex[i + 1]; v++)
            s.body[v] = i;
        status = add_surface(b, i, &s);
    }
    if (status == PL_OK && (s.triangles > INT32_MAX / 4 || s.segments > INT32_MAX / 4))
        status = PL_NO_MEMORY;
    if (status == PL_OK)
        status = pl_contact_surface_create(
            &(pl_contact_source){(int32_t)m->vertices, s.body, (int32_t)s.triangles, s.triangle,
                                 (int32_t)s.segments, s.segment, s.solid},
            out);
    clear_surfaces(&s);
    return status;
}

/* ---- distances ---- */

static double edge_length(const double *x, const int32_t *edge)
{
    double d[3];
    pl_vector_subtract(x + 3 * (int64_t)edge[0], x + 3 * (int64_t)edge[1], d);
    return sqrt(pl_vector_dot(d, d));
}

/* The mean edge of each body's surface at rest, m; 0 without one. Returns that over all bodies. */
static double mean_edges(const pl_build *b, const pl_contact_surface *s, double *edge)
{
    double all = 0;
    int32_t e = 0; /* edges are in the order of their vertices, and so of bodies */
    for (int32_t i = 0; i < b->model->body_count; i++) {
        double sum = 0;
        int32_t before = e;
        for (; e < s->edges && s->edge_body[e] == i; e++)
            sum += edge_length(b->layout.rest, s->edge + 2 * (int64_t)e);
        edge[i] = e > before ? sum / (e - before) : 0;
        all += sum;
    }
    return s->edges > 0 ? all / s->edges : 0;
}

/* Distance that a body keeps from others, m. */
static double thickness_of(const pl_build *b, int32_t i, double edge)
{
    const pl_contact_settings *settings = &b->scene->contact;
    const pl_material *material = &b->scene->materials[b->scene->bodies[i].material];
    const pl_mesh *mesh = &b->meshes[i];
    if (settings->has_thickness)
        return settings->thickness;
    double own = mesh->triangle_count > 0 ? material->thickness
                 : mesh->edge_count > 0   ? 2 * sqrt(material->area / PI)
                                          : 0;
    return fmax(own, OF_EDGE * edge);
}

static int64_t at(const pl_contact_bodies *t, int32_t a, int32_t b)
{
    return pl_contact_bodies_at(t, a, b);
}

static bool make_tables(const pl_build *b, pl_contact_bodies *t)
{
    const int32_t n = t->count = b->model->body_count;
    const size_t cells = (size_t)n * (size_t)n + 1;
    double *edge = malloc(((size_t)n + 1) * sizeof *edge);
    t->ignore = calloc(cells, sizeof *t->ignore);
    t->distance = calloc(cells, sizeof *t->distance);
    t->friction = calloc(cells, sizeof *t->friction);
    t->restitution = calloc(cells, sizeof *t->restitution);
    bool good = edge && t->ignore && t->distance && t->friction && t->restitution;
    if (good)
        t->edge = mean_edges(b, t->surface, edge);
    for (int32_t i = 0; good && i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            pl_contact_between between = pl_contact_between_bodies(b->scene, i, j);
            for (int k = 0; k < 2; k++) {
                int64_t to = k ? at(t, i, j) : at(t, j, i);
                t->ignore[to] = !between.enabled;
                t->friction[to] = between.friction;
                t->restitution[to] = between.restitution;
                t->distance[to] = (thickness_of(b, i, edge[i]) + thickness_of(b, j, edge[j])) / 2;
            }
        }
    free(edge);
    return good;
}

/* ---- initial state ---- */

/* A body whose surface is nearer to itself at rest than the distance it keeps from itself keeps less. */
static pl_status fit_to_rest(const pl_build *b, pl_contact_bodies *t, pl_contact_trees *trees)
{
    const int32_t n = t->count;
    uint8_t *others = calloc((size_t)n * (size_t)n + 1, 1);
    double most = 0;
    if (!others)
        return PL_NO_MEMORY;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            others[at(t, i, j)] = i != j || t->ignore[at(t, i, i)];
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, t->ignore[at(t, i, i)] ? 0 : t->distance[at(t, i, i)]);
    const pl_contact_filter filter = {n, others};
    const pl_contact_rules rules = {.reach = most, .filter = &filter};
    pl_contact_pairs near = {0};
    pl_status status = pl_contact_trees_update(trees, b->layout.rest, b->layout.rest, most, 1);
    if (status == PL_OK)
        status = pl_contact_pairs_find(trees, b->layout.rest, &rules, 1, &near);
    for (int64_t k = 0; status == PL_OK && k < near.count; k++) {
        int32_t body = t->surface->vertex_body[t->surface->place[near.pair[k].vertex[0]]];
        double *own = &t->distance[at(t, body, body)];
        *own = fmin(*own, OF_REST * near.pair[k].gap);
        if (!(*own > 1e-6 * t->edge)) /* touching itself, no distance tells inside from outside */
            t->ignore[at(t, body, body)] = 1;
    }
    pl_contact_pairs_clear(&near);
    free(others);
    return status;
}

/* The volume of a tetrahedron times 6. */
static double volume_of(const double *x, const int32_t corner[4])
{
    double e[3], f[3], g[3], n[3];
    const double *a = x + 3 * (int64_t)corner[0];
    pl_vector_subtract(x + 3 * (int64_t)corner[1], a, e);
    pl_vector_subtract(x + 3 * (int64_t)corner[2], a, f);
    pl_vector_subtract(x + 3 * (int64_t)corner[3], a, g);
    pl_vector_cross(e, f, n);
    return pl_vector_dot(n, g);
}

/* A body that starts with flat or inverted elements passes through itself as it recovers. */
static void ignore_inverted(const pl_build *b, pl_contact_bodies *t)
{
    const pl_model *m = b->model;
    for (int32_t i = 0; i < t->count; i++)
        for (int64_t k = m->first_tet[i]; k < m->first_tet[i + 1]; k++) {
            double rest = volume_of(b->layout.rest, b->tets + 4 * k),
                   now = volume_of(m->x0, b->tets + 4 * k);
            if (!(rest * now > 0))
                t->ignore[at(t, i, i)] = 1;
        }
}

static void bound_distances(pl_contact_bodies *t)
{
    t->least = INFINITY;
    for (int64_t k = 0; k < (int64_t)t->count * t->count; k++)
        if (!t->ignore[k]) {
            t->least = fmin(t->least, t->distance[k]);
            t->most = fmax(t->most, t->distance[k]);
            t->rubs = t->rubs || t->friction[k] > 0;
        }
}

static pl_status make_bodies(const pl_build *b, pl_contact_bodies *t)
{
    pl_contact_trees *trees = NULL;
    t->check = b->scene->contact.check;
    pl_status status = make_surface(b, &t->surface);
    if (status == PL_OK && !make_tables(b, t))
        status = PL_NO_MEMORY;
    if (status == PL_OK)
        status = pl_contact_trees_create(t->surface, &trees);
    if (status == PL_OK) {
        ignore_inverted(b, t);
        status = fit_to_rest(b, t, trees);
    }
    if (status == PL_OK)
        status = pl_contact_overlaps_mark(trees, b->model->x0, t->count, t->ignore);
    pl_contact_trees_destroy(trees);
    if (status == PL_OK || status == PL_FAILED)
        bound_distances(t);
    /* Positions that are not finite fail later, in a step, with a better message. */
    return status == PL_FAILED ? PL_OK : status;
}

pl_status pl_build_touching(pl_build *b)
{
    if (!b->scene->contact.enabled)
        return PL_OK;
    pl_contact_bodies *t = b->model->touching = calloc(1, sizeof *t);
    if (!t)
        return PL_NO_MEMORY;
    pl_status status = make_bodies(b, t);
    if (status == PL_OK && !(t->least < INFINITY)) { /* nothing may touch */
        pl_contact_bodies_destroy(t);
        b->model->touching = NULL;
    }
    return status;
}
