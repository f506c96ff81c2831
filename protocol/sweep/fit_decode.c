#include "protocol/sweep/csv.h"
#include "protocol/sweep/decoder.h"
#include "protocol/sweep/pointer.h"
#include "protocol/text/json_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- points ---- */

static bool add_point(pl_sweep_decoder *d, pl_fit_series *s, double x, double y)
{
    if ((s->count & (s->count - 1)) == 0) { /* capacity: the next power of two */
        size_t room = s->count ? 2 * (size_t)s->count : 1;
        double *xs = realloc(s->x, room * sizeof *xs);
        s->x = xs ? xs : s->x;
        double *ys = realloc(s->y, room * sizeof *ys);
        s->y = ys ? ys : s->y;
        d->no_memory |= !xs || !ys;
    }
    if (d->no_memory)
        return false;
    s->x[s->count] = x;
    s->y[s->count++] = y;
    d->sweep->fit->points++;
    return true;
}

static bool has_room(pl_sweep_decoder *d, const char *where)
{
    if (d->sweep->fit->points < PL_FIT_POINTS_MAX)
        return true;
    pl_sweep_fault(d, NULL, "out_of_range", "at most 5000 measured points together", "%s", where);
    return false;
}

static void read_points(pl_sweep_decoder *d, pl_fit_series *s, json_t *list, const char *where)
{
    if (!json_is_array(list)) {
        pl_sweep_fault(d, list, "wrong_type", "a list of points [x, y]", "%s/points", where);
        return;
    }
    for (size_t i = 0; i < json_array_size(list) && has_room(d, where); i++) {
        json_t *point = json_array_get(list, i);
        json_t *x = json_array_get(point, 0), *y = json_array_get(point, 1);
        if (json_array_size(point) != 2 || !json_is_number(x) || !json_is_number(y)) {
            pl_sweep_fault(d, point, "wrong_type", "a point [x, y], two numbers", "%s/points/%zu",
                           where, i);
            return;
        }
        if (!add_point(d, s, json_number_value(x), json_number_value(y)))
            return;
    }
}

typedef struct point_table {
    pl_sweep_decoder *decoder;
    pl_fit_series *series;
    const char *where;
    size_t line; /* line of x */
    double x;
    bool has_x; /* the line's second field is still missing */
} point_table;

static bool wrong_field(const point_table *t, size_t line, size_t column, const char *field)
{
    char where[96];
    snprintf(where, sizeof where, "%s/csv/%zu/%zu", t->where, line, column);
    pl_faults_add(t->decoder->faults, where, "wrong_value", field,
                  "two numbers in each line, after an optional line of names", "");
    return false;
}

static bool see_field(void *context, size_t line, size_t column, const char *field, bool quoted)
{
    point_table *t = context;
    char *end;
    double value = strtod(field, &end);
    end += strspn(end, " \t\r");
    bool number = end != field && !*end && isfinite(value);
    (void)quoted;
    if (column > 1 || (t->has_x && (line != t->line || column != 1)) || (!number && line > 0))
        return wrong_field(t, line, column, field);
    if (!number) /* line of the names */
        return true;
    if (column == 0) {
        t->x = value;
        t->line = line;
        t->has_x = true;
        return true;
    }
    if (!t->has_x)
        return wrong_field(t, line, column, field);
    t->has_x = false;
    return has_room(t->decoder, t->where) && add_point(t->decoder, t->series, t->x, value);
}

static void read_csv(pl_sweep_decoder *d, pl_fit_series *s, json_t *csv, const char *where)
{
    point_table t = {.decoder = d, .series = s, .where = where};
    bool no_memory = false;
    size_t faults = d->faults->total;
    if (!json_is_string(csv)) {
        pl_sweep_fault(d, csv, "wrong_type", "a text: two numbers in each line", "%s/csv", where);
    } else if (!pl_csv_read(json_string_value(csv), see_field, &t, &no_memory)) {
        d->no_memory |= no_memory;
        pl_sweep_fault(d, NULL, "bad_csv", "comma-separated values (RFC 4180)", "%s/csv", where);
    } else if (t.has_x && d->faults->total == faults) {
        wrong_field(&t, t.line, 1, "nothing");
    }
}

/* ---- a series ---- */

static void check_probe(pl_sweep_decoder *d, const char *name, const char *where)
{
    json_t *probes = pl_pointer_get(d->scene, "/output/probes");
    char expected[200] = "the name of a probe of the scene's output.probes:";
    for (size_t i = 0; i < json_array_size(probes); i++) {
        const char *known = json_string_value(json_object_get(json_array_get(probes, i), "name"));
        if (known && strcmp(known, name) == 0)
            return;
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s %s", i ? "," : "",
                 known ? known : "");
    }
    char pointer[96];
    snprintf(pointer, sizeof pointer, "%s/probe", where);
    pl_faults_add(d->faults, pointer, "no_such_probe", name,
                  json_array_size(probes) ? expected : "a probe: the scene has no output.probes",
                  "");
}

void pl_sweep_read_quantity(pl_sweep_decoder *d, pl_fit_quantity *q, json_t *object,
                            const char *where)
{
    const char *metric = pl_sweep_text_at(d, object, "metric", PL_SWEEP_PATH_MAX - 1, where);
    const char *probe = pl_sweep_text_at(d, object, "probe", PL_SWEEP_PATH_MAX - 1, where);
    if (!metric == !probe)
        pl_sweep_fault(d, object, "wrong_value", "one of probe and metric", "%s", where);
    if (probe && json_is_object(d->scene))
        check_probe(d, probe, where);
    q->metric = metric ? pl_sweep_copy(d, metric) : NULL;
    q->probe = probe ? pl_sweep_copy(d, probe) : NULL;
}

static void read_against(pl_sweep_decoder *d, pl_fit_series *s, json_t *against, const char *where)
{
    static const char *const keys[] = {"metric", "probe", NULL};
    char there[64];
    snprintf(there, sizeof there, "%s/against", where);
    if (!against)
        return;
    if (!json_is_object(against)) {
        pl_sweep_fault(d, against, "wrong_type", "an object with probe or metric", "%s", there);
        return;
    }
    pl_sweep_check_keys(d, against, keys, there);
    pl_sweep_read_quantity(d, &s->against, against, there);
}

static void set_scale(pl_fit_series *s)
{
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < s->count; i++)
        mean += s->y[i] / (double)s->count;
    for (int64_t i = 0; i < s->count; i++)
        squares += (s->y[i] - mean) * (s->y[i] - mean) / (double)s->count;
    double deviation = sqrt(squares);
    bool varies = deviation > 1e-12 * fabs(mean) && isfinite(deviation);
    s->scale = varies ? deviation : mean != 0 && isfinite(mean) ? fabs(mean) : 1;
}

static void read_series(pl_sweep_decoder *d, json_t *object, size_t i)
{
    static const char *const keys[] = {"metric", "probe",  "against", "points",
                                       "csv",    "weight", NULL};
    pl_fit_series *s = &d->sweep->fit->series[d->sweep->fit->count++];
    char where[48];
    snprintf(where, sizeof where, "/fit/measured/%zu", i);
    s->scale = 1;
    if (!json_is_object(object)) {
        pl_sweep_fault(d, object, "wrong_type", "an object with probe or metric, and points or csv",
                       "%s", where);
        return;
    }
    pl_sweep_check_keys(d, object, keys, where);
    pl_sweep_read_quantity(d, &s->value, object, where);
    read_against(d, s, json_object_get(object, "against"), where);
    s->weight = pl_sweep_number_at(d, object, "weight", 1, where);
    if (!(s->weight > 0))
        pl_sweep_fault(d, json_object_get(object, "weight"), "out_of_range", "a number above 0",
                       "%s/weight", where);
    json_t *points = json_object_get(object, "points"), *csv = json_object_get(object, "csv");
    size_t faults = d->faults->total;
    if (!points == !csv)
        pl_sweep_fault(d, NULL, points ? "wrong_value" : "missing", "one of points and csv", "%s",
                       where);
    else if (points)
        read_points(d, s, points, where);
    else
        read_csv(d, s, csv, where);
    if (s->count < 2 && d->faults->total == faults && !d->no_memory)
        pl_sweep_fault(d, NULL, "too_few_points", "at least 2 measured points", "%s/%s", where,
                       points ? "points" : "csv");
    set_scale(s);
}

/* ---- the whole ---- */

static void read_measured(pl_sweep_decoder *d, json_t *list)
{
    pl_fit *fit = d->sweep->fit;
    size_t count = json_array_size(list);
    if (!count || count > PL_FIT_SERIES_MAX) {
        pl_sweep_fault(d, count ? NULL : list, list ? "wrong_value" : "missing",
                       "a list of 1 to 16 series of measured points", "/fit/measured");
        return;
    }
    fit->series = calloc(count, sizeof *fit->series);
    d->no_memory |= !fit->series;
    size_t faults = d->faults->total;
    for (size_t i = 0; fit->series && !d->no_memory && i < count; i++)
        read_series(d, json_array_get(list, i), i);
    if (fit->points <= d->sweep->parameter_count && d->faults->total == faults && !d->no_memory)
        pl_sweep_fault(d, NULL, "too_few_points", "more measured points than parameters",
                       "/fit/measured");
}

static void check_parameters(pl_sweep_decoder *d)
{
    for (int32_t j = 0; j < d->sweep->parameter_count; j++) {
        const pl_sweep_parameter *p = &d->sweep->parameters[j];
        if (p->values || p->count || p->integer)
            pl_sweep_fault(d, NULL, "wrong_value", "min and max: a fit searches an interval",
                           "/parameters/%d", j);
        else if (!(p->low < p->high))
            pl_sweep_fault(d, NULL, "out_of_range", "min below max", "/parameters/%d", j);
    }
}

void pl_sweep_read_fit(pl_sweep_decoder *d, json_t *object)
{
    static const char *const keys[] = {"measured", "method", "evaluations", "tolerance", NULL};
    pl_fit *fit = d->sweep->fit = calloc(1, sizeof *fit);
    d->no_memory |= !fit;
    if (!json_is_object(object)) {
        pl_sweep_fault(d, object, "wrong_type", "an object with measured", "/fit");
        return;
    }
    if (!fit)
        return;
    pl_sweep_check_keys(d, object, keys, "/fit");
    /* BOBYQA needs two dimensions. */
    int usual = d->sweep->parameter_count > 1 ? PL_FIT_BOBYQA : PL_FIT_COBYLA;
    fit->method = (pl_fit_method)pl_sweep_word_at(d, object, "method", pl_fit_method_names, usual,
                                                  "/fit");
    if (fit->method == PL_FIT_BOBYQA && d->sweep->parameter_count == 1)
        pl_sweep_fault(d, json_object_get(object, "method"), "wrong_value",
                       "another method: bobyqa needs two parameters", "/fit/method");
    fit->evaluations = pl_sweep_whole_at(d, object, "evaluations", 1, PL_FIT_EVALUATIONS_MAX, 200,
                                         "/fit");
    fit->tolerance = pl_sweep_number_at(d, object, "tolerance", 1e-4, "/fit");
    if (!(fit->tolerance >= 1e-9 && fit->tolerance <= 0.1))
        pl_sweep_fault(d, json_object_get(object, "tolerance"), "out_of_range",
                       "a number from 1e-9 to 0.1", "/fit/tolerance");
    if (d->sweep->samples > fit->evaluations)
        pl_sweep_fault(d, json_object_get(object, "evaluations"), "out_of_range",
                       "at least as many as samples", "/fit/evaluations");
    check_parameters(d);
    read_measured(d, json_object_get(object, "measured"));
}
