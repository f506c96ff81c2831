/* stream_hub.h - frames and metrics as streams: history and follow in one, starting at a frame number.
 *
 * A stream reads the log at its own pace with its own reader (stream.h). At the end it suspends its connection; a new
 * frame, the end of the session or a heartbeat resumes it (waiter.h). A stopped reader costs a suspended connection and
 * at most three descriptors, until the connection times out. The hub has what all streams share: the cache of frames,
 * the pacer, and the session events.
 */
#ifndef PLIANT_SERVER_STREAMS_STREAM_HUB_H
#define PLIANT_SERVER_STREAMS_STREAM_HUB_H

#include "server/base/ticker.h"
#include "server/sessions/events.h"
#include "server/sessions/sessions.h"
#include "server/streams/frame_cache.h"
#include "server/http/waiter.h"
#include "server/http/pacer.h"

typedef struct pl_stream_hub {
    _Atomic bool stopping;
    pl_frame_cache *cache;
    pl_pacer *pacer;
    /* The daemon's. */
    pl_counters *counters;
    pl_tickers *tickers;
    pl_events *events;
    pl_sessions *sessions;
    int log_readers_max; /* as descriptors allow */
} pl_stream_hub;

pl_stream_hub *pl_stream_hub_create(pl_counters *counters, pl_tickers *tickers, pl_events *events,
                                    pl_sessions *sessions, int log_readers_max);
void pl_stream_hub_destroy(pl_stream_hub *streams);
/* Wake all: streams end with reason shutdown, waiting requests are answered. */
void pl_stream_hub_stop(pl_stream_hub *streams);

/* Handlers. */
void pl_handle_frames(pl_request *r);
void pl_handle_metrics(pl_request *r);
void pl_handle_stream(pl_request *r); /* the newest frames, metrics and states in one stream */

#endif
