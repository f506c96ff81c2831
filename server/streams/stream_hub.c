#include "server/streams/stream_hub.h"

#include <stdlib.h>

#define FRAME_CACHE_BYTES ((int64_t)32 << 20)

pl_stream_hub *pl_stream_hub_create(pl_counters *counters, pl_tickers *tickers, pl_events *events,
                                    pl_sessions *sessions, int log_readers_max)
{
    pl_stream_hub *streams = calloc(1, sizeof *streams);
    if (!streams) {
        return NULL;
    }
    streams->counters = counters;
    streams->tickers = tickers;
    streams->events = events;
    streams->sessions = sessions;
    streams->log_readers_max = log_readers_max;
    streams->cache = pl_frame_cache_create(FRAME_CACHE_BYTES, counters);
    streams->pacer = pl_pacer_create();
    if (!streams->cache || !streams->pacer) {
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
        free(streams);
    }
}

void pl_stream_hub_stop(pl_stream_hub *streams)
{
    atomic_store(&streams->stopping, true);
    pl_tickers_tick(streams->tickers);
}
