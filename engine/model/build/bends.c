#include "engine/model/build/bends.h"

#include "engine/model/groups/hinges.h"
#include "engine/model/build/sheets.h"

#include <stdlib.h>
#include <string.h>

bool pl_bend_is_hinge(const pl_material *m, pl_element_kind kind)
{
    return kind == PL_ELEMENT_TRIANGLE && m->bending.model == PL_BENDING_HINGE;
}

static pl_status bends_of_sheets(const pl_build *b, pl_bend **out, int64_t *count)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_TRIANGLE];
    pl_interior_edge *edges = NULL;
    int64_t edge_count = 0;
    pl_status status = pl_interior_edges(e->corner, e->count, &edges, &edge_count);
    if (status != PL_OK)
        return status;
    pl_bend *bends = malloc((size_t)(edge_count + 1) * sizeof *bends);
    *count = 0;
    for (int64_t i = 0; bends && i < edge_count; i++) {
        const int64_t t = edges[i].triangle[0];
        const pl_material *m = &b->scene->materials[e->material[t]];
        if (!m->bending.present)
            continue;
        pl_bend *bend = &bends[(*count)++];
        *bend = (pl_bend){.corners = 4, .element = t};
        memcpy(bend->corner, edges[i].corner, sizeof bend->corner);
        bend->rigidity = e->stiffness[t] *
                         pl_plate_stiffness(m, b->materials[e->material[t]].linear);
        bend->k = pl_quadratic_bend(b->layout.rest, bend->corner, bend->rigidity, bend->shape);
        bend->per_q = pl_quadratic_bend(b->layout.rest, bend->corner, 1, bend->shape);
        if (!pl_bend_is_hinge(m, PL_ELEMENT_TRIANGLE))
            bend->rest = pl_link_length(b->layout.rest, bend->corner, bend->shape, 4);
    }
    free(edges);
    *out = bends;
    return bends ? PL_OK : PL_NO_MEMORY;
}

/* The two edges of a vertex with exactly two. */
typedef struct joint {
    int32_t count;
    int64_t edge[2];
} joint;

/* A rod bends where two edges meet. With tangents t1, t2 and mean length l, the curvature is |t2 - t1| / l, and B/2
 * times its square times l is k/2 |q|^2, with k = B / l and q = t2 - t1 at rest lengths: Bergou's quadratic bending
 * on a line. Vertices of one edge or of three are free hinges. A rod bent at rest keeps |q| which, unlike q, does
 * not change when the rod rotates. */
static pl_status bends_of_rods(const pl_build *b, pl_bend **out, int64_t *count)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_EDGE];
    joint *joints = calloc((size_t)b->model->vertices + 1, sizeof *joints);
    pl_bend *bends = malloc((size_t)(b->model->vertices + 1) * sizeof *bends);
    *count = 0;
    *out = bends;
    for (int64_t i = 0; joints && i < 2 * e->count; i++) {
        joint *j = &joints[e->corner[i]];
        if (j->count < 2)
            j->edge[j->count] = i / 2;
        j->count++;
    }
    for (int32_t v = 0; joints && bends && v < b->model->vertices; v++) {
        if (joints[v].count != 2)
            continue;
        int64_t p = joints[v].edge[0], q = joints[v].edge[1];
        const pl_material *m = &b->scene->materials[e->material[p]];
        if (!m->bending.present)
            continue;
        int32_t from = e->corner[2 * p] == v ? e->corner[2 * p + 1] : e->corner[2 * p];
        int32_t to = e->corner[2 * q] == v ? e->corner[2 * q + 1] : e->corner[2 * q];
        double l1 = e->measure[p], l2 = e->measure[q];
        double bend = pl_rod_stiffness(m, b->materials[e->material[p]].linear);
        double B = e->stiffness[p] * bend;
        pl_bend *r = &bends[(*count)++];
        *r = (pl_bend){.corners = 3,
                       .corner = {v, from, to},
                       .shape = {-(1 / l1 + 1 / l2), 1 / l1, 1 / l2},
                       .k = 2 * B / (l1 + l2),
                       .rigidity = B,
                       .per_q = 2 / (l1 + l2),
                       .element = p};
        r->rest = pl_link_length(b->layout.rest, r->corner, r->shape, 3);
    }
    const bool good = joints && bends;
    free(joints);
    if (!good) {
        free(bends);
        *out = NULL;
    }
    return good ? PL_OK : PL_NO_MEMORY;
}

pl_status pl_bends(const pl_build *b, pl_element_kind kind, pl_bend **out, int64_t *count)
{
    *out = NULL;
    return kind == PL_ELEMENT_TRIANGLE ? bends_of_sheets(b, out, count)
                                       : bends_of_rods(b, out, count);
}

bool pl_fiber(const pl_build *b, pl_element_kind kind, int64_t t, double along[4], double *volume)
{
    const pl_elements *e = &b->layout.elements[kind];
    const pl_material *m = &b->scene->materials[e->material[t]];
    const int32_t *corner = e->corner + e->corners * t, columns = e->corners - 1;
    if (!m->fibers.present)
        return false;
    const double *d = e->fiber ? e->fiber[t] : m->fibers.direction;
    if (d[0] == 0 && d[1] == 0 && d[2] == 0)
        return false;
    double shape[12];
    *volume = e->measure[t];
    if (kind == PL_ELEMENT_TET) {
        pl_tet_shape(b->layout.rest, corner, shape);
    } else {
        pl_triangle_shape(b->layout.rest, corner, d, shape);
        *volume *= m->thickness;
    }
    for (int32_t c = 0; c < 4; c++)
        along[c] = 0;
    for (int32_t c = 0; c < e->corners; c++)
        for (int32_t j = 0; j < columns; j++)
            along[c] += shape[c * columns + j] * (columns == 3 ? d[j] : j == 0);
    return true;
}
