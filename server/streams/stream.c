#include "server/streams/stream.h"
#include "server/streams/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARED_VERTICES_MAX = 100000 }; /* most vertices of a stored frame sent through the cache */

/* The next thing to send; see advance(). */
typedef enum step { STEP_ERROR = -1, STEP_NOTHING, STEP_SOMETHING, STEP_EARLY } step;

static step step_of(bool good)
{
    return good ? STEP_SOMETHING : STEP_ERROR;
}

/* ---- frames ---- */

/* Count a frame as sent. On average the interval lies between frames, but missed time is not caught up. */
static void account(pl_stream *s)
{
    s->left--;
    if (s->interval_us > 0) {
        int64_t now = pl_monotonic_us();
        s->due_us = (s->due_us > now - s->interval_us ? s->due_us : now) + s->interval_us;
    }
}

/* Many readers request the newest frame of a running session at once. */
static bool is_shared(const pl_stream *s, int64_t frame)
{
    return !s->view.as_stored ||
           (s->follow && frame == s->committed - 1 && s->view.vertices <= SHARED_VERTICES_MAX &&
            atomic_load(&s->session->state) == PL_STATE_RUNNING);
}

/* For a running session whose newest frames come from the shared reader, the descriptors are better used elsewhere. */
static void let_reader_go(pl_stream *s)
{
    if (s->follow && !s->reader_used && atomic_load(&s->session->state) == PL_STATE_RUNNING) {
        pl_stream_close_log(s);
    }
    s->reader_used = false;
}

/* If this stream makes the entry it may open the log; the descriptor counts as usual. */
static void get_blob(pl_stream *s)
{
    bool had = s->reader;
    s->blob = pl_frame_source_get(s->hub->cache, s->session, &s->reader, &s->key);
    if (!had && s->reader) {
        int error = errno;
        atomic_fetch_add(&s->hub->counters->log_readers, 1);
        errno = error;
    }
}

/* Begin to send the entry of s->key from the cache. */
static pl_log_outcome begin_blob(pl_stream *s)
{
    get_blob(s);
    s->blob_at = 0;
    s->blob_left = s->blob ? s->blob->size : 0;
    return s->blob                              ? PL_LOG_OK
           : errno == EAGAIN                    ? PL_LOG_NOT_YET
           : errno == ENODATA                   ? PL_LOG_PRUNED
           : errno == ENOMEM || errno == EMFILE ? PL_LOG_ERROR
                                                : PL_LOG_CORRUPT;
}

/* Begin to send a record unchanged. */
static pl_log_outcome begin_range(pl_stream *s, int64_t frame, pl_log_part part)
{
    pl_log_range range;
    if (!pl_stream_open_log(s)) {
        return PL_LOG_ERROR;
    }
    pl_log_outcome outcome = pl_log_find(s->reader, frame, part, &range);
    if (outcome == PL_LOG_NOT_YET) {
        pl_log_reader_refresh(s->reader);
        outcome = pl_log_find(s->reader, frame, part, &range);
    }
    if (outcome == PL_LOG_OK) {
        s->range_fd = range.fd;
        s->range_at = range.offset;
        s->range_left = range.size;
    }
    return outcome;
}

static pl_log_outcome begin_frame(pl_stream *s, int64_t frame)
{
    if (!is_shared(s, frame)) {
        return begin_range(s, frame, PL_LOG_FRAME);
    }
    s->key = pl_frame_view_key(&s->view, s->session, frame);
    return begin_blob(s);
}

/* Begin to send a frame's metrics in the stream's form. */
static pl_log_outcome begin_metrics(pl_stream *s, int64_t frame)
{
    char *payload = NULL;
    uint64_t length = 0;
    pl_record record;
    pl_log_outcome outcome = PL_LOG_NOT_YET;
    if (frame == atomic_load(&s->session->frame)) {
        outcome = pl_tail_read(s->session, frame, PL_LOG_METRICS, &record, &payload);
        length = outcome == PL_LOG_OK ? record.length : 0;
    }
    if (outcome != PL_LOG_OK) {
        if (!pl_stream_open_log(s)) {
            return PL_LOG_ERROR;
        }
        outcome = pl_log_read(s->reader, frame, PL_LOG_METRICS, &payload, &length);
    }
    if (outcome == PL_LOG_NOT_YET) {
        pl_log_reader_refresh(s->reader);
        outcome = pl_log_read(s->reader, frame, PL_LOG_METRICS, &payload, &length);
    }
    if (outcome == PL_LOG_OK &&
        !pl_stream_put_json(s, PL_RECORD_METRICS, "metrics", frame, payload, length)) {
        return PL_LOG_ERROR;
    }
    return outcome;
}

/* The same as a record, which for a running session many request at once. */
static pl_log_outcome begin_metrics_record(pl_stream *s, int64_t frame)
{
    if (s->follow && frame == s->committed - 1 &&
        atomic_load(&s->session->state) == PL_STATE_RUNNING) {
        s->key = (pl_frame_key){.frame = frame, .form = PL_FRAME_METRICS};
        memcpy(s->key.session, s->session->id, sizeof s->session->id);
        return begin_blob(s);
    }
    return begin_range(s, frame, PL_LOG_METRICS);
}

/* Skip a frame that cannot be read, or all frames before the first kept one. Returns the last skipped frame. */
static int64_t skip(pl_stream *s, pl_log_outcome outcome)
{
    int64_t last = s->next, kept = s->reader ? pl_log_reader_first(s->reader) : 0;
    s->next += s->every;
    if (outcome == PL_LOG_PRUNED && s->next < kept) {
        s->next = (kept + s->every - 1) / s->every * s->every;
        last = s->next - s->every;
    }
    return last < s->to ? last : s->to;
}

/* Produce frame s->next, or the gap that begins there. */
static step produce_frame(pl_stream *s)
{
    int64_t first = s->next, last = first;
    pl_log_outcome why = PL_LOG_OK; /* of the gap */
    while (s->next < s->committed && s->next <= s->to) {
        pl_log_outcome outcome = s->kind == PL_STREAM_METRICS ? begin_metrics(s, s->next)
                                                              : begin_frame(s, s->next);
        if (outcome == PL_LOG_OK && why == PL_LOG_OK) {
            s->next += s->every;
            account(s);
            return STEP_SOMETHING;
        }
        if (outcome == PL_LOG_OK || (why != PL_LOG_OK && outcome != why)) {
            s->blob_left = s->range_left = 0; /* report the gap before continuing */
            s->text_size = 0;
            break;
        }
        if (outcome != PL_LOG_CORRUPT && outcome != PL_LOG_PRUNED) {
            return atomic_load(&s->session->deleted) ? step_of(pl_stream_put_end(s, "deleted"))
                                                     : STEP_ERROR;
        }
        why = outcome;
        last = skip(s, outcome);
    }
    return step_of(pl_stream_put_gap(s, first, last, why == PL_LOG_PRUNED ? "pruned" : "corrupt"));
}

/* ---- what comes next ---- */

static bool may_follow(pl_stream *s)
{
    return pl_sessions_may_follow(s->hub->sessions, s->principal, s->session, &s->regroups);
}

/* The reason to end now, or NULL. `state` was read before the last look at the log, so if it is terminal no frame is
 * missing. */
static const char *end_reason(pl_stream *s, pl_session_state state)
{
    if (atomic_load(&s->session->deleted)) {
        return "deleted";
    }
    if (!may_follow(s)) {
        return "revoked";
    }
    if (s->next > s->to || s->left <= 0) {
        return "limit";
    }
    if (pl_state_terminal(state)) {
        return pl_state_name(state);
    }
    if (atomic_load(&s->hub->stopping)) {
        return "shutdown";
    }
    return s->follow ? NULL : "limit";
}

/* True if a reader should learn of the state before the next heartbeat: the session waits again, or no longer. Frame 0
 * announces a first start. */
static bool news_of_state(pl_stream *s, pl_session_state state)
{
    bool waits = state == PL_STATE_PAUSED || (state == PL_STATE_QUEUED && s->committed > 0);
    int interrupted = waits ? (int)state : 0;
    bool news = s->form != PL_FORM_RECORDS && interrupted != s->interrupted;
    s->interrupted = interrupted;
    return news;
}

/* Update how far the session has come. For a running session, the log's watch has recorded it, so that a thousand
 * streams need not each look. */
static void look(pl_stream *s, pl_session_state state)
{
    int64_t told = atomic_load(&s->session->frame) + 1;
    if (state == PL_STATE_RUNNING && s->follow && told >= s->committed) {
        s->committed = told;
    } else if (pl_stream_open_log(s)) {
        s->committed = pl_log_reader_refresh(s->reader);
    }
    int64_t newest = s->committed - 1 < s->to ? s->committed - 1 : s->to;
    newest -= newest >= 0 ? newest % s->every : 0;
    if (s->latest && s->next < newest) {
        s->next = newest;
    }
}

/* When no frames are left: produce the end, a heartbeat, or nothing. */
static step produce_rest(pl_stream *s, pl_session_state state)
{
    const char *reason = end_reason(s, state);
    if (reason) {
        return step_of(pl_stream_put_end(s, reason));
    }
    bool due = pl_waiter_take_heartbeat(&s->waiter);
    if (news_of_state(s, state) || due) {
        return step_of(pl_stream_put_heartbeat(s));
    }
    return STEP_NOTHING;
}

/* Produce metrics s->metrics_next, or the gap there. */
static step produce_metrics(pl_stream *s)
{
    int64_t frame = s->metrics_next++;
    pl_log_outcome outcome = begin_metrics_record(s, frame);
    if (outcome == PL_LOG_CORRUPT) {
        return step_of(pl_stream_put_gap(s, frame, frame, "corrupt"));
    }
    if (outcome == PL_LOG_PRUNED) {
        int64_t kept = s->reader ? pl_log_reader_first(s->reader) : 0;
        s->metrics_next = kept > frame + 1 ? kept : frame + 1;
        return step_of(pl_stream_put_gap(s, frame, s->metrics_next - 1, "pruned"));
    }
    return step_of(outcome == PL_LOG_OK);
}

/* For a stream of everything: a new state first, then the newest frame, then all metrics without omissions. The state
 * was read before the last look at the log, so the end comes last. */
static step advance_all(pl_stream *s)
{
    pl_session_state state = (pl_session_state)atomic_load(&s->session->state);
    look(s, state);
    bool stops = atomic_load(&s->session->deleted) || atomic_load(&s->hub->stopping) ||
                 !may_follow(s);
    if (!stops && s->state_told != (int)state) {
        s->state_told = (int)state;
        return step_of(pl_stream_put_state(s));
    }
    bool frame = !stops && s->next < s->committed;
    bool early = frame && s->interval_us > 0 && pl_monotonic_us() < s->due_us;
    if (frame && !early) {
        return produce_frame(s);
    }
    if (!stops && s->metrics_next < s->committed) {
        return produce_metrics(s);
    }
    return early ? STEP_EARLY : produce_rest(s, state);
}

/* Produce what comes next. */
static step advance(pl_stream *s)
{
    if (s->kind == PL_STREAM_ALL) {
        return advance_all(s);
    }
    if (s->latest || s->next >= s->committed || s->next > s->to || s->left <= 0) {
        pl_session_state state = (pl_session_state)atomic_load(&s->session->state);
        look(s, state);
        if (s->next >= s->committed || s->next > s->to || s->left <= 0) {
            return produce_rest(s, state);
        }
    }
    if (!may_follow(s)) {
        return step_of(pl_stream_put_end(s, "revoked"));
    }
    if (atomic_load(&s->hub->stopping)) {
        return step_of(pl_stream_put_end(s, "shutdown"));
    }
    if (s->interval_us > 0 && pl_monotonic_us() < s->due_us) {
        return STEP_EARLY;
    }
    return produce_frame(s);
}

/* ---- sending ---- */

/* Copy from the frame in the cache; if it has been dropped, it is made again. */
static ssize_t drain_blob(pl_stream *s, char *out, size_t room)
{
    if (!s->blob) {
        get_blob(s);
    }
    if (!s->blob || s->blob->size != s->blob_at + s->blob_left) {
        return -1;
    }
    size_t n = s->blob_left < room ? s->blob_left : room;
    memcpy(out, s->blob->bytes + s->blob_at, n);
    s->blob_at += n;
    s->blob_left -= n;
    return (ssize_t)n;
}

static void let_go(pl_stream *s)
{
    if (s->blob) {
        pl_frame_cache_put(s->hub->cache, s->blob);
        s->blob = NULL;
    }
}

/* Copy produced bytes out: how many, or -1. */
static ssize_t drain(pl_stream *s, char *out, size_t room)
{
    if (s->text_at < s->text_size) {
        size_t n = s->text_size - s->text_at;
        n = n < room ? n : room;
        memcpy(out, s->text + s->text_at, n);
        s->text_at += n;
        return (ssize_t)n;
    }
    if (s->blob_left > 0) {
        return drain_blob(s, out, room);
    }
    if (s->range_left == 0) {
        return 0;
    }
    size_t n = s->range_left < room ? (size_t)s->range_left : room;
    ssize_t got = pread(s->range_fd, out, n, (off_t)s->range_at);
    if (got <= 0) {
        return -1;
    }
    s->range_at += (uint64_t)got;
    s->range_left -= (uint64_t)got;
    return got;
}

/* As drain, producing something first if there is nothing; 0 if that is impossible now. */
static ssize_t next_bytes(pl_stream *s, char *out, size_t room, step *why)
{
    for (;;) {
        ssize_t n = drain(s, out, room);
        if (n != 0) {
            return n;
        }
        let_go(s);
        *why = s->ended ? STEP_NOTHING : advance(s);
        if (*why != STEP_SOMETHING) {
            return *why == STEP_ERROR ? -1 : 0;
        }
    }
}

static ssize_t stream_read(void *context, char *out, size_t room)
{
    pl_stream *s = context;
    size_t filled = 0;
    while (filled < room) {
        step why = STEP_NOTHING;
        ssize_t n = next_bytes(s, out + filled, room - filled, &why);
        if (n < 0) {
            let_go(s);
            return PL_SOURCE_ERROR;
        }
        filled += (size_t)n;
        if (n > 0) {
            continue;
        }
        if (filled > 0) {
            break;
        }
        if (s->ended) {
            return PL_SOURCE_END;
        }
        if (why == STEP_EARLY) {
            pl_waiter_pause(&s->waiter, s->hub->pacer, s->due_us);
            return 0;
        }
        let_reader_go(s);
        if (pl_waiter_wait(&s->waiter)) {
            return 0;
        }
    }
    let_go(s);
    s->waiter.last_ms = pl_monotonic_ms();
    atomic_fetch_add_explicit(&s->hub->counters->stream_bytes, (int64_t)filled,
                              memory_order_relaxed);
    return (ssize_t)filled;
}

bool pl_stream_open_log(pl_stream *s)
{
    s->reader_used = true;
    if (s->reader) {
        return true;
    }
    _Atomic int64_t *open = &s->hub->counters->log_readers;
    if (atomic_fetch_add(open, 1) >= s->hub->log_readers_max) {
        atomic_fetch_sub(open, 1);
        errno = EMFILE;
        return false;
    }
    if (!pl_session_log_open(s->session, &s->reader)) {
        atomic_fetch_sub(open, 1);
        return false;
    }
    return true;
}

void pl_stream_close_log(pl_stream *s)
{
    if (s->reader) {
        pl_log_reader_close(s->reader);
        s->reader = NULL;
        atomic_fetch_sub(&s->hub->counters->log_readers, 1);
    }
}

void pl_stream_destroy(pl_stream *s)
{
    pl_stream_close_log(s);
    pl_session_release(s->session);
    pl_principal_release(s->principal);
    pl_waiter_clear(&s->waiter);
    free(s->text);
    free(s);
}

static void stream_close(void *context)
{
    pl_stream *s = context;
    pl_session_unwatch(s->session, &s->watcher);
    pl_tickers_delist(s->hub->tickers, &s->ticker);
    pl_pacer_remove(s->hub->pacer, &s->waiter);
    atomic_fetch_sub(&s->hub->counters->streams_open, 1);
    pl_stream_destroy(s);
}

const pl_source pl_stream_source = {stream_read, stream_close};
