#include "server/sweeps/sweep_requests.h"

#include "server/base/daemon.h"
#include "server/run/admission_state.h"
#include "server/run/lifecycle.h"
#include "server/run/request_key.h"
#include "server/run/scene_rules.h"
#include "server/sessions/access.h"
#include "server/sessions/removal.h"
#include "server/sweeps/fit_view.h"
#include "server/sweeps/sweep_runner.h"
#include "server/sweeps/sweep_view.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- POST /v1/sweeps ---- */

static void reply_faults(pl_request *r, const pl_faults *faults)
{
    bool json = strcmp(faults->items[0].code, "bad_json") != 0;
    if (json) {
        pl_reply_problem(r, 422, "invalid_sweep", "The sweep cannot be run",
                         "nothing was stored; each fault states its row in `got`", faults);
    } else {
        pl_reply_problem(r, 400, "bad_json", "Not JSON", "the body is not valid JSON", faults);
    }
}

static void reply_failed(pl_request *r)
{
    if (errno == EDQUOT) {
        pl_reply_problemf(
            r, 403, "too_many", "Too many sweeps",
            "a user can have at most %d sweeps with %d MiB in total; delete finished ones",
            PL_SWEEPS_OF_USER_MAX, PL_SWEEPS_BYTES_MAX >> 20);
    } else if (!pl_reply_shortage(r, errno)) {
        pl_reply_problem(r, 500, "internal", "Internal error",
                         "the sweep could not be created; the daemon's log says why", NULL);
    }
}

/* Decode the row's scene and check that the user may run it; adds its faults. */
static pl_decode_outcome judge_row(pl_request *r, const char *group, const pl_sweep *plan,
                                   int64_t row, pl_faults *faults)
{
    size_t length;
    char *text = pl_sweep_scene(plan, row, "00000000000000000000000000000000", &length);
    pl_admission *a = text ? pl_admission_create(r) : NULL;
    pl_decode_outcome outcome = PL_DECODE_NO_MEMORY;
    if (a && (int64_t)length > PL_SWEEP_BYTES_MAX / plan->row_count) {
        pl_faults_addf(faults, "/scene", "out_of_range",
                       "at most 128 MiB of scenes, for all rows together",
                       "upload its meshes, or use fewer rows", "%lld rows of %zu bytes",
                       (long long)plan->row_count, length);
        outcome = PL_DECODE_SYNTAX; /* of every row */
    } else if (a) {
        a->group = group;
        a->text = text;
        a->length = length;
        outcome = pl_scene_rules_judge(a);
        pl_sweep_locate(plan, row, &a->faults, faults);
    }
    if (a) {
        pl_admission_destroy(a);
    }
    free(text);
    return outcome;
}

/* False after a reply. */
static bool judge_rows(pl_request *r, const char *group, const pl_sweep *plan)
{
    pl_faults faults = {0};
    pl_decode_outcome outcome = PL_DECODE_OK;
    for (int64_t i = 0; i < plan->row_count && faults.count < PL_FAULTS_MAX; i++) {
        outcome = judge_row(r, group, plan, i, &faults);
        if (outcome == PL_DECODE_NO_MEMORY || outcome == PL_DECODE_SYNTAX) {
            break;
        }
    }
    bool good = !faults.total && outcome == PL_DECODE_OK;
    if (faults.total) {
        reply_faults(r, &faults);
    } else if (!good) {
        errno = ENOMEM;
        reply_failed(r);
    }
    pl_faults_clear(&faults);
    return good;
}

static void create(pl_request *r, const char *group, pl_sweep *plan, const pl_request_key *key)
{
    pl_daemon *d = pl_request_daemon(r);
    size_t length;
    char location[64] = "";
    const char *text = pl_request_body(r, &length);
    pl_sweep_run *s = pl_sweeps_make(d->sweeps, pl_request_principal(r), group, plan, length);
    char *reply = s ? pl_sweep_encode(d->sweeps, s) : NULL;
    pl_kept_reply kept;
    if (s) {
        snprintf(location, sizeof location, "/v1/sweeps/%s", s->id);
    }
    bool keeps = pl_request_key_keep(key, reply, location, &kept);
    if (reply && pl_sweeps_add(d->sweeps, s, text, keeps ? &kept : NULL)) {
        pl_reply_json(r, 201, reply);
        pl_reply_header(r, "Location", "%s", location);
        atomic_fetch_add(&d->counters.sweeps_created, 1);
        atomic_fetch_add(&d->counters.fits_created, s->plan.fit != NULL);
        pl_sweep_runner_kick(d->sweep_runner);
    } else {
        reply_failed(r);
        free(reply);
    }
    pl_sweep_release(s);
}

static void decode_and_create(pl_request *r, const char *group, const pl_request_key *key)
{
    size_t length;
    const char *text = pl_request_body(r, &length);
    pl_sweep plan;
    pl_faults faults = {0};
    pl_status status = pl_sweep_decode(text, length, &plan, &faults);
    if (status == PL_INVALID) {
        reply_faults(r, &faults);
    } else if (status != PL_OK) {
        errno = ENOMEM;
        reply_failed(r);
    } else {
        if (judge_rows(r, group, &plan)) {
            create(r, group, &plan, key); /* takes it */
        }
        pl_sweep_clear(&plan);
    }
    pl_faults_clear(&faults);
}

void pl_handle_sweep_create(pl_request *r)
{
    const char *group;
    pl_request_key key;
    pl_store *store = pl_request_daemon(r)->store;
    if (pl_request_group(r, &group) &&
        pl_request_key_begin(&key, r, store, pl_request_owner(r), "POST /v1/sweeps")) {
        decode_and_create(r, group, &key);
        pl_request_key_end(&key);
    }
}

/* ---- one sweep ---- */

/* The sweep of the path with a reference, or NULL after replying. */
static pl_sweep_run *requested(pl_request *r, pl_access needed)
{
    pl_access access;
    pl_sweep_run *s = pl_sweeps_find(pl_request_daemon(r)->sweeps, pl_request_principal(r),
                                     pl_request_param(r, 0), &access);
    if (!s) {
        pl_reply_problem(r, 404, "no_such_sweep", "No such sweep",
                         "no sweep that you can see has this id", NULL);
    } else if (access < needed) {
        pl_sweep_release(s);
        s = NULL;
        pl_reply_problem(r, 403, "view_only", "View only",
                         "this sweep belongs to another user: you can view it, but not change it",
                         NULL);
    }
    return s;
}

static void reply_sweep(pl_request *r, int status, const pl_sweep_run *s)
{
    pl_reply_json(r, status, pl_sweep_encode(pl_request_daemon(r)->sweeps, s));
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_sweep(pl_request *r)
{
    pl_sweep_run *s = requested(r, PL_ACCESS_VIEW);
    if (s) {
        reply_sweep(r, 200, s);
        pl_sweep_release(s);
    }
}

void pl_handle_sweeps(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    const pl_principal *p = pl_request_principal(r);
    int64_t limit, before, last = -1;
    if (!pl_request_integer(r, "limit", 1, 500, 50, &limit) ||
        !pl_request_integer(r, "cursor", 0, INT64_MAX, INT64_MAX, &before)) {
        return;
    }
    size_t count;
    pl_sweep_run **all = pl_sweeps_all(d->sweeps, &count);
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    bool more = false;
    for (size_t i = 0; i < count; i++) {
        bool seen = all[i]->created_us < before && pl_sweep_access(p, all[i]) != PL_ACCESS_NONE;
        more |= seen && !limit;
        if (seen && limit) {
            pl_sweep_put(&w, d->sweeps, all[i]);
            last = all[i]->created_us;
            limit--;
        }
        pl_sweep_release(all[i]);
    }
    free(all);
    pl_json_end_array(&w);
    char next[24];
    snprintf(next, sizeof next, "%lld", (long long)last);
    pl_json_set_string(&w, "next", more ? next : NULL);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_sweep_results(pl_request *r)
{
    static const char *const types[] = {"application/json", "text/csv", "application/zip", NULL};
    static const char *const formats[] = {"json", "csv", "npz"};
    const char *format = pl_request_query(r, "format");
    int64_t from, limit;
    int form = format ? 0 : pl_request_accept(r, types);
    while (format && form < 3 && strcmp(format, formats[form]) != 0) {
        form++;
    }
    if (form == 3) {
        pl_reply_bad_query(r, "format", format, "json, csv or npz");
    }
    if (form < 0 || form == 3 || !pl_request_integer(r, "from", 0, INT64_MAX, 0, &from) ||
        !pl_request_integer(r, "limit", 1, PL_SWEEP_ROWS_MAX, PL_SWEEP_ROWS_MAX, &limit)) {
        return;
    }
    pl_sweep_run *s = requested(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    pl_sweeps *t = pl_request_daemon(r)->sweeps;
    size_t size = 0;
    char *text = form == 0   ? pl_sweep_table_json(t, s, from, limit)
                 : form == 1 ? pl_sweep_table_csv(t, s, &size)
                             : pl_sweep_table_npz(t, s, &size);
    size = text && form == 0 ? strlen(text) : size;
    pl_reply_text(r, 200, types[form], text, size);
    pl_reply_header(r, "Cache-Control", "no-store");
    pl_sweep_release(s);
}

static void reply_residuals(pl_request *r, const pl_sweep_run *s, int form)
{
    static const char *const types[] = {"application/json", "text/csv"};
    pl_sweeps *t = pl_request_daemon(r)->sweeps;
    size_t size = 0;
    char *text = form == 0 ? pl_fit_residuals_json(t, s) : pl_fit_residuals_csv(t, s, &size);
    if (!text && errno == ENOENT) {
        pl_reply_problem(r, 404, "no_residuals", "No residuals",
                         "no run has succeeded yet, or the best one's session was deleted", NULL);
        return;
    }
    size = text && form == 0 ? strlen(text) : size;
    pl_reply_text(r, 200, types[form], text, size);
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_sweep_residuals(pl_request *r)
{
    static const char *const types[] = {"application/json", "text/csv", NULL};
    const char *format = pl_request_query(r, "format");
    int form = !format                       ? pl_request_accept(r, types)
               : strcmp(format, "json") == 0 ? 0
               : strcmp(format, "csv") == 0  ? 1
                                             : 2;
    if (form == 2) {
        pl_reply_bad_query(r, "format", format, "json or csv");
    }
    pl_sweep_run *s = form >= 0 && form < 2 ? requested(r, PL_ACCESS_VIEW) : NULL;
    if (s && !s->plan.fit) {
        pl_reply_problem(r, 404, "no_residuals", "No residuals",
                         "this sweep is not a fit: it has no measured points", NULL);
    } else if (s) {
        reply_residuals(r, s, form);
    }
    pl_sweep_release(s);
}

/* ---- changing one ---- */

/* Ask every unfinished session of the sweep to end; with `removed`, remove all of its sessions. */
static void end_sessions(pl_request *r, pl_sweep_run *s, bool removed)
{
    pl_daemon *d = pl_request_daemon(r);
    for (int64_t i = 0; i < s->plan.row_room; i++) {
        char id[33];
        pl_sweeps_lock(d->sweeps);
        bool wanted = s->rows[i].session[0] && (removed || s->rows[i].state == PL_ROW_LIVE);
        memcpy(id, s->rows[i].session, sizeof id);
        pl_sweeps_unlock(d->sweeps);
        pl_session *session = wanted ? pl_sessions_find_any(d->sessions, id) : NULL;
        if (!session) {
            continue;
        }
        if (removed) {
            pl_sessions_set_desired(d->sessions, session, "deleted");
        }
        pl_lifecycle_cancel(d->sessions, d->executor, session);
        if (removed && pl_state_terminal((pl_session_state)atomic_load(&session->state))) {
            pl_removal_start(d->sessions, session);
        }
        pl_session_release(session);
    }
}

void pl_handle_sweep_cancel(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    pl_sweep_run *s = requested(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    pl_sweeps_lock(d->sweeps);
    if (pl_sweep_open(s)) {
        pl_sweep_set_halt(d->sweeps, s, PL_HALT_CANCELLED);
    }
    pl_sweeps_unlock(d->sweeps);
    end_sessions(r, s, false);
    pl_sweep_runner_kick(d->sweep_runner);
    reply_sweep(r, 202, s);
    pl_sweep_release(s);
}

void pl_handle_sweep_retry(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    pl_sweep_run *s = requested(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    pl_sweeps_lock(d->sweeps);
    pl_sweep_retry(d->sweeps, s);
    pl_sweeps_unlock(d->sweeps);
    pl_sweep_runner_kick(d->sweep_runner);
    reply_sweep(r, 202, s);
    pl_sweep_release(s);
}

void pl_handle_sweep_delete(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    bool sessions;
    if (!pl_request_flag(r, "sessions", &sessions)) {
        return;
    }
    pl_sweep_run *s = requested(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    if (pl_sweeps_remove(d->sweeps, s)) {
        end_sessions(r, s, sessions);
        pl_reply_empty(r, 204);
    } else {
        pl_reply_problem(r, 500, "internal", "Internal error",
                         "the sweep could not be deleted; the daemon's log says why", NULL);
    }
    pl_sweep_release(s);
}
