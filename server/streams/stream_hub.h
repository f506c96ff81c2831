/* stream_hub.h - frames and metrics as streams: history and follow in one, from a frame number on.
 *
 * A stream reads the log at its own pace with its own reader (stream.h). When there is no more it
 * suspends its connection; a new frame, the end of the session or a heartbeat that is due resumes it
 * (gate.h). A reader that stops costs a suspended connection and at most three descriptors, until the
 * connection times out. Here is what all streams share: who is called each second, the cache of
 * frames, the pacer, what happened to sessions.
 */
#ifndef PLIANT_SERVER_STREAMS_STREAM_HUB_H
#define PLIANT_SERVER_STREAMS_STREAM_HUB_H

#include "server/sessions/events.h"
#include "server/streams/frame_cache.h"
#include "server/http/waiter.h"
#include "server/http/pacer.h"

/* Called about once a second. */
typedef struct pl_ticker {
    struct pl_ticker *next, **slot;
    void (*tick)(struct pl_ticker *ticker, int64_t now_ms);
} pl_ticker;

typedef struct pl_stream_hub {
    pthread_mutex_t mutex; /* guards the list; taken before a stream's own */
    pl_ticker *list;
    _Atomic bool stopping;
    pthread_t
        thread; /* calls the tickers each second, and reads no file: a slow disk does not stop heartbeats */
    int end_fd; /* an eventfd that ends it */
    pl_frame_cache *cache;
    pl_pacer *pacer;
    pl_events *events;
} pl_stream_hub;

pl_stream_hub *pl_stream_hub_create(pl_counters *counters);
void pl_stream_hub_destroy(pl_stream_hub *streams);
/* Wake everything: streams end with reason shutdown, waiting requests are answered. */
void pl_stream_hub_stop(pl_stream_hub *streams);
void pl_stream_hub_enlist(pl_stream_hub *streams, pl_ticker *ticker);
void pl_stream_hub_delist(pl_stream_hub *streams, pl_ticker *ticker);

/* Handlers. */
void pl_handle_frames(pl_request *r);
void pl_handle_metrics(pl_request *r);
void pl_handle_stream(pl_request *r); /* the newest frames, metrics and states in one */

#endif
