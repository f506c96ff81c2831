/* http.h - requests and replies, independent of the HTTP library (confined to http.c).
 *
 * A request is matched to a row of the route table and checked (framing, Host, Origin, token, Content-Type, query keys,
 * body size). Its body is collected, and its handler runs: on the HTTP thread itself (PL_RUN_HERE: memory only, far
 * below a millisecond), or in a pool while the connection is suspended. A handler ends in exactly one pl_reply_* call.
 * A request's memory lives until its reply has been sent or its connection is gone.
 */
#ifndef PLIANT_SERVER_HTTP_HTTP_H
#define PLIANT_SERVER_HTTP_HTTP_H

#include "engine/scene/fault.h"
#include "server/base/counters.h"
#include "server/base/options.h"
#include "server/base/pool.h"
#include "server/base/ticker.h"
#include "server/http/principal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct pl_daemon pl_daemon; /* base/daemon.h; passed to handlers, opaque in http/ */
typedef struct pl_http pl_http;
typedef struct pl_request pl_request;

typedef enum pl_run {
    PL_RUN_HERE,
    PL_RUN_FILES,  /* in the pool for short file work */
    PL_RUN_CHECKS, /* in the pool for requests that need a check; then in another pool */
} pl_run;

typedef enum pl_takes { PL_TAKES_NOTHING, PL_TAKES_JSON, PL_TAKES_BYTES } pl_takes;

/* Receives the bytes of a PL_TAKES_BYTES body as they arrive, on the HTTP thread. */
typedef struct pl_sink {
    void *(*open)(pl_request *r);               /* NULL if it has replied */
    int (*write)(void *, const char *, size_t); /* 0, or an errno */
    void (*close)(void *);                      /* when the request ends, however it ends */
} pl_sink;

enum { PL_PATH_PARAMS = 3, PL_QUERY_KEYS = 16 };
typedef struct pl_route {
    const char *method;
    const char *path; /* "/v1/sessions/{id}/frames/{k}" */
    void (*handler)(pl_request *r);
    pl_run run;
    pl_scope scope;
    pl_takes takes;
    const char *query[PL_QUERY_KEYS]; /* known keys, NULL-terminated if fewer */
    const char *produces;             /* media types */
    const char
        *replies;     /* "201 Session, 204": statuses and their documents (replies.h); NULL: 200 */
    const char *body; /* document that it accepts: "#Scene" */
    const char *summary;
    const pl_sink *sink;
    bool unlimited; /* exempt from the rate limit */
    bool stores;    /* 507 while the disk is full */
} pl_route;

/* Claims in a request's headers; NULL if not sent. */
typedef struct pl_claims {
    const char *authorization, *cookie;
    int64_t uid; /* at the other end of a unix socket; -1 for other connections */
} pl_claims;

/* Decisions about a request that the rooms above make. */
typedef struct pl_http_policy {
    /* The principal that the claims stand for, with a reference, or NULL. */
    pl_principal *(*authenticate)(void *authenticator, const pl_claims *claims);
    void *authenticator;
    /* The same for a signed address: one GET. */
    pl_principal *(*authenticate_address)(void *signer, pl_request *r, const char *path);
    void *signer;
    /* True if the rate limit allows it; false after replying 429. */
    bool (*rate_allows)(void *rate, pl_request *r);
    void *rate;
    /* True if a JSON request that needs a check may wait for it; `ahead` requests of its user already wait. False after
     * replying. On the HTTP thread. */
    bool (*has_room)(pl_request *r, const pl_route *route, int64_t ahead);
    /* Called when the reply is made. */
    void (*note)(void *notes, pl_request *r);
    void *notes;
} pl_http_policy;

/* All that it points to must outlive the server. */
typedef struct pl_http_setup {
    const pl_route *routes; /* ends with a row whose method is NULL */
    pl_http_policy policy;
    const pl_options *options;
    pl_counters *counters;
    const _Atomic bool *draining;
    struct pl_disk *disk; /* NULL: has room */
    pl_tickers *tickers;
    pl_pool *files, *checks; /* where PL_RUN_FILES and PL_RUN_CHECKS run */
    pl_pool *commits;        /* where PL_RUN_CHECKS requests continue */
    pl_daemon *daemon;       /* passed to handlers by their request */
} pl_http_setup;

/* Start listening. False with a line in the log. Sets the url, and sets *out before the first request, so possibly
 * before this returns. */
bool pl_http_create(const pl_http_setup *setup, char url[PL_URL_MAX], pl_http **out);
const pl_http_setup *pl_http_setup_of(const pl_http *http);
/* Accept no more connections; running requests continue. */
void pl_http_quiesce(pl_http *http);
/* Wait up to timeout_ms for the open requests to end, then close everything. The holders of all suspended requests must
 * have resumed them before. */
void pl_http_destroy(pl_http *http, int timeout_ms);

const struct pl_reply_counts *pl_http_reply_counts(const pl_http *http);
const pl_route *pl_http_routes(const pl_http *http);
int64_t pl_http_connections(const pl_http *http);

/* ---- the request ---- */
pl_daemon *pl_request_daemon(const pl_request *r); /* for handlers of the route table */
/* The principal of the request; NULL on public routes without a credential. Lives as long as the request; a stream that
 * needs it longer acquires it. */
pl_principal *pl_request_principal(const pl_request *r);
const char *pl_request_owner(const pl_request *r);              /* the principal's user, or NULL */
const char *pl_request_param(const pl_request *r, int i);       /* i-th {...} of the path */
const char *pl_request_query(pl_request *r, const char *key);   /* NULL if not given */
const char *pl_request_header(pl_request *r, const char *name); /* NULL if not sent */
const char *pl_request_body(const pl_request *r, size_t *length);
void *pl_request_sink(const pl_request *r); /* the result of sink->open */
bool pl_request_is_head(const pl_request *r);
bool pl_request_secure(pl_request *r); /* the client uses TLS, to the daemon or to the proxy */

/* Choose the type that the Accept header prefers, by its index in the NULL-terminated list `types` (0 if all are equal
 * or the header is missing); -1 after replying 406 with the list. */
int pl_request_accept(pl_request *r, const char *const *types);
/* A whole number from the query: true with *out (`fallback` if not given), or false after replying 400. */
bool pl_request_integer(pl_request *r, const char *key, int64_t minimum, int64_t maximum,
                        int64_t fallback, int64_t *out);
bool pl_request_flag(pl_request *r, const char *key, bool *out); /* 0 1 true false, or "" */
bool pl_request_surface(pl_request *r, bool *out);               /* vertices=all|surface */

/* ---- the reply: one of these ends a handler ---- */
void pl_reply_json(pl_request *r, int status, char *text); /* takes the text; NULL is a 500 */
void pl_reply_text(pl_request *r, int status, const char *type, char *text, size_t length);
void pl_reply_empty(pl_request *r, int status);
void pl_reply_problem(pl_request *r, int status, const char *code, const char *title,
                      const char *detail, const pl_faults *faults);
__attribute__((format(printf, 5, 6))) void pl_reply_problemf(pl_request *r, int status,
                                                             const char *code, const char *title,
                                                             const char *format, ...);
/* 400: a query value, the value found and the values expected. */
void pl_reply_bad_query(pl_request *r, const char *key, const char *got, const char *expected);
/* Reply with a copy of `prefix`, then `size` bytes of fd (taken) from offset. */
void pl_reply_file(pl_request *r, const char *type, int fd, uint64_t offset, uint64_t size,
                   const void *prefix, size_t prefix_size);

/* A reply whose bytes are produced as the connection takes them. */
enum { PL_SOURCE_END = -1, PL_SOURCE_ERROR = -2 };
typedef struct pl_source {
    /* Write up to `room` bytes to `out`. Returns how many, 0 after pl_request_suspend, or PL_SOURCE_*. */
    ssize_t (*read)(void *context, char *out, size_t room);
    void (*close)(void *context);
} pl_source;
void pl_reply_source(pl_request *r, const char *type, const pl_source *source, void *context);

/* Add a header to the reply, before or after the call that makes it. */
__attribute__((format(printf, 3, 4))) void pl_reply_header(pl_request *r, const char *name,
                                                           const char *format, ...);
/* Set ETag and Cache-Control; true if the client already has this version and 304 was replied. */
bool pl_reply_tagged(pl_request *r, const char *name, const char *caching);
/* The same for a document that never changes; it may depend on Accept. */
bool pl_reply_unchanged(pl_request *r, const char *etag_format, ...)
    __attribute__((format(printf, 2, 3)));
/* Cache-Control for a document that changes only with its session; with an ETag, so caches revalidate. True if a shared
 * cache may keep it for a while. */
bool pl_reply_settled(pl_request *r);
/* Reply with a text (malloc'ed, taken) and its hash as ETag: if settled, 200 or 304 as above, else an uncached 200. */
void pl_reply_settled_text(pl_request *r, bool settled, const char *type, char *text,
                           size_t length);
/* A whole document that changes only with the daemon's version or options: 200, or 304 by an ETag of its bytes. Takes
 * the text; NULL is a 500. */
void pl_reply_document(pl_request *r, const char *type, char *text);
/* True if a list of ETags has this one (with its quotes); with `strong`, weak ETags do not match. */
bool pl_etag_listed(const char *list, const char *etag, bool strong);

/* ---- waiting ---- */
/* Suspend a request of a PL_RUN_HERE handler that cannot reply yet. Some thread must call pl_request_finish exactly
 * once; then the handler runs again (unless it has already replied). */
void pl_request_park(pl_request *r);
void pl_request_finish(pl_request *r);
/* Attach an object of the handler that lives as long as the request. */
void pl_request_attach(pl_request *r, void *attached, void (*release)(void *));
void *pl_request_attached(const pl_request *r);
/* Called by a handler in a pool that must wait for more than a moment: it gives its thread back. After the handler has
 * returned without a reply, begin(context) is called as the last action. Some thread must then call pl_request_continue
 * once, and `next` runs as a handler: in the same pool, or in `commits` if that was `checks`. */
void pl_request_await(pl_request *r, void (*begin)(void *context), void *context);
void pl_request_continue(pl_request *r, void (*next)(pl_request *r));
/* When the request was complete, on pl_monotonic_ms. */
int64_t pl_request_arrived(const pl_request *r);
/* For sources: suspend inside read; resume from any thread while suspended. The holder's own mutex must ensure that
 * each suspend meets exactly one resume. */
void pl_request_suspend(pl_request *r);
void pl_request_resume(pl_request *r);

#endif
