#include "server/sweeps/fit_view.h"

#include "server/sweeps/fit_curves.h"
#include "server/sweeps/text_outlet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- progress ---- */

static const char *phase_of(const pl_sweep_run *s)
{
    static const char *const ends[] = {"", "converged", "exhausted", "lost"};
    if (s->end != PL_FIT_OPEN) {
        return ends[s->end];
    }
    return s->plan.row_count > s->plan.samples ? "searching" : "sampling";
}

static int64_t ended_of(const pl_sweep_run *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->plan.row_count; i++) {
        count += s->rows[i].state != PL_ROW_WAITING && s->rows[i].state != PL_ROW_LIVE;
    }
    return count;
}

static void put_best(pl_json_writer *w, const pl_sweep_run *s)
{
    int64_t row = pl_sweep_best(s);
    pl_json_key(w, "best");
    if (row < 0) {
        pl_json_put_null(w);
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_integer(w, "row", row);
    pl_json_set_string(w, "session", s->rows[row].session);
    pl_json_set_number(w, "misfit", s->rows[row].outcome.results[0]);
    pl_json_key(w, "values");
    pl_json_begin_array(w);
    for (int32_t j = 0; j < s->plan.parameter_count; j++) {
        pl_json_put_raw(w, pl_sweep_value(&s->plan, row, j));
    }
    pl_json_end_array(w);
    pl_json_end_object(w);
}

void pl_fit_put(pl_json_writer *w, const pl_sweep_run *s)
{
    const pl_fit *fit = s->plan.fit;
    if (!fit) {
        pl_json_set_null(w, "fit");
        return;
    }
    pl_json_key(w, "fit");
    pl_json_begin_object(w);
    pl_json_set_string(w, "method", pl_fit_method_names[fit->method]);
    pl_json_set_string(w, "phase", phase_of(s));
    pl_json_set_integer(w, "samples", s->plan.samples);
    pl_json_set_integer(w, "ended", ended_of(s));
    pl_json_set_integer(w, "evaluations", fit->evaluations);
    pl_json_set_number(w, "tolerance", fit->tolerance);
    pl_json_set_integer(w, "points", fit->points);
    put_best(w, s);
    pl_json_end_object(w);
}

/* ---- residuals ---- */

/* The best run's values at the measured points, with its row and session. */
static double *best_values(pl_sweeps *t, const pl_sweep_run *s, int64_t *row, char id[33])
{
    pl_sweeps_lock(t);
    *row = pl_sweep_best(s);
    snprintf(id, 33, "%s", *row < 0 ? "" : s->rows[*row].session);
    pl_sweeps_unlock(t);
    pl_session *session = *row < 0 ? NULL : pl_sessions_find_any(pl_sweeps_sessions(t), id);
    errno = ENOENT;
    double *values = session ? pl_fit_values_of(s->plan.fit, session->directory) : NULL;
    pl_session_release(session);
    return values;
}

static const char *name_of(const pl_fit_quantity *q)
{
    return q->probe ? q->probe : q->metric ? q->metric : "time";
}

static void put_series(pl_json_writer *w, const pl_fit_series *s, const double *values)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", name_of(&s->value));
    pl_json_set_string(w, "against", name_of(&s->against));
    pl_json_set_number(w, "weight", s->weight);
    pl_json_key(w, "points");
    pl_json_begin_array(w);
    for (int64_t i = 0; i < s->count; i++) {
        const double numbers[] = {s->x[i], s->y[i], values[i], values[i] - s->y[i]};
        pl_json_begin_array(w);
        for (int k = 0; k < 4; k++) {
            pl_json_put_number(w, numbers[k], 17);
        }
        pl_json_end_array(w);
    }
    pl_json_end_array(w);
    pl_json_end_object(w);
}

char *pl_fit_residuals_json(pl_sweeps *t, const pl_sweep_run *s)
{
    const pl_fit *fit = s->plan.fit;
    char id[33];
    int64_t row, at = 0;
    double *values = best_values(t, s, &row, id);
    if (!values) {
        return NULL;
    }
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "row", row);
    pl_json_set_string(&w, "session", id);
    pl_json_set_number(&w, "misfit", pl_fit_misfit(fit, values));
    pl_json_key(&w, "series");
    pl_json_begin_array(&w);
    for (int32_t k = 0; k < fit->count; k++) {
        put_series(&w, &fit->series[k], values + at);
        at += fit->series[k].count;
    }
    pl_json_end_array(&w);
    pl_json_end_object(&w);
    free(values);
    errno = ENOMEM;
    return pl_json_finish(&w, NULL);
}

typedef struct residuals {
    const pl_fit *fit;
    const double *values;
} residuals;

static bool put_lines(const void *context, pl_outlet *o)
{
    const residuals *r = context;
    const pl_fit *fit = r->fit;
    const double *values = r->values;
    static const char head[] = "series,x,measured,run,residual\r\n";
    char line[140];
    pl_outlet_put(o, head, sizeof head - 1);
    for (int32_t k = 0; k < fit->count; k++) {
        const pl_fit_series *s = &fit->series[k];
        for (int64_t i = 0; i < s->count; i++) {
            pl_outlet_csv_text(o, name_of(&s->value));
            snprintf(line, sizeof line, ",%.17g,%.17g,%.17g,%.17g\r\n", s->x[i], s->y[i], values[i],
                     values[i] - s->y[i]);
            pl_outlet_put(o, line, strlen(line));
        }
        values += s->count;
    }
    return true;
}

char *pl_fit_residuals_csv(pl_sweeps *t, const pl_sweep_run *s, size_t *size)
{
    char id[33];
    int64_t row;
    double *values = best_values(t, s, &row, id);
    if (!values) {
        return NULL;
    }
    errno = ENOMEM;
    char *text = pl_outlet_gather(put_lines, &(residuals){s->plan.fit, values}, size);
    free(values);
    return text;
}
