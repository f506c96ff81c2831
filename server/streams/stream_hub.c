#include "server/streams/stream_hub.h"

#include "server/base/logger.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TICK_MS = 1000 };

#define FRAME_CACHE_BYTES ((int64_t)32 << 20)

static void tick(pl_stream_hub *streams)
{
    int64_t now = pl_monotonic_ms();
    pthread_mutex_lock(&streams->mutex);
    for (pl_ticker *t = streams->list, *next; t; t = next) {
        next = t->next;
        t->tick(t, now);
    }
    pthread_mutex_unlock(&streams->mutex);
}

static void *run(void *context)
{
    pl_stream_hub *streams = context;
    struct pollfd end = {.fd = streams->end_fd, .events = POLLIN};
    int64_t due = pl_monotonic_ms() + TICK_MS;
    for (;;) {
        int64_t left = due - pl_monotonic_ms();
        if (poll(&end, 1, left > 0 ? (int)left : 0) > 0) {
            return NULL;
        }
        if (pl_monotonic_ms() >= due) {
            tick(streams);
            due = pl_monotonic_ms() + TICK_MS;
        }
    }
}

static bool start(pl_stream_hub *streams)
{
    streams->end_fd = eventfd(0, EFD_CLOEXEC);
    if (streams->end_fd < 0 || pthread_create(&streams->thread, NULL, run, streams) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the tick of streams did not start: %s", strerror(errno));
        close(streams->end_fd);
        streams->end_fd = -1;
        return false;
    }
    pthread_setname_np(streams->thread, "tick");
    return true;
}

pl_stream_hub *pl_stream_hub_create(pl_counters *counters)
{
    pl_stream_hub *streams = calloc(1, sizeof *streams);
    if (!streams) {
        return NULL;
    }
    streams->end_fd = -1;
    pthread_mutex_init(&streams->mutex, NULL);
    streams->cache = pl_frame_cache_create(FRAME_CACHE_BYTES, counters);
    streams->pacer = pl_pacer_create();
    streams->events = pl_events_create();
    if (!streams->cache || !streams->pacer || !streams->events || !start(streams)) {
        pl_stream_hub_destroy(streams);
        return NULL;
    }
    return streams;
}

static void stop(pl_stream_hub *streams)
{
    uint64_t one = 1;
    if (streams->end_fd >= 0 && write(streams->end_fd, &one, sizeof one) == sizeof one) {
        pthread_join(streams->thread, NULL);
        close(streams->end_fd);
    }
}

void pl_stream_hub_destroy(pl_stream_hub *streams)
{
    if (streams) {
        stop(streams);
        pl_pacer_destroy(streams->pacer);
        pl_frame_cache_destroy(streams->cache);
        pl_events_destroy(streams->events);
        pthread_mutex_destroy(&streams->mutex);
        free(streams);
    }
}

void pl_stream_hub_enlist(pl_stream_hub *streams, pl_ticker *t)
{
    pthread_mutex_lock(&streams->mutex);
    t->next = streams->list;
    t->slot = &streams->list;
    if (t->next) {
        t->next->slot = &t->next;
    }
    streams->list = t;
    pthread_mutex_unlock(&streams->mutex);
}

void pl_stream_hub_delist(pl_stream_hub *streams, pl_ticker *t)
{
    pthread_mutex_lock(&streams->mutex);
    if (t->slot) {
        *t->slot = t->next;
        if (t->next) {
            t->next->slot = t->slot;
        }
        t->slot = NULL;
    }
    pthread_mutex_unlock(&streams->mutex);
}

void pl_stream_hub_stop(pl_stream_hub *streams)
{
    atomic_store(&streams->stopping, true);
    tick(streams);
}
