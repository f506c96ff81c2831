#include "engine/model/build/select.h"

#include "engine/model/build/tags.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bounding box of x, and its longest edge. */
static double bounds(const double *x, int64_t n, double lo[3], double hi[3])
{
    double longest = 0;
    for (int c = 0; c < 3; c++) {
        lo[c] = INFINITY;
        hi[c] = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            lo[c] = fmin(lo[c], x[3 * i + c]);
            hi[c] = fmax(hi[c], x[3 * i + c]);
        }
        longest = fmax(longest, hi[c] - lo[c]);
    }
    return longest;
}

/* A flat box has no extent to divide by: all relative coordinates are then 0. */
static double relative(double x, double lo, double hi)
{
    return hi > lo ? (x - lo) / (hi - lo) : 0;
}

static bool inside(const pl_selection *s, const double p[3], double tolerance)
{
    double d = 0;
    switch (s->kind) {
    case PL_SELECT_BOX:
        for (int c = 0; c < 3; c++)
            if (p[c] < s->lo[c] - tolerance || p[c] > s->hi[c] + tolerance)
                return false;
        return true;
    case PL_SELECT_SPHERE:
        for (int c = 0; c < 3; c++)
            d += (p[c] - s->center[c]) * (p[c] - s->center[c]);
        return sqrt(d) <= s->radius + tolerance;
    case PL_SELECT_PLANE:
        for (int c = 0; c < 3; c++)
            d += s->normal[c] * p[c];
        return d <= s->offset + tolerance;
    default:
        return true;
    }
}

/* Marks vertices by place. Rounding must not decide whether a grid's outermost layer belongs: coordinates are
 * compared with a slack of 1e-9 of the body's longest edge, sides with 1e-6. */
static void mark_region(const pl_selection *s, const double *x, int64_t n, unsigned char *mark)
{
    double lo[3], hi[3];
    double longest = bounds(x, n, lo, hi);
    for (int64_t i = 0; i < n; i++) {
        const double *p = x + 3 * i;
        if (s->kind == PL_SELECT_SIDE) {
            int a = s->side_axis;
            double gap = s->side_sign > 0 ? hi[a] - p[a] : p[a] - lo[a];
            mark[i] = gap <= 1e-6 * longest;
        } else if (s->relative && s->kind == PL_SELECT_SPHERE) {
            /* Distances are absolute; only the centre is relative to the box. */
            pl_selection placed = *s;
            placed.radius = s->radius * longest;
            for (int c = 0; c < 3; c++)
                placed.center[c] = lo[c] + s->center[c] * (hi[c] - lo[c]);
            mark[i] = inside(&placed, p, 1e-9 * longest);
        } else if (s->relative) {
            double q[3];
            for (int c = 0; c < 3; c++)
                q[c] = relative(p[c], lo[c], hi[c]);
            mark[i] = inside(s, q, 1e-9);
        } else {
            mark[i] = inside(s, p, 1e-9 * longest);
        }
    }
}

static void mark_indices(const pl_selection *s, int64_t n, const char *pointer, unsigned char *mark,
                         pl_faults *faults)
{
    for (int64_t i = 0; i < s->index_count; i++) {
        if (s->indices[i] >= 0 && s->indices[i] < n) {
            mark[s->indices[i]] = 1;
            continue;
        }
        char where[256], expected[64];
        snprintf(where, sizeof where, "%s/indices/%lld", pointer, (long long)i);
        snprintf(expected, sizeof expected, "0 to %lld", (long long)n - 1);
        pl_faults_addf(faults, where, "index_out_of_range", expected,
                       "indices are 0-based, in the order of the body's mesh", "%lld",
                       (long long)s->indices[i]);
    }
}

/* Marks the corners of the cells of one dimension whose group is `name`. */
static pl_status mark_cells(const pl_mesh *mesh, int32_t dimension, const char *name,
                            const int32_t *corner, int corners, const int32_t *tags, int64_t count,
                            unsigned char *mark)
{
    pl_tag_set set;
    if (!tags || count == 0)
        return PL_OK;
    pl_status status = pl_tag_set_create(mesh, dimension, name, &set);
    for (int64_t t = 0; status == PL_OK && t < count; t++)
        if (pl_tag_set_has(&set, tags[t]))
            for (int c = 0; c < corners; c++)
                mark[corner[corners * t + c]] = 1;
    pl_tag_set_destroy(&set);
    return status;
}

static pl_status mark_tag(const pl_selection *s, const pl_mesh *m, unsigned char *mark)
{
    const struct {
        int32_t dimension;
        int corners;
        const int32_t *corner, *tags;
        int64_t count;
    } kinds[] = {{3, 4, m->tets, m->tet_tags, m->tet_count},
                 {2, 3, m->triangles, m->triangle_tags, m->triangle_count},
                 {2, 3, m->faces, m->face_tags, m->face_count},
                 {1, 2, m->edges, m->edge_tags, m->edge_count},
                 {0, 1, m->points, m->point_tags, m->point_count}};
    pl_status status = PL_OK;
    for (size_t k = 0; status == PL_OK && k < sizeof kinds / sizeof *kinds; k++)
        status = mark_cells(m, kinds[k].dimension, s->tag, kinds[k].corner, kinds[k].corners,
                            kinds[k].tags, kinds[k].count, mark);
    return status;
}

/* Reports the selection and the body's position, so that they can be compared. */
static void fault_empty(const pl_selection *s, const pl_mesh *mesh, const double *x,
                        const char *pointer, pl_faults *faults)
{
    if (s->kind == PL_SELECT_TAG) {
        char known[400];
        pl_tag_names(mesh, known, sizeof known);
        char where[256];
        snprintf(where, sizeof where, "%s/tag", pointer);
        pl_faults_add(faults, where, "unknown_tag", s->tag, known,
                      "name a physical group of the mesh file, or its number");
        return;
    }
    double lo[3], hi[3];
    bounds(x, mesh->vertex_count, lo, hi);
    char expected[200];
    snprintf(
        expected, sizeof expected,
        "at least one vertex of the body, which spans [%.6g, %.6g, %.6g] to [%.6g, %.6g, %.6g]",
        lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
    pl_faults_add(faults, pointer, "empty_selection", "no vertex", expected,
                  "coordinates are of the body at rest, after its transform; "
                  "\"relative\": true makes them run from 0 to 1 over the body");
}

pl_status pl_select_vertices(const pl_selection *s, const pl_mesh *mesh, const double *x,
                             const char *pointer, int32_t **out, int64_t *count, pl_faults *faults)
{
    int64_t n = mesh->vertex_count;
    unsigned char *mark = calloc((size_t)n, 1);
    int32_t *list = malloc((size_t)n * sizeof *list);
    if (!mark || !list) {
        free(mark);
        free(list);
        return PL_NO_MEMORY;
    }
    size_t before = faults->total;
    pl_status status = PL_OK;
    if (s->kind == PL_SELECT_INDICES)
        mark_indices(s, n, pointer, mark, faults);
    else if (s->kind == PL_SELECT_TAG)
        status = mark_tag(s, mesh, mark);
    else
        mark_region(s, x, n, mark);

    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        if (mark[i])
            list[found++] = (int32_t)i;
    free(mark);
    if (status == PL_OK && found == 0 && faults->total == before)
        fault_empty(s, mesh, x, pointer, faults);
    if (status != PL_OK || faults->total > before) {
        free(list);
        return status != PL_OK ? status : PL_INVALID;
    }
    *out = list;
    *count = found;
    return PL_OK;
}
