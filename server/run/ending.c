#include "server/run/ending.h"

#include "protocol/log/checkpoint.h"
#include "protocol/log/head_recover.h"
#include "protocol/log/session_dir.h"
#include "server/base/disk.h"
#include "server/run/check_result.h"
#include "server/run/disk_pause.h"
#include "server/run/learning.h"
#include "server/sessions/control_log.h"
#include "server/sessions/removal.h"
#include "server/base/logger.h"
#include "server/run/time_limit.h"
#include "server/sessions/session_view.h"
#include "server/sessions/directory_record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TAIL = 2000, /* bytes of worker.log for a report */
    /* Exit statuses of a worker that could not write exit.json. */
    STATUS_NO_DISK = 9,
    STATUS_NO_MEMORY = 10
};
#define MEMORY_FACTOR 1.5

/* Lifetime: one conclusion, under the session's lifecycle mutex. */
typedef struct ending {
    const pl_worker_setup *setup;
    pl_session *session;
    const pl_ending *how;
    int dir_fd;
    int64_t frame; /* last committed */
    pl_desire desired;
    bool paused; /* according to control.log */
    pl_recovery recovery;
    const pl_exit *fault; /* the report that the device failed, or NULL */
} ending;

static pl_failure failure_of(pl_failure_code code, int64_t frame)
{
    return (pl_failure){
        .code = code, .step = -1, .frame = frame, .body = -1, .element = -1, .vertex = -1};
}

/* ---- transitions ---- */

static void end_as(const ending *e, pl_session_state to, const char *reason,
                   const pl_failure *failure)
{
    char *text = failure ? pl_failure_view(failure) : NULL;
    pl_sessions_move(e->setup->sessions, e->session, to,
                     &(pl_move){.reason = reason,
                                .message = failure ? failure->message : NULL,
                                .failure = text,
                                .recovery = &e->recovery});
    free(text);
}

/* Describe why the daemon killed a worker for its own session's sake. */
static void describe_killing(const ending *e, char *out, size_t size)
{
    const pl_options *o = e->setup->options;
    switch (e->how->kill) {
    case PL_KILL_TIME_LIMIT:
        snprintf(out, size,
                 "the time limit of %g s passed; %d s later the worker was still inside a step and "
                 "was killed",
                 e->session->time_limit, PL_TIME_LIMIT_GRACE_MS / 1000);
        break;
    case PL_KILL_STALLED:
        snprintf(out, size, "the worker made no progress for %g s and was killed",
                 1e-3 * (double)o->stalled_kill_ms);
        break;
    default:
        snprintf(out, size, "the worker did not react within %d s and was killed", o->patience);
    }
}

static bool exited_with(const pl_ending *how, int status)
{
    return how->status_known && WIFEXITED(how->status) && WEXITSTATUS(how->status) == status;
}

static bool ran_out_of_memory(const pl_ending *how)
{
    return how->out_of_memory || exited_with(how, STATUS_NO_MEMORY);
}

static bool was_killed(const ending *e)
{
    return e->how->kill != PL_KILL_NONE && e->how->kill != PL_KILL_ALONG;
}

static void end_cancelled(const ending *e)
{
    bool killed = was_killed(e);
    char message[160];
    describe_killing(e, message, sizeof message);
    pl_directory_record_move(e->setup->sessions, e->session, PL_STATE_CANCELLED,
                             &(pl_move){.reason = killed ? "killed" : "user",
                                        .message = killed ? message : NULL,
                                        .recovery = &e->recovery});
}

static void pause_session(const ending *e, const char *message)
{
    pl_sessions_move(e->setup->sessions, e->session, PL_STATE_PAUSED,
                     &(pl_move){.reason = "user", .message = message, .recovery = &e->recovery});
}

/* Pauses the session until the disk has room and can be written; it then continues from its checkpoint. */
static void pause_for_disk(const ending *e)
{
    pl_disk_state disk = pl_disk_look(e->setup->disk);
    pl_disk_pause_session(e->setup->sessions, e->session, disk.broken ? strerror(disk.error) : NULL,
                          &e->recovery);
}

static void queue_again(const ending *e, const char *reason, const char *message)
{
    pl_sessions_move(
        e->setup->sessions, e->session, PL_STATE_QUEUED,
        &(pl_move){.reason = reason, .message = message, .recovery = &e->recovery, .first = true});
}

/* ---- out of memory: retry with 1.5 times as much ---- */

/* False if that was already tried. */
static bool retry_with_memory(ending *e)
{
    pl_recovery *r = &e->recovery;
    double machine = e->setup->memory;
    if (r->memory_retries > 0 || r->memory_limit <= 0) {
        return false;
    }
    r->memory_retries++;
    r->memory_limit *= MEMORY_FACTOR;
    r->memory = r->memory * MEMORY_FACTOR < machine ? r->memory * MEMORY_FACTOR : machine;
    char message[160];
    snprintf(message, sizeof message, "out of memory; restarted with 1.5 times as much, %.0f MB",
             r->memory_limit / 1e6);
    pl_logf(PL_LEVEL_WARN, "session %s: %s", e->session->id, message);
    queue_again(e, "out_of_memory", message);
    return true;
}

static const char preempted[] =
    "another session needed its resources; it continues from its checkpoint";

static const char told_to_stop[] = "the worker was told to stop; it continues from its checkpoint";

static void queue_stopped(const ending *e)
{
    if (pl_disk_full(e->setup->disk)) {
        pause_for_disk(e);
        return;
    }
    bool yielded = e->session->preempting;
    queue_again(e, yielded ? "preempted" : "stopped", yielded ? preempted : told_to_stop);
}

/* Pauses a session whose job somebody cancelled in the batch system; its owner may resume it. */
static void pause_cancelled_job(const ending *e)
{
    char message[200];
    snprintf(message, sizeof message, "%.150s; resume it to continue", e->how->job_state);
    pl_control_append(e->session->directory, "pause");
    pause_session(e, message);
}

/* ---- with a report ---- */

/* Record how long it took, for later estimates: only if it had an end and ran as fast as possible. */
static void learn(const ending *e, const pl_exit *report)
{
    pl_session *s = e->session;
    pl_preflight checked = {0};
    if (s->frames > 0 && !s->interactive && pl_preflight_read(e->dir_fd, &checked) == PL_OK) {
        pl_learning_note(e->setup->learning, s->owner, &checked, report->seconds,
                         pl_check_estimate(&checked, s->frames), s->estimate);
    }
    pl_preflight_clear(&checked);
}

static void end_by_report(ending *e, const pl_exit *report)
{
    bool stopped = strcmp(report->state, "stopped") == 0;
    bool paused = strcmp(report->state, "paused") == 0;
    if (strcmp(report->state, "succeeded") == 0) {
        learn(e, report);
        end_as(e, PL_STATE_SUCCEEDED, NULL, NULL);
    } else if (strcmp(report->state, "cancelled") == 0) {
        end_as(e, PL_STATE_CANCELLED, "user", NULL);
    } else if ((stopped || paused) && e->desired >= PL_DESIRE_CANCELLED) {
        end_cancelled(e);
    } else if ((stopped || paused) && e->paused) {
        pause_session(e, NULL);
    } else if (stopped && e->how->job == PL_JOB_CANCELLED) {
        pause_cancelled_job(e);
    } else if (stopped) {
        queue_stopped(e);
    } else if (paused) {
        queue_again(e, "resumed", NULL);
    } else if (report->disk_error && e->desired >= PL_DESIRE_CANCELLED) {
        end_cancelled(e);
    } else if (report->disk_error && e->paused) {
        pause_session(e, report->failure.message);
    } else if (report->disk_error) {
        pl_disk_note(e->setup->disk, report->disk_error);
        pl_logf(PL_LEVEL_WARN, "session %s: %s", e->session->id, report->failure.message);
        pause_for_disk(e);
    } else if (report->failure.code != PL_FAILURE_OUT_OF_MEMORY ||
               e->desired >= PL_DESIRE_CANCELLED || !retry_with_memory(e)) {
        end_as(e, PL_STATE_FAILED, pl_failure_name(report->failure.code), &report->failure);
    }
}

/* ---- without a report ---- */

static void describe_crash(const ending *e, char *out, size_t size)
{
    int status = e->how->status;
    if (was_killed(e)) {
        describe_killing(e, out, size);
    } else if (e->how->job_state && !e->fault) {
        snprintf(out, size, "%.150s without a report from its worker", e->how->job_state);
    } else if (e->fault) {
        snprintf(out, size, "%.190s", e->fault->failure.message);
    } else if (e->how->rebooted) {
        snprintf(out, size, "the machine restarted while it ran");
    } else if (e->how->found) {
        snprintf(out, size, "the worker ended without a report while no daemon watched it");
    } else if (!e->how->status_known) {
        snprintf(out, size, "the worker, started by an earlier daemon, ended without a report");
    } else if (WIFSIGNALED(status)) {
        snprintf(out, size, "the worker was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(out, size, "the worker ended with status %d and no report", WEXITSTATUS(status));
    }
}

/* text: the failure as JSON. */
static void move_to_failed(const ending *e, const pl_failure *f, const char *text)
{
    pl_directory_record_move(e->setup->sessions, e->session, PL_STATE_FAILED,
                             &(pl_move){.reason = pl_failure_name(f->code),
                                        .message = f->message,
                                        .failure = text,
                                        .recovery = &e->recovery});
}

/* The time limit ended inside a step; this is not a crash. */
static void fail_timed_out(const ending *e)
{
    pl_failure f = failure_of(PL_FAILURE_TIMEOUT, e->frame);
    describe_killing(e, f.message, sizeof f.message);
    snprintf(f.advice, sizeof f.advice,
             "Raise resources.time_limit, or simulate less; the frames so far are kept.");
    char *text = pl_failure_view(&f);
    move_to_failed(e, &f, text);
    free(text);
}

/* The last complete lines of a log, malloc'ed; NULL: none. */
static char *log_tail(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    off_t from = size > TAIL ? size - TAIL : 0;
    char *text = size > 0 ? malloc(TAIL + 1) : NULL;
    ssize_t n = text ? pread(fd, text, TAIL, from) : 0;
    if (fd >= 0) {
        close(fd);
    }
    if (n <= 0) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    char *line = from ? strchr(text, '\n') : NULL;
    if (line) {
        memmove(text, line + 1, strlen(line + 1) + 1);
    }
    return text;
}

/* Put the last line into the advice, and the whole tail beside it. */
static void fail_crashed(ending *e, const char *crash)
{
    bool memory = ran_out_of_memory(e->how);
    pl_failure f = failure_of(memory ? PL_FAILURE_OUT_OF_MEMORY : PL_FAILURE_WORKER_CRASHED,
                              e->frame);
    char *tail = log_tail(e->dir_fd, "worker.log");
    if (!tail && e->how->job_state) { /* it died before its first line */
        tail = log_tail(e->dir_fd, "job.log");
    }
    size_t length = tail ? strlen(tail) : 0;
    while (length > 0 && tail[length - 1] == '\n') {
        tail[--length] = 0;
    }
    const char *last = tail ? strrchr(tail, '\n') : NULL;
    last = last ? last + 1 : tail;
    snprintf(f.message, sizeof f.message, "%s%s", crash,
             memory ? "; it was out of memory, and 1.5 times as much did not help"
                    : ", 4 times without a new checkpoint");
    snprintf(f.advice, sizeof f.advice,
             "%s; the frames so far are kept. Last line of its log: %.120s",
             memory ? "raise resources.memory, or use a coarser mesh or a machine with more memory"
                    : "see the session's log",
             last ? last : "none");
    int status = e->how->status;
    int64_t number = e->how->status_known && WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    char *text = pl_crash_view(&f, number, e->recovery.crashes, tail);
    move_to_failed(e, &f, text);
    free(text);
    free(tail);
}

/* A checkpoint since the last crash resets the count of crashes. */
static void note_checkpoint(ending *e)
{
    pl_checkpoint newest;
    if (pl_checkpoint_newest(e->dir_fd, &newest) == PL_OK &&
        newest.frame > e->recovery.checkpoint) {
        e->recovery.checkpoint = newest.frame;
        e->recovery.crashes = 0;
    }
}

/* At most 3 restarts without a new checkpoint. Ends without a watching daemon do not count: a restarted machine, a
 * restored state or a service manager that ended all processes is not the scene's fault. */
static void end_crashed(ending *e)
{
    pl_recovery *r = &e->recovery;
    const pl_ending *how = e->how;
    char crash[200];
    describe_crash(e, crash, sizeof crash);
    if (e->desired >= PL_DESIRE_CANCELLED) {
        end_cancelled(e);
        return;
    }
    if (e->paused) {
        pause_session(e, crash);
        return;
    }
    if (how->kill == PL_KILL_TIME_LIMIT) {
        fail_timed_out(e);
        return;
    }
    if (how->status_known && WIFSIGNALED(how->status) && WTERMSIG(how->status) == SIGTERM) {
        queue_stopped(e); /* before it could handle signals */
        return;
    }
    if (how->job == PL_JOB_CANCELLED && how->kill == PL_KILL_NONE) {
        pause_cancelled_job(e);
        return;
    }
    if (exited_with(how, STATUS_NO_DISK) && !pl_disk_full(e->setup->disk)) {
        pl_disk_note(e->setup->disk, 0);
    }
    bool full = pl_disk_full(e->setup->disk); /* the worker may not have been able to report it */
    if (full || (how->kill == PL_KILL_DEAF && e->session->preempting)) {
        queue_stopped(e);
        return;
    }
    if (how->job == PL_JOB_LOST) {
        pl_logf(PL_LEVEL_WARN, "session %s: %s", e->session->id, crash);
        queue_again(e, "stopped", crash);
        return;
    }
    if (how->kill == PL_KILL_ALONG) {
        queue_again(
            e, "stopped",
            "another session in its worker did not react; it continues from its checkpoint");
        return;
    }
    if (e->fault && !e->fault->launching) { /* caused by another session in the same worker */
        queue_again(e, "device_fault", crash);
        return;
    }
    atomic_fetch_add(&e->setup->counters->workers_crashed, 1);
    if (ran_out_of_memory(how)) {
        if (!retry_with_memory(e)) {
            fail_crashed(e, crash);
        }
        return;
    }
    note_checkpoint(e);
    if (e->fault || !how->found) {
        r->crashes++;
    }
    pl_logf(PL_LEVEL_WARN, "session %s: %s", e->session->id, crash);
    if (r->crashes > PL_RESTARTS) {
        fail_crashed(e, crash);
        return;
    }
    pl_sessions_move(
        e->setup->sessions, e->session, PL_STATE_QUEUED,
        &(pl_move){.reason = "worker_crashed",
                   .message = crash,
                   .recovery = r,
                   .delay_ms = r->crashes ? e->setup->options->restart_delays_ms[r->crashes - 1]
                                          : 0});
}

/* ---- the conclusion ---- */

/* Take the worker's last warnings, which the log's watcher may have missed. */
static void take_warnings(const ending *e)
{
    char *warnings = pl_warnings_load(e->dir_fd);
    if (warnings) {
        pl_sessions_set_warnings(e->setup->sessions, e->session, warnings);
    }
    free(warnings);
}

/* Raises the recorded attempt to the newest one in the directory. A killed daemon may have started that attempt
 * without recording it in the database. */
static void note_attempts(ending *e, const pl_exit *report)
{
    int32_t newest = pl_log_newest_attempt(e->dir_fd);
    newest = report->attempt > newest ? report->attempt : newest;
    if (newest > e->recovery.attempt) {
        e->recovery.attempt = newest;
    }
}

void pl_ending_conclude(const pl_worker_setup *setup, pl_session *s, const pl_ending *how)
{
    pl_sessions *sessions = setup->sessions;
    pl_exit report = {0};
    pthread_mutex_lock(&s->lifecycle);
    ending e = {.setup = setup,
                .session = s,
                .how = how,
                .dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                .frame = how->frame,
                .desired = pl_sessions_desired(sessions, s),
                .recovery = pl_sessions_recovery(sessions, s)};
    if (e.dir_fd < 0) {
        pl_failure lost = failure_of(PL_FAILURE_INTERNAL, -1);
        snprintf(lost.message, sizeof lost.message, "the session's directory is missing");
        end_as(&e, PL_STATE_FAILED, "storage_lost", &lost);
    } else {
        pl_control_state control;
        if (pl_control_read(s->directory, &control) != 0) { /* then the row decides */
            control.paused = e.desired == PL_DESIRE_PAUSED;
        }
        take_warnings(&e);
        bool reported = pl_exit_read(e.dir_fd, &report) == PL_OK &&
                        report.attempt >= e.recovery.attempt;
        e.desired = control.cancelled && e.desired < PL_DESIRE_CANCELLED ? PL_DESIRE_CANCELLED
                                                                         : e.desired;
        e.paused = control.paused;
        note_attempts(&e, &report);
        if (reported && strcmp(report.state, "device_fault") == 0) {
            e.fault = &report;
            end_crashed(&e);
        } else if (reported) {
            end_by_report(&e, &report);
        } else {
            end_crashed(&e);
        }
        close(e.dir_fd);
    }
    pl_logf(PL_LEVEL_INFO, "session %s: %s after frame %lld", s->id,
            pl_state_name((pl_session_state)s->state), (long long)e.frame);
    pthread_mutex_unlock(&s->lifecycle);
    if (pl_sessions_desired(sessions, s) == PL_DESIRE_DELETED) {
        pl_removal_start(sessions, s);
    }
}
