#include "protocol/material_decode.h"

#include "engine/scene.h"

#include <stdio.h>
#include <string.h>

/* Ascending arguments above 0 (0 itself is the collapsed element, which a spline may reach) and
 * values: `most` pairs at most, at least 2. The number of them, 0 where they were refused. */
static int32_t decode_pairs(pl_decoder *d, json_t *value, int32_t most, double (*out)[2])
{
    static const pl_param numbers[2] = {
        {.kind = PL_PARAM_NUMBER, .minimum = 0, .maximum = 1e3, .unit = "1"},
        {.kind = PL_PARAM_NUMBER, .minimum = -1e18, .maximum = 1e18, .unit = "Pa"}};
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
                             "an argument at least 0.001 above the one before", "");
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
            splines->count[f] = decode_pairs(d, points, PL_SPLINE_POINTS_MAX, splines->points[f]);
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
    splines->curve_count = decode_pairs(d, value, PL_CURVE_POINTS_MAX, splines->curve);
}

static bool is_rubber(pl_material_kind model)
{
    return model == PL_MATERIAL_NEO_HOOKEAN_WANG || model == PL_MATERIAL_MOONEY_RIVLIN ||
           model == PL_MATERIAL_FUNG;
}

/* Of the four constants, those that the model has. */
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

/* One way to say what a material is made of. */
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
        pl_decode_conflict(d, "lame", m->has_constants ? "constants" : "splines of its own",
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
