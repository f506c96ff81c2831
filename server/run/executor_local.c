/* executor_local.c - implements executor_kind.h for sessions on this machine. */
#include "server/run/adoption.h"
#include "server/run/executor_kind.h"
#include "server/run/worker_start.h"

#include <signal.h>
#include <sys/pidfd.h>

/* Counts workers with a known process, which can be signalled. */
static int count(pl_executor *e)
{
    int count = 0;
    pthread_mutex_lock(&e->mutex);
    for (pl_worker *w = e->workers; w; w = w->next) {
        count += pl_worker_pidfd(w) >= 0;
    }
    pthread_mutex_unlock(&e->mutex);
    return count;
}

static void stop_all(pl_executor *e, int64_t deadline_ms)
{
    pthread_mutex_lock(&e->mutex);
    for (pl_worker *w = e->workers; w; w = w->next) {
        bool told = deadline_ms > 0 && (w->deadline_ms || w->kill);
        if (pl_worker_pidfd(w) >= 0 && !told) {
            w->deadline_ms = deadline_ms > 0 ? deadline_ms : w->deadline_ms;
            pidfd_send_signal(pl_worker_pidfd(w), SIGTERM, NULL, 0);
        }
    }
    pthread_mutex_unlock(&e->mutex);
    if (deadline_ms > 0) {
        pl_workers_wake(e);
    }
}

const pl_executor_kind pl_executor_local = {
    "local", pl_workers_start_group, pl_executor_adopt_worker, pl_workers_set_deadline, stop_all,
    count};
