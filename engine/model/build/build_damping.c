/* Term groups of dissipation (damping.h): for each material with dissipation, one group per kind of elements; and
 * groups of single vertices for damping proportional to mass and to surface. In statics nothing has a velocity, so
 * there is nothing to damp. */
#include "engine/scene/carries.h"
#include "engine/model/build/bends.h"
#include "engine/model/build/build.h"
#include "engine/model/damping/damping.h"
#include "engine/model/groups/hinges.h"
#include "engine/model/groups/isa.h"
#include "engine/model/build/sheets.h"
#include "engine/model/groups/terms.h"
#include "engine/vectors.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static_assert(PL_DAMPING_CONSTANTS >= 1 + PL_STRETCH_CONSTANTS_MAX, "a material's are in them");

/* ---- functions ---- */

/* Includes the integral of value(r) r from 0 to each point. */
static pl_damping_spline make_spline(const pl_damping_points *p)
{
    pl_damping_spline f = {.count = p->count};
    for (int32_t k = 0; k < p->count; k++) {
        f.at[k] = p->points[k][0];
        f.value[k] = p->points[k][1];
        if (k == 0) {
            f.area[0] = f.value[0] * f.at[0] * f.at[0] / 2;
            continue;
        }
        double a = (f.value[k] - f.value[k - 1]) / (f.at[k] - f.at[k - 1]);
        double c = f.value[k] - a * f.at[k], q = f.at[k - 1], r = f.at[k];
        f.area[k] = f.area[k - 1] + c * (r * r - q * q) / 2 + a * (r * r * r - q * q * q) / 3;
    }
    return f;
}

static pl_damping make(const pl_build *b, const pl_material *material)
{
    const pl_material_damping *m = &material->damping;
    /* The others are independent of rotation as they are. */
    const bool corrects = m->model == PL_DAMPING_STRAIN_RATE || m->model == PL_DAMPING_VISCOUS ||
                          m->model == PL_DAMPING_RAYLEIGH || m->model == PL_DAMPING_RAYLEIGH_LAGGED;
    const bool second = pl_damping_is_second_order(b->scene, material);
    /* Rayleigh's function of second order is the lagged one (damping_stiffness.h). */
    const bool lagged = second && m->model == PL_DAMPING_RAYLEIGH;
    return (pl_damping){.model = lagged ? PL_DAMPING_RAYLEIGH_LAGGED : m->model,
                        .by = (pl_dissipation)m->model,
                        .momentum = corrects ? m->momentum : PL_MOMENTUM_NONE,
                        .second_order = second,
                        .shear = m->viscosity,
                        .bulk = m->bulk_viscosity,
                        .beta = m->beta,
                        .power = m->power,
                        .coefficient = m->coefficient,
                        .smoothing = m->smoothing,
                        .strain = make_spline(&m->strain_spline),
                        .rate = make_spline(&m->rate_spline)};
}

/* The largest value of a spline, or 1. */
static double most_of(const pl_damping_spline *f)
{
    double most = f->count ? f->value[0] : 1;
    for (int32_t k = 1; k < f->count; k++)
        most = fmax(most, f->value[k]);
    return most;
}

/* Stiffness k of the weights w^2 = k V of a function, Pa: its Hessian near rest, r = 1 / (a h). A function that
 * grows with a power of the rate gets its value at 1/s. k is at least a thousandth of the material's, because a
 * weight of zero takes no part in the matrix, and at most thirty times it. `elastic`: that of the element's own
 * energy. */
static double stiffness_of(const pl_damping *d, const pl_build *b, double elastic)
{
    const double r = 1 / (b->model->a * b->model->h);
    double k = 0;
    switch (d->model) {
    case PL_DAMPING_STRAIN_RATE:
        k = (2 * d->shear + d->bulk) * r;
        break;
    case PL_DAMPING_VISCOUS:
        k = d->shear * r;
        break;
    case PL_DAMPING_RAYLEIGH:
    case PL_DAMPING_RAYLEIGH_LAGGED:
    case PL_DAMPING_PRINCIPAL_STRAIN:
        k = d->beta * r * elastic;
        break;
    case PL_DAMPING_POWER_LAW:
        k = d->coefficient * (d->power + 1) * r;
        break;
    case PL_DAMPING_RATE_SPLINE:
        k = 2 * d->shear * most_of(&d->rate) * r;
        break;
    }
    return fmin(fmax(k * most_of(&d->strain), 1e-3 * elastic), 30 * elastic);
}

/* ---- elements ---- */

/* F = D x of an element as coefficients of its corners. */
static void shape_of(const pl_build *b, pl_element_kind kind, int64_t t, double shape[12])
{
    static const double X[3] = {1, 0, 0};
    const pl_elements *e = &b->layout.elements[kind];
    const int32_t *corner = e->corner + e->corners * t;
    if (kind == PL_ELEMENT_TET) {
        pl_tet_shape(b->layout.rest, corner, shape);
    } else if (kind == PL_ELEMENT_TRIANGLE) {
        pl_triangle_shape(b->layout.rest, corner, X, shape);
    } else {
        shape[0] = -1 / e->measure[t];
        shape[1] = 1 / e->measure[t];
    }
}

/* m^3 of rest volume. */
static double volume_of(const pl_material *m, const pl_elements *e, pl_element_kind kind, int64_t t)
{
    const double across = kind == PL_ELEMENT_TRIANGLE ? m->thickness
                          : kind == PL_ELEMENT_EDGE   ? m->area
                                                      : 1;
    return e->stiffness[t] * e->measure[t] * across;
}

static pl_status finish(pl_build *b, pl_terms_list *list, const pl_damping *d, int32_t material)
{
    pl_group group;
    if (list->count == 0)
        return PL_OK;
    const pl_stretch_ops *stretch = pl_stretch_ops_of(b->scene->materials[material].model);
    pl_status status = pl_terms_create(list, stretch, b->materials[material].shared, &group);
    if (status == PL_OK)
        status = pl_damping_attach(&group, d);
    return status == PL_OK ? pl_build_add_group(b, &group, -1) : status;
}

/* A device has one table for all functions, which does not report how concave they are. */
static const pl_group_ops *ops_of(const pl_build *b, const pl_damping *d, int32_t corners)
{
    if (corners == 4 && b->scene->solver.device != PL_DEVICE_CPU)
        return pl_terms_ops(PL_TERMS_DAMPING_TETS);
    return pl_damping_ops(d, corners);
}

/* Element t, with constants[PL_DAMPING_VOLUME] and weight k per volume. */
static pl_status add_element(pl_terms_list *list, const pl_elements *e, int64_t t,
                             const double *shape, const double *constants, double k)
{
    const pl_term term = {.corners = e->corners,
                          .corner = e->corner + e->corners * t,
                          .shape = shape,
                          .constant = constants,
                          .weight = k * constants[PL_DAMPING_VOLUME],
                          .element = (int32_t)t};
    return pl_terms_list_add(list, &term);
}

static pl_status add_elements(pl_build *b, int32_t material, pl_element_kind kind)
{
    const pl_elements *e = &b->layout.elements[kind];
    const pl_material *m = &b->scene->materials[material];
    const pl_material_numbers *numbers = &b->materials[material];
    pl_damping d = make(b, m);
    d.merged = kind == PL_ELEMENT_TET && pl_damping_is_merged(b->scene, m);
    const double elastic = pl_material_weight(numbers, &b->scene->solver);
    const double k = stiffness_of(&d, b, elastic) + (d.merged ? elastic : 0);
    double constants[PL_DAMPING_CONSTANTS] = {0};
    memcpy(constants + 1, numbers->constants, sizeof numbers->constants);
    if (kind == PL_ELEMENT_EDGE) {
        constants[PL_DAMPING_YOUNG] = numbers->linear.young;
        constants[PL_DAMPING_REST] = constants[PL_DAMPING_STRAIN] = 1;
        if (m->inextensible != PL_EXTENSIBLE && pl_damping_is_stiffness(d.model))
            return PL_OK; /* holding a length is not a stiffness */
    }
    pl_terms_list list;
    pl_terms_list_init(&list, ops_of(b, &d, e->corners), PL_DAMPING_CONSTANTS);
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        double shape[12];
        if (e->material[t] != material)
            continue;
        shape_of(b, kind, t, shape);
        constants[PL_DAMPING_VOLUME] = volume_of(m, e, kind, t);
        status = add_element(&list, e, t, shape, constants, k);
    }
    if (status == PL_OK)
        status = finish(b, &list, &d, material);
    pl_terms_list_clear(&list);
    return status;
}

/* ---- bending and fibres ---- */
/* In a sheet of thickness t, or a round rod of radius a, with curvature c, the strain at a distance z from the
 * middle is z c. Functions of the rate depend on the strain at the surface, t/2 c or a c, summed through the
 * thickness: over it, |z c|^(p + 1) has the mean `share` of its surface value, with p = 1 except for powers. So a
 * sheet resists bending like a layer of its material whose sides are strained, and psi and phi relate to its
 * rigidity t^3/12 (2 psi + phi) as mu and lambda do. Functions by stiffness use the stiffness of the bending
 * itself, k/2 |q|^2 = V E/2 strain^2. F is q over the edge's length, roughly an angle, so that it is neither very
 * small nor very large. */

static double share_of(const pl_damping *d, bool rod)
{
    const double p = d->model == PL_DAMPING_POWER_LAW ? d->power : 1;
    return rod ? 2 * tgamma(p / 2 + 1) / (sqrt(M_PI) * (p + 3) * tgamma((p + 3) / 2)) : 1 / (p + 2);
}

/* For a bend, the strain is 0 at rest and has one dimension, so its rate is that of F. Rayleigh's damping of a
 * hinge uses the stiffness of its angle, which is constant. */
static pl_damping make_bend(const pl_build *b, const pl_material *m, bool hinge)
{
    pl_damping d = make(b, m);
    d.bends = true;
    d.momentum = PL_MOMENTUM_NONE;
    if (d.model == PL_DAMPING_STRAIN_RATE)
        d.shear = 2 * d.shear + d.bulk;
    if (hinge && pl_damping_is_stiffness(d.model))
        d.shear = d.beta;
    if (d.model == PL_DAMPING_STRAIN_RATE || (hinge && pl_damping_is_stiffness(d.model)))
        d.model = PL_DAMPING_VISCOUS;
    return d;
}

static pl_status add_bend(pl_terms_list *list, const pl_build *b, const pl_damping *d,
                          pl_element_kind kind, const pl_bend *bend)
{
    const pl_elements *e = &b->layout.elements[kind];
    const pl_material *m = &b->scene->materials[e->material[bend->element]];
    const bool rod = kind == PL_ELEMENT_EDGE, hinge = pl_bend_is_hinge(m, kind);
    const bool stiffness = pl_damping_is_stiffness(m->damping.model);
    const double surface = rod ? sqrt(m->area / M_PI) : m->thickness / 2;
    const double across = rod ? m->area : m->thickness;
    double length = 1, edge[3], gradient[12], shape[4]; /* for a rod, q is already an angle */
    if (!rod) {
        pl_vector_subtract(b->layout.rest + 3 * (int64_t)bend->corner[1],
                           b->layout.rest + 3 * (int64_t)bend->corner[0], edge);
        length = sqrt(pl_vector_dot(edge, edge));
    }
    for (int32_t c = 0; c < bend->corners; c++)
        shape[c] = bend->shape[c] / length;
    const double strain = surface * bend->per_q * length;
    double volume = across / bend->per_q,
           E = bend->k * length * length / (volume * strain * strain);
    volume *= stiffness ? 1 : e->stiffness[bend->element] * share_of(d, rod);
    if (hinge && stiffness) { /* viscous: beta, which does not need E */
        volume *= E;
        E = 1;
    }
    if (!(volume > 0) || (stiffness && !(E > 0)))
        return PL_OK;
    const double constants[PL_DAMPING_CONSTANTS] = {
        volume, E, bend->rest / length, strain,
        hinge ? pl_dihedral(b->layout.rest, bend->corner, gradient) : 0};
    const double k = stiffness_of(d, b, pl_link_weight(&b->scene->solver, E));
    const pl_term term = {.corners = bend->corners,
                          .corner = bend->corner,
                          .shape = shape,
                          .constant = constants,
                          .weight = k * volume * strain * strain,
                          .element = (int32_t)bend->element};
    return pl_terms_list_add(list, &term);
}

static pl_status add_bends(pl_build *b, int32_t material, pl_element_kind kind)
{
    const pl_material *m = &b->scene->materials[material];
    const bool hinge = pl_bend_is_hinge(m, kind);
    const pl_damping d = make_bend(b, m, hinge);
    pl_bend *bends;
    int64_t count;
    pl_status status = pl_bends(b, kind, &bends, &count);
    pl_terms_list list;
    pl_terms_list_init(&list,
                       pl_terms_ops(hinge ? PL_TERMS_DAMPING_HINGES : PL_TERMS_DAMPING_BENDS),
                       PL_DAMPING_CONSTANTS);
    for (int64_t i = 0; status == PL_OK && i < count; i++)
        if (b->layout.elements[kind].material[bends[i].element] == material)
            status = add_bend(&list, b, &d, kind, &bends[i]);
    if (status == PL_OK)
        status = finish(b, &list, &d, material);
    pl_terms_list_clear(&list);
    free(bends);
    return status;
}

/* Fibres add stiffness to their elements and no volume; functions of the rate already cover their elements. */
static pl_status add_fibers(pl_build *b, int32_t material, pl_element_kind kind)
{
    const pl_elements *e = &b->layout.elements[kind];
    const pl_material *m = &b->scene->materials[material];
    const pl_damping d = make(b, m);
    const double E = m->fibers.stiffness;
    const double k = stiffness_of(&d, b, pl_link_weight(&b->scene->solver, E));
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(PL_TERMS_DAMPING_BENDS), PL_DAMPING_CONSTANTS);
    pl_status status = PL_OK;
    for (int64_t t = 0; status == PL_OK && t < e->count; t++) {
        double along[4], volume;
        if (e->material[t] != material || !pl_fiber(b, kind, t, along, &volume))
            continue;
        const double constants[PL_DAMPING_CONSTANTS] = {e->stiffness[t] * volume, E, 1, 1};
        status = add_element(&list, e, t, along, constants, k);
    }
    if (status == PL_OK)
        status = finish(b, &list, &d, material);
    pl_terms_list_clear(&list);
    return status;
}

/* Terms of a material's elements beside their own energy. */
static pl_status add_parts(pl_build *b, int32_t material)
{
    const pl_material *m = &b->scene->materials[material];
    const pl_damping_model model = m->damping.model;
    pl_status status = PL_OK;
    if (model == PL_DAMPING_PRINCIPAL_STRAIN)
        return PL_OK;
    if (m->bending.present)
        status = add_bends(b, material, PL_ELEMENT_TRIANGLE);
    if (status == PL_OK && m->bending.present)
        status = add_bends(b, material, PL_ELEMENT_EDGE);
    if (!m->fibers.present || !pl_damping_is_stiffness(model))
        return status;
    if (status == PL_OK)
        status = add_fibers(b, material, PL_ELEMENT_TET);
    return status == PL_OK ? add_fibers(b, material, PL_ELEMENT_TRIANGLE) : status;
}

/* ---- vertices ---- */

/* R = c/2 |v|^2 for every vertex, c in kg/s. */
static pl_status add_vertices(pl_build *b, const double *c, pl_dissipation by)
{
    static const double ONE[2] = {1, 0};
    const pl_damping d = {.model = PL_DAMPING_VISCOUS, .shear = 1, .by = by};
    const double r = 1 / (b->model->a * b->model->h);
    double constants[PL_DAMPING_CONSTANTS] = {[PL_DAMPING_STRAIN] = 1};
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(PL_TERMS_DAMPING_EDGES), PL_DAMPING_CONSTANTS);
    pl_status status = PL_OK;
    for (int32_t v = 0; status == PL_OK && v < b->model->vertices; v++) {
        if (c[v] <= 0)
            continue;
        constants[PL_DAMPING_VOLUME] = c[v];
        const pl_term term = {
            .corners = 1, .corner = &v, .shape = ONE, .constant = constants, .weight = c[v] * r};
        status = pl_terms_list_add(&list, &term);
    }
    if (status == PL_OK)
        status = finish(b, &list, &d, 0);
    pl_terms_list_clear(&list);
    return status;
}

/* damping.mass x an equal share of each element's mass. */
static void spread_mass(const pl_build *b, double *c)
{
    for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++) {
        const pl_elements *e = &b->layout.elements[kind];
        for (int64_t t = 0; t < e->count; t++) {
            const pl_material *m = &b->scene->materials[e->material[t]];
            if (!m->damping.present)
                continue;
            const double mass = m->density * volume_of(m, e, (pl_element_kind)kind, t) /
                                e->stiffness[t];
            for (int32_t k = 0; k < e->corners; k++)
                c[e->corner[e->corners * t + k]] += m->damping.mass * mass / e->corners;
        }
    }
}

/* air_damping x each vertex's share of its body's surface at rest: for solids the boundary, with the body's own
 * material, for cloth both sides. */
static pl_status spread_surface(const pl_build *b, int32_t body, double *c)
{
    const pl_mesh *mesh = &b->meshes[body];
    const int64_t first = b->model->first_vertex[body];
    const double air = b->scene->materials[b->scene->bodies[body].material].air_damping;
    int32_t *triangles = NULL;
    int64_t count = 0;
    pl_status status = pl_mesh_surface(mesh, &triangles, &count);
    if (status != PL_OK)
        return status;
    for (int64_t t = 0; t < count; t++) {
        const int32_t *corner = triangles + 3 * t;
        const double *x[3];
        double p[3], q[3], n[3];
        for (int k = 0; k < 3; k++)
            x[k] = b->layout.rest + 3 * (first + corner[k]);
        pl_vector_subtract(x[1], x[0], p);
        pl_vector_subtract(x[2], x[0], q);
        pl_vector_cross(p, q, n);
        const double sides = t >= count - mesh->triangle_count ? 2 : 1;
        const double area = sides * sqrt(pl_vector_dot(n, n)) / 2;
        for (int k = 0; k < 3; k++)
            c[first + corner[k]] += air * area / 3;
    }
    free(triangles);
    return PL_OK;
}

/* ... and for edges the surface of a round thread. */
static pl_status spread_air(const pl_build *b, double *c)
{
    const pl_elements *e = &b->layout.elements[PL_ELEMENT_EDGE];
    pl_status status = PL_OK;
    for (int32_t i = 0; status == PL_OK && i < b->scene->body_count; i++)
        status = spread_surface(b, i, c);
    for (int64_t t = 0; t < e->count; t++) {
        const pl_material *m = &b->scene->materials[e->material[t]];
        const double surface = e->measure[t] * sqrt(4 * M_PI * m->area);
        for (int32_t k = 0; k < 2; k++)
            c[e->corner[2 * t + k]] += m->air_damping * surface / 2;
    }
    return status;
}

static pl_status add_of_vertices(pl_build *b, pl_dissipation by)
{
    double *c = calloc((size_t)b->model->vertices + 1, sizeof *c);
    pl_status status = c ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK && by == PL_DISSIPATION_MASS)
        spread_mass(b, c);
    else if (status == PL_OK)
        status = spread_air(b, c);
    if (status == PL_OK)
        status = add_vertices(b, c, by);
    free(c);
    return status;
}

pl_status pl_build_damping(pl_build *b)
{
    bool mass = false, air = false;
    pl_status status = PL_OK;
    if (b->model->inertia == 0)
        return PL_OK;
    for (int32_t i = 0; status == PL_OK && i < b->scene->material_count; i++) {
        const pl_material *m = &b->scene->materials[i];
        mass = mass || (m->damping.present && m->damping.mass > 0);
        air = air || m->air_damping > 0;
        for (int kind = 0; status == PL_OK && m->damping.present && kind < PL_ELEMENT_KINDS; kind++)
            status = add_elements(b, i, (pl_element_kind)kind);
        if (status == PL_OK && m->damping.present)
            status = add_parts(b, i);
    }
    if (status == PL_OK && mass)
        status = add_of_vertices(b, PL_DISSIPATION_MASS);
    if (status == PL_OK && air)
        status = add_of_vertices(b, PL_DISSIPATION_AIR);
    return status;
}
