#include "server/sweeps/sweep_view.h"

#include "protocol/export/npy.h"
#include "protocol/export/zip.h"
#include "server/base/clock.h"
#include "server/sweeps/fit_view.h"
#include "server/sweeps/run_stop.h"
#include "server/sweeps/text_outlet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For a running row, its session's state; for one that will not be started, "skipped". */
static const char *state_of(pl_sweeps *t, const pl_sweep_run *s, int64_t row)
{
    const pl_sweep_row *r = &s->rows[row];
    if (r->state == PL_ROW_WAITING && s->halt != PL_HALT_NONE) {
        return "skipped";
    }
    if (r->state != PL_ROW_LIVE) {
        return pl_sweep_row_state_name(r->state);
    }
    pl_session *session = pl_sessions_find_any(pl_sweeps_sessions(t), r->session);
    pl_session_state state = session ? (pl_session_state)atomic_load(&session->state)
                                     : PL_STATE_RUNNING;
    pl_session_release(session);
    /* Its end is reported only with its results. */
    return pl_state_name(pl_state_terminal(state) ? PL_STATE_RUNNING : state);
}

/* ---- the sweep ---- */

static const char *const states[] = {"waiting",   "checking", "queued",   "running",   "paused",
                                     "succeeded", "failed",   "rejected", "cancelled", "skipped",
                                     "refused",   "deleted",  "stopped"};
enum { STATES = sizeof states / sizeof *states };

static void put_counts(pl_json_writer *w, pl_sweeps *t, const pl_sweep_run *s)
{
    int64_t counts[STATES] = {0};
    for (int64_t i = 0; i < s->plan.row_count; i++) {
        const char *state = state_of(t, s, i);
        for (int k = 0; k < STATES; k++) {
            counts[k] += strcmp(states[k], state) == 0;
        }
    }
    pl_json_key(w, "counts");
    pl_json_begin_object(w);
    for (int k = 0; k < STATES; k++) {
        pl_json_set_integer(w, states[k], counts[k]);
    }
    pl_json_end_object(w);
}

static const char *sweep_state(const pl_sweep_run *s)
{
    if (pl_sweep_live(s)) {
        return s->halt == PL_HALT_CANCELLED ? "cancelling" : "running";
    }
    return s->halt == PL_HALT_CANCELLED ? "cancelled"
           : s->halt == PL_HALT_STOPPED ? "stopped"
           : pl_sweep_open(s)           ? "running"
                                        : "done";
}

static void put_result_names(pl_json_writer *w, const pl_sweep *p)
{
    pl_json_key(w, "results");
    pl_json_begin_array(w);
    for (int32_t k = 0; k < p->result_count; k++) {
        pl_json_put_string(w, p->results[k].name);
    }
    pl_json_end_array(w);
}

/* Rows that succeeded with warnings. */
static int64_t warned_of(const pl_sweep_run *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->plan.row_count; i++) {
        count += s->rows[i].state == PL_ROW_SUCCEEDED && s->rows[i].outcome.warnings;
    }
    return count;
}

static void put_plan(pl_json_writer *w, const pl_sweep *p)
{
    pl_json_set_integer(w, "rows", p->row_count);
    pl_json_set_integer(w, "running", p->running);
    pl_json_set_string(w, "sampling", p->listed ? "csv" : pl_sampling_names[p->sampling]);
    pl_json_set_integer(w, "seed", p->seed);
    pl_json_key(w, "parameters");
    pl_json_begin_array(w);
    for (int32_t j = 0; j < p->parameter_count; j++) {
        pl_json_begin_object(w);
        pl_json_set_string(w, "name", p->parameters[j].name);
        pl_json_set_string(w, "path", p->parameters[j].path);
        pl_json_set_boolean(w, "log", p->parameters[j].log);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
    put_result_names(w, p);
    pl_json_key(w, "stop");
    if (p->stop.result < 0) {
        pl_json_put_null(w);
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_string(w, "result", p->results[p->stop.result].name);
    pl_json_set_number(w, p->stop.above ? "above" : "below", p->stop.bound);
    pl_json_end_object(w);
}

static void put_stop_runs(pl_json_writer *w, const pl_run_stop *stop)
{
    pl_json_key(w, "stop_runs");
    if (!pl_run_stop_wanted(stop)) {
        pl_json_put_null(w);
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_string(w, stop->of.probe ? "probe" : "metric",
                       stop->of.probe ? stop->of.probe : stop->of.metric);
    pl_json_set_number(w, stop->above ? "above" : "below", stop->bound);
    pl_json_end_object(w);
}

void pl_sweep_put(pl_json_writer *w, pl_sweeps *t, const pl_sweep_run *s)
{
    char created[32];
    pl_time_view(s->created_us / 1000000, created);
    pl_sweeps_lock(t);
    pl_json_begin_object(w);
    pl_json_set_string(w, "id", s->id);
    pl_json_set_string(w, "name", s->plan.name);
    pl_json_set_string(w, "state", sweep_state(s));
    pl_json_set_string(w, "message", s->message);
    pl_json_set_string(w, "created", created);
    pl_json_set_string(w, "owner", s->owner);
    pl_json_set_string(w, "group", s->group);
    put_plan(w, &s->plan);
    put_stop_runs(w, &s->plan.stop_runs);
    put_counts(w, t, s);
    pl_fit_put(w, s);
    pl_json_set_integer(w, "warned", warned_of(s));
    pl_json_end_object(w);
    pl_sweeps_unlock(t);
}

char *pl_sweep_encode(pl_sweeps *t, const pl_sweep_run *s)
{
    pl_json_writer w = {0};
    pl_sweep_put(&w, t, s);
    return pl_json_finish(&w, NULL);
}

/* ---- the table as JSON ---- */

static void put_row(pl_json_writer *w, pl_sweeps *t, const pl_sweep_run *s, int64_t row)
{
    const pl_sweep_row *r = &s->rows[row];
    pl_json_begin_object(w);
    pl_json_set_integer(w, "row", row);
    pl_json_set_string(w, "session", r->session[0] ? r->session : NULL);
    pl_json_set_string(w, "state", state_of(t, s, row));
    pl_json_set_integer(w, "tries", r->tries);
    pl_json_set_string(w, "message", r->outcome.message ? r->outcome.message : "");
    pl_json_set_raw(w, "warnings", r->outcome.warnings ? r->outcome.warnings : "[]");
    pl_json_key(w, "values");
    pl_json_begin_array(w);
    for (int32_t j = 0; j < s->plan.parameter_count; j++) {
        pl_json_put_raw(w, pl_sweep_value(&s->plan, row, j));
    }
    pl_json_end_array(w);
    pl_json_key(w, "results");
    pl_json_begin_array(w);
    for (int32_t k = 0; k < s->plan.result_count; k++) {
        pl_json_put_number(w, r->outcome.results ? r->outcome.results[k] : NAN, 17);
    }
    pl_json_end_array(w);
    pl_json_end_object(w);
}

char *pl_sweep_table_json(pl_sweeps *t, const pl_sweep_run *s, int64_t from, int64_t limit)
{
    const pl_sweep *p = &s->plan;
    pl_json_writer w = {0};
    pl_sweeps_lock(t);
    int64_t end = from > p->row_count
                      ? from
                      : from + (limit < p->row_count - from ? limit : p->row_count - from);
    pl_json_begin_object(&w);
    pl_json_key(&w, "parameters");
    pl_json_begin_array(&w);
    for (int32_t j = 0; j < p->parameter_count; j++) {
        pl_json_put_string(&w, p->parameters[j].name);
    }
    pl_json_end_array(&w);
    put_result_names(&w, p);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    for (int64_t i = from; i < end; i++) {
        put_row(&w, t, s, i);
    }
    pl_json_end_array(&w);
    pl_json_set_integer(&w, "rows", p->row_count);
    pl_json_end_object(&w);
    pl_sweeps_unlock(t);
    return pl_json_finish(&w, NULL);
}

/* ---- the table as CSV ---- */

/* A string without quotes; any other value as JSON. malloc'ed, or NULL. */
static char *cell(const char *json)
{
    pl_json *value = *json == '"' ? pl_json_parse(json, strlen(json), NULL) : NULL;
    const char *text = pl_json_string(value, "", NULL);
    char *out = strdup(text ? text : json);
    pl_json_free(value);
    return out;
}

/* Codes of a row's warnings, separated by spaces. malloc'ed, or NULL. */
static char *codes_of(const pl_sweep_run *s, int64_t row)
{
    const char *text = s->rows[row].outcome.warnings;
    pl_json *list = text ? pl_json_parse(text, strlen(text), NULL) : NULL;
    pl_text out = {0};
    pl_text_put(&out, "");
    for (size_t i = 0; i < pl_json_count(list); i++) {
        pl_text_printf(&out, "%s%s", i ? " " : "",
                       pl_json_string(pl_json_item(list, i), "code", ""));
    }
    pl_json_free(list);
    if (out.failed) {
        free(out.text);
        return NULL;
    }
    return out.text;
}

static void put_field(pl_outlet *o, const char *text)
{
    pl_outlet_put(o, ",", 1);
    pl_outlet_csv_text(o, text);
}

/* False: out of memory. */
static bool put_line(pl_outlet *o, pl_sweeps *t, const pl_sweep_run *s, int64_t row)
{
    const pl_sweep_row *r = &s->rows[row];
    char text[96];
    bool good = true;
    snprintf(text, sizeof text, "%lld,%s,%s", (long long)row, r->session, state_of(t, s, row));
    pl_outlet_put(o, text, strlen(text));
    char *codes = codes_of(s, row);
    put_field(o, codes ? codes : "");
    good = codes;
    free(codes);
    for (int32_t j = 0; j < s->plan.parameter_count; j++) {
        char *value = cell(pl_sweep_value(&s->plan, row, j));
        put_field(o, value ? value : "");
        good = good && value;
        free(value);
    }
    for (int32_t k = 0; k < s->plan.result_count; k++) {
        double x = r->outcome.results ? r->outcome.results[k] : NAN;
        snprintf(text, sizeof text, "%.17g", x);
        put_field(o, isnan(x) ? "" : text);
    }
    pl_outlet_put(o, "\r\n", 2);
    return good;
}

static bool put_csv(pl_sweeps *t, const pl_sweep_run *s, pl_outlet *o)
{
    static const char head[] = "row,session,state,warnings";
    bool good = true;
    pl_outlet_put(o, head, sizeof head - 1);
    for (int32_t j = 0; j < s->plan.parameter_count; j++) {
        put_field(o, s->plan.parameters[j].name);
    }
    for (int32_t k = 0; k < s->plan.result_count; k++) {
        put_field(o, s->plan.results[k].name);
    }
    pl_outlet_put(o, "\r\n", 2);
    for (int64_t i = 0; i < s->plan.row_count && good; i++) {
        good = put_line(o, t, s, i);
    }
    return good;
}

/* ---- the table as NPZ ---- */

enum { ROW, SESSION, STATE, WARNINGS, FIRST_PARAMETER };

static const char *column_name(const pl_sweep *p, int32_t column)
{
    static const char *const names[] = {"row", "session", "state", "warnings"};
    int32_t j = column - FIRST_PARAMETER;
    return j < 0                    ? names[column]
           : j < p->parameter_count ? p->parameters[j].name
                                    : p->results[j - p->parameter_count].name;
}

static bool column_is_number(const pl_sweep_run *s, int32_t column)
{
    int32_t j = column - FIRST_PARAMETER;
    if (j < 0) {
        return column == ROW;
    }
    for (int64_t i = 0; j < s->plan.parameter_count && i < s->plan.row_count; i++) {
        if (isnan(pl_sweep_number(&s->plan, i, j))) {
            return false;
        }
    }
    return true;
}

static double number_at(const pl_sweep_run *s, int32_t column, int64_t row)
{
    int32_t j = column - FIRST_PARAMETER, k = j - s->plan.parameter_count;
    return j < 0                          ? (double)row
           : k < 0                        ? pl_sweep_number(&s->plan, row, j)
           : s->rows[row].outcome.results ? s->rows[row].outcome.results[k]
                                          : NAN;
}

/* numpy's texts have a fixed length. */
enum { TEXT_MAX = 64 };

/* Convert UTF-8, already validated with the JSON, to code points, padded with zeros. */
static void put_code_points(const char *text, uint32_t out[TEXT_MAX])
{
    memset(out, 0, TEXT_MAX * sizeof *out);
    for (int n = 0; *text && n < TEXT_MAX; n++) {
        unsigned char c = (unsigned char)*text++;
        int more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
        out[n] = more ? c & (0x3Fu >> more) : c;
        for (; more && *text; more--) {
            out[n] = out[n] << 6 | ((unsigned char)*text++ & 0x3F);
        }
    }
}

static bool text_at(pl_sweeps *t, const pl_sweep_run *s, int32_t column, int64_t row,
                    uint32_t out[TEXT_MAX])
{
    if (column < WARNINGS) {
        put_code_points(column == SESSION ? s->rows[row].session : state_of(t, s, row), out);
        return true;
    }
    char *text = column == WARNINGS ? codes_of(s, row)
                                    : cell(pl_sweep_value(&s->plan, row, column - FIRST_PARAMETER));
    put_code_points(text ? text : "", out);
    free(text);
    return text;
}

static bool put_column(pl_zip *z, pl_sweeps *t, const pl_sweep_run *s, int32_t column)
{
    bool number = column_is_number(s, column), good = true;
    int64_t rows = s->plan.row_count;
    size_t width = number ? sizeof(double) : TEXT_MAX * sizeof(uint32_t);
    char *data = calloc((size_t)rows, width), header[PL_NPY_HEADER_MAX];
    for (int64_t i = 0; data && i < rows; i++) {
        if (number) {
            ((double *)(void *)data)[i] = number_at(s, column, i);
        } else {
            good = text_at(t, s, column, i, (uint32_t *)(void *)(data + (size_t)i * width)) && good;
        }
    }
    pl_npy_shape shape = {number ? "<f8" : "<U64", 1, {rows, 0, 0}};
    pl_span spans[] = {{header, pl_npy_header(&shape, header), NULL},
                       {data, (size_t)rows * width, NULL}};
    char name[PL_SWEEP_PATH_MAX + 8];
    snprintf(name, sizeof name, "%s.npy", column_name(&s->plan, column));
    if (data) {
        pl_zip_add(z, name, spans, 2);
    }
    free(data);
    return data && good;
}

static bool put_npz(pl_sweeps *t, const pl_sweep_run *s, pl_outlet *o)
{
    pl_zip zip;
    const int32_t columns = FIRST_PARAMETER + s->plan.parameter_count + s->plan.result_count;
    bool good = true;
    pl_zip_open(&zip, o);
    for (int32_t column = 0; column < columns && good; column++) {
        good = put_column(&zip, t, s, column);
    }
    good = pl_zip_finish(&zip) == PL_OK && good;
    pl_zip_clear(&zip);
    return good;
}

/* ---- a table as bytes ---- */

typedef struct table {
    pl_sweeps *sweeps;
    const pl_sweep_run *run;
    bool (*put)(pl_sweeps *t, const pl_sweep_run *s, pl_outlet *o);
} table;

static bool put_locked(const void *context, pl_outlet *o)
{
    const table *t = context;
    pl_sweeps_lock(t->sweeps);
    bool good = t->put(t->sweeps, t->run, o);
    pl_sweeps_unlock(t->sweeps);
    return good;
}

char *pl_sweep_table_csv(pl_sweeps *t, const pl_sweep_run *s, size_t *size)
{
    return pl_outlet_gather(put_locked, &(table){t, s, put_csv}, size);
}

char *pl_sweep_table_npz(pl_sweeps *t, const pl_sweep_run *s, size_t *size)
{
    return pl_outlet_gather(put_locked, &(table){t, s, put_npz}, size);
}
