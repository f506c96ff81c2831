#include "server/http/http.h"

#include "server/http/deadlines.h"
#include "server/http/dispatch.h"
#include "server/http/head_layout.h"
#include "server/http/library_replies.h"
#include "server/http/reply_counts.h"
#include "server/http/waiter.h"
#include "server/http/request_check.h"
#include "server/http/listener.h"
#include "server/base/ticker.h"
#include "server/http/request.h"
#include "server/http/request_id.h"
#include "server/http/tls.h"
#include "server/base/logger.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTION_MEMORY = 32 * 1024,
    SPARE_CONNECTIONS = 64, /* beyond the limit, for operators (deadlines.h) */
};
#define BODY_MEMORY_MAX ((int64_t)512 << 20) /* of all requests together */

enum { BY_ADDRESS, BY_UNIX, LISTENERS };
typedef struct listener {
    struct MHD_Daemon *mhd;
    int fd; /* -1: not listening */
} listener;

struct pl_http {
    pl_http_setup setup;
    listener listeners[LISTENERS];
    _Atomic int64_t body_bytes;
    _Atomic int64_t open_requests;
    pl_reply_counts *counts;
    pl_deadlines *deadlines;
    pl_ticker ticker; /* enforces them every second */
};

/* ---- what arrives too slowly ---- */

static uint64_t address_key(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return pl_listener_key(info ? info->client_addr : NULL);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **slot,
                            enum MHD_ConnectionNotificationCode what)
{
    pl_http *http = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (info) {
            pl_listener_bound_silence(info->connect_fd, http->setup.options->idle_timeout);
        }
        *slot = info ? pl_deadline_open(http->deadlines, info->connect_fd, address_key(connection),
                                        pl_monotonic_ms())
                     : NULL;
    } else {
        pl_deadline_close(http->deadlines, *slot);
        *slot = NULL;
    }
}

static pl_deadline *deadline_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void await_now(pl_http *http, struct MHD_Connection *connection, pl_arrival what)
{
    pl_deadline_set(http->deadlines, deadline_of(connection), what, pl_monotonic_ms());
}

static void enforce(pl_ticker *ticker, int64_t now_ms)
{
    pl_http *http = (pl_http *)((char *)ticker - offsetof(pl_http, ticker));
    int late = pl_deadlines_enforce(http->deadlines, now_ms);
    atomic_store(&http->setup.counters->connections_evicted, pl_deadlines_evicted(http->deadlines));
    if (late) {
        atomic_fetch_add(&http->setup.counters->connections_late, late);
        pl_logf(PL_LEVEL_DEBUG, "http: %d requests arrived too slowly", late);
    }
}

/* ---- the body ---- */

static bool reserve_body(pl_request *r, size_t wanted)
{
    if (wanted <= r->capacity) {
        return true;
    }
    size_t capacity = r->capacity ? 2 * r->capacity : 4096;
    capacity = capacity < wanted ? wanted : capacity;
    int64_t more = (int64_t)(capacity - r->capacity);
    if (atomic_fetch_add(&r->http->body_bytes, more) + more > BODY_MEMORY_MAX) {
        atomic_fetch_sub(&r->http->body_bytes, more);
        return false;
    }
    char *body = realloc(r->body, capacity);
    if (!body) {
        atomic_fetch_sub(&r->http->body_bytes, more);
        return false;
    }
    r->body = body;
    r->capacity = capacity;
    return true;
}

static void take_to_sink(pl_request *r, const char *data, size_t size)
{
    int e = r->route->sink->write(r->sink, data, size);
    if (e && !pl_reply_shortage(r, e)) {
        pl_reply_problemf(r, 500, "internal", "The upload could not be stored", "%s", strerror(e));
    }
}

static void take_body(pl_request *r, const char *data, size_t size)
{
    r->received += size;
    if (r->reply.status) {
        return;
    }
    if (r->received > pl_request_body_limit(r)) {
        pl_request_check_too_large(r);
    } else if (r->route->takes == PL_TAKES_BYTES) {
        take_to_sink(r, data, size);
    } else if (r->route->takes == PL_TAKES_JSON) {
        size_t known = (size_t)r->declared + 1, needed = r->length + size + 1;
        if (!reserve_body(r, known > needed ? known : needed)) {
            pl_reply_problem(r, 503, "busy", "Busy", "too many large requests at once", NULL);
            pl_reply_header(r, "Retry-After", "5");
            return;
        }
        memcpy(r->body + r->length, data, size);
        r->length += size;
        r->body[r->length] = 0;
    }
}

/* ---- answering ---- */

static ssize_t read_source(void *context, uint64_t position, char *out, size_t room)
{
    pl_request *r = context;
    if (r->principal && !pl_principal_valid(r->principal)) {
        return MHD_CONTENT_READER_END_WITH_ERROR; /* access was revoked while reading */
    }
    ssize_t n = r->reply.source->read(r->reply.context, out, room);
    if (n == PL_SOURCE_END) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    return n == PL_SOURCE_ERROR ? MHD_CONTENT_READER_END_WITH_ERROR : n;
}

static struct MHD_Response *build_response(pl_request *r)
{
    pl_reply *reply = &r->reply;
    if (reply->source) {
        uint64_t size = reply->size < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)reply->size;
        /* Chunks are written directly into the connection's buffer; HTTP/1.0 has none. */
        size_t block = reply->size < 0 && !r->old ? 128 : CONNECTION_MEMORY;
        struct MHD_Response *response = MHD_create_response_from_callback(size, block, read_source,
                                                                          r, NULL);
        if (response && r->head && reply->size < 0) {
            /* Without this, the library would write the end of chunks for a body that it does not send. */
            MHD_set_response_options(response, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
        }
        return response;
    }
    char *text = reply->text;
    reply->text = NULL;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(text ? reply->length : 0, text ? text : "",
                                        text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response) {
        free(text);
    }
    return response;
}

static void count_reply(pl_request *r)
{
    bool streams = r->reply.source && r->reply.size < 0;
    size_t route = r->route ? (size_t)(r->route - r->http->setup.routes) : SIZE_MAX;
    pl_reply_counts_add(r->http->counts, route, r->reply.status, !streams && !r->waited,
                        pl_monotonic_us() - r->begun_us);
    pl_logf(PL_LEVEL_DEBUG, "%s %s -> %d", r->route ? r->route->method : "-",
            r->route ? r->route->path : "-", r->reply.status);
}

static enum MHD_Result queue_reply(pl_request *r)
{
    pl_reply *reply = &r->reply;
    if (!reply->status) {
        reply->status = 500;
    }
    struct MHD_Response *response = build_response(r);
    if (!response) {
        return MHD_NO;
    }
    if (reply->type[0]) {
        MHD_add_response_header(response, "Content-Type", reply->type);
    }
    MHD_add_response_header(response, "Pliant-Version", PLIANT_VERSION);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Request-Id", r->subject.request);
    if (r->http->setup.options->tls_cert) {
        MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
    }
    for (int i = 0; i < reply->header_count; i++) {
        MHD_add_response_header(response, reply->names[i], reply->values[i]);
    }
    if (atomic_load(r->http->setup.draining) && !reply->source) {
        MHD_add_response_header(response, "Connection", "close");
    }
    count_reply(r);
    const pl_http_policy *policy = &r->http->setup.policy;
    policy->note(policy->notes, r);
    int queued = pl_library_queue(r->connection, (unsigned int)reply->status, response);
    MHD_destroy_response(response);
    return queued ? MHD_YES : MHD_NO;
}

static pl_request *request_create(pl_http *http, struct MHD_Connection *connection)
{
    pl_request *r = calloc(1, sizeof *r);
    if (r) {
        r->connection = connection;
        r->http = http;
        r->daemon = http->setup.daemon;
        r->begun_us = pl_monotonic_us();
        pl_request_id_make(pl_request_header(r, "traceparent"), r->subject.request);
        pl_logf_about(&r->subject);
        atomic_fetch_add(&http->open_requests, 1);
    }
    return r;
}

/* The library calls this with the target before cutting it. */
static void *see_target(void *context, const char *target, struct MHD_Connection *connection)
{
    pl_deadline_set_version(deadline_of(connection), pl_head_version(target));
    return NULL;
}

static enum MHD_Result begin(pl_http *http, struct MHD_Connection *connection, const char *method,
                             const char *path, const char *version, void **slot)
{
    /* If out of memory for its deadline, the connection is closed. */
    pl_request *r = deadline_of(connection) ? request_create(http, connection) : NULL;
    if (!r) {
        return MHD_NO;
    }
    *slot = r;
    r->old = strcmp(version, "HTTP/1.0") == 0;
    r->torn = pl_deadline_version(deadline_of(connection)) != version ||
              !pl_head_whole(connection, method, version);
    if (pl_request_check_head(r, method, path)) {
        return queue_reply(r);
    }
    if (!pl_deadlines_admit(http->deadlines, deadline_of(connection),
                            pl_principal_key(r->principal)) &&
        pl_request_check_crowded(r)) {
        return queue_reply(r);
    }
    if (!r->reply.status && r->route->sink) {
        r->sink = r->route->sink->open(r);
        if (!r->sink && pl_request_check_refuses_now(r)) {
            return queue_reply(r);
        }
    }
    return MHD_YES;
}

static enum MHD_Result advance(pl_http *http, struct MHD_Connection *connection, const char *path,
                               const char *method, const char *version, const char *data,
                               size_t *size, void **slot)
{
    pl_request *r = *slot;
    if (!r) {
        await_now(http, connection, PL_ARRIVES_BODY);
        return begin(http, connection, method, path, version, slot);
    }
    pl_logf_about(&r->subject);
    if (*size) {
        pl_deadline_received(r->http->deadlines, deadline_of(connection), *size);
        take_body(r, data, *size);
        *size = 0;
        return r->reply.status && r->received > pl_request_body_limit(r) + PL_SWALLOW_MAX ? MHD_NO
                                                                                          : MHD_YES;
    }
    await_now(http, connection, PL_ARRIVED);
    bool again = r->dispatched && r->route && r->route->run == PL_RUN_HERE;
    if (!r->reply.status && (!r->dispatched || again)) {
        r->dispatched = true;
        r->parked = false;
        pl_request_dispatch(r);
        if (r->parked) {
            return MHD_YES;
        }
    }
    return queue_reply(r);
}

/* The library calls this with the head, with each piece of the body, at the end of the body, and again after each
 * resume. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **slot)
{
    enum MHD_Result result = advance(context, connection, path, method, version, data, size, slot);
    pl_logf_about(NULL);
    return result;
}

static void complete(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_RequestTerminationCode code)
{
    pl_http *http = context;
    pl_request *r = *slot;
    await_now(http, connection, PL_ARRIVES_HEAD);
    if (!r) {
        return;
    }
    *slot = NULL;
    if (r->sink) {
        r->route->sink->close(r->sink);
    }
    if (r->attached) {
        r->attached_release(r->attached);
    }
    pl_principal_release(r->principal);
    pl_reply_clear(&r->reply);
    atomic_fetch_sub(&http->body_bytes, (int64_t)r->capacity);
    free(r->body);
    free(r);
    atomic_fetch_sub(&http->open_requests, 1);
}

/* ---- functions of request.c that need the library ---- */

int64_t pl_request_peer(pl_request *r)
{
    if (!r->http->setup.options->listen_unix) {
        return -1;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? pl_listener_peer(info->connect_fd) : -1;
}

void pl_request_address(pl_request *r, char out[64])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    pl_listener_name(info ? info->client_addr : NULL, out);
    const char *forwarded = r->http->setup.options->behind_proxy
                                ? pl_request_header(r, "X-Forwarded-For")
                                : NULL;
    if (forwarded) { /* the last entry is the proxy's own */
        const char *comma = strrchr(forwarded, ',');
        snprintf(out, 64, "%s", comma ? comma + 1 + strspn(comma + 1, " ") : forwarded);
    }
}

typedef struct pair_view {
    bool (*see)(void *context, const char *name, const char *value);
    void *context;
} pair_view;

static enum MHD_Result see_pair(void *context, enum MHD_ValueKind kind, const char *name,
                                const char *value)
{
    pair_view *v = context;
    return v->see(v->context, name, value ? value : "") ? MHD_YES : MHD_NO;
}

void pl_request_each(pl_request *r, bool query,
                     bool (*see)(void *context, const char *name, const char *value), void *context)
{
    if (!r->connection) {
        return; /* an own request of the daemon */
    }
    MHD_get_connection_values(r->connection, query ? MHD_GET_ARGUMENT_KIND : MHD_HEADER_KIND,
                              see_pair, &(pair_view){see, context});
}

const char *pl_request_query(pl_request *r, const char *key)
{
    const char *value = NULL;
    if (!r->connection) {
        return NULL;
    }
    if (MHD_lookup_connection_value_n(r->connection, MHD_GET_ARGUMENT_KIND, key, strlen(key),
                                      &value, NULL) == MHD_NO) {
        return NULL;
    }
    return value ? value : "";
}

const char *pl_request_header(pl_request *r, const char *name)
{
    return r->connection ? MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name) : NULL;
}

void pl_request_park(pl_request *r)
{
    r->parked = true;
    r->waited = r->waited || r->route->run == PL_RUN_HERE;
    MHD_suspend_connection(r->connection);
}

void pl_request_finish(pl_request *r)
{
    MHD_resume_connection(r->connection);
}

void pl_request_suspend(pl_request *r)
{
    MHD_suspend_connection(r->connection);
}

void pl_request_resume(pl_request *r)
{
    MHD_resume_connection(r->connection);
}

/* ---- the listener ---- */

static void log_line(void *context, const char *format, va_list args)
{
    char line[300];
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = 0;
    pl_logf(PL_LEVEL_DEBUG, "http: %s", line);
}

/* Decode %XX. A text with %00 stays unchanged: decoded, it would end there and name something else; unchanged, it names
 * nothing. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

/* Strictness 0 instead of 1: 1 adds a rejection of requests without Host whose reply has its head twice; framing_fault
 * rejects them properly. */
static struct MHD_Daemon *start_library(pl_http *http, int kind)
{
    const pl_options *o = http->setup.options;
    bool tls = kind == BY_ADDRESS && o->tls_cert;
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                         MHD_USE_ERROR_LOG | (tls ? MHD_USE_TLS : 0) |
                         (kind == BY_ADDRESS && strchr(o->listen_host, ':') ? MHD_USE_IPv6 : 0);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned int threads = online < 2 ? 2 : online > 8 ? 8 : (unsigned int)online;
    unsigned int connections = (unsigned int)o->max_connections;
    struct MHD_OptionItem certificate[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tls ? pl_tls_callback() : NULL},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, PL_TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL}};
    /* A pool divides the limit evenly, so round up to give every thread at least one. */
    connections = (connections + SPARE_CONNECTIONS + threads - 1) / threads * threads;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, answer, http, MHD_OPTION_EXTERNAL_LOGGER, log_line, NULL,
        MHD_OPTION_LISTEN_SOCKET, http->listeners[kind].fd, MHD_OPTION_THREAD_POOL_SIZE, threads,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)o->idle_timeout,
        MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_NOTIFY_COMPLETED, complete, http,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, http, MHD_OPTION_UNESCAPE_CALLBACK, unescape,
        NULL, MHD_OPTION_URI_LOG_CALLBACK, see_target, http, MHD_OPTION_ARRAY,
        tls ? certificate : certificate + 2, MHD_OPTION_END);
}

/* True if the listener is not wanted, or listening. */
static bool start_listener(pl_http *http, int kind, char url[PL_URL_MAX])
{
    const pl_options *o = http->setup.options;
    if (kind == BY_UNIX ? !o->listen_unix : o->no_address) {
        return true;
    }
    listener *l = &http->listeners[kind];
    l->fd = kind == BY_UNIX ? pl_listener_open_unix(o, url) : pl_listener_open_address(o, url);
    l->mhd = l->fd >= 0 ? start_library(http, kind) : NULL;
    if (l->fd >= 0 && !l->mhd) {
        pl_logf(PL_LEVEL_ERROR, "the HTTP library did not start");
    }
    return l->mhd;
}

bool pl_http_create(const pl_http_setup *setup, char url[PL_URL_MAX], pl_http **out)
{
    size_t count = 0;
    while (setup->routes[count].method) {
        count++;
    }
    pl_http *http = calloc(1, sizeof *http);
    if (!http) {
        return false;
    }
    http->setup = *setup;
    http->counts = pl_reply_counts_create(count);
    http->listeners[BY_ADDRESS].fd = http->listeners[BY_UNIX].fd = -1;
    const pl_options *o = setup->options;
    http->deadlines = pl_deadlines_create(o->idle_timeout, o->max_connections,
                                          pl_options_loopback(o) || o->behind_proxy);
    http->ticker.tick = enforce;
    *out = http;
    if (http->deadlines) {
        pl_tickers_enlist(setup->tickers, &http->ticker);
    }
    if (!http->counts || !http->deadlines || !start_listener(http, BY_ADDRESS, url) ||
        !start_listener(http, BY_UNIX, url)) {
        pl_http_destroy(http, 0);
        *out = NULL;
        return false;
    }
    return true;
}

void pl_http_quiesce(pl_http *http)
{
    for (int i = 0; i < LISTENERS; i++) {
        listener *l = &http->listeners[i];
        if (l->fd >= 0) {
            if (l->mhd) {
                MHD_quiesce_daemon(l->mhd);
            }
            close(l->fd);
            l->fd = -1;
            if (i == BY_UNIX) {
                pl_listener_remove_unix(http->setup.options);
            }
        }
    }
}

void pl_http_destroy(pl_http *http, int timeout_ms)
{
    if (!http) {
        return;
    }
    pl_http_quiesce(http);
    for (int waited = 0; waited < timeout_ms && atomic_load(&http->open_requests) > 0;
         waited += 5) {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    for (int i = 0; i < LISTENERS; i++) {
        if (http->listeners[i].mhd) {
            MHD_stop_daemon(http->listeners[i].mhd);
        }
    }
    pl_tickers_delist(http->setup.tickers, &http->ticker);
    pl_deadlines_destroy(http->deadlines);
    pl_reply_counts_destroy(http->counts);
    free(http);
}

const pl_reply_counts *pl_http_reply_counts(const pl_http *http)
{
    return http->counts;
}

const pl_route *pl_http_routes(const pl_http *http)
{
    return http->setup.routes;
}

const pl_http_setup *pl_http_setup_of(const pl_http *http)
{
    return &http->setup;
}

int64_t pl_http_connections(const pl_http *http)
{
    int64_t count = 0;
    for (int i = 0; i < LISTENERS; i++) {
        const union MHD_DaemonInfo *info =
            http->listeners[i].mhd
                ? MHD_get_daemon_info(http->listeners[i].mhd, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
                : NULL;
        count += info ? (int64_t)info->num_connections : 0;
    }
    return count;
}
