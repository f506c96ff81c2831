#include "server/streams/stream_hub.h"

#include <stdlib.h>

#define FRAME_CACHE_BYTES ((int64_t)32 << 20)

pl_stream_hub *pl_stream_hub_create(pl_daemon *daemon)
{
    pl_stream_hub *streams = calloc(1, sizeof *streams);
    if (!streams) {
        return NULL;
    }
    streams->daemon = daemon;
    pthread_mutex_init(&streams->mutex, NULL);
    streams->cache = pl_frame_cache_create(FRAME_CACHE_BYTES, &daemon->counters);
    streams->pacer = pl_pacer_create();
    streams->events = pl_events_create();
    if (!streams->cache || !streams->pacer || !streams->events) {
        pl_stream_hub_destroy(streams);
        return NULL;
    }
    return streams;
}

void pl_stream_hub_destroy(pl_stream_hub *streams)
{
    if (streams) {
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

void pl_stream_hub_tick(pl_stream_hub *streams)
{
    int64_t now = pl_monotonic_ms();
    pthread_mutex_lock(&streams->mutex);
    for (pl_ticker *t = streams->list, *next; t; t = next) {
        next = t->next;
        t->tick(t, now);
    }
    pthread_mutex_unlock(&streams->mutex);
}

void pl_stream_hub_stop(pl_stream_hub *streams)
{
    atomic_store(&streams->stopping, true);
    pl_stream_hub_tick(streams);
}
