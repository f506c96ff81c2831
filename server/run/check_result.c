#include "server/run/check_result.h"

#include "protocol/log/directory_sync.h"
#include "protocol/text/json.h"
#include "protocol/text/problem.h"
#include "server/base/logger.h"
#include "server/http/shortage.h"
#include "server/run/gpus.h"
#include "server/run/learning.h"
#include "server/sessions/directory_record.h"
#include "server/sessions/removal.h"
#include "server/sessions/session_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Estimates are within a factor of two of measurements. The limit protects the machine from a leak and must never
 * affect a correct scene. */
#define LIMIT_FACTOR 4
#define LIMIT_BASE   ((double)(1 << 30))

double pl_check_gpu_memory(const pl_preflight *p)
{
    return p->gpu_memory_bytes > 0 ? p->gpu_memory_bytes + PL_GPU_CONTEXT : 0;
}

double pl_check_memory_limit(double asked, double estimate)
{
    return asked > 0 ? asked : estimate > 0 ? LIMIT_FACTOR * estimate + LIMIT_BASE : 0;
}

/* Returns 0 or an errno. */
static int read_report(const char *directory, pl_preflight *out)
{
    int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_status status = dir_fd >= 0 ? pl_preflight_read(dir_fd, out) : PL_IO;
    int error = status == PL_OK          ? 0
                : status == PL_NO_MEMORY ? ENOMEM
                : status == PL_IO        ? errno
                                         : EPROTO;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return error;
}

static void check_memory(const pl_machine *machine, const pl_preflight *p, pl_faults *faults)
{
    if (machine->elsewhere) {
        return;
    }
    if (p->memory_bytes > machine->memory) {
        char expected[96];
        snprintf(expected, sizeof expected, "at most %.0f bytes, the memory of this machine",
                 machine->memory);
        pl_faults_addf(faults, "/bodies", "too_large_for_machine", expected,
                       "use coarser meshes or fewer bodies",
                       "an estimated %.0f bytes for %lld vertices and %lld tetrahedra",
                       p->memory_bytes, (long long)p->vertices, (long long)p->tets);
    }
    double needed = pl_check_gpu_memory(p), most = pl_gpus_largest(machine->gpus);
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

bool pl_check_read(const pl_machine *machine, const char *directory, pl_preflight_outcome outcome,
                   pl_preflight *report, pl_faults *faults)
{
    if (outcome == PL_PREFLIGHT_DIED) {
        return true;
    }
    errno = read_report(directory, report);
    if (errno) {
        return false;
    }
    if (outcome == PL_PREFLIGHT_FAULTS) {
        pl_faults_clear(faults);
        *faults = report->faults;
        report->faults = (pl_faults){0};
        errno = EPROTO;
        return faults->total > 0;
    }
    check_memory(machine, report, faults);
    return true;
}

int64_t pl_check_cores(const pl_machine *machine, const pl_preflight *p)
{
    int64_t most = machine->elsewhere ? machine->batch_cores : machine->cores;
    int64_t pay = p->cores < most ? p->cores : most;
    return pay > 1 ? pay : 1;
}

double pl_check_estimate(const pl_preflight *report, int64_t frames)
{
    double seconds = report->setup_seconds + report->seconds_per_frame * (double)frames;
    return frames > 0 && report->seconds_per_frame > 0 && seconds < 1e9 ? seconds : 0;
}

/* ---- for a session whose request was answered earlier ---- */

static void reject(pl_sessions *t, pl_session *s, const pl_faults *faults)
{
    char *problem = pl_problem_encode(422, "invalid_scene", "", "", faults);
    pl_json *parsed = problem ? pl_json_parse(problem, strlen(problem), NULL) : NULL;
    char *list = parsed ? pl_json_dump(pl_json_at(parsed, "faults"), false) : NULL;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "code", "invalid_scene");
    pl_json_set_string(&w, "message", "the scene cannot be run; every fault is listed");
    pl_json_set_raw(&w, "faults", list ? list : "[]");
    pl_json_end_object(&w);
    char *failure = pl_json_finish(&w, NULL);
    pl_directory_record_move(t, s, PL_STATE_REJECTED,
                             &(pl_move){.reason = "invalid_scene", .failure = failure});
    free(failure);
    free(list);
    pl_json_free(parsed);
    free(problem);
}

static void accept_session(pl_sessions *t, const pl_machine *machine, pl_session *s,
                           const pl_preflight *report)
{
    bool paused = pl_sessions_desired(t, s) == PL_DESIRE_PAUSED;
    char *bodies = pl_bodies_view(report);
    char *warnings = pl_warnings_encode(&report->warnings, NULL);
    pl_move what = {.reason = paused ? "user" : NULL,
                    .bodies = bodies,
                    .warnings = warnings,
                    .estimate = pl_check_estimate(report, s->frames) *
                                pl_learning_ratio(machine->learning, s->owner, report),
                    .cores_most = pl_check_cores(machine, report),
                    .gpu_memory = pl_check_gpu_memory(report)};
    if (s->memory <= 0) { /* the scene gave no limit */
        what.memory = report->memory_bytes;
        what.memory_limit = pl_check_memory_limit(0, report->memory_bytes);
    }
    pl_sessions_move(t, s, paused ? PL_STATE_PAUSED : PL_STATE_QUEUED, &what);
    free(warnings);
    free(bodies);
}

/* Sync the check's own files; the check has not done it. */
/* Returns 0 or an errno. */
static int sync_check(const pl_session *s)
{
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = dir_fd >= 0 && pl_directory_sync(dir_fd, ".") == PL_OK ? 0 : errno;
    if (error) {
        pl_logf(PL_LEVEL_ERROR, "session %s: its directory: %s", s->id, strerror(error));
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return error;
}

/* Lifetime: one conclusion, under the session's lifecycle mutex. Returns 0, or an errno if a resource is exhausted. */
static int conclude(pl_sessions *t, const pl_machine *machine, pl_session *s,
                    pl_preflight_outcome outcome, pl_preflight *report, pl_faults *faults)
{
    static const char unchecked[] = "the scene could not be checked";
    static const char unstored[] = "the check could not be stored";
    bool read = outcome != PL_PREFLIGHT_BROKEN &&
                pl_check_read(machine, s->directory, outcome, report, faults);
    int error = outcome == PL_PREFLIGHT_BROKEN ? EPROTO : read ? 0 : errno;
    if (!error && faults->total) {
        reject(t, s, faults);
        return 0;
    }
    error = error ? error : sync_check(s);
    if (!error) {
        accept_session(t, machine, s, report);
    } else if (!pl_is_shortage(error)) {
        pl_directory_record_move(
            t, s, PL_STATE_FAILED,
            &(pl_move){.reason = "internal", .message = read ? unstored : unchecked});
    }
    return error;
}

bool pl_check_conclude(pl_sessions *t, const pl_machine *machine, pl_session *s,
                       pl_preflight_outcome outcome, pl_faults *faults)
{
    pl_machine of_session = *machine;
    of_session.elsewhere = s->executor;
    machine = &of_session;
    pl_preflight report = {0};
    int error = 0;
    pthread_mutex_lock(&s->lifecycle);
    pl_desire desired = pl_sessions_desired(t, s);
    if (desired >= PL_DESIRE_CANCELLED) {
        pl_directory_record_move(t, s, PL_STATE_CANCELLED, &(pl_move){.reason = "user"});
    } else {
        error = conclude(t, machine, s, outcome, &report, faults);
    }
    pthread_mutex_unlock(&s->lifecycle);
    if (desired == PL_DESIRE_DELETED) {
        pl_removal_start(t, s);
    }
    pl_preflight_clear(&report);
    return !pl_is_shortage(error);
}
