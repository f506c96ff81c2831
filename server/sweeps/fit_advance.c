#include "server/sweeps/fit_advance.h"

#include "server/sweeps/fit_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Called with the mutex held. */
static bool is_due(const pl_sweep_run *s)
{
    bool due = s->plan.fit && s->end == PL_FIT_OPEN && s->halt == PL_HALT_NONE && !s->gone;
    for (int64_t i = 0; due && i < s->plan.row_count; i++) {
        due = s->rows[i].state != PL_ROW_LIVE && s->rows[i].state != PL_ROW_WAITING;
    }
    return due;
}

static void copy_runs(const pl_sweep_run *s, double *values, double *misfits)
{
    int32_t n = s->plan.parameter_count;
    for (int64_t i = 0; i < s->plan.row_count; i++) {
        const pl_sweep_row *r = &s->rows[i];
        bool good = r->state == PL_ROW_SUCCEEDED && r->outcome.results;
        misfits[i] = good ? r->outcome.results[0] : NAN;
        for (int32_t j = 0; j < n; j++) {
            values[i * n + j] = pl_sweep_number(&s->plan, i, j);
        }
    }
}

static void end_search(pl_sweep_run *s, pl_fit_end end, const char *why)
{
    s->end = end;
    snprintf(s->message, sizeof s->message, "%s", why);
}

/* Called with the mutex held. */
static void take_step(pl_sweep_run *s, pl_fit_step step, const double *next)
{
    switch (step) {
    case PL_FIT_RUN:
        pl_sweep_append(&s->plan, next); /* without memory, a later call repeats this step */
        break;
    case PL_FIT_CONVERGED:
        end_search(s, PL_FIT_END_CONVERGED, "the search converged");
        break;
    case PL_FIT_EXHAUSTED:
        end_search(s, PL_FIT_END_EXHAUSTED, "as many runs as fit.evaluations allows were made");
        break;
    case PL_FIT_LOST:
        end_search(s, PL_FIT_END_LOST, "the search has no run to continue from");
        break;
    case PL_FIT_NO_MEMORY:
        break;
    }
}

void pl_fit_advance(pl_sweeps *t, pl_sweep_run *s)
{
    pl_fit_runs runs = {0};
    double *values = NULL, *misfits = NULL, *next = NULL;
    size_t n = (size_t)s->plan.parameter_count;
    pl_sweeps_lock(t);
    bool due = is_due(s);
    if (due) {
        size_t count = (size_t)s->plan.row_count;
        values = calloc(count * n + 1, sizeof *values);
        misfits = calloc(count + 1, sizeof *misfits);
        next = calloc(n + 1, sizeof *next);
        due = values && misfits && next;
        runs = (pl_fit_runs){(int64_t)count, values, misfits};
    }
    if (due) {
        copy_runs(s, values, misfits);
    }
    pl_sweeps_unlock(t);
    if (due) {
        pl_fit_step step = pl_fit_search(&s->plan, &runs, next);
        pl_sweeps_lock(t);
        if (is_due(s)) {
            take_step(s, step, next);
        }
        pl_sweeps_unlock(t);
    }
    free(values);
    free(misfits);
    free(next);
}
