#include "server/sessions/access.h"

#include "server/base/daemon.h"
#include "server/streams/buckets.h"
#include "server/streams/frame.h"
#include "server/streams/stream.h"
#include "server/streams/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the query ---- */

/* Parse the range of frames: from, to, limit, every. */
static bool parse_range(pl_request *r, pl_stream *s)
{
    int64_t limit;
    if (!pl_request_integer(r, "from", 0, INT64_MAX, 0, &s->next) ||
        !pl_request_integer(r, "to", 0, INT64_MAX, INT64_MAX, &s->to) ||
        !pl_request_integer(r, "limit", 1, INT64_MAX, INT64_MAX, &limit) ||
        !pl_request_integer(r, "every", 1, INT32_MAX, 1, &s->every)) {
        return false;
    }
    const char *seen = s->form == PL_FORM_SSE ? pl_request_header(r, "Last-Event-ID") : NULL;
    if (seen && *seen && strlen(seen) < 18 && strspn(seen, "0123456789") == strlen(seen)) {
        s->next = strtoll(seen, NULL, 10) + 1;
    }
    int64_t past = s->next % s->every;
    if (past > 0 && s->next <= INT64_MAX - s->every) {
        s->next += s->every - past;
    }
    s->left = s->latest ? limit : INT64_MAX;
    if (!s->latest && limit - 1 < (INT64_MAX - s->next) / s->every &&
        s->next + (limit - 1) * s->every < s->to) {
        s->to = s->next + (limit - 1) * s->every;
    }
    return true;
}

static bool parse_query(pl_request *r, pl_stream *s)
{
    int64_t rate;
    const char *mode = pl_request_query(r, "mode");
    if (mode && strcmp(mode, "all") != 0 && strcmp(mode, "latest") != 0) {
        pl_reply_problem(r, 400, "bad_query", "Bad query", "mode is all or latest", NULL);
        return false;
    }
    s->latest = mode && strcmp(mode, "latest") == 0;
    if (!pl_request_flag(r, "follow", &s->follow) ||
        !pl_request_integer(r, "max_fps", 1, 1000, 0, &rate)) {
        return false;
    }
    s->interval_us = rate > 0 ? 1000000 / rate : 0;
    return parse_range(r, s);
}

/* ---- opening ---- */

static void wake(pl_watcher *watcher)
{
    pl_waiter_wake(&((pl_stream *)((char *)watcher - offsetof(pl_stream, watcher)))->waiter);
}

static void tick(pl_ticker *ticker, int64_t now_ms)
{
    pl_stream *s = (pl_stream *)((char *)ticker - offsetof(pl_stream, ticker));
    pl_waiter_tick(&s->waiter, now_ms,
                   atomic_load(&s->hub->stopping) || !pl_principal_valid(s->principal));
}

static bool open_reader(pl_request *r, pl_stream *s)
{
    if (!pl_stream_open_log(s)) {
        bool gone = errno == ENOENT;
        pl_reply_problem(r, gone ? 410 : 503, gone ? "storage_lost" : "busy",
                         gone ? "Gone" : "Busy", "the session's log cannot be opened", NULL);
        return false;
    }
    s->committed = pl_log_reader_refresh(s->reader);
    return true;
}

static pl_stream *create(pl_request *r, pl_stream_hub *hub, pl_session *session,
                         pl_stream_kind kind, pl_stream_form form)
{
    pl_stream *s = calloc(1, sizeof *s);
    if (!s) {
        pl_session_release(session);
        return NULL;
    }
    pl_waiter_init(&s->waiter, r);
    s->hub = hub;
    s->principal = pl_principal_acquire(pl_request_principal(r));
    s->session = session;
    s->kind = kind;
    s->form = form;
    s->watcher.wake = wake;
    s->ticker.tick = tick;
    return s;
}

/* From here on it can be woken. */
static void begin(pl_request *r, pl_stream *s, const char *type)
{
    atomic_fetch_add(&s->hub->counters->streams_open, 1);
    atomic_fetch_add(&s->hub->counters->streams_total, 1);
    pl_session_watch(s->session, &s->watcher);
    pl_tickers_enlist(s->hub->tickers, &s->ticker);
    pl_reply_source(r, type, &pl_stream_source, s);
    pl_reply_header(r, "Cache-Control", "no-store");
    pl_reply_header(r, "X-Accel-Buffering", "no");
}

/* False after replying 410 if requested frames were not kept; without `from`, a stream begins with the first kept
 * frame. */
static bool begin_at_kept(pl_request *r, pl_stream *s)
{
    int64_t kept = pl_log_reader_first(s->reader);
    if (s->next >= kept) {
        return true;
    }
    if (pl_request_query(r, "from") || s->next > 0) {
        pl_reply_pruned(r, s->next, kept);
        return false;
    }
    s->next = (kept + s->every - 1) / s->every * s->every;
    return true;
}

/* A stream of everything shows the newest frame; metrics begin at the given frame. */
static void begin_at_newest(pl_request *r, pl_stream *s)
{
    s->follow = s->latest = true;
    s->state_told = -1;
    int64_t newest = s->committed > 0 ? s->committed - 1 : 0;
    s->metrics_next = pl_request_query(r, "from") ? s->next : newest;
    s->next = newest;
}

/* Takes the reference to the session. */
static void open_stream(pl_request *r, pl_stream_hub *hub, pl_session *session, pl_stream_kind kind,
                        pl_stream_form form, const char *type)
{
    pl_stream *s = create(r, hub, session, kind, form);
    if (!s) {
        pl_reply_empty(r, 500);
        return;
    }
    pl_frame_form frames = form == PL_FORM_RECORDS || kind == PL_STREAM_METRICS ? PL_FRAME_RECORD
                                                                                : PL_FRAME_LINE;
    if (!parse_query(r, s) || !open_reader(r, s) || !begin_at_kept(r, s) ||
        !pl_frame_view_parse(r, hub, session, s->reader, frames, &s->view)) {
        pl_stream_destroy(s);
        return;
    }
    if (kind == PL_STREAM_ALL) {
        begin_at_newest(r, s);
    }
    bool over = pl_state_terminal((pl_session_state)atomic_load(&session->state)) &&
                s->next >= s->committed;
    if (form == PL_FORM_SSE && over) {
        pl_reply_empty(r, 204); /* tells an EventSource not to reconnect */
        pl_stream_destroy(s);
    } else if (!pl_stream_put_hello(s)) {
        pl_reply_empty(r, 500);
        pl_stream_destroy(s);
    } else {
        begin(r, s, type);
    }
}

/* ---- handlers ---- */

static void handle(pl_request *r, pl_stream_kind kind, const char *const *types,
                   const pl_stream_form *forms)
{
    pl_session *session = pl_request_session(r, PL_ACCESS_VIEW);
    if (!session) {
        return;
    }
    int i = pl_request_accept(r, types);
    if (i < 0) {
        pl_session_release(session);
        return;
    }
    open_stream(r, pl_request_daemon(r)->streams, session, kind, forms[i], types[i]);
}

void pl_handle_frames(pl_request *r)
{
    static const char *const types[] = {"application/vnd.pliant.frames", "application/x-ndjson",
                                        NULL};
    static const pl_stream_form forms[] = {PL_FORM_RECORDS, PL_FORM_NDJSON};
    handle(r, PL_STREAM_FRAMES, types, forms);
}

/* Buckets are computed at once from the existing frames, so not all keys of a stream apply. */
static void handle_buckets(pl_request *r)
{
    static const char *const others[] = {"follow", "mode", "limit", "every", "max_fps"};
    static const char *const types[] = {"application/x-ndjson", NULL};
    int64_t buckets;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (pl_request_query(r, others[i])) {
            pl_reply_problemf(r, 400, "bad_query", "Bad query",
                              "buckets cannot be combined with %s", others[i]);
            return;
        }
    }
    if (!pl_request_integer(r, "buckets", 1, PL_BUCKETS_MAX, 1, &buckets)) {
        return;
    }
    pl_session *session = pl_request_session(r, PL_ACCESS_VIEW);
    if (session && pl_request_accept(r, types) >= 0) {
        pl_reply_buckets(r, session, buckets);
    }
    pl_session_release(session);
}

void pl_handle_metrics(pl_request *r)
{
    static const char *const types[] = {"application/x-ndjson", "text/event-stream", NULL};
    static const pl_stream_form forms[] = {PL_FORM_NDJSON, PL_FORM_SSE};
    if (pl_request_query(r, "buckets")) {
        handle_buckets(r);
    } else {
        handle(r, PL_STREAM_METRICS, types, forms);
    }
}

void pl_handle_stream(pl_request *r)
{
    static const char *const types[] = {"application/vnd.pliant.frames", NULL};
    static const pl_stream_form forms[] = {PL_FORM_RECORDS};
    handle(r, PL_STREAM_ALL, types, forms);
}
