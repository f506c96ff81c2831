/* Term groups of links: springs along edges, bending of rods, fibres, attachments. */
#include "engine/model/build/bends.h"
#include "engine/model/build/build.h"
#include "engine/scene/motion.h"
#include "engine/model/build/nearest.h"
#include "engine/model/build/sheets.h"
#include "engine/model/groups/terms.h"
#include "engine/obstacles/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lists {
    pl_terms_list two, four, five; /* links of up to this many corners */
} lists;

static void init_lists(lists *l)
{
    pl_terms_list_init(&l->two, pl_terms_ops(PL_TERMS_LINK_2), PL_LINK_CONSTANTS);
    pl_terms_list_init(&l->four, pl_terms_ops(PL_TERMS_LINK_4), PL_LINK_CONSTANTS);
    pl_terms_list_init(&l->five, pl_terms_ops(PL_TERMS_LINK_5), PL_LINK_CONSTANTS);
}

static pl_status finish_lists(pl_build *b, lists *l, pl_status status)
{
    pl_terms_list *const all[] = {&l->two, &l->four, &l->five};
    for (int i = 0; i < 3; i++) {
        if (status == PL_OK)
            status = pl_build_add_terms(b, all[i], NULL, NULL);
        pl_terms_list_clear(all[i]);
    }
    return status;
}

static pl_status add(lists *l, const pl_term *term)
{
    return pl_terms_list_add(term->corners <= 2   ? &l->two
                             : term->corners <= 4 ? &l->four
                                                  : &l->five,
                             term);
}

/* k/2 (|x1 - x0| - l)^2 with k = E A / l for every edge that may change its length. */
static pl_status add_springs(pl_build *b, lists *l)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_EDGE];
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        const pl_material *m = &b->scene->materials[e->material[t]];
        if (m->inextensible != PL_EXTENSIBLE)
            continue;
        double rest = e->measure[t];
        double young = b->materials[e->material[t]].linear.young;
        double k = e->stiffness[t] * young * m->area / rest;
        const pl_term term = {.corners = 2,
                              .corner = e->corner + 2 * t,
                              .shape = (double[]){-1, 1},
                              .constant = (double[]){k, rest, rest, 1 / rest},
                              .weight = pl_link_weight(&b->scene->solver, k)};
        status = add(l, &term);
    }
    return status;
}

/* Bending of rods, at their joints. */
static pl_status add_rod_bends(pl_build *b, lists *l)
{
    pl_bend *bends;
    int64_t count;
    pl_status status = pl_bends(b, PL_ELEMENT_EDGE, &bends, &count);
    for (int64_t i = 0; status == PL_OK && i < count; i++) {
        const pl_bend *bend = &bends[i];
        const pl_term term = {.corners = 3,
                              .corner = bend->corner,
                              .shape = bend->shape,
                              .constant = (double[]){bend->k, bend->rest, bend->rest, 0},
                              .weight = pl_link_weight(&b->scene->solver, bend->k)};
        status = add(l, &term);
    }
    free(bends);
    return status;
}

/* kappa V / 2 (|F d| - 1)^2 for every tetrahedron and triangle with a fibre. */
static pl_status add_fibers(pl_build *b, lists *l, pl_element_kind kind)
{
    const pl_elements *e = &b->layout.elements[kind];
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        double along[4], volume;
        if (!pl_fiber(b, kind, t, along, &volume))
            continue;
        double k = e->stiffness[t] * b->scene->materials[e->material[t]].fibers.stiffness * volume;
        const pl_term term = {.corners = e->corners,
                              .corner = e->corner + e->corners * t,
                              .shape = along,
                              .constant = (double[]){k, 1, 1, 1},
                              .weight = pl_link_weight(&b->scene->solver, k)};
        status = add(l, &term);
    }
    return status;
}

/* Target of an attachment for the vertex at x: the nearest point of the surface out of which an obstacle's contacts
 * hold it, or the place named in the scene, each in the frame of the obstacle's motion. */
static void find_place(const pl_attachment *a, const pl_shape *shape, const pl_motion *motion,
                       const double *x, double place[3])
{
    const pl_pose pose = pl_motion_pose(motion, 0);
    double own[3], n[3];
    pl_pose_invert(&pose, a->has_point ? a->point : x, own);
    double distance = a->has_point ? 0 : pl_shape_distance_held(shape, own, n);
    for (int c = 0; c < 3; c++)
        place[c] = a->has_point ? own[c] : own[c] - distance * n[c];
}

static pl_status add_attachments_to_obstacle(pl_build *b, lists *l, int32_t i)
{
    const pl_attachment *a = &b->scene->attachments[i];
    const pl_pin_vertices *from = &b->layout.attached[i];
    pl_shape *shape;
    pl_status status = pl_shape_create(&b->scene->obstacles[a->obstacle], &shape);
    if (status != PL_OK)
        return status;
    const pl_motion motion = pl_obstacle_motion(&b->scene->obstacles[a->obstacle], shape);
    for (int64_t k = 0; status == PL_OK && k < from->count; k++) {
        double place[3];
        find_place(a, shape, &motion, b->layout.rest + 3 * (int64_t)from->vertex[k], place);
        const pl_term term = {.corners = 1,
                              .corner = &from->vertex[k],
                              .shape = (double[]){1},
                              .offset = place,
                              .motion = &motion, /* by a control, if not by the scene */
                              .constant = (double[]){a->stiffness, 0, 0, 0},
                              .weight = pl_link_weight(&b->scene->solver, a->stiffness)};
        status = add(l, &term);
    }
    pl_shape_destroy(shape);
    return status;
}

/* k/2 |x_a - p|^2 with p a fixed place or sum_c w_c x_c, the point of another body that is nearest at rest. */
static pl_status add_attachments(pl_build *b, lists *l)
{
    pl_status status = PL_OK;
    for (int32_t i = 0; status == PL_OK && i < b->scene->attachment_count; i++) {
        const pl_attachment *a = &b->scene->attachments[i];
        const pl_pin_vertices *from = &b->layout.attached[i];
        if (a->has_obstacle) {
            status = add_attachments_to_obstacle(b, l, i);
            continue;
        }
        for (int64_t k = 0; status == PL_OK && k < from->count; k++) {
            const double *x = b->layout.rest + 3 * (int64_t)from->vertex[k];
            pl_nearest near = {0};
            if (!a->has_point)
                near = pl_nearest_of_body(&b->layout, a->to, x);
            int32_t corner[5] = {from->vertex[k]};
            double shape[5] = {1};
            for (int32_t c = 0; c < near.corners; c++) {
                corner[1 + c] = near.corner[c];
                shape[1 + c] = -near.weight[c];
            }
            const pl_term term = {.corners = 1 + near.corners,
                                  .corner = corner,
                                  .shape = shape,
                                  .offset = a->has_point ? a->point : NULL,
                                  .constant = (double[]){a->stiffness, 0, 0, 0},
                                  .weight = pl_link_weight(&b->scene->solver, a->stiffness)};
            status = add(l, &term);
        }
    }
    return status;
}

pl_status pl_build_links(pl_build *b)
{
    lists l;
    init_lists(&l);
    pl_status status = add_springs(b, &l);
    status = status == PL_OK ? add_rod_bends(b, &l) : status;
    status = status == PL_OK ? add_fibers(b, &l, PL_ELEMENT_TET) : status;
    status = status == PL_OK ? add_fibers(b, &l, PL_ELEMENT_TRIANGLE) : status;
    status = status == PL_OK ? add_attachments(b, &l) : status;
    return finish_lists(b, &l, status);
}
