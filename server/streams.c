#include "server/streams.h"

#include "protocol/json.h"
#include "protocol/log.h"
#include "protocol/record.h"
#include "server/access.h"
#include "server/sessions.h"
#include "protocol/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HEARTBEAT_MS = 10000 };

typedef enum stream_form { FORM_RECORDS, FORM_NDJSON, FORM_SSE } stream_form;

typedef struct stream {
    pl_watcher watcher;
    pl_ticker ticker;
    pl_request *request;
    pl_daemon *daemon;
    pl_session *session; /* a reference */
    pl_log_reader *reader;
    stream_form form;
    bool follow, latest;
    int64_t next, to;  /* frames next .. to are still to be sent */
    int64_t committed; /* as the reader last saw */
    int interrupted;   /* queued or paused as a heartbeat told; 0: neither */
    bool ended;        /* the end was produced */
    char *text;        /* produced, not all sent: a JSON line, an event or a small record */
    size_t text_at, text_size;
    int range_fd; /* the reader's */
    uint64_t range_at, range_left;
    pthread_mutex_t mutex; /* guards the rest */
    bool suspended, news, heartbeat_due;
    int64_t last_ms; /* when something was sent; the holder's while not suspended */
} stream;

int64_t pl_monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- suspend and resume ------------------------------------------------------------------------
 */

static void resume_locked(stream *s)
{
    s->news = true;
    if (s->suspended) {
        s->suspended = false;
        pl_request_resume(s->request);
    }
}

static void wake(pl_watcher *watcher)
{
    stream *s = (stream *)((char *)watcher - offsetof(stream, watcher));
    pthread_mutex_lock(&s->mutex);
    resume_locked(s);
    pthread_mutex_unlock(&s->mutex);
}

static void tick(pl_ticker *ticker, int64_t now_ms)
{
    stream *s = (stream *)((char *)ticker - offsetof(stream, ticker));
    pthread_mutex_lock(&s->mutex);
    if (atomic_load(&s->daemon->streams->stopping)) {
        resume_locked(s);
    } else if (s->suspended && now_ms - s->last_ms >= HEARTBEAT_MS) {
        s->heartbeat_due = true;
        resume_locked(s);
    }
    pthread_mutex_unlock(&s->mutex);
}

/* True once suspended; false where something came meanwhile and is to be looked at. */
static bool suspend_if_idle(stream *s)
{
    pthread_mutex_lock(&s->mutex);
    bool idle = !s->news;
    s->news = false;
    if (idle) {
        s->suspended = true;
        pl_request_suspend(s->request);
    }
    pthread_mutex_unlock(&s->mutex);
    return idle;
}

/* ---- what is sent ------------------------------------------------------------------------------
 */

/* Takes a JSON text (NULL: out of memory, which ends the stream as an error) and makes of it what
 * the form asks for: a record, a line or an event. */
static bool produce_json(stream *s, pl_record_type type, const char *event, int64_t frame,
                         char *json, size_t length)
{
    free(s->text);
    s->text = NULL;
    s->text_at = s->text_size = 0;
    if (!json) {
        return false;
    }
    int n = -1;
    if (s->form == FORM_RECORDS) {
        pl_record r = {.type = (uint16_t)type,
                       .seq = frame < 0 ? 0 : (uint64_t)frame,
                       .frame = frame < 0 ? 0 : (uint64_t)frame,
                       .length = length,
                       .payload_crc = pl_crc32c(0, json, length)};
        s->text = calloc(1, pl_record_size(length));
        if (s->text) {
            pl_record_encode(&r, (unsigned char *)s->text);
            memcpy(s->text + PL_RECORD_HEADER, json, length);
            n = (int)pl_record_size(length);
        }
    } else if (s->form == FORM_NDJSON) {
        n = asprintf(&s->text, "%.*s\n", (int)length, json);
    } else if (frame >= 0) {
        n = asprintf(&s->text, "event: %s\nid: %lld\ndata: %.*s\n\n", event, (long long)frame,
                     (int)length, json);
    } else {
        n = asprintf(&s->text, "event: %s\ndata: %.*s\n\n", event, (int)length, json);
    }
    free(json);
    s->text = n < 0 ? NULL : s->text;
    s->text_size = n < 0 ? 0 : (size_t)n;
    return n >= 0;
}

/* The lines of an NDJSON stream that are no metrics carry the key "event". */
static void begin_event(const stream *s, pl_json_writer *w, const char *event)
{
    pl_json_begin_object(w);
    if (s->form == FORM_NDJSON) {
        pl_json_set_string(w, "event", event);
    }
}

static bool produce_event(stream *s, pl_record_type type, const char *event, int64_t frame,
                          pl_json_writer *w)
{
    size_t length = 0;
    pl_json_end_object(w);
    char *json = pl_json_finish(w, &length);
    return produce_json(s, type, event, frame, json, length);
}

static bool produce_heartbeat(stream *s)
{
    pl_json_writer w = {0};
    if (s->form == FORM_RECORDS) {
        return produce_json(s, PL_RECORD_HEARTBEAT, NULL, -1, strdup(""), 0);
    }
    pl_row row = pl_session_row(s->daemon->sessions, s->session);
    begin_event(s, &w, "heartbeat");
    pl_json_set_string(&w, "state", row.state);
    if (row.message) {
        pl_json_set_string(&w, "message", row.message);
    }
    pl_row_clear(&row);
    return produce_event(s, PL_RECORD_HEARTBEAT, "heartbeat", -1, &w);
}

static bool produce_gap(stream *s, int64_t from, int64_t to)
{
    pl_json_writer w = {0};
    begin_event(s, &w, "gap");
    pl_json_set_integer(&w, "from", from);
    pl_json_set_integer(&w, "to", to);
    pl_json_set_string(&w, "reason", "corrupt");
    return produce_event(s, PL_RECORD_GAP, "gap", to, &w);
}

static bool produce_end(stream *s, const char *reason)
{
    pl_json_writer w = {0};
    begin_event(s, &w, "end");
    pl_json_set_string(&w, "reason", reason);
    pl_json_set_string(&w, "state", pl_state_name((pl_session_state)s->session->state));
    if (s->committed > 0) {
        pl_json_set_integer(&w, "frame", s->committed - 1);
    } else {
        pl_json_set_null(&w, "frame");
    }
    s->ended = true;
    return produce_event(s, PL_RECORD_END, "end", -1, &w);
}

/* Frame s->next, or the gap that begins there. */
static bool produce_frame(stream *s)
{
    int64_t first = s->next;
    pl_log_verdict verdict = PL_LOG_CORRUPT;
    while (s->next < s->committed && s->next <= s->to) {
        pl_log_range range;
        char *payload = NULL;
        uint64_t length = 0;
        if (s->form == FORM_RECORDS) {
            verdict = pl_log_find(s->reader, s->next, PL_LOG_FRAME, &range);
        } else {
            verdict = pl_log_read(s->reader, s->next, PL_LOG_METRICS, &payload, &length);
        }
        if (verdict == PL_LOG_CORRUPT) {
            s->next++;
            continue;
        }
        if (s->next > first) {
            free(payload);
            break; /* say the gap before going on */
        }
        if (verdict != PL_LOG_OK) {
            return atomic_load(&s->session->deleted) && produce_end(s, "deleted");
        }
        s->next++;
        if (s->form != FORM_RECORDS) {
            return produce_json(s, PL_RECORD_METRICS, "metrics", first, payload, length);
        }
        s->range_fd = range.fd;
        s->range_at = range.offset;
        s->range_left = range.size;
        return true;
    }
    return produce_gap(s, first, s->next - 1);
}

/* The reason to end now, or NULL. `state` was read before the log was looked at for the last time,
 * so a terminal one means that no frame is missing. */
static const char *end_reason(const stream *s, pl_session_state state)
{
    if (atomic_load(&s->session->deleted)) {
        return "deleted";
    }
    if (s->next > s->to) {
        return "limit";
    }
    if (pl_state_terminal(state)) {
        return pl_state_name(state);
    }
    if (atomic_load(&s->daemon->streams->stopping)) {
        return "shutdown";
    }
    return s->follow ? NULL : "limit";
}

/* Whether a reader should hear of the state before the next heartbeat is due: it waits again, or not
 * any more. A first start is told by frame 0. */
static bool news_of_state(stream *s, pl_session_state state)
{
    bool waits = state == PL_STATE_PAUSED || (state == PL_STATE_QUEUED && s->committed > 0);
    int interrupted = waits ? (int)state : 0;
    bool news = s->form != FORM_RECORDS && interrupted != s->interrupted;
    s->interrupted = interrupted;
    return news;
}

static bool take_heartbeat(stream *s)
{
    pthread_mutex_lock(&s->mutex);
    bool due = s->heartbeat_due;
    s->heartbeat_due = false;
    pthread_mutex_unlock(&s->mutex);
    return due;
}

/* Produce what comes next: 1 where there was something, 0 where there is nothing now, -1 on error.
 */
static int advance(stream *s)
{
    if (s->latest || s->next >= s->committed || s->next > s->to) {
        pl_session_state state = (pl_session_state)atomic_load(&s->session->state);
        s->committed = pl_log_reader_refresh(s->reader);
        if (s->latest && s->next < s->committed - 1) {
            s->next = s->committed - 1 < s->to ? s->committed - 1 : s->to;
        }
        if (s->next >= s->committed || s->next > s->to) {
            const char *reason = end_reason(s, state);
            if (reason) {
                return produce_end(s, reason) ? 1 : -1;
            }
            bool due = take_heartbeat(s);
            if (news_of_state(s, state) || due) {
                return produce_heartbeat(s) ? 1 : -1;
            }
            return 0;
        }
    }
    if (atomic_load(&s->daemon->streams->stopping)) {
        return produce_end(s, "shutdown") ? 1 : -1;
    }
    return produce_frame(s) ? 1 : -1;
}

/* Move produced bytes out: how many, or -1. */
static ssize_t drain(stream *s, char *out, size_t room)
{
    if (s->text_at < s->text_size) {
        size_t n = s->text_size - s->text_at;
        n = n < room ? n : room;
        memcpy(out, s->text + s->text_at, n);
        s->text_at += n;
        return (ssize_t)n;
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

static ssize_t stream_read(void *context, char *out, size_t room)
{
    stream *s = context;
    size_t filled = 0;
    while (filled < room) {
        ssize_t n = drain(s, out + filled, room - filled);
        if (n < 0) {
            return PL_SOURCE_ERROR;
        }
        filled += (size_t)n;
        if (n > 0) {
            continue;
        }
        int more = s->ended ? 0 : advance(s);
        if (more < 0) {
            return PL_SOURCE_ERROR;
        }
        if (more == 0) {
            if (filled > 0) {
                break;
            }
            if (s->ended) {
                return PL_SOURCE_END;
            }
            if (suspend_if_idle(s)) {
                return 0;
            }
        }
    }
    s->last_ms = pl_monotonic_ms();
    atomic_fetch_add_explicit(&s->daemon->counters.stream_bytes, (int64_t)filled,
                              memory_order_relaxed);
    return (ssize_t)filled;
}

static void stream_close(void *context)
{
    stream *s = context;
    pl_session_unwatch(s->session, &s->watcher);
    pl_streams_delist(s->daemon->streams, &s->ticker);
    pl_log_reader_close(s->reader);
    pl_session_release(s->session);
    pthread_mutex_destroy(&s->mutex);
    free(s->text);
    atomic_fetch_sub(&s->daemon->counters.streams_open, 1);
    free(s);
}

static const pl_source stream_source = {stream_read, stream_close};

/* ---- the hello ---------------------------------------------------------------------------------
 */

static int64_t count_vertices(const char *bodies)
{
    pl_json *list = bodies ? pl_json_parse(bodies, strlen(bodies), NULL) : NULL;
    int64_t n = 0;
    for (size_t i = 0; i < pl_json_count(list); i++) {
        n += pl_json_integer(pl_json_item(list, i), "vertices", 0);
    }
    pl_json_free(list);
    return n;
}

/* What the frames hold: as frame 0 says, or as the scene asks where there is none yet. */
static const char *stored_dtype(const stream *s, int dir_fd)
{
    pl_log_range range;
    pl_frame_header header;
    unsigned char bytes[PL_FRAME_HEADER];
    if (s->committed > 0 && pl_log_find(s->reader, 0, PL_LOG_FRAME, &range) == PL_LOG_OK &&
        pread(range.fd, bytes, sizeof bytes, (off_t)(range.offset + PL_RECORD_HEADER)) ==
            (ssize_t)sizeof bytes &&
        pl_frame_header_decode(bytes, range.record.length, &header)) {
        return header.dtype == PL_DTYPE_F64 ? "f64" : "f32";
    }
    char *text;
    size_t size;
    if (pl_session_file_read(dir_fd, PL_FILE_EFFECTIVE, (size_t)1 << 28, &text, &size) != PL_OK) {
        return NULL;
    }
    pl_json *scene = pl_json_parse(text, size, NULL);
    bool is_double = strcmp(pl_json_string(scene, "output/precision", "single"), "double") == 0;
    pl_json_free(scene);
    free(text);
    return is_double ? "f64" : "f32";
}

static bool produce_hello(stream *s, int dir_fd)
{
    if (s->form == FORM_SSE) {
        s->text = strdup("retry: 1000\n\n");
        s->text_size = s->text ? strlen(s->text) : 0;
        return s->text;
    }
    pl_row row = pl_session_row(s->daemon->sessions, s->session);
    char topology[96];
    snprintf(topology, sizeof topology, "/v1/sessions/%s/topology", row.id);
    pl_json_writer w = {0};
    begin_event(s, &w, "hello");
    pl_json_set_integer(&w, "format", 1);
    pl_json_set_string(&w, "session", row.id);
    pl_json_set_string(&w, "topology", topology);
    pl_json_set_string(&w, "dtype", stored_dtype(s, dir_fd));
    pl_json_set_integer(&w, "vertices", count_vertices(row.bodies));
    pl_json_set_integer(&w, "frames", row.frames);
    pl_json_set_integer(&w, "from", s->next);
    pl_row_clear(&row);
    return produce_event(s, PL_RECORD_HELLO, "hello", -1, &w);
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static bool parse_query(pl_request *r, stream *s)
{
    int64_t limit;
    const char *mode = pl_request_query(r, "mode");
    if (!pl_request_integer(r, "from", 0, INT64_MAX, 0, &s->next) ||
        !pl_request_integer(r, "to", 0, INT64_MAX, INT64_MAX, &s->to) ||
        !pl_request_integer(r, "limit", 1, INT64_MAX, INT64_MAX, &limit) ||
        !pl_request_flag(r, "follow", &s->follow)) {
        return false;
    }
    if (mode && strcmp(mode, "all") != 0 && strcmp(mode, "latest") != 0) {
        pl_reply_problem(r, 400, "bad_query", "Bad query", "mode is all or latest", NULL);
        return false;
    }
    s->latest = mode && strcmp(mode, "latest") == 0;
    const char *seen = s->form == FORM_SSE ? pl_request_header(r, "Last-Event-ID") : NULL;
    if (seen && *seen && strlen(seen) < 18 && strspn(seen, "0123456789") == strlen(seen)) {
        s->next = strtoll(seen, NULL, 10) + 1;
    }
    if (limit < INT64_MAX - s->next && s->next + limit - 1 < s->to) {
        s->to = s->next + limit - 1;
    }
    return true;
}

static bool open_reader(pl_request *r, stream *s, int *dir_fd)
{
    *dir_fd = open(s->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*dir_fd < 0 || pl_log_reader_open(*dir_fd, &s->reader) != PL_OK) {
        bool gone = errno == ENOENT;
        pl_reply_problem(r, gone ? 410 : 503, gone ? "storage_lost" : "busy",
                         gone ? "Gone" : "Busy", "the session's log can not be opened", NULL);
        return false;
    }
    s->committed = pl_log_reader_refresh(s->reader);
    return true;
}

static void abandon(stream *s, int dir_fd)
{
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    pl_log_reader_close(s->reader);
    pl_session_release(s->session);
    pthread_mutex_destroy(&s->mutex);
    free(s->text);
    free(s);
}

static void open_stream(pl_request *r, pl_session *session, stream_form form, const char *type)
{
    stream *s = calloc(1, sizeof *s);
    int dir_fd = -1;
    if (!s) {
        pl_session_release(session);
        pl_reply_empty(r, 500);
        return;
    }
    pthread_mutex_init(&s->mutex, NULL);
    s->request = r;
    s->daemon = pl_request_daemon(r);
    s->session = session;
    s->form = form;
    s->watcher.wake = wake;
    s->ticker.tick = tick;
    s->last_ms = pl_monotonic_ms();
    if (!parse_query(r, s) || !open_reader(r, s, &dir_fd)) {
        abandon(s, dir_fd);
        return;
    }
    if (form == FORM_SSE && pl_state_terminal((pl_session_state)session->state) &&
        s->next >= s->committed) {
        pl_reply_empty(r, 204); /* tells an EventSource not to come again */
        abandon(s, dir_fd);
        return;
    }
    if (!produce_hello(s, dir_fd)) {
        pl_reply_empty(r, 500);
        abandon(s, dir_fd);
        return;
    }
    close(dir_fd);
    atomic_fetch_add(&s->daemon->counters.streams_open, 1);
    atomic_fetch_add(&s->daemon->counters.streams_total, 1);
    pl_session_watch(session, &s->watcher);
    pl_streams_enlist(s->daemon->streams, &s->ticker);
    pl_reply_source(r, type, &stream_source, s);
    pl_reply_header(r, "Cache-Control", "no-store");
    pl_reply_header(r, "X-Accel-Buffering", "no");
}

void pl_handle_frames(pl_request *r)
{
    static const char *const types[] = {"application/vnd.pliant.frames", NULL};
    pl_session *session = pl_request_session(r, PL_ACCESS_VIEW);
    if (session) {
        if (pl_request_accept(r, types) < 0) {
            pl_session_release(session);
            return;
        }
        open_stream(r, session, FORM_RECORDS, types[0]);
    }
}

void pl_handle_metrics(pl_request *r)
{
    static const char *const types[] = {"application/x-ndjson", "text/event-stream", NULL};
    pl_session *session = pl_request_session(r, PL_ACCESS_VIEW);
    if (session) {
        int form = pl_request_accept(r, types);
        if (form < 0) {
            pl_session_release(session);
            return;
        }
        open_stream(r, session, form == 0 ? FORM_NDJSON : FORM_SSE, types[form]);
    }
}

/* ---- all of them -------------------------------------------------------------------------------
 */

pl_streams *pl_streams_create(pl_daemon *daemon)
{
    pl_streams *streams = calloc(1, sizeof *streams);
    if (streams) {
        streams->daemon = daemon;
        pthread_mutex_init(&streams->mutex, NULL);
    }
    return streams;
}

void pl_streams_destroy(pl_streams *streams)
{
    if (streams) {
        pthread_mutex_destroy(&streams->mutex);
        free(streams);
    }
}

void pl_streams_enlist(pl_streams *streams, pl_ticker *t)
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

void pl_streams_delist(pl_streams *streams, pl_ticker *t)
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

void pl_streams_tick(pl_streams *streams)
{
    int64_t now = pl_monotonic_ms();
    pthread_mutex_lock(&streams->mutex);
    for (pl_ticker *t = streams->list, *next; t; t = next) {
        next = t->next;
        t->tick(t, now);
    }
    pthread_mutex_unlock(&streams->mutex);
}

void pl_streams_stop(pl_streams *streams)
{
    atomic_store(&streams->stopping, true);
    pl_streams_tick(streams);
}
