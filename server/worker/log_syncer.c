#include "server/worker/log_syncer.h"

#include "engine/deadline.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct pl_log_syncer {
    pl_log_writer *log;
    int lines; /* where its messages go */
    bool on_network;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool ending;         /* under mutex, like the next two */
    void (*act)(void *); /* to be called after the next sync, NULL: nothing */
    void *context;
    atomic_bool dirty;  /* appended since the last sync */
    atomic_bool unsent; /* appended since the last pl_log_send */
    atomic_int error;
};

static bool sync_now(pl_log_syncer *s)
{
    atomic_store(&s->dirty, false);
    errno = 0;
    if (pl_log_sync(s->log) == PL_OK)
        return true;
    int none = 0;
    atomic_compare_exchange_strong(&s->error, &none, errno ? errno : EIO);
    return false;
}

/* Half a second between syncs: appended records are durable within one second, including the time of the sync.
 * Meanwhile, new records are sent. */
static void wait_half_a_second(pl_log_syncer *s)
{
    enum { SYNC_US = 500000, SEND_US = 25000 };
    int64_t until = pl_monotonic_us() + SYNC_US, now;
    while (!s->ending && !s->act && (now = pl_monotonic_us()) < until) {
        int64_t next = s->on_network && now + SEND_US < until ? now + SEND_US : until;
        pl_condition_wait_until(&s->wake, &s->mutex, next);
        if (s->on_network && atomic_exchange(&s->unsent, false)) {
            pthread_mutex_unlock(&s->mutex);
            pl_log_send(s->log);
            pthread_mutex_lock(&s->mutex);
        }
    }
}

static void *sync_loop(void *argument)
{
    pl_log_syncer *s = argument;
    pl_worker_log_use(s->lines);
    pthread_mutex_lock(&s->mutex);
    while (!s->ending || s->act) {
        if (!s->act)
            wait_half_a_second(s);
        if (s->ending && !s->act)
            break;
        void (*act)(void *) = s->act;
        void *context = s->context;
        pthread_mutex_unlock(&s->mutex);
        bool synced = (act || atomic_load(&s->dirty)) && sync_now(s);
        if (act && synced)
            act(context);
        pthread_mutex_lock(&s->mutex);
        if (act)
            s->act = NULL;
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* Signals are for the main thread: a SIGTERM must not interrupt a blocked fdatasync here. */
static int create_thread(pl_log_syncer *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&s->thread, NULL, sync_loop, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

pl_status pl_log_syncer_start(pl_log_writer *log, bool on_network, pl_log_syncer **out)
{
    pl_log_syncer *s = calloc(1, sizeof *s);
    if (!s || !pl_condition_init(&s->wake)) {
        free(s);
        return PL_NO_MEMORY;
    }
    s->log = log;
    s->on_network = on_network;
    s->lines = pl_worker_log_used();
    pthread_mutex_init(&s->mutex, NULL);
    if (create_thread(s) != 0) {
        pthread_cond_destroy(&s->wake);
        pthread_mutex_destroy(&s->mutex);
        free(s);
        return PL_NO_MEMORY;
    }
    *out = s;
    return PL_OK;
}

void pl_log_syncer_mark(pl_log_syncer *s)
{
    atomic_store(&s->dirty, true);
    atomic_store(&s->unsent, true);
}

bool pl_log_syncer_then(pl_log_syncer *s, void (*act)(void *context), void *context)
{
    pthread_mutex_lock(&s->mutex);
    bool free_now = !s->act;
    if (free_now) {
        s->act = act;
        s->context = context;
        pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->mutex);
    return free_now;
}

bool pl_log_syncer_busy(pl_log_syncer *s)
{
    pthread_mutex_lock(&s->mutex);
    bool busy = s->act;
    pthread_mutex_unlock(&s->mutex);
    return busy;
}

int pl_log_syncer_error(const pl_log_syncer *s)
{
    return atomic_load(&s->error);
}

void pl_log_syncer_stop(pl_log_syncer *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    s->ending = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mutex);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}
