#include "server/http.h"

#include "protocol/problem.h"
#include "server/auth.h"
#include "server/pool.h"
#include "server/request.h"
#include "server/route.h"
#include "server/say.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTION_MEMORY = 64 * 1024,
    SMALL_BODY_MAX = 64 * 1024, /* where no body is looked for */
    /* A refused body up to this is read: many clients send it all before they look at the answer.
     */
    SWALLOW_MAX = 64 << 20,
    CONNECTIONS_PER_FOREIGN_IP = 128, /* beside the whole limit; all of loopback is one address */
};
#define BODY_MEMORY_MAX ((int64_t)512 << 20) /* of all requests together */

struct pl_http {
    pl_daemon *daemon;
    const pl_route *routes;
    struct MHD_Daemon *mhd;
    int listen_fd;
    _Atomic int64_t body_bytes;
    _Atomic int64_t open_requests;
    _Atomic int64_t (*counts)[6]; /* [routes][status class] */
};

/* ---- judging the head of a request -------------------------------------------------------------
 */

typedef struct framing {
    int hosts, lengths, codings, origins, authorizations, bad_names;
    const char *host, *origin, *authorization, *type, *coding;
    uint64_t length;
    const char *unknown_key; /* of the query */
    const char *repeated_key;
    const pl_route *route;
    char keys[PL_QUERY_KEYS][32];
    int key_count;
} framing;

static enum MHD_Result see_header(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    framing *f = context;
    value = value ? value : "";
    f->bad_names += strpbrk(name, " \t") != NULL; /* "Content-Length : 2" is another name here */
    if (strcasecmp(name, "Host") == 0) {
        f->hosts++;
        f->host = value;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        f->lengths++;
        f->length = strtoull(value, NULL, 10);
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        f->codings++;
        f->coding = value;
    } else if (strcasecmp(name, "Origin") == 0) {
        f->origins++;
        f->origin = value;
    } else if (strcasecmp(name, "Authorization") == 0) {
        f->authorizations++;
        f->authorization = value;
    } else if (strcasecmp(name, "Content-Type") == 0) {
        f->type = value;
    }
    return MHD_YES;
}

static enum MHD_Result see_query(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    framing *f = context;
    if (!pl_route_knows(f->route, name)) {
        f->unknown_key = name;
        return MHD_NO;
    }
    for (int i = 0; i < f->key_count; i++) {
        if (strcmp(f->keys[i], name) == 0) {
            f->repeated_key = name;
            return MHD_NO;
        }
    }
    snprintf(f->keys[f->key_count++], sizeof f->keys[0], "%s", name);
    return MHD_YES;
}

/* What two parsers in a row may read differently is refused (request smuggling). */
static const char *framing_fault(const framing *f)
{
    if (f->bad_names) {
        return "a header name with a space in it";
    }
    if (f->hosts != 1) {
        return f->hosts ? "more than one Host header" : "no Host header";
    }
    if (f->lengths > 1) {
        return "more than one Content-Length header";
    }
    if (f->lengths && f->codings) {
        return "Content-Length beside Transfer-Encoding";
    }
    if (f->codings > 1 || (f->codings && strcasecmp(f->coding, "chunked") != 0)) {
        return "a Transfer-Encoding other than chunked";
    }
    if (f->origins > 1 || f->authorizations > 1) {
        return "Origin or Authorization sent twice";
    }
    return NULL;
}

static void judge_query(pl_request *r, framing *f)
{
    f->route = r->route;
    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, see_query, f);
    const char *key = f->unknown_key ? f->unknown_key : f->repeated_key;
    if (!key) {
        return;
    }
    pl_faults faults = {0};
    char pointer[128], expected[256] = "no query", hint[96] = "";
    snprintf(pointer, sizeof pointer, "/query/%.100s", key);
    size_t count = 0;
    for (size_t used = 0; count < PL_QUERY_KEYS && r->route->query[count]; count++) {
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s", count ? ", " : "",
                                 r->route->query[count]);
    }
    const char *near = pl_nearest(key, r->route->query, count);
    if (near && f->unknown_key) {
        snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    }
    pl_faults_add(&faults, pointer, f->unknown_key ? "unknown_key" : "duplicate_key", key, expected,
                  hint);
    pl_reply_problem(r, 400, "bad_query", "Bad query",
                     f->unknown_key ? "the query has a key that this resource does not know"
                                    : "the query says a key twice",
                     &faults);
    pl_faults_clear(&faults);
}

static bool type_is(const char *type, const char *wanted)
{
    size_t n = strlen(wanted);
    return type && strncasecmp(type, wanted, n) == 0 && (!type[n] || strchr("; \t", type[n]));
}

static uint64_t body_limit(const pl_request *r)
{
    switch (r->route ? r->route->takes : PL_TAKES_NOTHING) {
    case PL_TAKES_JSON:
        return (uint64_t)r->daemon->options.max_body;
    case PL_TAKES_BYTES:
        return (uint64_t)r->daemon->options.max_mesh;
    default:
        return SMALL_BODY_MAX;
    }
}

static void reply_too_large(pl_request *r)
{
    pl_reply_problemf(
        r, 413, "too_large", "Body too large", "the body may have at most %llu bytes here%s",
        (unsigned long long)body_limit(r),
        r->route->takes == PL_TAKES_JSON ? "; upload meshes with PUT /v1/meshes/{sha256}" : "");
}

static void judge_body(pl_request *r, const framing *f)
{
    bool has_body = r->chunked || r->declared > 0;
    const char *wanted = r->route->takes == PL_TAKES_BYTES ? "application/octet-stream"
                                                           : "application/json";
    bool unsafe = strcmp(r->route->method, "GET") != 0;
    if (unsafe && has_body && !type_is(f->type, wanted)) {
        pl_reply_problemf(r, 415, "unsupported_media_type", "Unsupported media type",
                          "Content-Type is '%.80s'; a body must be sent as %s",
                          f->type ? f->type : "", wanted);
    } else if (r->declared > body_limit(r)) {
        reply_too_large(r);
    }
}

static void judge_access(pl_request *r, const framing *f)
{
    r->principal = pl_auth_principal(r->daemon->auth, f->authorization);
    if (r->principal && !pl_principal_has(r->principal, r->route->scope)) {
        char scope[64];
        pl_scopes_write(r->route->scope, scope);
        pl_reply_problemf(r, 403, "missing_scope", "Not allowed",
                          "this request needs a credential with the scope '%s'", scope);
    } else if (!r->principal && r->route->scope != PL_SCOPE_PUBLIC) {
        pl_reply_problem(r, 401, "unauthorized", "Unauthorized",
                         f->authorization ? "the token is not one of this daemon's"
                                          : "send the header 'Authorization: Bearer TOKEN'; the "
                                            "owner's token is in the file token of the state "
                                            "directory",
                         NULL);
        pl_reply_header(r, "WWW-Authenticate", "Bearer realm=\"pliant\"");
    }
}

static void judge_route(pl_request *r, const char *method, const char *path)
{
    char allow[64];
    switch (pl_route_find(r->http->routes, method, path, &r->route, r->params, allow)) {
    case PL_MATCH_FOUND:
        return;
    case PL_MATCH_NO_PATH:
        pl_reply_problem(r, 404, "not_found", "Not found",
                         "nothing lies at this path; GET /openapi.json lists what there is", NULL);
        return;
    case PL_MATCH_NO_METHOD:
        pl_reply_problemf(r, 405, "method_not_allowed", "Method not allowed", "this path takes: %s",
                          allow);
        pl_reply_header(r, "Allow", "%s", allow);
        return;
    }
}

/* Whether a refusal is sent before the body, which closes the connection: where the client waits to
 * be asked for the body, or the body is very large. */
static bool refuse_now(pl_request *r)
{
    const char *expect = pl_request_header(r, "Expect");
    return r->declared > SWALLOW_MAX || (expect && strcasecmp(expect, "100-continue") == 0);
}

/* 406 where a form is asked for that the route never gives; its handler chooses among several. Not for
 * HEAD, which gives none. */
static void judge_accept(pl_request *r)
{
    char text[128];
    const char *types[4] = {NULL};
    int count = 0;
    snprintf(text, sizeof text, "%s", r->route->produces);
    for (char *rest = text, *type; count < 3 && (type = strtok_r(rest, ", ", &rest));) {
        types[count++] = type;
    }
    pl_request_accept(r, types);
}

/* True where the reply is to be sent at once, without the body. */
static bool judge(pl_request *r, const char *method, const char *path)
{
    framing f = {0};
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, see_header, &f);
    r->head = strcmp(method, "HEAD") == 0;
    r->declared = f.length;
    r->chunked = f.codings > 0;
    const char *fault = framing_fault(&f);
    if (fault) {
        pl_reply_problem(r, 400, "bad_framing", "Bad request", fault, NULL);
        pl_reply_header(r, "Connection", "close");
        return true;
    }
    if (!pl_auth_host_allowed(r->daemon->auth, f.host)) {
        pl_reply_problemf(r, 421, "misdirected", "Misdirected request",
                          "this daemon does not answer to the name '%.100s'; start it with "
                          "--allow-host to change that",
                          f.host);
    } else if (f.origin && !pl_auth_origin_allowed(f.origin, f.host)) {
        pl_reply_problem(r, 403, "foreign_origin", "Foreign origin",
                         "pages of another origin may not call this daemon", NULL);
    } else {
        judge_route(r, method, path);
    }
    if (!r->reply.status) {
        judge_access(r, &f);
    }
    if (!r->reply.status) {
        judge_query(r, &f);
    }
    if (!r->reply.status) {
        judge_body(r, &f);
    }
    if (!r->reply.status && strcmp(method, "GET") == 0) {
        judge_accept(r);
    }
    return r->reply.status && refuse_now(r);
}

/* ---- the body ----------------------------------------------------------------------------------
 */

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
    if (e) {
        pl_reply_problemf(r, e == ENOSPC ? 507 : 500, e == ENOSPC ? "disk_full" : "internal",
                          "The upload could not be stored", "%s", strerror(e));
    }
}

static void take_body(pl_request *r, const char *data, size_t size)
{
    r->received += size;
    if (r->reply.status) {
        return;
    }
    if (r->received > body_limit(r)) {
        reply_too_large(r);
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

/* ---- answering ---------------------------------------------------------------------------------
 */

static ssize_t read_source(void *context, uint64_t position, char *out, size_t room)
{
    pl_request *r = context;
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
        /* A body of unknown size is written straight into the connection's buffer. */
        size_t block = reply->size < 0 ? 128 : CONNECTION_MEMORY;
        return MHD_create_response_from_callback(size, block, read_source, r, NULL);
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
    int class = r->reply.status / 100;
    if (r->route && class >= 1 && class <= 5) {
        atomic_fetch_add_explicit(&r->http->counts[r->route - r->http->routes][class], 1,
                                  memory_order_relaxed);
    }
    pl_say(PL_LEVEL_DEBUG, "%s %s -> %d", r->route ? r->route->method : "-",
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
    for (int i = 0; i < reply->header_count; i++) {
        MHD_add_response_header(response, reply->names[i], reply->values[i]);
    }
    if (atomic_load(&r->daemon->draining) && !reply->source) {
        MHD_add_response_header(response, "Connection", "close");
    }
    count_reply(r);
    enum MHD_Result queued = MHD_queue_response(r->connection, (unsigned int)reply->status,
                                                response);
    MHD_destroy_response(response);
    return queued;
}

static void run_in_pool(void *context)
{
    pl_request *r = context;
    const pl_route *route = r->route;
    route->handler(r);
    if (route->run != PL_RUN_CHECKS_DETACHED) {
        pl_request_finish(r);
    }
}

static void dispatch(pl_request *r)
{
    if (r->route->run == PL_RUN_HERE) {
        r->route->handler(r);
        return;
    }
    pl_pool *pool = r->route->run == PL_RUN_FILES ? r->daemon->files : r->daemon->checks;
    pl_request_park(r);
    if (!pl_pool_submit(pool, run_in_pool, r)) {
        pl_reply_problem(r, 503, "busy", "Busy", "too many requests wait for the same work", NULL);
        pl_reply_header(r, "Retry-After", "2");
        pl_request_finish(r);
    }
}

static pl_request *request_create(pl_http *http, struct MHD_Connection *connection)
{
    pl_request *r = calloc(1, sizeof *r);
    if (r) {
        r->connection = connection;
        r->http = http;
        r->daemon = http->daemon;
        atomic_fetch_add(&http->open_requests, 1);
    }
    return r;
}

static enum MHD_Result begin(pl_http *http, struct MHD_Connection *connection, const char *method,
                             const char *path, void **slot)
{
    pl_request *r = request_create(http, connection);
    if (!r) {
        return MHD_NO;
    }
    *slot = r;
    if (judge(r, method, path)) {
        return queue_reply(r);
    }
    if (!r->reply.status && r->route->sink) {
        r->sink = r->route->sink->open(r);
        if (!r->sink && refuse_now(r)) {
            return queue_reply(r);
        }
    }
    return MHD_YES;
}

/* Called by the library with the head, with each piece of the body, at the end of the body, and
 * again after each resume. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **slot)
{
    pl_request *r = *slot;
    if (!r) {
        return begin(context, connection, method, path, slot);
    }
    if (*size) {
        take_body(r, data, *size);
        *size = 0;
        return r->reply.status && r->received > body_limit(r) + SWALLOW_MAX ? MHD_NO : MHD_YES;
    }
    bool again = r->dispatched && r->route && r->route->run == PL_RUN_HERE;
    if (!r->reply.status && (!r->dispatched || again)) {
        r->dispatched = true;
        r->parked = false;
        dispatch(r);
        if (r->parked) {
            return MHD_YES;
        }
    }
    return queue_reply(r);
}

static void complete(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_RequestTerminationCode code)
{
    pl_http *http = context;
    pl_request *r = *slot;
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

/* ---- what request.c leaves to the library ------------------------------------------------------
 */

const char *pl_request_query(pl_request *r, const char *key)
{
    const char *value = NULL;
    if (MHD_lookup_connection_value_n(r->connection, MHD_GET_ARGUMENT_KIND, key, strlen(key),
                                      &value, NULL) == MHD_NO) {
        return NULL;
    }
    return value ? value : "";
}

const char *pl_request_header(pl_request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

void pl_request_park(pl_request *r)
{
    r->parked = true;
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

/* ---- the listener ------------------------------------------------------------------------------
 */

static void log_line(void *context, const char *format, va_list args)
{
    char line[300];
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = 0;
    pl_say(PL_LEVEL_DEBUG, "http: %s", line);
}

/* Bind by hand, so that port 0 and both address families are one path. */
static int listen_on(pl_daemon *d)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    bool is_v6 = strchr(d->options.listen_host, ':') != NULL;
    v6.sin6_port = v4.sin_port = htons((uint16_t)d->options.listen_port);
    inet_pton(is_v6 ? AF_INET6 : AF_INET, d->options.listen_host,
              is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr);
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    struct sockaddr *address = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t size = is_v6 ? sizeof v6 : sizeof v4;
    if (fd < 0 || bind(fd, address, size) != 0 || listen(fd, 511) != 0 ||
        getsockname(fd, address, &size) != 0) {
        pl_say(PL_LEVEL_ERROR, "can not listen on %s port %d: %s", d->options.listen_host,
               d->options.listen_port, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    snprintf(d->url, sizeof d->url, is_v6 ? "http://[%s]:%d" : "http://%s:%d",
             d->options.listen_host, ntohs(is_v6 ? v6.sin6_port : v4.sin_port));
    return fd;
}

/* Undo %XX. A text with %00 in it is left as it came: decoded it would end there, and name something
 * that was not asked for. As it came it names nothing. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

/* Strictness 0, not 1: what 1 adds is a refusal of requests without Host, with an answer whose head
 * is sent twice; framing_fault refuses them well. */
static struct MHD_Daemon *start_library(pl_http *http)
{
    const pl_options *o = &http->daemon->options;
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                         MHD_USE_ERROR_LOG | (strchr(o->listen_host, ':') ? MHD_USE_IPv6 : 0);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned int threads = online < 2 ? 2 : online > 8 ? 8 : (unsigned int)online;
    unsigned int connections = (unsigned int)o->max_connections;
    unsigned int per_ip = pl_options_loopback(o) || o->behind_proxy ? connections
                                                                    : CONNECTIONS_PER_FOREIGN_IP;
    /* A pool splits the limit evenly, so round up for every thread to have at least one. */
    connections = (connections + threads - 1) / threads * threads;
    return MHD_start_daemon(flags, 0, NULL, NULL, answer, http, MHD_OPTION_EXTERNAL_LOGGER,
                            log_line, NULL, MHD_OPTION_LISTEN_SOCKET, http->listen_fd,
                            MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_CONNECTION_LIMIT,
                            connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_ip,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)o->idle_timeout,
                            MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_NOTIFY_COMPLETED, complete,
                            http, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
}

pl_http *pl_http_create(pl_daemon *daemon, const pl_route *routes)
{
    size_t count = 0;
    while (routes[count].method) {
        count++;
    }
    pl_http *http = calloc(1, sizeof *http);
    if (!http) {
        return NULL;
    }
    http->daemon = daemon;
    http->routes = routes;
    http->counts = calloc(count, sizeof *http->counts);
    http->listen_fd = http->counts ? listen_on(daemon) : -1;
    daemon->http = http; /* the first request may come before this returns */
    http->mhd = http->listen_fd >= 0 ? start_library(http) : NULL;
    if (!http->mhd) {
        if (http->listen_fd >= 0) {
            pl_say(PL_LEVEL_ERROR, "the HTTP library did not start");
            close(http->listen_fd);
        }
        free(http->counts);
        free(http);
        daemon->http = NULL;
        return NULL;
    }
    return http;
}

void pl_http_quiesce(pl_http *http)
{
    if (http->listen_fd >= 0) {
        MHD_quiesce_daemon(http->mhd);
        close(http->listen_fd);
        http->listen_fd = -1;
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
    MHD_stop_daemon(http->mhd);
    free(http->counts);
    free(http);
}

int64_t pl_http_count(const pl_http *http, size_t route, int status_class)
{
    return atomic_load_explicit(&http->counts[route][status_class], memory_order_relaxed);
}

const pl_route *pl_http_routes(const pl_http *http)
{
    return http->routes;
}

int64_t pl_http_connections(const pl_http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->mhd,
                                                           MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? (int64_t)info->num_connections : 0;
}
