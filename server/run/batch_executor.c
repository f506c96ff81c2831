#include "server/run/batch_executor.h"

#include "server/base/logger.h"
#include "server/batch/batch_command.h"
#include "server/run/batch_pilots.h"
#include "server/sessions/batch_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { BURST = 20, LOOK_MS = 500, IDLE_MS = 60000, QUERY_MOST_MS = 60000 };

int64_t pl_batch_ms(const pl_batch *b, pl_batch_number which)
{
    return 1000 * (int64_t)pl_batch_system_number(b->system, which);
}

/* ---- queries ---- */

/* Counts a failed query; every job keeps its last state. */
static void note_silence(pl_batch *b, const char *why)
{
    if (b->failures++ == 0) {
        b->failed_us = pl_clock_us();
        pl_logf(PL_LEVEL_WARN, "%s does not respond: %s", pl_batch_system_name(b->system), why);
    }
    snprintf(b->error, sizeof b->error, "%s", why);
}

static void take_answer(pl_batch *b, char *text, int64_t began)
{
    pl_batch_list jobs;
    if (!pl_batch_list_read(b->system, text, &jobs)) {
        note_silence(b, "its reply to the query cannot be parsed");
        return;
    }
    if (b->failures > 0) {
        pl_logf(PL_LEVEL_INFO, "%s responds again", pl_batch_system_name(b->system));
    }
    pl_batch_list_clear(&b->jobs);
    b->jobs = jobs;
    b->asked_ms = began;
    b->queries++;
    b->failures = 0;
}

static void ask(pl_batch *b)
{
    const pl_batch_value none[] = {{NULL, NULL}};
    pl_batch_result result = {0};
    int64_t began = pl_monotonic_ms();
    char **argv = pl_batch_system_command(b->system, PL_BATCH_QUERY, none);
    if (argv) {
        pl_batch_run(argv, (int)pl_batch_ms(b, PL_BATCH_TIMEOUT), -1, b->stop_fd, &result);
    }
    if (result.good) {
        take_answer(b, result.output, began);
    } else {
        note_silence(b, result.error);
    }
    int64_t wait = pl_batch_ms(b, PL_BATCH_INTERVAL)
                   << (b->failures > 1 ? (b->failures < 6 ? b->failures - 1 : 5) : 0);
    b->next_ms = pl_monotonic_ms() + (wait < QUERY_MOST_MS ? wait : QUERY_MOST_MS);
    pl_batch_result_clear(&result);
    pl_batch_command_free(argv);
}

/* ---- the thread ---- */

static void drop(pl_batch *b, pl_batch_entry *gone)
{
    pthread_mutex_lock(&b->mutex);
    for (pl_batch_entry **link = &b->list; *link; link = &(*link)->next) {
        if (*link == gone) {
            *link = gone->next;
            break;
        }
    }
    pthread_mutex_unlock(&b->mutex);
    pl_session_release(gone->session);
    free(gone);
}

/* Waits for work. Returns the list's first entry; *stop_all: tell all workers to stop. */
static pl_batch_entry *wait_for_work(pl_batch *b, bool *stop_all)
{
    struct timespec until;
    pthread_mutex_lock(&b->mutex);
    int64_t ms = !b->list && !b->pilots ? IDLE_MS : b->room > 0 ? LOOK_MS : 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!b->woken && !b->stopping &&
           pthread_cond_timedwait(&b->changed, &b->mutex, &until) == 0) {
    }
    b->woken = false;
    *stop_all = b->stop_all;
    b->stop_all = false;
    pl_batch_entry *first = b->stopping ? NULL : b->list;
    pthread_mutex_unlock(&b->mutex);
    return first;
}

static bool is_stopping(pl_batch *b)
{
    pthread_mutex_lock(&b->mutex);
    bool stopping = b->stopping;
    pthread_mutex_unlock(&b->mutex);
    return stopping;
}

static void *run(void *context)
{
    pl_batch *b = context;
    bool stop_all = false;
    while (!is_stopping(b)) {
        pl_batch_entry *first = wait_for_work(b, &stop_all);
        b->room = BURST;
        if ((first || b->pilots) && b->next_ms <= pl_monotonic_ms()) {
            ask(b);
        }
        pl_pilots_tend(b, first, pl_monotonic_ms());
        if (stop_all) {
            pl_pilots_stop(b);
        }
        for (pl_batch_entry *e = first, *next; e && !is_stopping(b); e = next) {
            next = e->next;
            if (stop_all && e->step == PL_BATCH_SENT && e->began && !e->pilot) {
                pl_batch_tell(b, e->session->id, e->job, PL_BATCH_SIGNAL);
            }
            if (!pl_batch_advance(b, e, pl_monotonic_ms())) {
                drop(b, e);
            }
        }
    }
    return NULL;
}

/* ---- up and down ---- */

bool pl_batch_load(const pl_options *o, pl_batch_system **out, char *error, size_t size)
{
    bool none = strcmp(o->batch, "none") == 0;
    if (none && o->batch_default) {
        snprintf(error, size, "--executor batch needs --batch slurm, or a file");
        return false;
    }
    const char *path = strcmp(o->batch, "slurm") == 0 ? NULL : o->batch;
    *out = none ? NULL : pl_batch_system_create(path, error, size);
    return none || *out;
}

pl_batch *pl_batch_create(const pl_worker_setup *setup, const pl_batch_system *system)
{
    pl_batch *b = calloc(1, sizeof *b);
    pthread_condattr_t monotonic;
    if (!b) {
        return NULL;
    }
    b->setup = *setup;
    b->system = system;
    b->room = BURST;
    b->stop_fd = eventfd(0, EFD_CLOEXEC);
    pl_pilots_load(b);
    pthread_mutex_init(&b->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&b->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (b->stop_fd < 0 || pthread_create(&b->thread, NULL, run, b) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the batch executor did not start: %s", strerror(errno));
        close(b->stop_fd);
        pl_pilots_free(b);
        free(b);
        return NULL;
    }
    pthread_setname_np(b->thread, "batch");
    return b;
}

void pl_batch_wake(pl_batch *b)
{
    if (b) {
        pthread_mutex_lock(&b->mutex);
        b->woken = true;
        pthread_cond_signal(&b->changed);
        pthread_mutex_unlock(&b->mutex);
    }
}

void pl_batch_destroy(pl_batch *b)
{
    uint64_t one = 1;
    if (!b) {
        return;
    }
    pthread_mutex_lock(&b->mutex);
    b->stopping = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    ssize_t put = write(b->stop_fd, &one, sizeof one);
    (void)put;
    pthread_join(b->thread, NULL);
    while (b->list) {
        drop(b, b->list);
    }
    pl_pilots_free(b);
    pl_batch_list_clear(&b->jobs);
    close(b->stop_fd);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}

/* ---- entries ---- */

static pl_batch_entry *add(pl_batch *b, pl_session *s, const pl_batch_entry *as)
{
    pl_batch_entry *e = malloc(sizeof *e);
    if (!e) {
        pl_logf(PL_LEVEL_ERROR, "session %s: out of memory: its job is not followed", s->id);
        return NULL;
    }
    *e = *as;
    e->session = s;
    e->attempt = pl_sessions_recovery(b->setup.sessions, s).attempt;
    pl_session_acquire(s);
    pthread_mutex_lock(&b->mutex);
    e->next = b->list;
    b->list = e;
    b->woken = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    return e;
}

void pl_batch_start(pl_batch *b, pl_session *s)
{
    add(b, s, &(pl_batch_entry){.step = PL_BATCH_WAITS});
}

void pl_batch_adopt(pl_batch *b, pl_session *s)
{
    pl_batch_entry e = {.step = PL_BATCH_WAITS};
    char *job = pl_batch_state_job(b->setup.sessions, s);
    bool live = s->state == PL_STATE_QUEUED || s->state == PL_STATE_RUNNING;
    bool named = job && strcmp(job, PL_JOB_SUBMITTING) != 0;
    if (live) {
        pl_dispatcher_adopt_job(b->setup.dispatcher, s);
    }
    if (named) {
        snprintf(e.job, sizeof e.job, "%s", job);
        e.step = PL_BATCH_SENT;
    }
    e.tried = job;
    e.found_only = s->state == PL_STATE_RUNNING;
    e.began = s->state == PL_STATE_RUNNING;
    if (e.began && !job) { /* concluded, but the row does not say so yet */
        pl_batch_state_set_job(b->setup.sessions, s, s->attempt, PL_JOB_SUBMITTING);
    }
    if (e.began) {
        b->setup.follower.start(b->setup.follower.context, s);
    }
    e.step = live ? e.step : PL_BATCH_LEAVING;
    free(job);
    add(b, s, &e);
}

/* ---- telling ---- */

void pl_batch_set_deadline(pl_batch *b, const pl_session *s, int64_t deadline_ms)
{
    pthread_mutex_lock(&b->mutex);
    for (pl_batch_entry *e = b->list; e; e = e->next) {
        if (e->session == s && (!e->deadline_ms || !deadline_ms)) {
            e->deadline_ms = deadline_ms;
        }
    }
    pthread_mutex_unlock(&b->mutex);
}

void pl_batch_stop_all(pl_batch *b)
{
    pthread_mutex_lock(&b->mutex);
    b->stop_all = b->woken = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

int pl_batch_count(pl_batch *b)
{
    int count = 0;
    pthread_mutex_lock(&b->mutex);
    for (const pl_batch_entry *e = b->list; e; e = e->next) {
        count += atomic_load(&e->session->state) == PL_STATE_RUNNING;
    }
    pthread_mutex_unlock(&b->mutex);
    return count;
}
