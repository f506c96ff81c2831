#include "server/base/ticker.h"

#include "server/base/clock.h"
#include "server/base/logger.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TICK_MS = 1000 };

struct pl_tickers {
    pthread_mutex_t mutex;
    pl_ticker *list;
    pthread_t thread;
    int end_fd; /* an eventfd that ends the thread; -1: not running */
};

void pl_tickers_tick(pl_tickers *tickers)
{
    int64_t now = pl_monotonic_ms();
    pthread_mutex_lock(&tickers->mutex);
    for (pl_ticker *t = tickers->list, *next; t; t = next) {
        next = t->next;
        t->tick(t, now);
    }
    pthread_mutex_unlock(&tickers->mutex);
}

static void *run(void *context)
{
    pl_tickers *tickers = context;
    struct pollfd end = {.fd = tickers->end_fd, .events = POLLIN};
    int64_t due = pl_monotonic_ms() + TICK_MS;
    for (;;) {
        int64_t left = due - pl_monotonic_ms();
        if (poll(&end, 1, left > 0 ? (int)left : 0) > 0) {
            return NULL;
        }
        if (pl_monotonic_ms() >= due) {
            pl_tickers_tick(tickers);
            due = pl_monotonic_ms() + TICK_MS;
        }
    }
}

static bool start(pl_tickers *tickers)
{
    tickers->end_fd = eventfd(0, EFD_CLOEXEC);
    if (tickers->end_fd < 0 || pthread_create(&tickers->thread, NULL, run, tickers) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the tick did not start: %s", strerror(errno));
        close(tickers->end_fd);
        tickers->end_fd = -1;
        return false;
    }
    pthread_setname_np(tickers->thread, "tick");
    return true;
}

pl_tickers *pl_tickers_create(void)
{
    pl_tickers *tickers = calloc(1, sizeof *tickers);
    if (!tickers) {
        return NULL;
    }
    tickers->end_fd = -1;
    pthread_mutex_init(&tickers->mutex, NULL);
    if (!start(tickers)) {
        pl_tickers_destroy(tickers);
        return NULL;
    }
    return tickers;
}

static void stop(pl_tickers *tickers)
{
    uint64_t one = 1;
    if (tickers->end_fd >= 0 && write(tickers->end_fd, &one, sizeof one) == sizeof one) {
        pthread_join(tickers->thread, NULL);
        close(tickers->end_fd);
    }
}

void pl_tickers_destroy(pl_tickers *tickers)
{
    if (tickers) {
        stop(tickers);
        pthread_mutex_destroy(&tickers->mutex);
        free(tickers);
    }
}

void pl_tickers_enlist(pl_tickers *tickers, pl_ticker *t)
{
    pthread_mutex_lock(&tickers->mutex);
    t->next = tickers->list;
    t->slot = &tickers->list;
    if (t->next) {
        t->next->slot = &t->next;
    }
    tickers->list = t;
    pthread_mutex_unlock(&tickers->mutex);
}

void pl_tickers_delist(pl_tickers *tickers, pl_ticker *t)
{
    pthread_mutex_lock(&tickers->mutex);
    if (t->slot) {
        *t->slot = t->next;
        if (t->next) {
            t->next->slot = t->slot;
        }
        t->slot = NULL;
    }
    pthread_mutex_unlock(&tickers->mutex);
}
