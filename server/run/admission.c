#include "server/run/admission.h"

#include "server/base/daemon.h"
#include "server/run/check_queue.h"
#include "server/run/check_result.h"
#include "server/run/learning.h"
#include "server/run/scene_rules.h"
#include "server/run/staging.h"
#include "server/run/validate.h"
#include "server/sessions/access.h"
#include "server/sessions/session_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE_MS = 2000,
    AHEAD = 8, /* requests decoded so soon that they do not count yet */
};
static const char create_route[] = "POST /v1/sessions";

/* ---- the session ---- */

static pl_session *make_session(pl_admission *a, pl_session_state state)
{
    const pl_outline *o = &a->outline;
    bool checked = state != PL_STATE_CHECKING;
    char *bodies = checked ? pl_bodies_view(&a->preflight) : NULL;
    char *warnings = checked ? pl_warnings_encode(&a->preflight.warnings, NULL) : NULL;
    pl_row row = pl_admission_row(a);
    row.state = (char *)pl_state_name(state);
    row.bodies = bodies;
    row.warnings = warnings;
    row.since_ms = pl_clock_us() / 1000;
    row.estimate = pl_check_estimate(&a->preflight, o->frames) *
                   pl_learning_ratio(a->machine.learning, a->owner, &a->preflight);
    if (checked && row.cores_most == PL_CORES_OPEN) {
        row.cores_most = pl_check_cores(&a->machine, &a->preflight);
    }
    if (state == PL_STATE_PAUSED) { /* posted as paused */
        row.desired = NULL;
        row.reason = row.paused_by = (char *)"user";
    }
    row.memory = o->memory > 0 ? o->memory : a->preflight.memory_bytes;
    row.memory_limit = pl_check_memory_limit(o->memory, a->preflight.memory_bytes);
    row.gpu_memory = pl_check_gpu_memory(&a->preflight);
    pl_session *s = pl_session_create(a->state_path, &row);
    free(warnings);
    free(bodies);
    return s;
}

static void reply_not_created(pl_admission *a, pl_created why)
{
    if (why == PL_CREATED_NO_USER) {
        pl_reply_problem(a->request, 401, "unauthorized", "Unauthorized",
                         "the user was removed while the session was created", NULL);
        pl_reply_header(a->request, "WWW-Authenticate", "Bearer realm=\"pliant\"");
    } else if (why == PL_CREATED_NO_GROUP) {
        pl_reply_problem(a->request, 403, "no_such_group", "No such group",
                         "the group was removed while the session was created", NULL);
    } else {
        errno = EPROTO;
        pl_admission_fail(a, "the database");
    }
}

/* Put a session that has its row into the table. Without memory for that, remove the row and the reply that a repeated
 * request would get, and reply. */
static bool insert(pl_admission *a, pl_session *s)
{
    if (pl_sessions_insert(a->sessions, s)) {
        return true;
    }
    pl_store_undo_create(a->store, s->id);
    errno = ENOMEM;
    return pl_admission_fail(a, "the table of sessions");
}

/* Directory in place, then row and stored reply in one transaction, then the table, then the reply. */
static pl_session *commit(pl_admission *a, pl_session_state state)
{
    pl_session *s = pl_staging_publish(a) ? make_session(a, state) : NULL;
    char *text = s ? pl_sessions_encode(a->sessions, s, pl_request_principal(a->request)) : NULL;
    if (!text) {
        pl_session_release(s);
        return NULL;
    }
    char location[64];
    snprintf(location, sizeof location, "/v1/sessions/%s", s->id);
    pl_kept_reply kept;
    bool keeps = pl_request_key_keep(&a->key, text, location, &kept);
    pl_row row = pl_session_row(a->sessions, s); /* empty if out of memory */
    bool whole = row.id[0];
    pl_created created = whole ? pl_store_create(a->store, &row, keeps ? &kept : NULL)
                               : PL_CREATED_BROKEN;
    pl_row_clear(&row);
    if (created != PL_CREATED_DONE) {
        reply_not_created(a, created);
    }
    if (created != PL_CREATED_DONE || !insert(a, s)) {
        free(text);
        pl_session_release(s);
        return NULL;
    }
    a->staged = false;
    atomic_fetch_add(&a->counters->sessions_created, 1);
    pl_reply_json(a->request, 201, text);
    pl_reply_header(a->request, "Location", "%s", location);
    return s;
}

/* ---- POST /v1/sessions ---- */

static int patience(pl_request *r)
{
    const char *prefer = pl_request_header(r, "Prefer");
    const char *wait = prefer ? strstr(prefer, "wait=") : NULL;
    long seconds = wait ? strtol(wait + 5, NULL, 10) : -1;
    return seconds < 0 ? PATIENCE_MS : seconds > 60 ? 60000 : (int)seconds * 1000;
}

/* Each user may have three waiting sessions for each free place, and one in twenty places is reserved for users with
 * none waiting, so that a new user finds one. Without other users, the whole queue is the owner's. */
static bool leaves_places(pl_admission *a, int64_t waiting, int64_t max_queued)
{
    int64_t own = pl_sessions_usage(a->sessions, a->owner).value[PL_LIMIT_QUEUED];
    int64_t left = max_queued - waiting;
    int64_t kept = max_queued < 20 ? 1 : max_queued / 20;
    if (own == 0 || (own < 3 * left && left > kept)) {
        return true;
    }
    pl_reply_problemf(
        a->request, 429, "queue_share", "Your share of the queue is full",
        "%lld of your sessions wait, and the remaining %lld places are for other users",
        (long long)own, (long long)left);
    pl_reply_header(a->request, "Retry-After", "10");
    return false;
}

/* The number of waiting sessions, at most max_queued; otherwise it has replied. */
static bool queue_is_open(pl_request *r, pl_sessions *sessions, int64_t max_queued,
                          int64_t *waiting)
{
    *waiting = pl_sessions_count(sessions, PL_STATE_CHECKING) +
               pl_sessions_count(sessions, PL_STATE_QUEUED);
    if (*waiting < max_queued) {
        return true;
    }
    pl_reply_problemf(r, 503, "queue_full", "Queue full",
                      "%lld sessions wait already, the maximum of this daemon",
                      (long long)*waiting);
    pl_reply_header(r, "Retry-After", "10");
    return false;
}

static bool queue_has_room(pl_admission *a, int64_t max_queued, bool shared)
{
    int64_t waiting;
    return queue_is_open(a->request, a->sessions, max_queued, &waiting) &&
           (!shared || leaves_places(a, waiting, max_queued));
}

bool pl_admission_has_room(pl_request *r, const pl_route *route, int64_t ahead)
{
    const pl_daemon *d = pl_request_daemon(r);
    int64_t waiting;
    bool validates = route->handler == pl_handle_validate;
    return pl_request_header(r, "Idempotency-Key") ||
           ((validates || queue_is_open(r, d->sessions, d->options.max_queued, &waiting)) &&
            pl_check_queue_takes(d->check_queue, r, ahead > AHEAD ? ahead - AHEAD : 0,
                                 d->options.max_checks));
}

static bool within_limits(pl_admission *a, pl_tenants *tenants)
{
    pl_quota_wish wish = {a->group, a->outline.cores > 0 ? a->outline.cores : 1, a->outline.gpu};
    return pl_quota_hold_session(a->request, tenants, a->sessions, &wish, &a->hold);
}

/* The reply has been made. `later`: the session whose reply said `checking`, or NULL. */
static void end(pl_admission *a, pl_session *later)
{
    pl_request_key_end(&a->key);
    if (later) {
        pl_check_queue_add(a->checks, later, a->ticket.begun ? &a->ticket.run : NULL);
        pl_session_release(later);
    }
    pl_admission_destroy(a);
}

/* The request stops waiting for the check. */
static pl_session *answer_early(pl_admission *a)
{
    pl_session *later = commit(a, PL_STATE_CHECKING);
    if (!later && a->ticket.begun) {
        pl_child_kill(&a->ticket.run.child);
        pl_preflight_end(&a->ticket.run);
    }
    return later;
}

static void checked(pl_request *r)
{
    pl_admission *a = pl_admission_of(r);
    pl_session *later = NULL;
    if (a->ticket.outcome == PL_PREFLIGHT_RUNNING) {
        later = answer_early(a);
    } else if (pl_admission_accepts(a)) {
        pl_session_release(commit(a, a->outline.hold ? PL_STATE_PAUSED : PL_STATE_QUEUED));
    }
    end(a, later);
}

/* Checks before a directory is made. */
static bool welcome(pl_admission *a)
{
    pl_request *r = a->request;
    pl_daemon *d = pl_request_daemon(r);
    bool shared = !d->options.no_auth && pl_tenants_shared(d->tenants);
    return queue_has_room(a, d->options.max_queued, shared) && pl_admission_may_check(a) &&
           pl_scene_rules_check(a) && within_limits(a, d->tenants);
}

static void admit(pl_request *r, const pl_branch *branch)
{
    pl_admission *a = pl_admission_create(r);
    if (!a) {
        return;
    }
    if (branch) {
        a->branch = branch;
        a->text = branch->scene;
        a->length = strlen(branch->scene);
    }
    if (pl_request_group(r, &a->group) &&
        pl_request_key_begin(&a->key, r, a->store, a->owner, create_route) && welcome(a) &&
        pl_staging_create(a)) {
        pl_admission_check(a, pl_request_arrived(r) + patience(r), checked);
    } else {
        end(a, NULL);
    }
}

void pl_handle_create(pl_request *r)
{
    admit(r, NULL);
}

void pl_admission_branch(pl_request *r, const pl_branch *branch)
{
    admit(r, branch);
}

void pl_admission_unchecked(pl_request *r, const char *group, char id[33])
{
    pl_session *made = NULL;
    pl_admission *a = pl_admission_create(r);
    id[0] = 0;
    if (!a) {
        return;
    }
    a->group = group;
    if (welcome(a) && pl_staging_create(a)) {
        made = commit(a, PL_STATE_CHECKING);
    }
    if (made) {
        memcpy(id, made->id, sizeof made->id);
    }
    end(a, made);
}
