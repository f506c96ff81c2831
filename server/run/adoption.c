#include "server/run/adoption.h"

#include "protocol/log/session_dir.h"
#include "server/base/logger.h"
#include "server/run/cpu_set.h"
#include "server/run/ending.h"
#include "server/run/executor_kind.h"
#include "server/run/lifecycle.h"
#include "server/run/resizing.h"
#include "server/run/time_limit.h"
#include "server/run/workers.h"
#include "server/sessions/control_log.h"
#include "server/sessions/removal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open a pidfd for the process that the session's row names; -1 on failure. The start time is compared after the pidfd
 * is open, so that a reused pid is not mistaken for it. The time limit continues. If an older daemon did not record the
 * time spent before, only the worker enforces the limit. */
static void open_worker(const pl_session *s, pl_worker *w)
{
    char boot[40], now_boot[40];
    int number = 0;
    unsigned long long started = 0;
    double spent = 0;
    pl_boot_id(now_boot);
    int known = s->worker ? sscanf(s->worker, "%39s %d %llu %lf", boot, &number, &started, &spent)
                          : 0;
    bool named = known >= 3 && strcmp(boot, now_boot) == 0 && number > 1;
    int pidfd = named ? pidfd_open(number, 0) : -1;
    if (pidfd >= 0 && pl_process_start(number) != started) {
        close(pidfd);
        pidfd = -1;
    }
    w->child = (pl_child){pidfd >= 0 ? number : 0, pidfd};
    if (pidfd >= 0 && known == 4) {
        w->limit_ms = pl_time_limit_end(s, spent, pl_process_age(started));
    }
}

/* The machine was restarted since the worker was started. */
static bool rebooted_since(const char *identity)
{
    char boot[40];
    pl_boot_id(boot);
    size_t n = strlen(boot);
    return identity && n > 0 && strncmp(identity, boot, n) != 0;
}

/* Apply the owner's pending requests to a running session; control.log has precedence over the row. */
static void take_wishes(pl_executor *e, pl_session *s)
{
    pl_sessions *sessions = e->setup.sessions;
    pl_control_state control;
    bool known = pl_control_read(s->directory, &control) == 0; /* otherwise the row counts */
    if (control.cancelled) {
        pl_sessions_set_desired(sessions, s, "cancelled");
    } else if (control.paused) {
        pl_sessions_set_desired(sessions, s, "paused");
    } else if (known) {
        pl_sessions_clear_pause(sessions, s);
    }
    if (pl_sessions_desired(sessions, s) >= PL_DESIRE_CANCELLED && !control.cancelled) {
        pl_lifecycle_cancel(sessions, e, s); /* requested before the daemon died */
    } else if (pl_sessions_desired(sessions, s)) {
        pl_executor_set_deadline(e, s);
    }
}

static void adopt_living(pl_executor *e, pl_session *s, pl_worker *w)
{
    w->session = s;
    pl_session_acquire(s);
    open_worker(s, w);
    pl_memory_groups_find(e->setup.memory_groups, s->id, s->attempt, w->group);
    w->holding = pl_holding_join(e, s, w->child.pid);
    bool follows = pl_resizing_find(s, &s->resizes, &s->cores, &s->held_ms);
    char *cpus = w->child.pid > 0 && !w->holding ? pl_cpu_set_of(w->child.pid) : NULL;
    pl_dispatcher_adopt(e->setup.dispatcher, s, w->holding, !follows, cpus);
    free(cpus);
    e->setup.follower.start(e->setup.follower.context, s);
    atomic_fetch_add(&e->setup.counters->workers_adopted, 1);
    pl_logf(PL_LEVEL_INFO, "session %s: its worker still runs and was adopted", s->id);
    if (!pl_workers_add(e, w)) {
        close(w->child.pidfd);
        w->child.pidfd = -1;
        pl_workers_add(e, w);
    }
    take_wishes(e, s);
}

/* A session that waits according to its row; control.log has precedence. */
static void settle_waiting(pl_executor *e, pl_session *s)
{
    pl_sessions *sessions = e->setup.sessions;
    pl_control_state control;
    if (pl_control_read(s->directory, &control) != 0) { /* the row counts */
        control.paused = s->state == PL_STATE_PAUSED;
    }
    if (pl_sessions_desired(sessions, s) >= PL_DESIRE_CANCELLED || control.cancelled) {
        pl_lifecycle_cancel(sessions, e, s);
        if (pl_sessions_desired(sessions, s) == PL_DESIRE_DELETED) {
            pl_removal_start(sessions, s);
        }
    } else if (control.paused && s->state == PL_STATE_QUEUED) {
        pl_sessions_move(sessions, s, PL_STATE_PAUSED, &(pl_move){.reason = "user"});
    } else if (!control.paused && s->state == PL_STATE_PAUSED &&
               /* such a session continues when there is room */
               !pl_sessions_paused_by_disk(sessions, s)) {
        pl_sessions_move(sessions, s, PL_STATE_QUEUED, &(pl_move){.reason = "resumed"});
    }
}

/* Time of its worker's last write, ms since 1970; 0: unknown. */
static int64_t last_written(const char *directory)
{
    static const char *const files[] = {"exit.json", "head.json", "worker.log"};
    int64_t last = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX + 16];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        if (stat(path, &st) == 0) {
            int64_t at = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
            last = at > last ? at : last;
        }
    }
    return last;
}

void pl_executor_adopt_worker(pl_executor *e, pl_session *s)
{
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_exit report = {0};
    bool held = dir_fd >= 0 && pl_session_locked(dir_fd);
    /* If the row says that the session waits, only an attempt newer than the row counts. */
    bool newer = !held && dir_fd >= 0 && pl_exit_read(dir_fd, &report) == PL_OK &&
                 report.attempt > s->attempt;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    if (!held && !newer && s->state != PL_STATE_RUNNING) {
        settle_waiting(e, s);
        return;
    }
    pl_worker *w = held ? calloc(1, sizeof *w) : NULL;
    if (w) {
        adopt_living(e, s, w);
    } else {
        s->ended_ms = last_written(s->directory);
        pl_dispatcher_adopt(e->setup.dispatcher, s, false, true, NULL);
        e->setup.follower.start(e->setup.follower.context, s);
        char group[PL_MEMORY_GROUP_NAME]; /* removed with other leftovers (executor.c) */
        pl_memory_groups *groups = e->setup.memory_groups;
        pl_memory_groups_find(groups, s->id, s->attempt, group);
        pl_ending how = {.found = true,
                         .out_of_memory = pl_memory_groups_kills(groups, group) > 0,
                         .rebooted = rebooted_since(s->worker),
                         .frame = e->setup.follower.finish(e->setup.follower.context, s)};
        pl_ending_conclude(&e->setup, s, &how);
    }
}

/* Looks for the session's job if the batch system may have one, in any state of the session. */
void pl_executor_adopt(pl_executor *e, pl_session *s)
{
    const pl_executor_kind *kind = pl_executor_kind_of(e, s);
    if (!s->executor || !kind) {
        if (!pl_state_terminal((pl_session_state)s->state)) {
            pl_executor_adopt_worker(e, s);
        }
        return;
    }
    bool waits = s->state == PL_STATE_QUEUED || s->state == PL_STATE_PAUSED;
    bool has_job = s->batch_job || s->state == PL_STATE_RUNNING;
    if (waits) {
        settle_waiting(e, s);
    }
    if (has_job) {
        kind->adopt(e, s);
    }
    if (has_job && s->state == PL_STATE_RUNNING) {
        take_wishes(e, s);
    }
}
