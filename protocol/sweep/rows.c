#include "protocol/sweep/rows.h"

#include "protocol/sweep/decoder.h"
#include "protocol/sweep/place.h"
#include "protocol/sweep/pointer.h"
#include "protocol/text/json_load.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *pl_sweep_place(const pl_sweep_parameter *p, double u)
{
    double x = p->log ? exp(log(p->low) + u * (log(p->high) - log(p->low)))
                      : p->low + u * (p->high - p->low);
    x = u == 0 ? p->low : u == 1 ? p->high : x; /* the ends are the posted numbers */
    if (p->integer)
        x = round(x);
    char text[40];
    snprintf(text, sizeof text, "%.12g", x == 0 ? 0.0 : x);
    return strdup(text);
}

double pl_sweep_unplace(const pl_sweep_parameter *p, double x)
{
    double u = p->log ? log(x / p->low) / log(p->high / p->low) : (x - p->low) / (p->high - p->low);
    return u > 0 ? u < 1 ? u : 1 : 0; /* NaN is 0 */
}

/* Value i of a grid. */
static char *grid_value(const pl_sweep_parameter *p, int64_t i)
{
    if (p->values)
        return strdup(p->values[i]);
    return pl_sweep_place(p, p->count > 1 ? (double)i / (double)(p->count - 1) : 0);
}

static char *sampled_value(const pl_sweep_parameter *p, double u)
{
    if (!p->values)
        return pl_sweep_place(p, u);
    int64_t i = (int64_t)(u * (double)p->count);
    return strdup(p->values[i < p->count ? i : p->count - 1]);
}

static void too_many(pl_faults *faults, const char *pointer)
{
    pl_faults_add(faults, pointer, "out_of_range", "more", "at most 10000 runs of a sweep",
                  "use fewer values, or another sampling than grid");
}

static pl_status count_rows(pl_sweep *s, pl_faults *faults)
{
    int64_t rows = 1;
    if (s->sampling != PL_SAMPLING_GRID) {
        s->row_count = s->samples;
        if (s->sampling == PL_SAMPLING_SOBOL && s->parameter_count > PL_SOBOL_DIMENSIONS) {
            pl_faults_addf(faults, "/parameters", "out_of_range",
                           "at most 21 parameters for the sampling sobol", "", "%d",
                           s->parameter_count);
            return PL_INVALID;
        }
        return PL_OK;
    }
    for (int32_t j = 0; j < s->parameter_count; j++) {
        rows *= s->parameters[j].count;
        if (rows > PL_SWEEP_ROWS_MAX) {
            too_many(faults, "/parameters");
            return PL_INVALID;
        }
    }
    s->row_count = rows;
    return PL_OK;
}

static void fill_grid(pl_sweep *s)
{
    for (int64_t i = 0; i < s->row_count; i++) {
        int64_t left = i;
        for (int32_t j = s->parameter_count - 1; j >= 0; j--) {
            const pl_sweep_parameter *p = &s->parameters[j];
            s->values[i * s->parameter_count + j] = grid_value(p, left % p->count);
            left /= p->count;
        }
    }
}

static pl_status fill_sampled(pl_sweep *s)
{
    size_t cells = (size_t)s->row_count * (size_t)s->parameter_count;
    double *u = malloc(cells * sizeof *u);
    pl_status status = u ? pl_sample_points(s->sampling, (uint64_t)s->seed, s->row_count,
                                            s->parameter_count, u)
                         : PL_NO_MEMORY;
    for (size_t k = 0; status == PL_OK && k < cells; k++)
        s->values[k] = sampled_value(&s->parameters[k % (size_t)s->parameter_count], u[k]);
    free(u);
    return status;
}

pl_status pl_sweep_make_rows(pl_sweep *s, pl_faults *faults)
{
    pl_status status = count_rows(s, faults);
    if (status != PL_OK)
        return status;
    size_t cells = (size_t)s->row_count * (size_t)s->parameter_count;
    s->row_room = s->fit ? s->fit->evaluations : s->row_count;
    s->values = cells < SIZE_MAX / 16
                    ? calloc((size_t)s->row_room * (size_t)s->parameter_count, sizeof *s->values)
                    : NULL;
    if (!s->values)
        return PL_NO_MEMORY;
    if (s->sampling == PL_SAMPLING_GRID)
        fill_grid(s);
    else
        status = fill_sampled(s);
    for (size_t k = 0; k < cells; k++)
        status = s->values[k] ? status : PL_NO_MEMORY;
    return status;
}

/* Appends a row; text_of makes each value's text. */
static bool append(pl_sweep *s, char *(*text_of)(const pl_sweep *s, int32_t j, const void *from),
                   const void *from)
{
    char **texts = s->values + s->row_count * s->parameter_count;
    bool good = s->row_count < s->row_room;
    for (int32_t j = 0; good && j < s->parameter_count; j++) {
        free(texts[j]);
        texts[j] = text_of(s, j, from);
        good = texts[j];
    }
    s->row_count += good;
    return good;
}

static char *placed(const pl_sweep *s, int32_t j, const void *u)
{
    return pl_sweep_place(&s->parameters[j], ((const double *)u)[j]);
}

bool pl_sweep_append(pl_sweep *s, const double *u)
{
    return append(s, placed, u);
}

static char *listed(const pl_sweep *s, int32_t j, const void *values)
{
    (void)s;
    return pl_sweep_value_text(json_array_get(values, (size_t)j));
}

bool pl_sweep_append_values(pl_sweep *s, const pl_json *values)
{
    return append(s, listed, values);
}

/* ---- reading rows ---- */

const char *pl_sweep_value(const pl_sweep *s, int64_t row, int32_t parameter)
{
    return s->values[row * s->parameter_count + parameter];
}

double pl_sweep_number(const pl_sweep *s, int64_t row, int32_t parameter)
{
    const char *text = pl_sweep_value(s, row, parameter);
    char *end;
    double x = strtod(text, &end);
    return *text != 'n' && *text != 'i' && end != text && !*end ? x : NAN;
}

static bool set_label(json_t *scene, const char *key, const char *value)
{
    json_t *labels = json_object_get(scene, "labels");
    if (!labels) {
        labels = json_object();
        if (json_object_set_new(scene, "labels", labels) != 0)
            return false;
    }
    return !json_is_object(labels) || json_object_set_new(labels, key, json_string(value)) == 0;
}

char *pl_sweep_scene(const pl_sweep *s, int64_t row, const char *id, size_t *length)
{
    json_t *scene = json_deep_copy((const json_t *)s->scene);
    bool good = scene;
    for (int32_t j = 0; good && j < s->parameter_count; j++) {
        const char *text = pl_sweep_value(s, row, j);
        json_t *value = pl_json_load(text, strlen(text), JSON_DECODE_ANY, NULL);
        good = value;
        if (good) /* missing if an earlier value replaced its parent */
            pl_pointer_put(scene, s->parameters[j].path, value);
    }
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)row);
    if (id)
        good = good && set_label(scene, "sweep", id) && set_label(scene, "row", number);
    char *text = good ? json_dumps(scene, JSON_COMPACT) : NULL;
    json_decref(scene);
    *length = text ? strlen(text) : 0;
    return text;
}

/* ---- faults ---- */

/* The parameter to which a place in the scene belongs; -1: none. */
static int32_t parameter_of(const pl_sweep *s, const char *pointer)
{
    for (int32_t j = 0; j < s->parameter_count; j++) {
        size_t n = strlen(s->parameters[j].path);
        if (strncmp(s->parameters[j].path, pointer, n) == 0 && (!pointer[n] || pointer[n] == '/'))
            return j;
    }
    return -1;
}

static bool known(const pl_faults *faults, const char *pointer, const char *got)
{
    for (size_t i = 0; i < faults->count; i++) {
        const char *colon = strstr(faults->items[i].got, ": ");
        if (strcmp(faults->items[i].pointer, pointer) == 0 &&
            strcmp(colon ? colon + 2 : faults->items[i].got, got) == 0)
            return true;
    }
    return false;
}

void pl_sweep_locate(const pl_sweep *s, int64_t row, const pl_faults *of_row, pl_faults *faults)
{
    for (size_t i = 0; i < of_row->count; i++) {
        const pl_fault *f = &of_row->items[i];
        int32_t j = parameter_of(s, f->pointer);
        char pointer[PL_SWEEP_PATH_MAX + PL_POINTER_SIZE];
        if (j < 0)
            snprintf(pointer, sizeof pointer, "/scene%s", f->pointer);
        else if (s->listed)
            snprintf(pointer, sizeof pointer, "/csv/%lld/%d", (long long)row + 1, j);
        else
            snprintf(pointer, sizeof pointer, "/parameters/%d%s", j,
                     f->pointer + strlen(s->parameters[j].path));
        if (!known(faults, pointer, f->got))
            pl_faults_addf(faults, pointer, f->code, f->expected, f->hint, "row %lld: %s",
                           (long long)row, f->got);
    }
}
