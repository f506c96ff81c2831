#include "server/sweeps/sweep_runner.h"

#include "engine/deadline.h"
#include "protocol/text/problem.h"
#include "server/base/clock.h"
#include "server/base/logger.h"
#include "server/run/admission.h"
#include "server/run/lifecycle.h"
#include "server/sweeps/fit_advance.h"
#include "server/sweeps/run_stop.h"
#include "server/sweeps/sweep_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 1000, WAIT_MS = 2000 };

struct pl_sweep_runner {
    pl_sweep_setup setup;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    bool kicked, stopping;
};

/* ---- ends ---- */

static pl_sweep_row_state row_state_of(pl_session_state state)
{
    return state == PL_STATE_SUCCEEDED   ? PL_ROW_SUCCEEDED
           : state == PL_STATE_REJECTED  ? PL_ROW_REJECTED
           : state == PL_STATE_CANCELLED ? PL_ROW_CANCELLED
                                         : PL_ROW_FAILED;
}

/* Marks a cancelled run as stopped if its records meet stop_runs; so a later daemon decides the same. */
static void take_stop(const pl_sweep *plan, const pl_session *s, pl_sweep_row_state *state,
                      pl_sweep_outcome *o)
{
    char why[200];
    int64_t from = 0;
    if (*state == PL_ROW_CANCELLED && pl_run_stop_wanted(&plan->stop_runs) &&
        pl_run_stop_met(&plan->stop_runs, s->directory, &from, why)) {
        *state = PL_ROW_STOPPED;
        free(o->message);
        o->message = strdup(why);
    }
}

static pl_sweep_outcome outcome_of(pl_sweeps *t, const pl_sweep *plan, pl_session *s,
                                   pl_sweep_row_state state)
{
    pl_row row = pl_session_row(pl_sweeps_sessions(t), s);
    const char *why = row.message && *row.message ? row.message : row.reason;
    bool warned = row.warnings && strcmp(row.warnings, "[]") != 0;
    pl_sweep_outcome o = {
        .message = state != PL_ROW_SUCCEEDED && why ? strdup(why) : NULL,
        .warnings = warned ? strdup(row.warnings) : NULL,
        .results = pl_sweep_values(plan, s->directory),
    };
    if (plan->fit && o.results && state != PL_ROW_SUCCEEDED) {
        o.results[0] = NAN; /* the misfit would cover only the part that ran */
    }
    pl_row_clear(&row);
    return o;
}

/* True if a run's results end the sweep. The mutex is held. */
static bool stops(const pl_sweep_run *s, const double *results)
{
    const pl_sweep_stop *stop = &s->plan.stop;
    if (stop->result < 0 || !results || isnan(results[stop->result])) {
        return false;
    }
    double value = results[stop->result];
    return stop->above ? value > stop->bound : value < stop->bound;
}

static void settle_row(pl_sweeps *t, pl_sweep_run *s, int64_t row, const char id[33])
{
    pl_session *session = pl_sessions_find_any(pl_sweeps_sessions(t), id);
    pl_session_state state = session ? (pl_session_state)atomic_load(&session->state)
                                     : PL_STATE_CANCELLED;
    if (session && !pl_state_terminal(state)) {
        pl_session_release(session);
        return;
    }
    bool there = session &&
                 pl_sessions_desired(pl_sweeps_sessions(t), session) != PL_DESIRE_DELETED;
    pl_sweep_row_state end = there ? row_state_of(state) : PL_ROW_DELETED;
    pl_sweep_outcome o = {0};
    if (there) {
        o = outcome_of(t, &s->plan, session, end);
        take_stop(&s->plan, session, &end, &o);
    }
    pl_session_release(session);
    pl_sweeps_lock(t);
    if (s->rows[row].state == PL_ROW_LIVE && strcmp(s->rows[row].session, id) == 0) {
        bool stop = s->halt == PL_HALT_NONE && stops(s, o.results);
        pl_sweep_set_row(t, s, row, end, &o);
        if (stop) {
            pl_sweep_set_halt(t, s, PL_HALT_STOPPED);
            snprintf(s->message, sizeof s->message, "row %lld met the condition of stop",
                     (long long)row);
        }
    }
    pl_sweeps_unlock(t);
    pl_sweep_outcome_clear(&o);
}

/* The next live row starting at *row, with its session; false: none. */
static bool next_live(pl_sweeps *t, const pl_sweep_run *s, int64_t *row, char id[33])
{
    bool found = false;
    pl_sweeps_lock(t);
    while (*row < s->plan.row_count && !found) {
        found = s->rows[*row].state == PL_ROW_LIVE;
        *row += !found;
    }
    if (found) {
        memcpy(id, s->rows[*row].session, 33);
    }
    pl_sweeps_unlock(t);
    return found;
}

static void settle(pl_sweeps *t, pl_sweep_run *s)
{
    char id[33];
    for (int64_t row = 0; next_live(t, s, &row, id); row++) {
        settle_row(t, s, row, id);
    }
}

/* ---- beginnings ---- */

/* The next row to start; -1: none now. */
static int64_t next_waiting(pl_sweeps *t, const pl_sweep_run *s)
{
    int64_t row = -1;
    pl_sweeps_lock(t);
    bool now = s->halt == PL_HALT_NONE && !s->gone && pl_monotonic_ms() >= s->due_ms &&
               pl_sweep_live(s) < s->plan.running;
    for (int64_t i = 0; now && i < s->plan.row_count && row < 0; i++) {
        row = s->rows[i].state == PL_ROW_WAITING ? i : -1;
    }
    pl_sweeps_unlock(t);
    return row;
}

static void hold_back(pl_sweeps *t, pl_sweep_run *s, const char *why)
{
    pl_sweeps_lock(t);
    s->due_ms = pl_monotonic_ms() + WAIT_MS;
    snprintf(s->message, sizeof s->message, "%s", why);
    pl_sweeps_unlock(t);
}

/* Summarise a problem report, with its first fault. */
static void read_problem(const char *text, char out[256])
{
    char *title = NULL, *detail = NULL;
    int status = 0;
    pl_faults faults = {0};
    snprintf(out, 256, "the session could not be made");
    if (pl_problem_decode(text, strlen(text), &status, &title, &detail, &faults)) {
        const pl_fault *f = faults.count ? &faults.items[0] : NULL;
        snprintf(out, 256, f ? "%.80s: %.60s: %.60s" : "%.80s: %.120s", title ? title : "",
                 f        ? f->pointer
                 : detail ? detail
                          : "",
                 f ? f->got : "");
    }
    pl_faults_clear(&faults);
    free(title);
    free(detail);
}

/* A scene that cannot run is the row's fault; other rejections may be temporary. */
static void take_refusal(pl_sweeps *t, pl_sweep_run *s, int64_t row, const pl_request *r)
{
    int status = pl_own_request_status(r);
    char why[256];
    read_problem(pl_own_request_reply(r), why);
    if (status != 422 && status != 400) {
        hold_back(t, s, why);
        return;
    }
    pl_sweep_outcome refusal = {.message = strdup(why)};
    pl_sweeps_lock(t);
    s->rows[row].tries++;
    pl_sweep_set_row(t, s, row, PL_ROW_REFUSED, &refusal);
    pl_sweeps_unlock(t);
}

static void take_session(pl_sweeps *t, pl_sweep_run *s, int64_t row, const char id[33])
{
    pl_sweeps_lock(t);
    pl_sweep_row *r = &s->rows[row];
    memcpy(r->session, id, sizeof r->session);
    r->tries++;
    r->since_us = pl_clock_us();
    r->looked = 0;
    s->message[0] = 0;
    pl_sweep_set_row(t, s, row, PL_ROW_LIVE, NULL);
    pl_sweeps_unlock(t);
}

/* Also for a cancelled or deleted sweep: a row may have been started at that moment. */
static void cancel_strays(pl_sweep_runner *x, pl_sweep_run *s)
{
    char id[33];
    pl_sweeps_lock(x->setup.sweeps);
    bool stray = s->halt == PL_HALT_CANCELLED || s->gone;
    pl_sweeps_unlock(x->setup.sweeps);
    for (int64_t row = 0; stray && next_live(x->setup.sweeps, s, &row, id); row++) {
        pl_session *session = pl_sessions_find_any(x->setup.sessions, id);
        if (session && pl_sessions_desired(x->setup.sessions, session) < PL_DESIRE_CANCELLED) {
            pl_lifecycle_cancel(x->setup.sessions, x->setup.executor, session);
        }
        pl_session_release(session);
    }
}

/* Cancel runs that meet the condition of stop_runs, as their owner would. */
static void stop_runs(pl_sweep_runner *x, pl_sweep_run *s)
{
    const pl_run_stop *stop = &s->plan.stop_runs;
    char id[33];
    bool wanted = pl_run_stop_wanted(stop);
    for (int64_t row = 0; wanted && next_live(x->setup.sweeps, s, &row, id); row++) {
        pl_session *session = pl_sessions_find_any(x->setup.sessions, id);
        if (session && pl_sessions_desired(x->setup.sessions, session) < PL_DESIRE_CANCELLED &&
            pl_run_stop_met(stop, session->directory, &s->rows[row].looked, NULL)) {
            atomic_fetch_add(&x->setup.counters->sweep_runs_stopped, 1);
            pl_lifecycle_cancel(x->setup.sessions, x->setup.executor, session);
        }
        pl_session_release(session);
    }
}

/* Starts a row. If it cannot start now, records the reason in its sweep. */
static void begin_row(pl_sweep_runner *x, pl_sweep_run *s, int64_t row)
{
    unsigned scopes = PL_SCOPE_READ | PL_SCOPE_SUBMIT | (s->admin ? PL_SCOPE_ADMIN : 0);
    pl_principal *owner = pl_tenants_principal(x->setup.tenants, s->owner, scopes);
    size_t length;
    char id[33] = "";
    if (!owner || (s->group && !pl_principal_in(owner, s->group))) {
        hold_back(x->setup.sweeps, s,
                  owner ? "its owner is not in its group" : "its owner is disabled");
        pl_principal_release(owner);
        return;
    }
    char *scene = pl_sweep_scene(&s->plan, row, s->id, &length);
    pl_request *r = scene ? pl_own_request_create(&x->setup.host, owner, scene, length) : NULL;
    if (r) {
        pl_admission_unchecked(r, s->group, id);
    }
    if (id[0]) {
        atomic_fetch_add(&x->setup.counters->sweep_runs, 1);
        take_session(x->setup.sweeps, s, row, id);
        cancel_strays(x, s);
    } else if (r) {
        take_refusal(x->setup.sweeps, s, row, r);
    } else {
        hold_back(x->setup.sweeps, s, "out of memory");
    }
    pl_own_request_destroy(r);
    pl_principal_release(owner);
}

/* ---- the thread ---- */

static bool is_stopping(pl_sweep_runner *x)
{
    pthread_mutex_lock(&x->mutex);
    bool stopping = x->stopping || atomic_load(x->setup.draining);
    pthread_mutex_unlock(&x->mutex);
    return stopping;
}

/* Sweeps take turns, a row each. */
static void begin_rows(pl_sweep_runner *x, pl_sweep_run **all, size_t count)
{
    bool begun = true;
    while (begun && !pl_disk_full(x->setup.disk)) {
        begun = false;
        for (size_t i = 0; i < count && !is_stopping(x); i++) {
            pl_fit_advance(x->setup.sweeps, all[i]);
            int64_t row = next_waiting(x->setup.sweeps, all[i]);
            if (row >= 0) {
                begin_row(x, all[i], row);
                begun = true;
            }
        }
    }
}

/* Process all sweeps once; true if anything is left to do. */
static bool look(pl_sweep_runner *x)
{
    size_t count;
    pl_sweep_run **all = pl_sweeps_all(x->setup.sweeps, &count);
    bool open = !all;
    for (size_t i = 0; i < count && !is_stopping(x); i++) {
        settle(x->setup.sweeps, all[i]);
        cancel_strays(x, all[i]);
        stop_runs(x, all[i]);
    }
    begin_rows(x, all, count);
    for (size_t i = 0; i < count; i++) {
        pl_sweeps_lock(x->setup.sweeps);
        open |= pl_sweep_open(all[i]);
        pl_sweeps_unlock(x->setup.sweeps);
        pl_sweep_release(all[i]);
    }
    free(all);
    return open;
}

static void *run(void *context)
{
    pl_sweep_runner *x = context;
    bool open = true;
    pthread_mutex_lock(&x->mutex);
    while (!x->stopping) {
        int64_t due = pl_monotonic_ms() + LOOK_MS;
        while (!x->kicked && !x->stopping && (!open || pl_monotonic_ms() < due)) {
            if (open) {
                pl_condition_wait_until(&x->changed, &x->mutex, 1000 * due);
            } else {
                pthread_cond_wait(&x->changed, &x->mutex);
            }
        }
        x->kicked = false;
        if (x->stopping) {
            break;
        }
        pthread_mutex_unlock(&x->mutex);
        if (atomic_load(x->setup.ready)) {
            open = look(x);
        }
        pthread_mutex_lock(&x->mutex);
    }
    pthread_mutex_unlock(&x->mutex);
    return NULL;
}

void pl_sweep_runner_kick(pl_sweep_runner *x)
{
    if (x) {
        pthread_mutex_lock(&x->mutex);
        x->kicked = true;
        pthread_cond_signal(&x->changed);
        pthread_mutex_unlock(&x->mutex);
    }
}

pl_sweep_runner *pl_sweep_runner_create(const pl_sweep_setup *setup)
{
    pl_sweep_runner *x = calloc(1, sizeof *x);
    if (!x || !pl_condition_init(&x->changed)) {
        free(x);
        return NULL;
    }
    x->setup = *setup;
    pthread_mutex_init(&x->mutex, NULL);
    if (pthread_create(&x->thread, NULL, run, x) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the thread of sweeps could not be started");
        pthread_cond_destroy(&x->changed);
        free(x);
        return NULL;
    }
    pthread_setname_np(x->thread, "sweeps");
    return x;
}

void pl_sweep_runner_stop(pl_sweep_runner *x)
{
    if (!x) {
        return;
    }
    pthread_mutex_lock(&x->mutex);
    bool first = !x->stopping;
    x->stopping = true;
    pthread_cond_signal(&x->changed);
    pthread_mutex_unlock(&x->mutex);
    if (first) {
        pthread_join(x->thread, NULL);
    }
}

void pl_sweep_runner_destroy(pl_sweep_runner *x)
{
    if (x) {
        pl_sweep_runner_stop(x);
        pthread_cond_destroy(&x->changed);
        pthread_mutex_destroy(&x->mutex);
        free(x);
    }
}
