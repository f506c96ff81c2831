#include "server/run/worker_start.h"

#include "protocol/log/memory_limit.h"
#include "protocol/log/record.h"
#include "protocol/log/session_dir.h"
#include "server/base/logger.h"
#include "server/http/shortage.h"
#include "server/run/cpu_set.h"
#include "server/run/ending.h"
#include "server/run/executor_kind.h"
#include "server/run/resizing.h"
#include "server/run/disk_pause.h"
#include "server/run/time_limit.h"
#include "server/sessions/directory_record.h"
#include "server/sessions/session_view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { AGAIN_MS = 2000 };

/* The same for all sessions of an owner. Two owners may share a uid if the range is small; the sandbox still separates
 * their sessions. */
static uint32_t worker_uid(const pl_options *o, const char *owner)
{
    uint32_t count = o->worker_uid_last - o->worker_uid + 1;
    return o->worker_uid ? o->worker_uid + pl_crc32c(0, owner, strlen(owner)) % count : 0;
}

/* Create a memory group for their worker, before it starts: its name in `group`, its directory in `path`, or "". */
static void make_group(pl_executor *e, pl_session *const *sessions, int count, double memory,
                       char group[PL_MEMORY_GROUP_NAME], char path[PATH_MAX])
{
    const pl_session *first = sessions[0];
    int64_t threads = first->cores_most > first->cores ? first->cores_most : first->cores;
    uint64_t bytes = memory >= 1
                         ? pl_memory_limit_group((uint64_t)memory, count > 1 ? count : threads)
                         : 0;
    pl_memory_groups *groups = e->setup.memory_groups;
    if (!pl_memory_groups_make(groups, first->id, first->attempt, bytes, group) ||
        !pl_memory_groups_path(groups, group, path, PATH_MAX)) {
        *path = 0;
    }
}

/* Start a worker for one session, or for several that share it: threads are per session, memory is the total. */
static int spawn_worker(pl_executor *e, pl_session *const *sessions, int count, pl_child *child,
                        char group[PL_MEMORY_GROUP_NAME])
{
    const pl_options *o = e->setup.options;
    const pl_session *first = sessions[0];
    char program[PATH_MAX + 32], attempts[PL_GPU_SHARE_MAX][24], threads[24], most_threads[24];
    char memory[32], every[16];
    char log_path[PATH_MAX + 80], uid_text[16], group_path[PATH_MAX];
    double most = 0;
    bool limited = true;
    char *argv[4 * PL_GPU_SHARE_MAX + 22] = {program};
    size_t n = 1;
    for (int i = 0; i < count; i++) {
        snprintf(attempts[i], sizeof attempts[i], "%lld", (long long)sessions[i]->attempt);
        argv[n++] = (char *)"--session";
        argv[n++] = sessions[i]->directory;
        argv[n++] = (char *)"--attempt";
        argv[n++] = attempts[i];
        most += sessions[i]->memory_limit;
        limited = limited && sessions[i]->memory_limit >= 1;
    }
    snprintf(program, sizeof program, "%s/pliant-worker", e->setup.programs);
    snprintf(threads, sizeof threads, "%lld", count > 1 ? 1LL : (long long)first->cores);
    snprintf(every, sizeof every, "%d", o->checkpoint_every);
    snprintf(memory, sizeof memory, "%.0f", most);
    snprintf(log_path, sizeof log_path, "%s/worker.log", first->directory);
    int log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0) {
        return errno;
    }
    argv[n++] = (char *)"--threads";
    argv[n++] = threads;
    if (count == 1 && first->cores_most > first->cores_least) {
        snprintf(most_threads, sizeof most_threads, "%lld", (long long)first->cores_most);
        argv[n++] = (char *)"--threads-most";
        argv[n++] = most_threads;
    }
    argv[n++] = (char *)"--checkpoint-every";
    argv[n++] = every;
    uint32_t uid = worker_uid(o, first->owner);
    if (uid) {
        snprintf(uid_text, sizeof uid_text, "%u", uid);
        argv[n++] = (char *)"--uid";
        argv[n++] = uid_text;
    }
    if (limited) {
        argv[n++] = (char *)"--memory";
        argv[n++] = memory;
    }
    if (first->gpu_memory > 0) {
        argv[n++] = (char *)"--gpu";
        argv[n++] = first->gpu;
    }
    if (first->gpu_memory > 0 && o->gpu_plugin) {
        argv[n++] = (char *)"--gpu-plugin";
        argv[n++] = (char *)o->gpu_plugin;
    }
    make_group(e, sessions, count, limited ? most : 0, group, group_path);
    if (*group_path) {
        argv[n++] = (char *)"--memory-group";
        argv[n++] = group_path;
    }
    cpu_set_t before;
    char *cpus = count == 1 ? pl_dispatcher_cpus(e->setup.dispatcher, first) : NULL;
    /* a process with a GPU's driver must not fork */
    bool prepared = count == 1 && first->gpu_memory <= 0;
    if (prepared) {
        pl_prepared_expect(e->setup.prepared, program, first->owner);
    }
    pl_cpu_set_enter(cpus, &before);
    int error = prepared ? pl_prepared_start(e->setup.prepared, first->owner, argv, log_fd, log_fd,
                                             "/", child)
                         : pl_spawn(argv, log_fd, log_fd, "/", child);
    pl_cpu_set_leave(cpus, &before);
    free(cpus);
    close(log_fd);
    if (error) {
        pl_memory_groups_remove(e->setup.memory_groups, group);
    } else { /* it also joins by itself before it reads a scene */
        pl_memory_groups_enter(e->setup.memory_groups, group, child->pid);
    }
    return error;
}

/* Queue the session for another try after a shortage; this is not a crash. */
static void put_off(pl_executor *e, pl_session *s, int error)
{
    char message[200];
    snprintf(message, sizeof message, "the worker could not be started: %s", strerror(error));
    pl_logf(PL_LEVEL_WARN, "session %s: %s; tried again", s->id, message);
    e->setup.follower.finish(e->setup.follower.context, s);
    pl_sessions_move(e->setup.sessions, s, PL_STATE_QUEUED,
                     &(pl_move){.reason = "busy", .message = message, .delay_ms = AGAIN_MS});
}

static void fail_start(pl_executor *e, pl_session *s, int error)
{
    if (pl_disk_is_error(error)) {
        pl_disk_note(e->setup.disk, error);
        e->setup.follower.finish(e->setup.follower.context, s);
        pl_disk_pause_session(e->setup.sessions, s, strerror(error), NULL);
        return;
    }
    if (pl_is_shortage(error)) {
        put_off(e, s, error);
        return;
    }
    pl_failure failure = {
        .code = PL_FAILURE_INTERNAL, .step = -1, .body = -1, .element = -1, .vertex = -1};
    snprintf(failure.message, sizeof failure.message, "the worker could not be started: %s",
             strerror(error));
    failure.frame = e->setup.follower.finish(e->setup.follower.context, s);
    char *text = pl_failure_view(&failure);
    pl_directory_record_move(
        e->setup.sessions, s, PL_STATE_FAILED,
        &(pl_move){.reason = "internal", .message = failure.message, .failure = text});
    free(text);
}

/* Record the worker's identity for the next daemon, and since when its session's time counts. */
static void name_worker(pl_executor *e, pl_worker *w, const pl_child *child)
{
    char identity[PL_WORKER_NAME_MAX];
    double spent = pl_time_limit_spent(w->session);
    pl_worker_name(child->pid, spent, identity);
    w->limit_ms = pl_time_limit_end(w->session, spent, 0);
    pl_sessions_set_worker(e->setup.sessions, w->session, identity);
}

static void start(pl_executor *e, pl_session *s)
{
    pl_worker *w = calloc(1, sizeof *w);
    e->setup.follower.start(e->setup.follower.context, s);
    int64_t kills = pl_memory_kills();
    int error = w ? spawn_worker(e, &s, 1, &w->child, w->group) : ENOMEM;
    if (!error) {
        atomic_fetch_add(&e->setup.counters->workers_started, 1);
        w->ours = true;
        w->memory_kills = kills;
        w->session = s;
        name_worker(e, w, &w->child);
        pl_session_acquire(s);
        if (!pl_workers_add(e, w)) {
            error = errno;
            pl_child_kill(&w->child);
            pl_memory_groups_remove(e->setup.memory_groups, w->group);
            pl_session_release(s);
        }
    }
    if (error) {
        free(w);
        fail_start(e, s, error);
    } else if (pl_sessions_desired(e->setup.sessions, s)) {
        pl_workers_set_deadline(
            e, s, pl_workers_deadline(e)); /* asked between its place in the queue and here */
    }
}

/* ---- several in one process ---- */

static pl_worker_process *spawn_shared(pl_executor *e, pl_session *const *group, int count,
                                       int *error)
{
    pl_worker_process *p = calloc(1, sizeof *p);
    *error = ENOMEM;
    if (!p || (*error = spawn_worker(e, group, count, &p->child, p->group)) != 0) {
        free(p);
        return NULL;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uintptr_t)p | PL_EVENT_PROCESS};
    if (epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, p->child.pidfd, &event) != 0) {
        *error = errno;
        pl_child_kill(&p->child);
        pl_memory_groups_remove(e->setup.memory_groups, p->group);
        free(p);
        return NULL;
    }
    return p;
}

static void start_shared(pl_executor *e, pl_session *const *group, int count)
{
    pl_worker *workers[PL_GPU_SHARE_MAX];
    int64_t kills = pl_memory_kills();
    int made = 0, error = ENOMEM;
    for (int i = 0; i < count; i++) {
        e->setup.follower.start(e->setup.follower.context, group[i]);
    }
    while (made < count && (workers[made] = calloc(1, sizeof **workers))) {
        made++;
    }
    pl_holding *h = made == count ? pl_holding_create(group[0]) : NULL;
    pl_worker_process *p = h ? spawn_shared(e, group, count, &error) : NULL;
    if (!p) {
        pl_holding_destroy(h);
        for (int i = 0; i < count; i++) {
            fail_start(e, group[i], error);
        }
        while (made > 0) {
            free(workers[--made]);
        }
        return;
    }
    h->sessions = count;
    pl_dispatcher_transfer(e->setup.dispatcher, group[0], &h->held);
    atomic_fetch_add(&e->setup.counters->workers_started, 1);
    pl_logf(PL_LEVEL_INFO, "%d sessions share a worker on GPU %s", count, h->held.gpu);
    for (int i = 0; i < count; i++) {
        *workers[i] = (pl_worker){.session = group[i],
                                  .child = {.pid = p->child.pid, .pidfd = -1},
                                  .shared = p,
                                  .holding = h,
                                  .ours = true,
                                  .memory_kills = kills};
        name_worker(e, workers[i], &p->child);
        pl_session_acquire(group[i]);
    }
    pthread_mutex_lock(&e->mutex);
    p->next = e->processes;
    e->processes = p;
    for (int i = 0; i < count; i++) {
        workers[i]->next = e->workers;
        e->workers = workers[i];
    }
    pthread_mutex_unlock(&e->mutex);
    for (int i = 0; i < count; i++) {
        if (pl_sessions_desired(e->setup.sessions, group[i])) {
            pl_workers_set_deadline(e, group[i], pl_workers_deadline(e));
        }
    }
}

/* It stops at a checkpoint, and is queued again afterwards (ending.c). */
static void preempt(pl_executor *e, pl_session *s)
{
    if (pl_workers_tell_to_stop(e, s)) {
        pl_logf(PL_LEVEL_INFO, "session %s: stopped at a checkpoint for another session", s->id);
    } else {
        pl_dispatcher_keep(e->setup.dispatcher, s);
    }
}

/* Pin its worker to its present CPUs. */
static void pin(pl_executor *e, pl_session *s)
{
    pid_t process = pl_workers_process(e, s);
    char *own = pl_dispatcher_cpus(e->setup.dispatcher, s), *cpus = own ? own : pl_cpu_set_of(0);
    bool pins = cpus && process > 0 && !e->setup.options->no_pin;
    int error = pins ? pl_cpu_set_pin(process, cpus) : 0;
    if (error && error != ENOENT) {
        pl_logf(PL_LEVEL_WARN, "session %s: its worker is not pinned to CPUs %s: %s", s->id, cpus,
                strerror(error));
        pl_dispatcher_unpin(e->setup.dispatcher, s);
    }
    free(cpus);
}

/* The worker changes its cores at the end of its step and, if they are fewer, reports it: streams/watch.c. */
static void resize(pl_executor *e, const pl_task *task)
{
    if (task->cores > task->had) {
        pin(e, task->session);
    }
    int error = pl_resizing_ask(task->session, task->number, task->cores);
    if (error) {
        pl_logf(PL_LEVEL_WARN, "session %s: keeps its %lld cores: %s", task->session->id,
                (long long)task->had, strerror(error));
        pl_dispatcher_fix(e->setup.dispatcher, task);
    }
}

void pl_workers_start_group(pl_executor *e, pl_session *host)
{
    pl_session *group[PL_GPU_SHARE_MAX] = {host};
    int count = 1;
    while (count < e->setup.options->gpu_share &&
           (group[count] = pl_dispatcher_start_beside(e->setup.dispatcher, host))) {
        count++;
    }
    if (count > 1) {
        start_shared(e, group, count);
    } else {
        start(e, host);
    }
    while (count > 1) {
        pl_session_release(group[--count]);
    }
}

/* Not before all of an earlier daemon's sessions are adopted: a session that waits according to its row may have a
 * worker, and a worker started here would be mistaken for a dead one. */
bool pl_workers_may_start(const pl_executor *e)
{
    return atomic_load(e->setup.ready) && !atomic_load(e->setup.draining) &&
           !pl_disk_full(e->setup.disk);
}

void pl_workers_start_next(pl_executor *e)
{
    while (pl_workers_may_start(e)) {
        pl_task task = pl_dispatcher_next(e->setup.dispatcher);
        if (!task.session) {
            return;
        }
        if (task.kind == PL_TASK_STOP) {
            preempt(e, task.session);
        } else if (task.kind == PL_TASK_RESIZE) {
            resize(e, &task);
        } else if (task.kind == PL_TASK_PIN) {
            pin(e, task.session);
        } else {
            const pl_executor_kind *kind = pl_executor_kind_of(e, task.session);
            kind->start(e, task.session);
        }
        pl_session_release(task.session);
    }
}
