#include "protocol/scene/material_decode.h"

#include "engine/scene/scene.h"

#include <stdio.h>
#include <string.h>

/* For stresses by stretch, whose argument 0 is the collapsed element, and for multipliers. */
static const pl_param STRESS[2] = {
    {.kind = PL_PARAM_NUMBER, .minimum = 0, .maximum = 1e3, .unit = "1"},
    {.kind = PL_PARAM_NUMBER, .minimum = -1e18, .maximum = 1e18, .unit = "Pa"}};
static const pl_param MULTIPLIER[2] = {
    {.kind = PL_PARAM_NUMBER, .minimum = 0, .maximum = 1e9},
    {.kind = PL_PARAM_NUMBER, .minimum = 0, .maximum = 1e9, .unit = "1"}};

/* Ascending arguments and values within the bounds of `numbers`: at least 2 and at most `most` pairs. Returns their
 * number, 0 if they were rejected. */
static int32_t decode_pairs(pl_decoder *d, json_t *value, const pl_param numbers[2], int32_t most,
                            double (*out)[2])
{
    const size_t before = d->faults->total, count = json_array_size(value);
    char expected[80];
    snprintf(expected, sizeof expected, "array of 2 to %d pairs [argument, value]", (int)most);
    if (!json_is_array(value) || count < 2 || count > (size_t)most) {
        pl_decode_refuse(d, value, json_is_array(value) ? "out_of_range" : "wrong_type", expected,
                         "");
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        json_t *pair = json_array_get(value, i);
        const size_t mark = pl_decode_enter_item(d, i);
        if (!json_is_array(pair) || json_array_size(pair) != 2)
            pl_decode_refuse(d, pair, "wrong_type", "pair of numbers [argument, value]", "");
        for (size_t j = 0; j < 2 && json_array_size(pair) == 2; j++) {
            const size_t inner = pl_decode_enter_item(d, j);
            pl_decode_number(d, json_array_get(pair, j), &numbers[j], &out[i][j]);
            pl_decode_leave(d, inner);
        }
        if (d->faults->total == before && i > 0 && out[i][0] < out[i - 1][0] + 1e-3)
            pl_decode_refuse(d, pair, "out_of_range",
                             "an argument at least 0.001 above the previous one", "");
        pl_decode_leave(d, mark);
    }
    return d->faults->total == before ? (int32_t)count : 0;
}

static void decode_functions(pl_decoder *d, json_t *value, pl_splines *splines)
{
    static const char *const functions[] = {"a", "b", "c"};
    const char *key;
    json_t *points;
    splines->kind = PL_SPLINES_POINTS;
    json_object_foreach(value, key, points)
    {
        const size_t mark = pl_decode_enter(d, key);
        int f = 0;
        while (f < 3 && strcmp(key, functions[f]) != 0)
            f++;
        if (f == 3)
            pl_decode_fault(d, "unknown_key", key, "one of: a, b, c", "");
        else
            splines->count[f] = decode_pairs(d, points, STRESS, PL_SPLINE_POINTS_MAX,
                                             splines->points[f]);
        pl_decode_leave(d, mark);
    }
    if (json_object_size(value) == 0)
        pl_decode_refuse(d, value, "missing_key", "at least one of: a, b, c", "");
}

void pl_decode_splines(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    static const char *const named[] = {"A", "B", NULL};
    pl_splines *splines = &((pl_material *)out)->splines;
    if (json_is_object(value)) {
        decode_functions(d, value, splines);
        return;
    }
    if (!json_is_string(value)) {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
        return;
    }
    const int word = pl_decode_word(d, value, named, NULL);
    if (word >= 0)
        splines->kind = word == 0 ? PL_SPLINES_A : PL_SPLINES_B;
}

void pl_decode_curve(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_splines *splines = &((pl_material *)out)->splines;
    splines->curve_count = decode_pairs(d, value, STRESS, PL_CURVE_POINTS_MAX, splines->curve);
}

void pl_decode_points(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_damping_points *points = (void *)((char *)out + p->offset);
    points->count = decode_pairs(d, value, MULTIPLIER, PL_DAMPING_POINTS_MAX, points->points);
}

static bool is_rubber(pl_material_kind model)
{
    return model == PL_MATERIAL_NEO_HOOKEAN_WANG || model == PL_MATERIAL_MOONEY_RIVLIN ||
           model == PL_MATERIAL_FUNG;
}

/* The constants that the model has, of the four. */
static void check_constants(pl_decoder *d, const pl_material *m, json_t *object)
{
    static const char *const keys[] = {"s2", "s3"};
    const bool has[] = {m->model != PL_MATERIAL_NEO_HOOKEAN_WANG, m->model == PL_MATERIAL_FUNG};
    json_t *constants = json_object_get(object, "constants");
    const size_t mark = pl_decode_enter(d, "constants");
    if (!is_rubber(m->model))
        pl_decode_fault(d, "conflict", "constants of another model",
                        "model neo_hookean_wang, mooney_rivlin or fung",
                        "other models take young and poisson, or lame");
    for (int i = 0; is_rubber(m->model) && i < 2; i++) {
        const bool given = json_object_get(constants, keys[i]) != NULL;
        if (given == has[i])
            continue;
        const size_t inner = pl_decode_enter(d, keys[i]);
        pl_decode_fault(d, given ? "conflict" : "missing_key", given ? "a number" : "nothing",
                        given ? "no such constant of this model" : "a number", "");
        pl_decode_leave(d, inner);
    }
    pl_decode_leave(d, mark);
}

/* Exactly one way to specify a material's stiffness. */
static void check_one_way(pl_decoder *d, const pl_material *m, json_t *object)
{
    const bool own = m->splines.kind == PL_SPLINES_POINTS || m->splines.kind == PL_SPLINES_CURVE;
    const char *way = m->has_constants                       ? "constants"
                      : m->has_lame                          ? "lame"
                      : m->splines.kind == PL_SPLINES_POINTS ? "points of splines"
                      : m->splines.kind == PL_SPLINES_CURVE  ? "curve"
                                                             : NULL;
    for (int i = 0; way && i < 2; i++) {
        const char *key = i == 0 ? "young" : "poisson";
        if (json_object_get(object, key))
            pl_decode_conflict(d, key, way, "one of the two ways");
    }
    if (m->has_lame && (m->has_constants || own))
        pl_decode_conflict(d, "lame", m->has_constants ? "constants" : "custom splines",
                           "one of the two ways");
}

void pl_check_material(pl_decoder *d, json_t *object, void *out, bool clean)
{
    static const char *const keys[] = {"splines", "curve"};
    pl_material *m = out;
    if (!clean)
        return;
    const bool curve = json_object_get(object, "curve") != NULL;
    for (int i = 0; i < 2 && m->model != PL_MATERIAL_SPLINE; i++)
        if (json_object_get(object, keys[i]))
            pl_decode_conflict(d, keys[i], "another model", "model spline");
    if (curve && m->splines.kind != PL_SPLINES_NONE)
        pl_decode_conflict(d, "curve", "splines", "one of: splines, curve");
    if (curve)
        m->splines.kind = PL_SPLINES_CURVE;
    else if (m->model == PL_MATERIAL_SPLINE && m->splines.kind == PL_SPLINES_NONE)
        m->splines.kind = PL_SPLINES_A;
    if (m->has_constants)
        check_constants(d, m, object);
    check_one_way(d, m, object);
}

/* ---- damping ---- */

bool pl_damping_uses(const pl_material_damping *m, const char *key)
{
    static const struct {
        const char *key;
        unsigned models;
    } of[] = {
        {"viscosity",
         1 << PL_DAMPING_STRAIN_RATE | 1 << PL_DAMPING_VISCOUS | 1 << PL_DAMPING_RATE_SPLINE},
        {"bulk_viscosity", 1 << PL_DAMPING_STRAIN_RATE},
        {"beta", 1 << PL_DAMPING_RAYLEIGH | 1 << PL_DAMPING_RAYLEIGH_LAGGED |
                     1 << PL_DAMPING_PRINCIPAL_STRAIN},
        {"coefficient", 1 << PL_DAMPING_POWER_LAW},
        {"power", 1 << PL_DAMPING_POWER_LAW},
        {"smoothing", 1 << PL_DAMPING_POWER_LAW},
        {"rate_spline", 1 << PL_DAMPING_RATE_SPLINE},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].key, key) == 0)
            return of[i].models >> m->model & 1;
    return true;
}

/* The number without which a model would have no effect; if there is a choice, one of them. */
static void check_amount(pl_decoder *d, const pl_material_damping *m)
{
    const char *key = pl_damping_uses(m, "beta")          ? "beta"
                      : pl_damping_uses(m, "coefficient") ? "coefficient"
                                                          : "viscosity";
    const double amounts[] = {pl_damping_uses(m, "beta") ? m->beta : 0,
                              pl_damping_uses(m, "coefficient") ? m->coefficient : 0,
                              pl_damping_uses(m, "viscosity") ? m->viscosity : 0,
                              pl_damping_uses(m, "bulk_viscosity") ? m->bulk_viscosity : 0,
                              m->mass};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        if (amounts[i] > 0)
            return;
    pl_decode_missing(d, key, "number above 0", "without it the model has no damping");
}

/* m(r) r must not decrease: the force would fall as motion gets faster, and a step could have several solutions. */
static void check_rising(pl_decoder *d, const pl_damping_points *f)
{
    for (int32_t k = 0; k + 1 < f->count; k++) {
        const double *p = f->points[k], *q = f->points[k + 1];
        const double slope = (q[1] - p[1]) / (q[0] - p[0]);
        if (q[1] + slope * q[0] >= 0) /* the least of d(m r)/dr where m falls */
            continue;
        char got[96];
        size_t mark = pl_decode_enter(d, "rate_spline"),
               item = pl_decode_enter_item(d, (size_t)k + 1);
        snprintf(got, sizeof got, "a force that decreases towards a rate of %.6g", q[0]);
        pl_decode_fault(d, "out_of_range", got, "multiplier x rate that does not decrease",
                        "let the multiplier fall less steeply, at most as 1 / rate");
        pl_decode_leave(d, item);
        pl_decode_leave(d, mark);
        return;
    }
}

void pl_check_damping(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_material_damping *m = out;
    const char *key;
    json_t *value;
    if (!clean)
        return;
    json_object_foreach(object, key, value)
    {
        if (!pl_damping_uses(m, key))
            pl_decode_conflict(d, key, "a model without it", "a model that uses it");
    }
    if (m->model == PL_DAMPING_RATE_SPLINE && m->rate_spline.count == 0)
        pl_decode_missing(d, "rate_spline", "array of [rate, multiplier]", "");
    check_amount(d, m);
    check_rising(d, &m->rate_spline);
}
