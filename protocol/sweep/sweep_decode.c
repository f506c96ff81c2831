#include "protocol/sweep/sweep.h"

#include "protocol/sweep/csv.h"
#include "protocol/sweep/decoder.h"
#include "protocol/sweep/pointer.h"
#include "protocol/sweep/rows.h"
#include "protocol/text/json_load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

static void check_path(pl_sweep_decoder *d, const char *path, const char *where)
{
    size_t reach = pl_pointer_reach(d->scene, path);
    if (path[0] == '/' && path[reach] == 0)
        return;
    char hint[PL_SWEEP_PATH_MAX + 80];
    snprintf(hint, sizeof hint, "the scene has '%.*s'; a varied value must already be in the scene",
             (int)reach, path);
    pl_faults_add(d->faults, where, "no_such_path", path, "a JSON pointer to a value of the scene",
                  path[0] == '/' ? hint : "it begins with '/'");
}

/* Two values at the same place would overwrite each other. */
static void check_overlap(const pl_sweep_decoder *d, const char *path, const char *where)
{
    static const char *const own[] = {"/labels/sweep", "/labels/row"};
    const char *other = NULL;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (pl_pointer_overlap(path, own[i]))
            other = own[i];
    for (int32_t i = 0; i < d->sweep->parameter_count; i++)
        if (pl_pointer_overlap(path, d->sweep->parameters[i].path))
            other = d->sweep->parameters[i].path;
    char expected[PL_SWEEP_PATH_MAX + 40];
    snprintf(expected, sizeof expected, "a path that does not overlap %s", other ? other : "");
    if (other)
        pl_faults_add(d->faults, where, "duplicate", path, expected,
                      "parameters cannot set parts of each other, or the labels sweep and row");
}

static bool taken(const pl_sweep_decoder *d, const char *name)
{
    static const char *const columns[] = {"row", "session", "state", "warnings"}; /* of the table */
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(columns[i], name) == 0)
            return true;
    for (int32_t i = 0; i < d->sweep->parameter_count; i++)
        if (strcmp(d->sweep->parameters[i].name, name) == 0)
            return true;
    return json_object_get(d->document, "fit") && strcmp(name, "misfit") == 0;
}

/* The next parameter with its path and name; NULL after a fault. */
static pl_sweep_parameter *add_parameter(pl_sweep_decoder *d, const char *path, const char *name,
                                         const char *where)
{
    pl_sweep *s = d->sweep;
    name = name ? name : path + (*path == '/');
    check_path(d, path, where);
    check_overlap(d, path, where);
    if (taken(d, name)) {
        pl_faults_add(d->faults, where, "duplicate", name, "a unique name", "");
        return NULL;
    }
    pl_sweep_parameter *p = &s->parameters[s->parameter_count++];
    p->path = pl_sweep_copy(d, path);
    p->name = pl_sweep_copy(d, name);
    return d->no_memory ? NULL : p;
}

static void read_values(pl_sweep_decoder *d, pl_sweep_parameter *p, json_t *values,
                        const char *where)
{
    size_t count = json_array_size(values);
    if (!count || count > PL_SWEEP_ROWS_MAX) {
        pl_sweep_fault(d, count ? NULL : values, "wrong_value", "a list of 1 to 10000 values",
                       "%s/values", where);
        return;
    }
    p->values = calloc(count, sizeof *p->values);
    d->no_memory |= !p->values;
    for (size_t i = 0; p->values && i < count; i++) {
        p->values[i] = pl_sweep_value_text(json_array_get(values, i));
        d->no_memory |= !p->values[i];
        p->count = (int64_t)i + 1;
    }
}

static void read_range(pl_sweep_decoder *d, pl_sweep_parameter *p, json_t *range, json_t *object,
                       const char *where)
{
    if (json_array_size(range) != 2 || !json_is_number(json_array_get(range, 0)) ||
        !json_is_number(json_array_get(range, 1))) {
        pl_sweep_fault(d, range, "wrong_type", "[first, last], two numbers", "%s/range", where);
        return;
    }
    p->low = json_number_value(json_array_get(range, 0));
    p->high = json_number_value(json_array_get(range, 1));
    p->count = pl_sweep_whole_at(d, object, "count", 1, PL_SWEEP_ROWS_MAX, 0, where);
}

static void read_interval(pl_sweep_decoder *d, pl_sweep_parameter *p, json_t *object,
                          const char *where)
{
    json_t *range = json_object_get(object, "range");
    static const char *const scales[] = {"linear", "log", NULL};
    if (range) {
        read_range(d, p, range, object, where);
    } else {
        p->low = pl_sweep_number_at(d, object, "min", NAN, where);
        p->high = pl_sweep_number_at(d, object, "max", NAN, where);
        if (isnan(p->low) || isnan(p->high))
            pl_sweep_fault(d, object, "missing", "values, or range, or both min and max", "%s",
                           where);
    }
    p->log = pl_sweep_word_at(d, object, "scale", scales, 0, where) == 1;
    json_t *integer = json_object_get(object, "integer");
    p->integer = json_is_true(integer);
    if (integer && !json_is_boolean(integer))
        pl_sweep_fault(d, integer, "wrong_type", "true or false", "%s/integer", where);
    if (p->low > p->high)
        pl_sweep_fault(d, range ? range : object, "out_of_range", "the lower end first", "%s",
                       where);
    if (p->log && (p->low <= 0 || p->high <= 0))
        pl_sweep_fault(d, range ? range : object, "out_of_range",
                       "bounds above 0 for the scale log", "%s", where);
}

static void read_parameter(pl_sweep_decoder *d, json_t *object, size_t i)
{
    static const char *const keys[] = {"path", "name", "values", "range",   "count",
                                       "min",  "max",  "scale",  "integer", NULL};
    char where[64];
    snprintf(where, sizeof where, "/parameters/%zu", i);
    if (!json_is_object(object)) {
        pl_sweep_fault(d, object, "wrong_type",
                       "an object with path and values, range, or min and max", "%s", where);
        return;
    }
    pl_sweep_check_keys(d, object, keys, where);
    const char *path = pl_sweep_text_at(d, object, "path", PL_SWEEP_PATH_MAX - 1, where);
    const char *name = pl_sweep_text_at(d, object, "name", PL_SWEEP_NAME_MAX, where);
    if (!json_object_get(object, "path"))
        pl_sweep_fault(d, NULL, "missing", "a JSON pointer into the scene", "%s/path", where);
    char at_path[80];
    snprintf(at_path, sizeof at_path, "%s/path", where);
    pl_sweep_parameter *p = path ? add_parameter(d, path, name, at_path) : NULL;
    json_t *values = json_object_get(object, "values");
    if (!p)
        return;
    if (values && (json_object_get(object, "range") || json_object_get(object, "min")))
        pl_sweep_fault(d, object, "wrong_value", "values, or range, or min and max: one of them",
                       "%s", where);
    if (values)
        read_values(d, p, values, where);
    else
        read_interval(d, p, object, where);
    if (!values && !p->count && d->sweep->sampling == PL_SAMPLING_GRID && !d->faults->total)
        pl_sweep_fault(d, NULL, "missing", "the number of grid values in the interval",
                       json_object_get(object, "range") ? "%s/count" : "%s/range", where);
}

static void read_parameters(pl_sweep_decoder *d, json_t *list)
{
    size_t count = json_array_size(list);
    if (!count || count > PL_SWEEP_PARAMETERS_MAX) {
        pl_sweep_fault(d, count ? NULL : list, "missing", "a list of 1 to 32 parameters, or csv",
                       "/parameters");
        return;
    }
    d->sweep->parameters = calloc(count, sizeof *d->sweep->parameters);
    d->no_memory |= !d->sweep->parameters;
    for (size_t i = 0; !d->no_memory && i < count; i++)
        read_parameter(d, json_array_get(list, i), i);
}

/* ---- csv ---- */

typedef struct table {
    pl_sweep_decoder *decoder;
    size_t columns, lines, capacity;
} table;

/* A field as JSON: a text that parses as a JSON number or word is that, any other is a string. */
static char *field_value(const char *field, bool quoted)
{
    json_t *value = quoted ? NULL : pl_json_load(field, strlen(field), JSON_DECODE_ANY, NULL);
    value = value ? value : json_string(field);
    char *text = value ? pl_sweep_value_text(value) : NULL;
    json_decref(value);
    return text;
}

static bool see_head(table *t, size_t column, const char *field)
{
    char where[40];
    snprintf(where, sizeof where, "/csv/0/%zu", column);
    if (column >= PL_SWEEP_PARAMETERS_MAX || strlen(field) >= PL_SWEEP_PATH_MAX) {
        pl_faults_add(t->decoder->faults, where, "out_of_range", field,
                      "at most 32 columns, each headed by a path", "");
        return false;
    }
    t->columns = column + 1;
    return add_parameter(t->decoder, field, NULL, where);
}

static bool see_field(void *context, size_t line, size_t column, const char *field, bool quoted)
{
    table *t = context;
    pl_sweep *s = t->decoder->sweep;
    if (line == 0)
        return see_head(t, column, field);
    if (line > PL_SWEEP_ROWS_MAX || column >= t->columns) {
        char where[40];
        snprintf(where, sizeof where, "/csv/%zu/%zu", line, column);
        pl_faults_add(
            t->decoder->faults, where, "out_of_range", field,
            column >= t->columns ? "as many fields as the header line" : "at most 10000 rows", "");
        return false;
    }
    size_t at = (line - 1) * t->columns + column;
    if (at >= t->capacity) {
        size_t capacity = 2 * t->capacity + t->columns;
        char **grown = realloc(s->values, capacity * sizeof *grown);
        if (!grown)
            return !(t->decoder->no_memory = true);
        memset(grown + t->capacity, 0, (capacity - t->capacity) * sizeof *grown);
        s->values = grown;
        t->capacity = capacity;
    }
    s->row_count = s->row_room = (int64_t)line;
    s->values[at] = field_value(field, quoted);
    t->lines = line;
    t->decoder->no_memory |= !s->values[at];
    return !t->decoder->no_memory;
}

static void check_lines(pl_sweep_decoder *d)
{
    const pl_sweep *s = d->sweep;
    for (int64_t i = 0; i < s->row_count; i++) {
        for (int32_t j = 0; j < s->parameter_count; j++) {
            if (!s->values[i * s->parameter_count + j]) {
                pl_sweep_fault(d, NULL, "missing",
                               "a value: each line has as many fields as the header line",
                               "/csv/%lld/%d", (long long)i + 1, j);
                return;
            }
        }
    }
}

static void read_csv(pl_sweep_decoder *d, json_t *csv)
{
    pl_sweep *s = d->sweep;
    table t = {.decoder = d};
    bool no_memory = false;
    s->listed = true;
    s->parameters = calloc(PL_SWEEP_PARAMETERS_MAX, sizeof *s->parameters);
    d->no_memory |= !s->parameters;
    if (!json_is_string(csv)) {
        pl_sweep_fault(d, csv, "wrong_type", "a text: a line of paths, then a line for each run",
                       "/csv");
    } else if (s->parameters && !pl_csv_read(json_string_value(csv), see_field, &t, &no_memory)) {
        d->no_memory |= no_memory;
        pl_faults_add(d->faults, "/csv", "bad_csv", "an unclosed quote",
                      "comma-separated values (RFC 4180)", "");
    } else if (!s->row_count && !d->faults->total) {
        pl_sweep_fault(d, csv, "missing", "a line of paths, then a line for each run", "/csv");
    } else if (!d->faults->total && !d->no_memory) {
        check_lines(d);
    }
}

/* ---- results ---- */

static bool name_result(pl_sweep_decoder *d, pl_sweep_result *r, const char *name)
{
    char *text = NULL;
    const char *of = r->metric ? r->metric : r->probe ? r->probe : "expect";
    if (name)
        text = strdup(name);
    else if (r->expect && *r->expect ? asprintf(&text, "expect %s", r->expect) < 0
             : r->at != PL_AT_LAST   ? asprintf(&text, "%s %s", of, pl_sweep_at_names[r->at]) < 0
                                     : !(text = strdup(of)))
        text = NULL;
    d->no_memory |= !text;
    r->name = text;
    return text;
}

static void read_result(pl_sweep_decoder *d, json_t *object, size_t i)
{
    static const char *const keys[] = {"name", "metric", "probe", "expect", "at", NULL};
    char where[64];
    snprintf(where, sizeof where, "/results/%zu", i);
    pl_sweep_result *r = &d->sweep->results[d->sweep->result_count];
    if (!json_is_object(object)) {
        pl_sweep_fault(d, object, "wrong_type", "an object with metric, probe or expect", "%s",
                       where);
        return;
    }
    pl_sweep_check_keys(d, object, keys, where);
    const char *metric = pl_sweep_text_at(d, object, "metric", PL_SWEEP_PATH_MAX - 1, where);
    const char *probe = pl_sweep_text_at(d, object, "probe", PL_SWEEP_PATH_MAX - 1, where);
    json_t *expect = json_object_get(object, "expect");
    const char *which = json_is_true(expect) ? ""
                        : expect             ? pl_sweep_text_at(d, object, "expect", 255, where)
                                             : NULL;
    const char *name = pl_sweep_text_at(d, object, "name", PL_SWEEP_NAME_MAX, where);
    r->at = (pl_sweep_at)pl_sweep_word_at(d, object, "at", pl_sweep_at_names, PL_AT_LAST, where);
    if ((metric != NULL) + (probe != NULL) + (which != NULL) != 1) {
        pl_sweep_fault(d, object, "wrong_value", "one of metric, probe and expect", "%s", where);
        return;
    }
    d->sweep->result_count++;
    r->metric = metric ? pl_sweep_copy(d, metric) : NULL;
    r->probe = probe ? pl_sweep_copy(d, probe) : NULL;
    r->expect = which ? pl_sweep_copy(d, which) : NULL;
    if (d->no_memory || !name_result(d, r, name))
        return;
    bool duplicate = taken(d, r->name);
    for (const pl_sweep_result *o = d->sweep->results; o < r; o++)
        duplicate |= strcmp(o->name, r->name) == 0;
    if (duplicate)
        pl_sweep_fault(d, object, "duplicate", "a result with another name", "%s/name", where);
}

/* Adds the first result of a fit. */
static void add_misfit(pl_sweep_decoder *d)
{
    pl_sweep_result *r = &d->sweep->results[d->sweep->result_count++];
    *r = (pl_sweep_result){.name = pl_sweep_copy(d, "misfit"), .misfit = true};
}

static void read_results(pl_sweep_decoder *d, json_t *list)
{
    size_t count = json_array_size(list);
    bool fit = json_object_get(d->document, "fit");
    if (!list && !fit)
        return;
    if ((list && !json_is_array(list)) || count + fit > PL_SWEEP_RESULTS_MAX) {
        pl_sweep_fault(d, json_is_array(list) ? NULL : list, "wrong_type",
                       "a list of at most 32 results", "/results");
        return;
    }
    d->sweep->results = calloc(count + 2, sizeof *d->sweep->results);
    d->no_memory |= !d->sweep->results;
    if (fit && d->sweep->results)
        add_misfit(d);
    for (size_t i = 0; !d->no_memory && i < count; i++)
        read_result(d, json_array_get(list, i), i);
}

/* Reads "above" or "below", exactly one of which must be given. */
static double read_bound(pl_sweep_decoder *d, json_t *stop, bool *above, const char *where)
{
    *above = json_object_get(stop, "above");
    double bound = pl_sweep_number_at(d, stop, *above ? "above" : "below", NAN, where);
    if (isnan(bound) || (*above && json_object_get(stop, "below")))
        pl_sweep_fault(d, stop, "wrong_value", "either above or below, a number", "%s", where);
    return bound;
}

static void read_stop(pl_sweep_decoder *d, json_t *stop)
{
    static const char *const keys[] = {"result", "above", "below", NULL};
    pl_sweep *s = d->sweep;
    s->stop.result = -1;
    if (!stop)
        return;
    if (!json_is_object(stop)) {
        pl_sweep_fault(d, stop, "wrong_type", "an object with result, and above or below", "/stop");
        return;
    }
    pl_sweep_check_keys(d, stop, keys, "/stop");
    const char *name = pl_sweep_text_at(d, stop, "result", PL_SWEEP_PATH_MAX, "/stop");
    for (int32_t i = 0; name && i < s->result_count; i++)
        if (s->results[i].name && strcmp(s->results[i].name, name) == 0)
            s->stop.result = i;
    if (s->stop.result < 0)
        pl_sweep_fault(d, json_object_get(stop, "result"), "wrong_value",
                       "the name of one of the results", "/stop/result");
    s->stop.bound = read_bound(d, stop, &s->stop.above, "/stop");
}

static void read_stop_runs(pl_sweep_decoder *d, json_t *stop)
{
    static const char *const keys[] = {"metric", "probe", "above", "below", NULL};
    pl_run_stop *s = &d->sweep->stop_runs;
    if (!stop)
        return;
    if (!json_is_object(stop)) {
        pl_sweep_fault(d, stop, "wrong_type", "an object with metric or probe, and above or below",
                       "/stop_runs");
        return;
    }
    pl_sweep_check_keys(d, stop, keys, "/stop_runs");
    pl_sweep_read_quantity(d, &s->of, stop, "/stop_runs");
    s->bound = read_bound(d, stop, &s->above, "/stop_runs");
}

/* ---- the document ---- */

/* Default number of points that a fit begins with. */
static int64_t samples_of(const json_t *document)
{
    int64_t samples = 6 * (int64_t)json_array_size(json_object_get(document, "parameters"));
    const json_t *most = json_object_get(json_object_get(document, "fit"), "evaluations");
    bool fewer = json_is_integer(most) && json_integer_value(most) < samples;
    return fewer ? json_integer_value(most) : samples;
}

static void read_sampling(pl_sweep_decoder *d)
{
    pl_sweep *s = d->sweep;
    json_t *o = d->document, *samples = json_object_get(o, "samples");
    bool fit = json_object_get(o, "fit");
    int usual = fit ? PL_SAMPLING_LATIN : PL_SAMPLING_GRID;
    s->sampling = (pl_sampling)pl_sweep_word_at(d, o, "sampling", pl_sampling_names, usual, "");
    s->samples = pl_sweep_whole_at(d, o, "samples", 1, PL_SWEEP_ROWS_MAX, fit ? samples_of(o) : 0,
                                   "");
    s->seed = pl_sweep_whole_at(d, o, "seed", 0, INT64_MAX, 0, "");
    if (s->sampling == PL_SAMPLING_GRID && fit)
        pl_sweep_fault(d, json_object_get(o, "sampling"), "wrong_value",
                       "random, latin_hypercube or sobol: a fit begins with samples", "/sampling");
    else if (s->sampling == PL_SAMPLING_GRID && samples)
        pl_sweep_fault(d, samples, "wrong_value", "nothing: a grid has every combination",
                       "/samples");
    if (s->sampling != PL_SAMPLING_GRID && !samples && !fit)
        pl_sweep_fault(d, NULL, "missing", "the number of points to draw", "/samples");
}

static void read_document(pl_sweep_decoder *d)
{
    static const char *const keys[] = {"name",      "scene", "parameters", "sampling", "samples",
                                       "seed",      "csv",   "running",    "results",  "stop",
                                       "stop_runs", "fit",   NULL};
    pl_sweep *s = d->sweep;
    json_t *o = d->document, *csv = json_object_get(o, "csv"), *fit = json_object_get(o, "fit");
    pl_sweep_check_keys(d, o, keys, "");
    const char *name = pl_sweep_text_at(d, o, "name", 200, "");
    s->name = pl_sweep_copy(d, name ? name : "");
    s->running = pl_sweep_whole_at(d, o, "running", 1, PL_SWEEP_RUNNING_MAX, 4, "");
    d->scene = json_object_get(o, "scene");
    s->scene = (const pl_json *)d->scene;
    if (!json_is_object(d->scene))
        pl_sweep_fault(d, d->scene, d->scene ? "wrong_type" : "missing", "a scene, an object",
                       "/scene");
    read_sampling(d);
    if (csv) {
        if (json_object_get(o, "parameters") || json_object_get(o, "sampling"))
            pl_sweep_fault(d, NULL, "wrong_value",
                           "csv, or parameters with their sampling: one of them", "/csv");
        if (fit)
            pl_sweep_fault(d, NULL, "wrong_value", "parameters with min and max, for a fit",
                           "/csv");
        read_csv(d, csv);
    } else {
        read_parameters(d, json_object_get(o, "parameters"));
    }
    if (d->no_memory)
        return;
    if (fit)
        pl_sweep_read_fit(d, fit);
    read_results(d, json_object_get(o, "results"));
    read_stop(d, json_object_get(o, "stop"));
    read_stop_runs(d, json_object_get(o, "stop_runs"));
    if (!d->faults->total && !d->no_memory && !csv)
        d->no_memory |= pl_sweep_make_rows(s, d->faults) == PL_NO_MEMORY;
}

static pl_status begin(const char *text, size_t length, pl_sweep *out, pl_faults *faults)
{
    json_error_t where;
    json_t *document = pl_json_load(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    char got[200];
    if (!document && errno == ENOMEM)
        return PL_NO_MEMORY;
    if (!document) {
        snprintf(got, sizeof got, "line %d, column %d: %.110s", where.line, where.column,
                 where.text);
        pl_faults_add(faults, "", "bad_json", got, "JSON", "");
    } else if (!json_is_object(document)) {
        pl_faults_add(faults, "", "wrong_type", "no object", "an object", "");
        json_decref(document);
        document = NULL;
    }
    out->document = (pl_json *)document;
    return document ? PL_OK : PL_INVALID;
}

pl_status pl_sweep_decode(const char *text, size_t length, pl_sweep *out, pl_faults *faults)
{
    pl_faults found = {0};
    pl_sweep_decoder d = {.sweep = out, .faults = &found};
    *out = (pl_sweep){.stop.result = -1};
    pl_status status = begin(text, length, out, &found);
    if (status == PL_OK) {
        d.document = (json_t *)out->document;
        read_document(&d);
        status = d.no_memory ? PL_NO_MEMORY : found.total ? PL_INVALID : PL_OK;
    }
    for (size_t i = 0; i < found.count; i++) {
        const pl_fault *f = &found.items[i];
        pl_faults_add(faults, f->pointer, f->code, f->got, f->expected, f->hint);
    }
    pl_faults_clear(&found);
    if (status != PL_OK)
        pl_sweep_clear(out);
    return status;
}
