/* Term groups of triangles: membranes of every material, strain limits, and bends over their interior edges. Also
 * limits of tetrahedra. */
#include "engine/model/build/bends.h"
#include "engine/model/build/build.h"
#include "engine/model/matrix.h"
#include "engine/model/groups/hinges.h"
#include "engine/model/groups/isa.h"
#include "engine/model/build/sheets.h"
#include "engine/model/groups/terms.h"
#include "engine/scene/carries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a hard term: this multiple of the stiffness that holds its corners without it, distributed over D^T D
 * so that both halves of a z-step have similar curvature (Narain 2016, section 5), plus the load on them. The
 * scaled dual is a share of the term's own length where w^2 |q| is the force, which for a rope comes only from
 * gravity. Iterations of a rope of 12 edges in steps of 10, 1 and 0.1 s, with a factor on diag(A) alone: 1: none in
 * 4000, 182, 82; 16: 176, 63, 57; 256: 71, 34, 544; 4096: 30, 166, none. The best is m (2 / h^2 + 2 g / l) in each.
 *
 * Sheets that may not stretch, whose elasticity shares the load, need less. Iterations per step to 1e-3, with 0.2,
 * 0.3, 0.5 and 2: a cloth that falls over a ball 342, 444, 624, 1241; a hanging one that may stretch by a fiftieth
 * 51, 48, 45, 46, and by columns 19, 20, 24, 60. With 0.1, and obstacles as light as build_contacts.c has them, the
 * first takes 178 and every frame converges. If sheets may not shrink either, which is not a convex set, light
 * weights do not converge: for a flag within a twentieth, in 47, 13, 6 and 0 of 120 steps. Ropes of 60 edges: 203,
 * -, 53, 36. Tetrahedra: bars of 1e5 and 1e7 Pa 436 and 70, -, 203 and 136, 138 and 215. */
static const double HARD_WEIGHT = 2, SHEET_LIMIT_WEIGHT = 0.1;

/* The same for a held term, whose weight is its penalty (held_links.c). 64 kg on a rope of 10 g, in steps of 5 ms,
 * in Newton's iterations for 40 steps: with 2, 435 if the rope has 100 edges, and 39 steps that do not converge if
 * it has 300; with 16, 482 and 534; with 128, 691 and 513; with 512, 853 and 582. With 1,000 edges, only 512
 * converges. A bridge, a chain and a free rope take the same with each. */
static const double HELD_WEIGHT = 128;

typedef struct hold {
    const double *mass, *stiffness; /* [vertices]: kg; diag(A) without hard terms, N/m */
    double gravity;                 /* m/s^2 */
} hold;

static double hold_of(const hold *h, const pl_term *term, int32_t columns, double length)
{
    double sum = 0, square = 0;
    for (int32_t c = 0; c < term->corners; c++) {
        double a2 = 0;
        for (int32_t j = 0; j < columns; j++)
            a2 += term->shape[c * columns + j] * term->shape[c * columns + j];
        square += a2;
        sum += h->stiffness[term->corner[c]] +
               h->mass[term->corner[c]] * h->gravity * sqrt(a2) / length;
    }
    return sum / square;
}

static const pl_material *material_of(const pl_build *b, const pl_elements *e, int64_t t)
{
    return &b->scene->materials[e->material[t]];
}

/* ---- membranes ---- */

static pl_status add_membranes(pl_build *b, int32_t leader)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_TRIANGLE];
    const pl_stretch_ops *stretch = pl_stretch_ops_of(b->scene->materials[leader].model);
    static const double X[3] = {1, 0, 0};
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(PL_TERMS_TRIANGLES), 1 + stretch->constants);
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        if (!pl_build_shares_group(b, e->material[t], leader))
            continue;
        const pl_material_numbers *numbers = &b->materials[e->material[t]];
        double volume = e->stiffness[t] * e->measure[t] * material_of(b, e, t)->thickness;
        double shape[6];
        double constants[1 + PL_STRETCH_CONSTANTS_MAX] = {volume};
        memcpy(constants + 1, numbers->constants, sizeof numbers->constants);
        pl_triangle_shape(b->layout.rest, e->corner + 3 * t, X, shape);
        const pl_term term = {.corners = 3,
                              .corner = e->corner + 3 * t,
                              .shape = shape,
                              .constant = constants,
                              .weight = volume * pl_material_weight(numbers, &b->scene->solver),
                              .element = (int32_t)t};
        status = pl_terms_list_add(&list, &term);
    }
    if (status == PL_OK)
        status = pl_build_add_terms(b, &list, stretch, b->materials[leader].shared);
    pl_terms_list_clear(&list);
    return status;
}

/* ---- bends ---- */

static pl_status add_bends(pl_build *b)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_TRIANGLE];
    pl_bend *bends;
    int64_t count, hinge_count = 0;
    pl_status status = pl_bends(b, PL_ELEMENT_TRIANGLE, &bends, &count);
    if (status != PL_OK)
        return status;
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(PL_TERMS_LINK_4), PL_LINK_CONSTANTS);
    pl_hinge *hinges = malloc((size_t)(count + 1) * sizeof *hinges);
    status = hinges ? PL_OK : PL_NO_MEMORY;
    for (int64_t i = 0; status == PL_OK && i < count; i++) {
        const pl_bend *bend = &bends[i];
        if (pl_bend_is_hinge(material_of(b, e, bend->element), PL_ELEMENT_TRIANGLE)) {
            pl_hinge *h = &hinges[hinge_count++];
            memcpy(h->corner, bend->corner, sizeof h->corner);
            h->stiffness = bend->rigidity;
            continue;
        }
        const pl_term term = {.corners = 4,
                              .corner = bend->corner,
                              .shape = bend->shape,
                              .constant = (double[]){bend->k, bend->rest, bend->rest, 0},
                              .weight = pl_link_weight(&b->scene->solver, bend->k)};
        status = pl_terms_list_add(&list, &term);
    }
    if (status == PL_OK)
        status = pl_build_add_terms(b, &list, NULL, NULL);
    pl_group group;
    if (status == PL_OK && hinge_count > 0) {
        status = pl_hinges_create(b->layout.rest, hinges, hinge_count,
                                  pl_link_weight(&b->scene->solver, 1), &group);
        if (status == PL_OK)
            status = pl_build_add_group(b, &group, -1);
    }
    pl_terms_list_clear(&list);
    free(hinges);
    free(bends);
    return status;
}

pl_status pl_build_sheets(pl_build *b)
{
    pl_status status = PL_OK;
    for (int32_t i = 0; status == PL_OK && i < b->scene->material_count; i++)
        if (pl_build_leads_group(b, i))
            status = add_membranes(b, i);
    return status == PL_OK ? add_bends(b) : status;
}

/* ---- strain limits ---- */

/* One term by singular values, or one per column: |F e_j| in [low, high]. */
static pl_status add_limit(pl_terms_list *by_values, pl_terms_list *by_columns,
                           const pl_strain_limit *limit, const hold *held, const int32_t *corner,
                           const double *shape, int32_t corners, int32_t columns)
{
    const bool light = corners == 3 && limit->low == 0;
    const double factor = light ? SHEET_LIMIT_WEIGHT : HARD_WEIGHT;
    pl_term term = {.corners = corners, .corner = corner, .shape = shape};
    if (limit->by == PL_LIMIT_SINGULAR_VALUES) {
        term.constant = (double[]){1, limit->low, limit->high};
        term.weight = factor * hold_of(held, &term, columns, limit->high);
        return pl_terms_list_add(by_values, &term);
    }
    pl_status status = PL_OK;
    for (int32_t j = 0; status == PL_OK && j < columns; j++) {
        double column[4];
        for (int32_t c = 0; c < corners; c++)
            column[c] = shape[c * columns + j];
        term.shape = column;
        term.constant = (double[]){INFINITY, limit->low, limit->high, 1};
        term.weight = factor * hold_of(held, &term, 1, limit->high);
        status = pl_terms_list_add(by_columns, &term);
    }
    return status;
}

static pl_status add_limits(pl_build *b, pl_element_kind kind, const hold *held)
{
    const pl_elements *e = &b->layout.elements[kind];
    bool tets = kind == PL_ELEMENT_TET;
    pl_terms_list by_values, by_columns;
    pl_terms_list_init(&by_values,
                       pl_terms_ops(tets ? PL_TERMS_TET_LIMITS : PL_TERMS_TRIANGLE_LIMITS),
                       PL_LIMIT_CONSTANTS);
    pl_terms_list_init(&by_columns, pl_terms_ops(PL_TERMS_HARD_LINK_4), PL_LINK_CONSTANTS);
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        const pl_strain_limit *limit = &material_of(b, e, t)->strain_limit;
        const int32_t *corner = e->corner + e->corners * t;
        double shape[12];
        if (!limit->present)
            continue;
        if (tets)
            pl_tet_shape(b->layout.rest, corner, shape);
        else
            pl_triangle_shape(b->layout.rest, corner, limit->direction, shape);
        status = add_limit(&by_values, &by_columns, limit, held, corner, shape, e->corners,
                           e->corners - 1);
    }
    if (status == PL_OK)
        status = pl_build_add_terms(b, &by_values, NULL, NULL);
    if (status == PL_OK)
        status = pl_build_add_terms(b, &by_columns, NULL, NULL);
    pl_terms_list_clear(&by_values);
    pl_terms_list_clear(&by_columns);
    return status;
}

/* Edges of fixed length, or limited to their length. */
static pl_status add_ropes(pl_build *b, const hold *held)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_EDGE];
    const bool hard = !pl_method_refuses(b->scene->solver.method, PL_TRAIT_HARD);
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(hard ? PL_TERMS_HARD_LINK_2 : PL_TERMS_HELD_LINK_2),
                       PL_LINK_CONSTANTS);
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        pl_inextensible kind = material_of(b, e, t)->inextensible;
        if (kind == PL_EXTENSIBLE)
            continue;
        static const double SHAPE[2] = {-1, 1};
        double l = e->measure[t];
        pl_term term = {
            .corners = 2,
            .corner = e->corner + 2 * t,
            .shape = SHAPE,
            .constant = (double[]){INFINITY, kind == PL_INEXTENSIBLE_ROPE ? 0 : l, l, 1 / l}};
        term.weight = (hard ? HARD_WEIGHT : HELD_WEIGHT) * hold_of(held, &term, 1, l);
        status = pl_terms_list_add(&list, &term);
    }
    if (status == PL_OK)
        status = pl_build_add_terms(b, &list, NULL, NULL);
    pl_terms_list_clear(&list);
    return status;
}

pl_status pl_build_limits(pl_build *b)
{
    double *stiffness = malloc((size_t)b->model->vertices * sizeof *stiffness);
    if (!stiffness)
        return PL_NO_MEMORY;
    pl_matrix_vertex_stiffness(b->model, stiffness);
    const double *g = b->scene->gravity;
    const hold held = {b->model->mass, stiffness, sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])};
    pl_status status = add_limits(b, PL_ELEMENT_TRIANGLE, &held);
    if (status == PL_OK)
        status = add_limits(b, PL_ELEMENT_TET, &held);
    if (status == PL_OK)
        status = add_ropes(b, &held);
    free(stiffness);
    return status;
}
