/* Term groups of links: springs along edges, bending of rods, fibres, attachments. */
#include "engine/model/build.h"
#include "engine/motion.h"
#include "engine/model/nearest.h"
#include "engine/model/sheets.h"
#include "engine/model/terms.h"
#include "engine/obstacles/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lists {
    pl_terms_list two, four, five; /* links of up to so many corners */
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

/* The two edges of a vertex that has two. */
typedef struct joint {
    int32_t count;
    int64_t edge[2];
} joint;

/* A rod bends where two edges meet: with tangents t1, t2 and mean length l the curvature is
 * |t2 - t1| / l, and B/2 times its square over l is k/2 |q|^2, k = B / l, q = t2 - t1 at rest
 * lengths: Bergou's quadratic bending on a line. Vertices of one edge or of three are free hinges.
 * A rod that is bent at rest keeps |q|, which unlike q turns with it. */
static pl_status add_rod_bends(pl_build *b, lists *l)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_EDGE];
    joint *joints = calloc((size_t)b->model->vertices + 1, sizeof *joints);
    if (!joints)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < 2 * e->count; i++) {
        joint *j = &joints[e->corner[i]];
        if (j->count < 2)
            j->edge[j->count] = i / 2;
        j->count++;
    }
    pl_status status = PL_OK;
    for (int32_t v = 0; status == PL_OK && v < b->model->vertices; v++) {
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
        double B = e->stiffness[p] * bend, k = 2 * B / (l1 + l2);
        const int32_t corner[3] = {v, from, to};
        const double shape[3] = {-(1 / l1 + 1 / l2), 1 / l1, 1 / l2};
        double rest = pl_link_length(b->layout.rest, corner, shape, 3);
        const pl_term term = {.corners = 3,
                              .corner = corner,
                              .shape = shape,
                              .constant = (double[]){k, rest, rest, 0},
                              .weight = pl_link_weight(&b->scene->solver, k)};
        status = add(l, &term);
    }
    free(joints);
    return status;
}

/* kappa V / 2 (|F d| - 1)^2 of every tetrahedron and triangle whose material has fibres (Liu 2017,
 * section 4.4); d is laid into the plane of a triangle. */
static pl_status add_fibers(pl_build *b, lists *l, pl_element_kind kind)
{
    const pl_elements *e = &b->layout.elements[kind];
    int32_t columns = e->corners - 1;
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        const pl_material *m = &b->scene->materials[e->material[t]];
        const int32_t *corner = e->corner + e->corners * t;
        if (!m->fibers.present)
            continue;
        const double *d = e->fiber ? e->fiber[t] : m->fibers.direction;
        if (d[0] == 0 && d[1] == 0 && d[2] == 0)
            continue;
        double shape[12], along[4] = {0}, volume = e->measure[t];
        if (kind == PL_ELEMENT_TET) {
            pl_tet_shape(b->layout.rest, corner, shape);
        } else {
            pl_triangle_shape(b->layout.rest, corner, d, shape);
            volume *= m->thickness;
        }
        for (int32_t c = 0; c < e->corners; c++)
            for (int32_t j = 0; j < columns; j++)
                along[c] += shape[c * columns + j] * (columns == 3 ? d[j] : j == 0);
        double k = e->stiffness[t] * m->fibers.stiffness * volume;
        const pl_term term = {.corners = e->corners,
                              .corner = corner,
                              .shape = along,
                              .constant = (double[]){k, 1, 1, 1},
                              .weight = pl_link_weight(&b->scene->solver, k)};
        status = add(l, &term);
    }
    return status;
}

/* Where an attachment draws the vertex that is at x: the nearest point of an obstacle's surface, or the
 * place that the scene names, each in the frame of the obstacle's motion. */
static void find_place(const pl_attachment *a, const pl_shape *shape, const pl_motion *motion,
                       const double *x, double place[3])
{
    const pl_pose pose = pl_motion_pose(motion, 0);
    double own[3], n[3];
    pl_pose_invert(&pose, a->has_point ? a->point : x, own);
    double distance = a->has_point ? 0 : pl_shape_distance(shape, own, n);
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

/* k/2 |x_a - p|^2 with p a place of the world or sum_c w_c x_c, the point of another body that is
 * nearest at rest. */
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
