#include "server/streams/event_stream.h"

#include "protocol/text/json.h"
#include "server/base/daemon.h"
#include "server/sessions/access.h"
#include "server/sessions/events.h"
#include "server/streams/stream_hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 200 }; /* events in a reply to a long poll */

/* A stream of server-sent events, or a waiting poll; lives as long as its request. */
typedef struct listener {
    pl_watcher watcher;
    pl_ticker ticker;
    pl_waiter waiter;
    pl_request *request;
    pl_stream_hub *hub;
    pl_session *session;      /* a reference, or NULL: all sessions */
    pl_principal *principal;  /* a reference */
    _Atomic int64_t regroups; /* of the session (pl_sessions_may_follow) */
    pl_event_cursor cursor;
    /* of a stream */
    bool ended;
    char *text; /* produced, not all sent */
    size_t at, size;
    /* of a poll */
    int64_t deadline_ms;
    pthread_mutex_t mutex;
    bool resumed; /* under the mutex: a request is resumed once */
} listener;

static listener *listener_create(pl_request *r, pl_stream_hub *hub, pl_session *session,
                                 int64_t since)
{
    listener *l = calloc(1, sizeof *l);
    if (!l) {
        return NULL;
    }
    pl_waiter_init(&l->waiter, r);
    pthread_mutex_init(&l->mutex, NULL);
    l->request = r;
    l->hub = hub;
    l->session = session;
    if (session) {
        pl_session_acquire(session);
    }
    l->principal = pl_principal_acquire(pl_request_principal(r));
    l->cursor = (pl_event_cursor){l->principal, session, since + 1, false};
    return l;
}

static void listener_destroy(void *context)
{
    listener *l = context;
    pl_events_unwatch(l->hub->events, &l->watcher);
    pl_tickers_delist(l->hub->tickers, &l->ticker);
    pl_session_release(l->session);
    pl_principal_release(l->principal);
    pl_waiter_clear(&l->waiter);
    pthread_mutex_destroy(&l->mutex);
    free(l->text);
    free(l);
}

static void listen_to(listener *l)
{
    pl_events_watch(l->hub->events, &l->watcher);
    pl_tickers_enlist(l->hub->tickers, &l->ticker);
}

/* ---- the stream ---- */

static void stream_wake(pl_watcher *watcher)
{
    pl_waiter_wake(&((listener *)((char *)watcher - offsetof(listener, watcher)))->waiter);
}

static void stream_tick(pl_ticker *ticker, int64_t now_ms)
{
    listener *l = (listener *)((char *)ticker - offsetof(listener, ticker));
    pl_waiter_tick(&l->waiter, now_ms,
                   atomic_load(&l->hub->stopping) || !pl_principal_valid(l->principal));
}

/* Takes the JSON; false if out of memory. number 0: an event without a number. */
static bool put(listener *l, const char *type, int64_t number, char *json)
{
    char id[32] = "";
    if (number > 0) {
        snprintf(id, sizeof id, "id: %lld\n", (long long)number);
    }
    free(l->text);
    l->text = NULL;
    int n = json ? asprintf(&l->text, "event: %s\n%sdata: %s\n\n", type, id, json) : -1;
    free(json);
    l->text = n < 0 ? NULL : l->text;
    l->at = 0;
    l->size = n < 0 ? 0 : (size_t)n;
    return n >= 0;
}

/* Write {"reason": ...}; nothing follows it. */
static bool put_end(listener *l, const char *reason)
{
    char *json = NULL;
    l->ended = true;
    return put(l, "end", 0, asprintf(&json, "{\"reason\": \"%s\"}", reason) < 0 ? NULL : json);
}

/* Why nothing more can come, or NULL. */
static const char *end_reason(listener *l)
{
    if (l->session
            ? !pl_sessions_may_follow(l->hub->sessions, l->principal, l->session, &l->regroups)
            : !pl_principal_valid(l->principal)) {
        return "revoked";
    }
    if (atomic_load(&l->hub->stopping)) {
        return "shutdown";
    }
    if (l->session && atomic_load(&l->session->deleted)) {
        return "deleted";
    }
    return NULL;
}

/* 1 if there was something, 0 if there is nothing now, -1 if out of memory. */
static int advance(listener *l)
{
    int64_t number;
    const char *type = "";
    const char *reason = end_reason(l); /* before the last read, so that nothing is lost */
    char *json = pl_events_read(l->hub->events, &l->cursor, &number, &type);
    if (number < 0) {
        return -1;
    }
    if (l->cursor.missed) { /* reported once; the event just read is read again */
        l->cursor.missed = false;
        l->cursor.next = json ? number : l->cursor.next;
        free(json);
        return put(l, "gap", 0, strdup("{\"reason\": \"missed\"}")) ? 1 : -1;
    }
    if (json) {
        return put(l, type, number, json) ? 1 : -1;
    }
    if (reason) {
        return put_end(l, reason) ? 1 : -1;
    }
    if (pl_waiter_take_heartbeat(&l->waiter)) {
        return put(l, "heartbeat", 0, strdup("{}")) ? 1 : -1;
    }
    return 0;
}

static ssize_t stream_read(void *context, char *out, size_t room)
{
    listener *l = context;
    size_t filled = 0;
    while (filled < room) {
        size_t n = l->size - l->at < room - filled ? l->size - l->at : room - filled;
        if (n > 0) {
            memcpy(out + filled, l->text + l->at, n);
            l->at += n;
            filled += n;
            continue;
        }
        int more = l->ended ? 0 : advance(l);
        if (more < 0) {
            return PL_SOURCE_ERROR;
        }
        if (more == 0) {
            if (filled > 0) {
                break;
            }
            if (l->ended) {
                return PL_SOURCE_END;
            }
            if (pl_waiter_wait(&l->waiter)) {
                return 0;
            }
        }
    }
    l->waiter.last_ms = pl_monotonic_ms();
    return (ssize_t)filled;
}

static void stream_close(void *context)
{
    listener *l = context;
    atomic_fetch_sub(&l->hub->counters->streams_open, 1);
    listener_destroy(l);
}

static const pl_source stream_source = {stream_read, stream_close};

/* A session's stream begins with its state, numbered one below the first event that follows. */
static bool put_beginning(listener *l, bool resumed)
{
    l->text = strdup("retry: 1000\n\n");
    l->size = l->text ? strlen(l->text) : 0;
    if (!l->text || !l->session || resumed) {
        return l->text;
    }
    int64_t number = l->cursor.next - 1;
    char *view = pl_sessions_encode(l->hub->sessions, l->session, l->principal), *json = NULL;
    int n = view ? asprintf(&json, "{\"seq\": %lld, \"event\": \"now\", \"session\": %s}",
                            (long long)number, view)
                 : -1;
    free(view);
    return put(l, "now", number, n < 0 ? NULL : json);
}

static void open_stream(pl_request *r, pl_stream_hub *hub, pl_session *session, int64_t since,
                        bool resumed)
{
    listener *l = listener_create(r, hub, session, since);
    if (!l || !put_beginning(l, resumed)) {
        if (l) {
            listener_destroy(l);
        }
        pl_reply_empty(r, 500);
        return;
    }
    l->watcher.wake = stream_wake;
    l->ticker.tick = stream_tick;
    atomic_fetch_add(&l->hub->counters->streams_open, 1);
    atomic_fetch_add(&l->hub->counters->streams_total, 1);
    listen_to(l);
    pl_reply_source(r, "text/event-stream", &stream_source, l);
    pl_reply_header(r, "Cache-Control", "no-store");
    pl_reply_header(r, "X-Accel-Buffering", "no");
}

/* ---- the poll ---- */

static void resume_once(listener *l)
{
    pthread_mutex_lock(&l->mutex);
    if (!l->resumed) {
        l->resumed = true;
        pl_request_finish(l->request);
    }
    pthread_mutex_unlock(&l->mutex);
}

/* Every event wakes it, even those that it may not see; the handler then replies early with an empty page, as after a
 * timeout. */
static void poll_wake(pl_watcher *watcher)
{
    listener *l = (listener *)((char *)watcher - offsetof(listener, watcher));
    int64_t number;
    const char *type;
    pl_event_cursor look = l->cursor;
    free(pl_events_read(l->hub->events, &look, &number, &type));
    if (number != 0 || look.missed) {
        resume_once(l);
    }
}

static void poll_tick(pl_ticker *ticker, int64_t now_ms)
{
    listener *l = (listener *)((char *)ticker - offsetof(listener, ticker));
    if (now_ms >= l->deadline_ms || atomic_load(&l->hub->stopping)) {
        resume_once(l);
    }
}

/* {"items": [...], "next": number, "missed": bool}; NULL: out of memory. *count: number of items. */
static char *build_page(pl_events *events, pl_event_cursor *cursor, int *count)
{
    pl_json_writer w = {0};
    int64_t number = 1;
    const char *type;
    bool missed = false;
    *count = 0;
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    while (*count < PAGE && number > 0) {
        char *json = pl_events_read(events, cursor, &number, &type);
        missed = missed || cursor->missed;
        cursor->missed = false;
        if (json) {
            pl_json_put_raw(&w, json);
            ++*count;
        }
        free(json);
    }
    pl_json_end_array(&w);
    pl_json_set_integer(&w, "next", cursor->next - 1);
    pl_json_set_boolean(&w, "missed", missed);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (number < 0) {
        free(text);
        return NULL;
    }
    *count += missed;
    return text;
}

static bool begin_waiting(pl_request *r, pl_stream_hub *hub, pl_session *session, int64_t since,
                          int64_t seconds)
{
    listener *l = listener_create(r, hub, session, since);
    if (!l) {
        return false;
    }
    l->watcher.wake = poll_wake;
    l->ticker.tick = poll_tick;
    l->deadline_ms = pl_monotonic_ms() + 1000 * seconds;
    pl_request_attach(r, l, listener_destroy);
    pl_request_park(r);
    listen_to(l);
    poll_wake(&l->watcher); /* something may have happened before the watcher was added */
    return true;
}

static void poll(pl_request *r, pl_stream_hub *hub, const _Atomic bool *draining,
                 pl_session *session, int64_t since)
{
    int64_t seconds;
    int count;
    if (!pl_request_integer(r, "wait", 0, 60, 0, &seconds)) {
        return;
    }
    listener *waited = pl_request_attached(r);
    pl_event_cursor cursor = {pl_request_principal(r), session,
                              waited ? waited->cursor.next : since + 1, false};
    char *text = build_page(hub->events, &cursor, &count);
    bool wait = text && count == 0 && seconds > 0 && !waited && !atomic_load(draining);
    if (wait && begin_waiting(r, hub, session, since, seconds)) {
        free(text);
        return;
    }
    pl_reply_json(r, 200, text);
    pl_reply_header(r, "Cache-Control", "no-store");
}

/* ---- handlers ---- */

static void handle(pl_request *r, pl_session *session)
{
    static const char *const types[] = {"application/json", "text/event-stream", NULL};
    pl_daemon *d = pl_request_daemon(r);
    int64_t newest = pl_events_next(d->streams->events) - 1, since;
    int form = pl_request_accept(r, types);
    if (form < 0 || !pl_request_integer(r, "since", 0, INT64_MAX - 1, newest, &since)) {
        return;
    }
    const char *seen = form == 1 ? pl_request_header(r, "Last-Event-ID") : NULL;
    bool resumed = pl_request_query(r, "since");
    if (seen && *seen && strlen(seen) < 18 && strspn(seen, "0123456789") == strlen(seen)) {
        since = strtoll(seen, NULL, 10);
        resumed = true;
    }
    if (form == 1) {
        open_stream(r, d->streams, session, since, resumed);
    } else {
        poll(r, d->streams, &d->draining, session, since);
    }
}

void pl_handle_events(pl_request *r)
{
    handle(r, NULL);
}

void pl_handle_session_events(pl_request *r)
{
    pl_session *session = pl_request_session(r, PL_ACCESS_VIEW);
    if (session) {
        handle(r, session);
        pl_session_release(session);
    }
}
