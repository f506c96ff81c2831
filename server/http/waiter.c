#include "server/http/waiter.h"

#include "server/http/pacer.h"

#include <time.h>

void pl_waiter_init(pl_waiter *g, pl_request *request)
{
    *g = (pl_waiter){.request = request, .last_ms = pl_monotonic_ms()};
    pthread_mutex_init(&g->mutex, NULL);
}

void pl_waiter_clear(pl_waiter *g)
{
    pthread_mutex_destroy(&g->mutex);
}

static void open_locked(pl_waiter *g)
{
    g->news = true;
    g->not_before_us = 0;
    if (g->suspended) {
        g->suspended = false;
        pl_request_resume(g->request);
    }
}

void pl_waiter_wake(pl_waiter *g)
{
    pthread_mutex_lock(&g->mutex);
    if (g->not_before_us > 0) {
        g->news = true;
    } else {
        open_locked(g);
    }
    pthread_mutex_unlock(&g->mutex);
}

void pl_waiter_release(pl_waiter *g)
{
    pthread_mutex_lock(&g->mutex);
    open_locked(g);
    pthread_mutex_unlock(&g->mutex);
}

void pl_waiter_tick(pl_waiter *g, int64_t now_ms, bool stopping)
{
    pthread_mutex_lock(&g->mutex);
    if (stopping) {
        open_locked(g);
    } else if (g->suspended && now_ms - g->last_ms >= PL_HEARTBEAT_MS) {
        g->heartbeat_due = true;
        open_locked(g);
    }
    pthread_mutex_unlock(&g->mutex);
}

bool pl_waiter_wait(pl_waiter *g)
{
    pthread_mutex_lock(&g->mutex);
    bool idle = !g->news;
    g->news = false;
    if (idle) {
        g->suspended = true;
        pl_request_suspend(g->request);
    }
    pthread_mutex_unlock(&g->mutex);
    return idle;
}

/* Only this connection's own thread calls this and ends its source, so the gate lives until the pacer has it. */
void pl_waiter_pause(pl_waiter *g, pl_pacer *pacer, int64_t until_us)
{
    pthread_mutex_lock(&g->mutex);
    g->not_before_us = until_us;
    g->suspended = true;
    pl_request_suspend(g->request);
    pthread_mutex_unlock(&g->mutex);
    pl_pacer_add(pacer, g, until_us);
}

bool pl_waiter_take_heartbeat(pl_waiter *g)
{
    pthread_mutex_lock(&g->mutex);
    bool due = g->heartbeat_due;
    g->heartbeat_due = false;
    pthread_mutex_unlock(&g->mutex);
    return due;
}
