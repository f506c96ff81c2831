/* stream.h - one stream of a session, private to the stream*.c files: stream.c advances and sends, stream_text.c writes
 * the server's own messages, stream_open.c opens it.
 *
 * Stored frames go from the log into the connection's buffer unchanged, across records. Converted frames, and the
 * newest frame of a running session, come from the cache that all streams share.
 */
#ifndef PLIANT_SERVER_STREAMS_STREAM_H
#define PLIANT_SERVER_STREAMS_STREAM_H

#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "server/streams/frame_source.h"
#include "server/http/waiter.h"
#include "server/sessions/sessions.h"
#include "server/streams/stream_hub.h"

typedef enum pl_stream_form { PL_FORM_RECORDS, PL_FORM_NDJSON, PL_FORM_SSE } pl_stream_form;
typedef enum pl_stream_kind { PL_STREAM_FRAMES, PL_STREAM_METRICS, PL_STREAM_ALL } pl_stream_kind;

typedef struct pl_stream {
    pl_watcher watcher;
    pl_ticker ticker;
    pl_waiter waiter;
    pl_stream_hub *hub;
    pl_session *session;      /* a reference */
    pl_principal *principal;  /* who reads; a reference */
    _Atomic int64_t regroups; /* of the session, when access was last checked */
    pl_log_reader *reader;    /* NULL while not needed */
    bool reader_used;         /* since the stream was last idle */
    pl_stream_kind kind;
    pl_stream_form form;
    pl_frame_view view; /* of frames */
    bool follow, latest;
    int64_t next, to;     /* frames next .. to are still to be sent, where `every` divides them */
    int64_t every, left;  /* left: frames that may still be sent */
    int64_t metrics_next; /* of PL_STREAM_ALL */
    int64_t interval_us;  /* minimum time between frames; 0: no limit */
    int64_t due_us;       /* earliest time of the next frame */
    int64_t committed;    /* as last seen by the reader or reported by the session */
    int interrupted;      /* queued or paused, as reported by a heartbeat; 0: neither */
    int state_told;       /* of PL_STREAM_ALL; -1: none yet */
    bool ended;           /* the end was written */
    char *text;           /* written but not fully sent: a JSON line, an event or a small record */
    size_t text_at, text_size;
    int range_fd; /* the reader's */
    uint64_t range_at, range_left;
    pl_frame_key key; /* of the frame being sent from the cache */
    size_t blob_at, blob_left;
    const pl_blob *blob; /* held only while the source runs */
} pl_stream;

extern const pl_source pl_stream_source;
/* Open its own reader of the log. The number of streams that have one is limited; beyond it, EMFILE. */
bool pl_stream_open_log(pl_stream *s);
void pl_stream_close_log(pl_stream *s);
/* The caller of open releases it, unless it replied with the source. */
void pl_stream_destroy(pl_stream *s);

/* ---- the server's own messages: false if out of memory ---- */

/* Take a JSON text (NULL: out of memory) and write it in the stream's form: a record, a line or an event. frame -1: not
 * about a frame. */
bool pl_stream_put_json(pl_stream *s, pl_record_type type, const char *event, int64_t frame,
                        char *json, size_t length);
bool pl_stream_put_hello(pl_stream *s);
bool pl_stream_put_heartbeat(pl_stream *s);
bool pl_stream_put_gap(pl_stream *s, int64_t from, int64_t to, const char *reason);
bool pl_stream_put_state(pl_stream *s); /* the session's state */
bool pl_stream_put_end(pl_stream *s, const char *reason);

#endif
