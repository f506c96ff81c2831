#include "server/worker/overlap_warnings.h"

#include "engine/scene/carries.h"
#include "engine/scene/contact_between.h"
#include "engine/step/pliant.h"
#include "engine/vectors.h"
#include "server/worker/placed_body.h"
#include "server/worker/separation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS_MAX = 20000 }; /* most pairs of bodies that are checked */
/* Share of a body's size by which its vertices are moved inwards, so that touching bodies do not overlap. */
static const double DRAWN_IN = 1e-4;
static const double ON =
    1e-9; /* barycentric tolerance: a point on a shared face is in both tetrahedra */

/* Duration assumed for a run without end, s. */
static const double ENDLESS = 10;

static bool is_pinned(const pl_scene *scene, const pl_body *body)
{
    bool pinned = false;
    for (int32_t k = 0; k < scene->pin_count; k++)
        pinned = pinned || &scene->bodies[scene->pins[k].body] == body;
    return pinned;
}

static bool boxes_meet(const double alo[3], const double ahi[3], const double blo[3],
                       const double bhi[3])
{
    bool meet = true;
    for (int c = 0; c < 3; c++)
        meet = meet && alo[c] < bhi[c] && blo[c] < ahi[c];
    return meet;
}

/* ---- overlap at the start ---- */

/* True if a point is in a tetrahedron, or on its surface. */
static bool in_tet(const double *x, const int32_t *tet, const double p[3])
{
    double e[3][3], d[3], n[3], weights[3];
    const double *a = x + 3 * (size_t)tet[0];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            e[k][c] = x[3 * (size_t)tet[k + 1] + (size_t)c] - a[c];
    for (int c = 0; c < 3; c++)
        d[c] = p[c] - a[c];
    pl_vector_cross(e[1], e[2], n);
    double det = pl_vector_dot(e[0], n);
    weights[0] = pl_vector_dot(d, n);
    pl_vector_cross(e[2], e[0], n);
    weights[1] = pl_vector_dot(d, n);
    pl_vector_cross(e[0], e[1], n);
    weights[2] = pl_vector_dot(d, n);
    double least = -ON * fabs(det), sum = 0;
    bool inside = det != 0;
    for (int k = 0; k < 3; k++) {
        double w = det < 0 ? -weights[k] : weights[k];
        inside = inside && w > least;
        sum += w;
    }
    return inside && fabs(det) - sum > least;
}

/* A vertex in a list sorted by x, so that a tetrahedron visits only those in its own range. */
typedef struct along {
    double x[3];
    int64_t vertex;
} along;

static int by_x(const void *a, const void *b)
{
    double p = ((const along *)a)->x[0], q = ((const along *)b)->x[0];
    return (p > q) - (p < q);
}

static int64_t first_from(const along *list, int64_t count, double x)
{
    int64_t lo = 0, hi = count;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (list[mid].x[0] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Count the vertices of a in the tetrahedra of b. */
static pl_status count_inside(const pl_placed_body *a, const pl_placed_body *b, int64_t *count)
{
    int64_t near = 0, vertices = a->mesh->vertex_count;
    *count = 0;
    along *list = malloc(((size_t)vertices + 1) * sizeof *list);
    bool *found = calloc((size_t)vertices + 1, sizeof *found);
    if (!list || !found) {
        free(list);
        free(found);
        return PL_NO_MEMORY;
    }
    for (int64_t i = 0; i < vertices; i++) {
        along v = {.vertex = i};
        for (int c = 0; c < 3; c++)
            v.x[c] = a->x[3 * i + c] + DRAWN_IN * (a->middle[c] - a->x[3 * i + c]);
        if (boxes_meet(v.x, v.x, b->lo, b->hi))
            list[near++] = v;
    }
    qsort(list, (size_t)near, sizeof *list, by_x);
    for (int64_t t = 0; near > 0 && t < b->mesh->tet_count; t++) {
        const int32_t *tet = b->mesh->tets + 4 * t;
        double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++) {
                double x = b->x[3 * (size_t)tet[k] + (size_t)c];
                lo[c] = fmin(lo[c], x);
                hi[c] = fmax(hi[c], x);
            }
        for (int64_t i = first_from(list, near, lo[0]); i < near && list[i].x[0] <= hi[0]; i++) {
            const double *p = list[i].x;
            if (!found[i] && p[1] >= lo[1] && p[1] <= hi[1] && p[2] >= lo[2] && p[2] <= hi[2] &&
                in_tet(b->x, tet, p)) {
                found[i] = true;
                ++*count;
            }
        }
    }
    free(list);
    free(found);
    return PL_OK;
}

/* ---- paths that cross ---- */

/* The box that a body sweeps if nothing stops it: by its velocity and, if it falls, by gravity. */
static void sweep(const pl_scene *scene, const pl_placed_body *p, bool falls, double lo[3],
                  double hi[3])
{
    double t = scene->time.duration > 0 ? scene->time.duration : ENDLESS;
    bool moves = !is_pinned(scene, p->body) && scene->time.integrator != PL_INTEGRATOR_QUASI_STATIC;
    for (int c = 0; c < 3; c++) {
        double v = p->body->initial.velocity[c], g = falls ? scene->gravity[c] : 0;
        double end = moves ? v * t + g * t * t / 2 : 0;
        /* A body thrown upwards turns back on the way. */
        bool turns = moves && v * g < 0 && fabs(v) < fabs(g) * t;
        double turn = turns ? v * v / (-2 * g) : 0;
        lo[c] = p->lo[c] + fmin(0, fmin(end, turn));
        hi[c] = p->hi[c] + fmax(0, fmax(end, turn));
    }
}

/* True if one body may reach the start of the other, or if both fall freely and may meet. */
static bool may_meet(const pl_scene *scene, const pl_placed_body *a, const pl_placed_body *b)
{
    double lo[3], hi[3];
    bool free_fall = !is_pinned(scene, a->body) && !is_pinned(scene, b->body) &&
                     scene->obstacle_count == 0;
    if (free_fall) { /* gravity moves both alike */
        double rlo[3], rhi[3];
        sweep(scene, a, false, lo, hi);
        sweep(scene, b, false, rlo, rhi);
        return boxes_meet(lo, hi, rlo, rhi);
    }
    sweep(scene, a, true, lo, hi);
    if (boxes_meet(lo, hi, b->lo, b->hi))
        return true;
    sweep(scene, b, true, lo, hi);
    return boxes_meet(lo, hi, a->lo, a->hi);
}

/* ---- contact between the two ---- */

/* True if the scene wants the two to touch: bodies that are attached, or that `pairs` keeps apart, may overlap. */
static bool should_touch(const pl_scene *scene, const pl_placed_body *a, const pl_placed_body *b)
{
    pl_scene with_contact = *scene;
    with_contact.contact.enabled = true;
    return pl_contact_between_bodies(&with_contact, (int32_t)(a->body - scene->bodies),
                                     (int32_t)(b->body - scene->bodies))
        .enabled;
}

static void describe_overlap(const pl_scene *scene, const pl_placed_body *a,
                             const pl_placed_body *b, int64_t in_b, int64_t in_a, char *out,
                             size_t size)
{
    const char *why = scene->contact.enabled ? "contact between them is off until they separate"
                                             : "contact is off";
    double move[3];
    bool swap = is_pinned(scene, b->body) && !is_pinned(scene, a->body);
    const pl_placed_body *moved = swap ? a : b;
    pl_bodies_separate(scene, swap ? b : a, moved, move);
    snprintf(out, size,
             "bodies '%.127s' and '%.127s' overlap at the start, with %lld and %lld vertices: %s; "
             "translate '%.127s' by [%.4g, %.4g, %.4g] m, or attach them",
             a->body->name, b->body->name, (long long)in_b, (long long)in_a, why, moved->body->name,
             move[0], move[1], move[2]);
}

static pl_status look_at_pair(const pl_scene *scene, const pl_placed_body *a,
                              const pl_placed_body *b, pl_warnings *out)
{
    char text[768];
    int64_t in_b = 0, in_a = 0;
    pl_status status = PL_OK;
    if (boxes_meet(a->lo, a->hi, b->lo, b->hi)) {
        status = count_inside(a, b, &in_b);
        if (status == PL_OK)
            status = count_inside(b, a, &in_a);
    }
    if (status != PL_OK)
        return status;
    if (in_a + in_b > 0) {
        describe_overlap(scene, a, b, in_b, in_a, text, sizeof text);
    } else if (!scene->contact.enabled && may_meet(scene, a, b)) {
        snprintf(text, sizeof text,
                 "bodies '%.127s' and '%.127s' may meet, and would pass through each other: "
                 "contact is off; turn it on, make one an obstacle, or attach them",
                 a->body->name, b->body->name);
    } else {
        return PL_OK;
    }
    return pl_warnings_add(out, PL_WARNING_OVERLAP, 2, scene->body_count, text);
}

/* ---- too near at the start ---- */

static void describe_close(const pl_scene *scene, const pl_close_start *pair, char *out,
                           size_t size)
{
    const char *name[] = {scene->bodies[pair->body[0]].name, scene->bodies[pair->body[1]].name};
    int n = snprintf(out, size,
                     "bodies '%.127s' and '%.127s' begin %.3g m apart, at vertex %d and vertex %d, "
                     "and contact keeps %.3g m: they are pushed apart in the first steps; ",
                     name[0], name[1], pair->gap, pair->vertex[0], pair->vertex[1], pair->kept);
    if (n < 0 || (size_t)n >= size)
        return;
    if (pair->moved >= 0)
        snprintf(out + n, size - (size_t)n, "translate '%.127s' by [%.4g, %.4g, %.4g] m",
                 scene->bodies[pair->moved].name, pair->move[0], pair->move[1], pair->move[2]);
    else
        snprintf(out + n, size - (size_t)n,
                 "move them apart, or use a contact.thickness of %.3g m or less", pair->gap);
}

static pl_status find_close(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out)
{
    char text[768];
    int64_t count;
    pl_close_start *pairs;
    pl_status status = pl_scene_close_starts(scene, meshes, &pairs, &count);
    for (int64_t i = 0; status == PL_OK && i < count && i < PL_WARNINGS_MAX; i++) {
        describe_close(scene, &pairs[i], text, sizeof text);
        status = pl_warnings_add(out, PL_WARNING_CLOSE_START, 2, scene->body_count, text);
    }
    free(pairs);
    return status;
}

pl_status pl_overlap_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out)
{
    pl_status status = PL_OK;
    int32_t count = 0;
    int64_t pairs = 0;
    pl_placed_body *bodies = calloc((size_t)scene->body_count + 1, sizeof *bodies);
    if (!bodies)
        return PL_NO_MEMORY;
    for (int32_t b = 0; status == PL_OK && scene->body_count > 1 && b < scene->body_count; b++)
        if (scene->bodies[b].initial.shape == PL_SHAPE_REST)
            status = pl_placed_body_init(&bodies[count++], &scene->bodies[b], &meshes[b]);
    for (int32_t a = 0; status == PL_OK && a < count; a++)
        for (int32_t b = a + 1; status == PL_OK && b < count && pairs < PAIRS_MAX; b++, pairs++)
            if (should_touch(scene, &bodies[a], &bodies[b]))
                status = look_at_pair(scene, &bodies[a], &bodies[b], out);
    for (int32_t b = 0; b < count; b++)
        pl_placed_body_clear(&bodies[b]);
    free(bodies);
    return status == PL_OK ? find_close(scene, meshes, out) : status;
}
