#include "server/run/admission.h"

#include "protocol/text/json.h"
#include "protocol/scene/notes.h"
#include "protocol/text/problem.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_dir.h"
#include "protocol/text/sha256.h"
#include "server/sessions/access.h"
#include "server/tenants/auth.h"
#include "server/run/branch.h"
#include "server/run/executor.h"
#include "server/run/gpus.h"
#include "server/tenants/grants.h"
#include "server/store/idempotency.h"
#include "server/base/pool.h"
#include "server/run/preflight_run.h"
#include "server/sessions/quota.h"
#include "server/sessions/removal.h"
#include "server/base/logger.h"
#include "server/sessions/session_view.h"
#include "server/sessions/directory_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000, KEY_MAX = 255 };
/* Estimates are within a factor of two of what was measured; a limit is there to save the machine
 * from a leak, and must never meet a scene that is right. */
#define LIMIT_FACTOR 4
#define LIMIT_BASE   ((double)(1 << 30))
static const char create_route[] = "POST /v1/sessions";

typedef struct admission {
    pl_daemon *daemon;
    pl_request *request;
    const char *owner; /* the request's; not used after the reply */
    const char *group; /* from the query; NULL: none */
    char id[33];
    char incoming[96]; /* "incoming/ID", later where it was moved to */
    int64_t created_us;
    bool staged;      /* the directory is there */
    const char *text; /* the scene: the body, or a branch's */
    size_t length;
    const pl_branch *branch; /* NULL: none */
    pl_outline outline;
    pl_faults faults;
    pl_preflight preflight;
    pl_preflight_run run;
    const char *key; /* of Idempotency-Key; NULL: none */
    char body_hash[65];
    pl_quota_hold hold;
} admission;

static void admission_clear(admission *a)
{
    if (a->staged) {
        pl_remove_tree(a->daemon->state_fd, a->incoming);
    }
    pl_quota_release(&a->hold);
    pl_outline_clear(&a->outline);
    pl_faults_clear(&a->faults);
    pl_preflight_clear(&a->preflight);
}

/* ---- judging ---- */

static bool reply_no_json(admission *a)
{
    pl_reply_problem(a->request, 400, "bad_json", "Not JSON", "the body is not valid JSON",
                     &a->faults);
    return false;
}

static bool reply_refused(admission *a)
{
    pl_reply_problem(a->request, 422, "invalid_scene", "The scene can not be run",
                     "every fault that was found is listed", &a->faults);
    return false;
}

static bool reply_broken(admission *a, const char *what)
{
    int error = errno;
    pl_logf(PL_LEVEL_ERROR, "a session could not be made: %s: %s", what, strerror(error));
    if (error == ENOSPC || error == EDQUOT) {
        pl_reply_problem(a->request, 507, "disk_full", "Disk full",
                         "the state directory has no room left", NULL);
    } else {
        pl_reply_problem(a->request, 500, "internal", "Internal error",
                         "the session could not be made; the daemon's log says why", NULL);
    }
    return false;
}

static void check_uploads(admission *a)
{
    for (int32_t i = 0; i < a->outline.upload_count; i++) {
        const pl_upload_ref *u = &a->outline.uploads[i];
        if (!pl_grant_held(a->daemon->store, a->owner, u->hash)) {
            pl_faults_addf(&a->faults, u->pointer, "unknown_mesh", "a mesh that you have uploaded",
                           "upload it first with PUT /v1/meshes/{sha256}", "sha256:%s", u->hash);
        }
    }
}

static void check_resources(admission *a)
{
    const pl_daemon *d = a->daemon;
    char expected[96];
    if (a->outline.cores > d->options.cores) {
        snprintf(expected, sizeof expected, "at most %d, the cores of this daemon",
                 d->options.cores);
        pl_faults_addf(&a->faults, "/resources/cores", "too_many_cores", expected, "", "%d",
                       a->outline.cores);
    }
    if (a->outline.notes->priority > 0 &&
        !pl_principal_has(pl_request_principal(a->request), PL_SCOPE_ADMIN)) {
        pl_faults_addf(&a->faults, "/resources/priority", "not_allowed",
                       "at most 0: above, it needs a credential with the scope 'admin'", "", "%lld",
                       (long long)a->outline.notes->priority);
    }
    if (a->outline.memory > d->machine_memory) {
        snprintf(expected, sizeof expected, "at most %.0f bytes, the memory of this machine",
                 d->machine_memory);
        pl_faults_addf(&a->faults, "/resources/memory", "too_much_memory", expected, "", "%.0f",
                       a->outline.memory);
    }
}

static void check_device(admission *a)
{
    char got[600];
    if (a->outline.gpu && pl_gpus_count(a->daemon->gpus) == 0) {
        snprintf(got, sizeof got, "gpu: %s", pl_gpus_reason(a->daemon->gpus));
        pl_faults_add(&a->faults, "/solver/device", "no_gpu", got, "cpu, as this daemon has no GPU",
                      "use \"device\": \"cpu\", or a daemon that has one");
    }
}

double pl_admission_gpu_memory(const pl_preflight *p)
{
    return p->gpu_memory_bytes > 0 ? p->gpu_memory_bytes + PL_GPU_CONTEXT : 0;
}

/* A branch has the frames that are left. */
static void check_left(admission *a)
{
    if (!a->branch || a->outline.frames < 0) {
        return;
    }
    a->outline.frames -= a->branch->branch_point.begins + a->branch->branch_point.frame;
    if (a->outline.frames < 1) {
        pl_faults_addf(&a->faults, "/scene/time", "nothing_left", "a time after that frame",
                       "give the branch a longer duration, or more steps", "frame %lld",
                       (long long)a->branch->branch_point.frame);
    }
}

static bool decode(admission *a)
{
    switch (pl_scene_outline(a->text, a->length, &a->outline, &a->faults)) {
    case PL_DECODE_OK:
        check_left(a);
        break;
    case PL_DECODE_SYNTAX:
        return reply_no_json(a);
    case PL_DECODE_INVALID:
        return reply_refused(a);
    default:
        errno = ENOMEM;
        return reply_broken(a, "decoding");
    }
    check_uploads(a);
    check_resources(a);
    check_device(a);
    return a->faults.total ? reply_refused(a) : true;
}

/* ---- the directory ---- */

static int link_meshes(admission *a, int dir_fd)
{
    for (int32_t i = 0; i < a->outline.upload_count; i++) {
        const pl_upload_ref *u = &a->outline.uploads[i];
        char from[96], to[80];
        snprintf(from, sizeof from, "meshes/%.2s/%s", u->hash, u->hash);
        snprintf(to, sizeof to, "meshes/%s", u->hash);
        if (linkat(a->daemon->state_fd, from, dir_fd, to, 0) != 0 && errno != EEXIST) {
            return -1;
        }
        pl_mesh_use(a->daemon->store, u->hash);
    }
    return 0;
}

/* What of the session's row is known before its check; the texts are the admission's. */
static pl_row describe(const admission *a)
{
    const pl_outline *o = &a->outline;
    pl_row row = {.owner = (char *)a->owner,
                  .group_name = (char *)a->group,
                  .name = o->notes->name,
                  .labels = o->notes->labels,
                  .metadata = o->notes->metadata,
                  .webhook = o->notes->webhook,
                  .priority = o->notes->priority,
                  .created_us = a->created_us,
                  .frames = o->frames,
                  .frame = -1,
                  .cores = o->cores > 0 ? o->cores : 1,
                  .checkpoint = -1,
                  .keep_days = o->keep_days,
                  .keep_last = o->keep_last,
                  .keep_every = o->keep_every,
                  .time_limit = o->time_limit};
    memcpy(row.id, a->id, sizeof row.id);
    return row;
}

static bool stage(admission *a)
{
    if (pl_random_id(a->id) != 0) {
        return reply_broken(a, "an id");
    }
    a->created_us = pl_sessions_stamp(a->daemon->sessions);
    snprintf(a->incoming, sizeof a->incoming, "incoming/%s", a->id);
    if (mkdirat(a->daemon->state_fd, a->incoming, 0700) != 0) {
        return reply_broken(a, a->incoming);
    }
    a->staged = true;
    int dir_fd = openat(a->daemon->state_fd, a->incoming, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_row row = describe(a);
    bool good = dir_fd >= 0 && mkdirat(dir_fd, "meshes", 0700) == 0 &&
                mkdirat(dir_fd, "log", 0700) == 0 && link_meshes(a, dir_fd) == 0 &&
                pl_file_replace(dir_fd, "scene.json", a->text, a->length, false) == PL_OK &&
                (!a->branch || pl_branch_stage(a->branch, dir_fd)) &&
                pl_identity_write(dir_fd, &row, false) == PL_OK;
    int error = errno;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    errno = error;
    return good || reply_broken(a, "its directory");
}

static bool sync_path(int state_fd, const char *path)
{
    int fd = openat(state_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return good;
}

/* incoming/ID to sessions/xx/ID, durably. */
static bool publish(admission *a)
{
    char parent[32], target[80];
    int state_fd = a->daemon->state_fd;
    snprintf(parent, sizeof parent, "sessions/%.2s", a->id);
    snprintf(target, sizeof target, "%s/%s", parent, a->id);
    bool fresh = mkdirat(state_fd, parent, 0700) == 0;
    if (!sync_path(state_fd, a->incoming) ||
        renameat(state_fd, a->incoming, state_fd, target) != 0) {
        return reply_broken(a, "publishing it");
    }
    snprintf(a->incoming, sizeof a->incoming, "%s", target); /* to be removed if the commit fails */
    if (!sync_path(state_fd, parent) || (fresh && !sync_path(state_fd, "sessions"))) {
        return reply_broken(a, "publishing it");
    }
    return true;
}

/* ---- the check ---- */

static int read_report(const char *directory, pl_preflight *out)
{
    int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = dir_fd >= 0 && pl_preflight_read(dir_fd, out) == PL_OK ? 0 : -1;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return r;
}

static void check_memory(const pl_daemon *d, const pl_preflight *p, pl_faults *faults)
{
    if (p->memory_bytes > d->machine_memory) {
        char expected[96];
        snprintf(expected, sizeof expected, "at most %.0f bytes, the memory of this machine",
                 d->machine_memory);
        pl_faults_addf(faults, "/bodies", "too_large_for_machine", expected,
                       "use coarser meshes or fewer bodies",
                       "an estimated %.0f bytes for %lld vertices and %lld tetrahedra",
                       p->memory_bytes, (long long)p->vertices, (long long)p->tets);
    }
    double needed = pl_admission_gpu_memory(p), most = pl_gpus_largest(d->gpus);
    if (needed > 0 && needed > most) {
        char expected[128];
        snprintf(expected, sizeof expected, "at most %.0f bytes, the memory of the largest GPU",
                 most);
        pl_faults_addf(faults, "/solver/device", "too_much_gpu_memory", expected,
                       "use coarser meshes, or \"device\": \"cpu\"",
                       "about %.0f bytes for %lld vertices and %lld tetrahedra", needed,
                       (long long)p->vertices, (long long)p->tets);
    }
}

/* Faults of a finished check, moved or added to `faults`; false where the check itself is at fault.
 */
static bool collect(const pl_daemon *d, const char *directory, pl_preflight_outcome outcome,
                    pl_preflight *report, pl_faults *faults)
{
    if (outcome == PL_PREFLIGHT_DIED) {
        return true;
    }
    if (read_report(directory, report) != 0) {
        return false;
    }
    if (outcome == PL_PREFLIGHT_FAULTS) {
        pl_faults_clear(faults);
        *faults = report->faults;
        report->faults = (pl_faults){0};
        return faults->total > 0;
    }
    check_memory(d, report, faults);
    return true;
}

/* ---- the session ---- */

double pl_admission_memory_limit(double asked, double estimate)
{
    return asked > 0 ? asked : estimate > 0 ? LIMIT_FACTOR * estimate + LIMIT_BASE : 0;
}

static pl_session *make_session(admission *a, pl_session_state state)
{
    const pl_outline *o = &a->outline;
    char *bodies = state == PL_STATE_QUEUED ? pl_bodies_view(&a->preflight) : NULL;
    pl_row row = describe(a);
    row.state = (char *)pl_state_name(state);
    row.bodies = bodies;
    row.since_ms = pl_clock_us() / 1000;
    row.memory = o->memory > 0 ? o->memory : a->preflight.memory_bytes;
    row.memory_limit = pl_admission_memory_limit(o->memory, a->preflight.memory_bytes);
    row.gpu_memory = pl_admission_gpu_memory(&a->preflight);
    pl_session *s = pl_session_create(a->daemon, &row);
    free(bodies);
    return s;
}

static void reply_not_created(admission *a, pl_created why)
{
    if (why == PL_CREATED_NO_USER) {
        pl_reply_problem(a->request, 401, "unauthorized", "Unauthorized",
                         "the user was removed while the session was made", NULL);
        pl_reply_header(a->request, "WWW-Authenticate", "Bearer realm=\"pliant\"");
    } else if (why == PL_CREATED_NO_GROUP) {
        pl_reply_problem(a->request, 403, "no_such_group", "No such group",
                         "the group was removed while the session was made", NULL);
    } else {
        errno = EIO;
        reply_broken(a, "the database");
    }
}

/* Directory in place, row and kept reply in one transaction, then the table, then the answer. */
static pl_session *commit(admission *a, pl_session_state state)
{
    pl_daemon *d = a->daemon;
    pl_session *s = publish(a) ? make_session(a, state) : NULL;
    char *text = s ? pl_sessions_encode(d->sessions, s, pl_request_principal(a->request)) : NULL;
    if (!text) {
        pl_session_release(s);
        return NULL;
    }
    char location[64];
    snprintf(location, sizeof location, "/v1/sessions/%s", s->id);
    pl_kept_reply kept = {a->owner, create_route, a->key, {0}, 201, text, location};
    memcpy(kept.body_hash, a->body_hash, sizeof kept.body_hash);
    pl_row row = pl_session_row(d->sessions, s); /* empty without memory: refused then */
    pl_created created = pl_store_create(d->store, &row, a->key ? &kept : NULL);
    pl_row_clear(&row);
    if (created != PL_CREATED_DONE || !pl_sessions_insert(d->sessions, s)) {
        free(text);
        pl_session_release(s);
        reply_not_created(a, created);
        return NULL;
    }
    a->staged = false;
    atomic_fetch_add(&d->counters.sessions_created, 1);
    pl_reply_json(a->request, 201, text);
    pl_reply_header(a->request, "Location", "%s", location);
    pl_executor_kick(d->executor);
    return s;
}

/* ---- a check that outlives its request ---- */

static void reject(pl_daemon *d, pl_session *s, const pl_faults *faults)
{
    char *problem = pl_problem_encode(422, "invalid_scene", "", "", faults);
    pl_json *parsed = problem ? pl_json_parse(problem, strlen(problem), NULL) : NULL;
    char *list = parsed ? pl_json_dump(pl_json_at(parsed, "faults"), false) : NULL;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "code", "invalid_scene");
    pl_json_set_string(&w, "message", "the scene can not be run: every fault is listed");
    pl_json_set_raw(&w, "faults", list ? list : "[]");
    pl_json_end_object(&w);
    char *failure = pl_json_finish(&w, NULL);
    pl_directory_record_move(d, s, PL_STATE_REJECTED,
                             &(pl_move){.reason = "invalid_scene", .failure = failure});
    free(failure);
    free(list);
    pl_json_free(parsed);
    free(problem);
}

static void accept_session(pl_daemon *d, pl_session *s, const pl_preflight *report)
{
    bool paused = pl_sessions_desired(d->sessions, s) == PL_DESIRE_PAUSED;
    char *bodies = pl_bodies_view(report);
    pl_move what = {.reason = paused ? "user" : NULL,
                    .bodies = bodies,
                    .gpu_memory = pl_admission_gpu_memory(report)};
    if (s->memory <= 0) { /* the scene did not say */
        what.memory = report->memory_bytes;
        what.memory_limit = pl_admission_memory_limit(0, report->memory_bytes);
    }
    pl_sessions_move(d->sessions, s, paused ? PL_STATE_PAUSED : PL_STATE_QUEUED, &what);
    free(bodies);
}

static void conclude(pl_daemon *d, pl_session *s, pl_preflight_outcome outcome, pl_faults *faults)
{
    pl_preflight report = {0};
    pthread_mutex_lock(&s->lifecycle);
    pl_desire desired = pl_sessions_desired(d->sessions, s);
    if (desired >= PL_DESIRE_CANCELLED) {
        pl_directory_record_move(d, s, PL_STATE_CANCELLED, &(pl_move){.reason = "user"});
    } else if (outcome == PL_PREFLIGHT_BROKEN ||
               !collect(d, s->directory, outcome, &report, faults)) {
        pl_directory_record_move(
            d, s, PL_STATE_FAILED,
            &(pl_move){.reason = "internal", .message = "the scene could not be checked"});
    } else if (faults->total) {
        reject(d, s, faults);
    } else {
        accept_session(d, s, &report);
    }
    pthread_mutex_unlock(&s->lifecycle);
    if (desired == PL_DESIRE_DELETED) {
        pl_removal_start(d, s);
    }
    pl_preflight_clear(&report);
}

/* After the reply: nothing of the request may be used. A daemon that ends leaves it checking. */
static void await_later(pl_daemon *d, pl_session *s, pl_preflight_run *run)
{
    pl_faults faults = {0};
    pl_preflight_outcome outcome = pl_preflight_await(run, PL_PREFLIGHT_MS, &faults);
    pl_preflight_end(run);
    if (outcome != PL_PREFLIGHT_STOPPED) {
        conclude(d, s, outcome, &faults);
    }
    pl_faults_clear(&faults);
    pl_session_release(s);
}

typedef struct resumed {
    pl_daemon *daemon;
    pl_session *session;
} resumed;

static void resume_check(void *context)
{
    resumed *r = context;
    pl_preflight_run run;
    if (pl_preflight_begin(r->daemon, "--session", r->session->directory, &run)) {
        await_later(r->daemon, r->session, &run);
    } else {
        conclude(r->daemon, r->session, PL_PREFLIGHT_BROKEN, &(pl_faults){0});
        pl_session_release(r->session);
    }
    free(r);
}

void pl_admission_resume(pl_daemon *d, pl_session *s)
{
    resumed *r = malloc(sizeof *r);
    if (r) {
        *r = (resumed){d, s};
        pl_session_acquire(s);
        if (!pl_pool_submit(d->checks, resume_check, r)) {
            resume_check(r);
        }
    }
}

/* ---- POST /v1/sessions ---- */

static int patience(pl_request *r)
{
    const char *prefer = pl_request_header(r, "Prefer");
    const char *wait = prefer ? strstr(prefer, "wait=") : NULL;
    long seconds = wait ? strtol(wait + 5, NULL, 10) : -1;
    return seconds < 0 ? PATIENCE_MS : seconds > 60 ? 60000 : (int)seconds * 1000;
}

/* True where the request is to go on. */
static bool begin_key(admission *a)
{
    a->key = pl_request_header(a->request, "Idempotency-Key");
    if (!a->key) {
        return true;
    }
    size_t length, key_length = strlen(a->key);
    const char *body = pl_request_body(a->request, &length);
    if (key_length == 0 || key_length > KEY_MAX) {
        a->key = NULL;
        pl_reply_problem(a->request, 400, "bad_idempotency_key", "Bad Idempotency-Key",
                         "it must have 1 to 255 characters", NULL);
        return false;
    }
    pl_sha256_hex(body, length, a->body_hash);
    if (a->body_hash[0] == '-') {
        a->key = NULL;
        errno = ENOMEM;
        return reply_broken(a, "its body's hash");
    }
    int status = 0;
    char *reply = NULL, *location = NULL;
    pl_key_outcome outcome = pl_key_begin(a->daemon->store, a->owner, create_route, a->key,
                                          a->body_hash, &status, &reply, &location);
    if (outcome == PL_KEY_NEW) {
        return true;
    }
    a->key = NULL; /* not ours to end */
    if (outcome == PL_KEY_SEEN) {
        pl_reply_json(a->request, status, reply);
        pl_reply_header(a->request, "Location", "%s", location ? location : "");
        pl_reply_header(a->request, "Idempotency-Replayed", "true");
    } else if (outcome == PL_KEY_OTHER_BODY) {
        pl_reply_problem(a->request, 422, "idempotency_key_reused", "Idempotency-Key reused",
                         "this key came with another body within the last day", NULL);
    } else if (outcome == PL_KEY_BROKEN) {
        errno = ENOMEM;
        reply_broken(a, "its Idempotency-Key");
    } else {
        pl_reply_problem(a->request, 409, "in_progress", "In progress",
                         "a request with this key is being answered", NULL);
        pl_reply_header(a->request, "Retry-After", "1");
    }
    free(location);
    return false;
}

static bool queue_has_room(admission *a)
{
    pl_daemon *d = a->daemon;
    int64_t waiting = pl_sessions_count(d->sessions, PL_STATE_CHECKING) +
                      pl_sessions_count(d->sessions, PL_STATE_QUEUED);
    if (waiting < d->options.max_queued) {
        return true;
    }
    pl_reply_problemf(a->request, 503, "queue_full", "Queue full",
                      "%lld sessions wait already, as many as this daemon takes",
                      (long long)waiting);
    pl_reply_header(a->request, "Retry-After", "10");
    return false;
}

/* What a check that ended in time means; true where the scene is accepted. */
static bool accepted(admission *a, pl_preflight_outcome outcome)
{
    char directory[PATH_MAX + 112];
    snprintf(directory, sizeof directory, "%s/%s", a->daemon->state, a->incoming);
    if (outcome == PL_PREFLIGHT_STOPPED) {
        pl_reply_problem(a->request, 503, "shutdown", "Shutting down", "the daemon is ending",
                         NULL);
        pl_reply_header(a->request, "Retry-After", "5");
        return false;
    }
    if (outcome == PL_PREFLIGHT_BROKEN ||
        !collect(a->daemon, directory, outcome, &a->preflight, &a->faults)) {
        errno = EIO;
        return reply_broken(a, "the check");
    }
    return a->faults.total ? reply_refused(a) : true;
}

static bool within_limits(admission *a)
{
    return pl_quota_hold_session(a->request, a->outline.cores > 0 ? a->outline.cores : 1, &a->hold);
}

static bool begin_check(admission *a)
{
    char directory[PATH_MAX + 112];
    snprintf(directory, sizeof directory, "%s/%s", a->daemon->state, a->incoming);
    if (!pl_preflight_begin(a->daemon, "--session", directory, &a->run)) {
        errno = EIO;
        return reply_broken(a, "the check");
    }
    return true;
}

static void admit(pl_request *r, const pl_branch *branch)
{
    pl_daemon *d = pl_request_daemon(r);
    admission a = {.daemon = d, .request = r, .owner = pl_request_owner(r), .branch = branch};
    a.text = branch ? branch->scene : pl_request_body(r, &a.length);
    a.length = branch ? strlen(branch->scene) : a.length;
    pl_session *later = NULL; /* answered before its check is done */
    if (pl_request_group(r, &a.group) && begin_key(&a) && queue_has_room(&a) && decode(&a) &&
        within_limits(&a) && stage(&a) && begin_check(&a)) {
        pl_preflight_outcome outcome = pl_preflight_await(&a.run, patience(r), &a.faults);
        if (outcome == PL_PREFLIGHT_RUNNING) {
            later = commit(&a, PL_STATE_CHECKING);
            if (!later) {
                pl_child_kill(&a.run.child);
                pl_preflight_end(&a.run);
            }
        } else {
            pl_preflight_end(&a.run);
            if (accepted(&a, outcome)) {
                pl_session_release(commit(&a, PL_STATE_QUEUED));
            }
        }
    }
    if (a.key) {
        pl_key_end(d->store, a.owner, create_route, a.key);
    }
    pl_preflight_run run = a.run;
    admission_clear(&a);
    pl_request_finish(r);
    if (later) {
        await_later(d, later, &run);
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

/* ---- POST /v1/validate ---- */

static void reply_estimate(admission *a)
{
    const pl_preflight *p = &a->preflight;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_boolean(&w, "valid", true);
    pl_json_key(&w, "estimate");
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "vertices", p->vertices);
    pl_json_set_integer(&w, "tets", p->tets);
    if (a->outline.frames >= 0) {
        pl_json_set_integer(&w, "frames", a->outline.frames);
    } else {
        pl_json_set_null(&w, "frames");
    }
    pl_json_set_number(&w, "memory_bytes", p->memory_bytes);
    pl_json_set_number(&w, "gpu_memory_bytes", p->gpu_memory_bytes);
    pl_json_set_number(&w, "setup_seconds", p->setup_seconds);
    pl_json_set_number(&w, "seconds_per_frame", p->seconds_per_frame);
    pl_json_set_number(&w, "frame_bytes", p->frame_bytes);
    pl_json_end_object(&w);
    char *bodies = pl_bodies_view(p);
    pl_json_set_raw(&w, "bodies", bodies ? bodies : "[]");
    free(bodies);
    pl_json_key(&w, "warnings");
    pl_json_begin_array(&w);
    for (int32_t i = 0; i < p->warning_count; i++) {
        pl_json_put_string(&w, p->warnings[i]);
    }
    pl_json_end_array(&w);
    pl_json_end_object(&w);
    pl_reply_json(a->request, 200, pl_json_finish(&w, NULL));
}

void pl_handle_validate(pl_request *r)
{
    admission a = {.daemon = pl_request_daemon(r), .request = r, .owner = pl_request_owner(r)};
    a.text = pl_request_body(r, &a.length);
    if (decode(&a) && stage(&a) && begin_check(&a)) {
        pl_preflight_outcome outcome = pl_preflight_await(&a.run, PL_PREFLIGHT_MS, &a.faults);
        pl_preflight_end(&a.run);
        if (accepted(&a, outcome)) {
            reply_estimate(&a);
        }
    }
    admission_clear(&a);
}
