/* request.h - a request's internals, for http.c and request.c; handlers see only server/http/http.h. */
#ifndef PLIANT_SERVER_HTTP_REQUEST_H
#define PLIANT_SERVER_HTTP_REQUEST_H

#include "server/base/logger.h"
#include "server/http/http.h"

enum { PL_REPLY_HEADERS = 12 };

typedef struct pl_reply {
    int status; /* 0: none yet */
    char type[64];
    char *text; /* malloc'ed; NULL with a source or an empty reply */
    size_t length;
    char *names[PL_REPLY_HEADERS], *values[PL_REPLY_HEADERS];
    int header_count;
    const pl_source *source;
    void *context;
    int64_t size; /* of a source; -1: unknown */
} pl_reply;

struct pl_request {
    void *connection; /* the HTTP library's */
    pl_http *http;
    pl_daemon *daemon;
    const pl_route *route;
    pl_principal *principal; /* a reference, or NULL */
    pl_logf_subject subject; /* its id and user, for the log */
    char params[PL_PATH_PARAMS][80];
    char *body;
    size_t length, capacity;
    uint64_t declared; /* Content-Length */
    uint64_t received;
    bool old;  /* HTTP/1.0 */
    bool torn; /* its head has NULs or folded lines */
    bool chunked, head, dispatched, parked;
    bool waited;                  /* waited for news, for any length of time */
    int64_t begun_us, arrived_ms; /* head was read; request was complete */
    void (*begin)(void *);        /* of pl_request_await; NULL: the handler has replied */
    void *begin_context;
    void (*next)(pl_request *r); /* the next handler in its pool; NULL: the route's */
    void *sink;
    void *attached;
    void (*attached_release)(void *);
    pl_reply reply;
};

void pl_reply_clear(pl_reply *reply);
/* The uid at the other end of a unix socket; -1 for other connections. */
int64_t pl_request_peer(pl_request *r);
/* The peer: an address, "unix", or behind a proxy the address that the proxy names. */
void pl_request_address(pl_request *r, char out[64]);
/* Call `see` for each header, or each key of the query, as received (a missing value is ""), until it returns false. */
void pl_request_each(pl_request *r, bool query,
                     bool (*see)(void *context, const char *name, const char *value),
                     void *context);

#endif
