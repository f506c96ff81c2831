/* own_request.h - a request that the daemon itself makes on behalf of a user. Handlers and their callees treat it like
 * any other. It has a body and a principal, but no connection, headers or query, and cannot wait.
 */
#ifndef PLIANT_SERVER_HTTP_OWN_REQUEST_H
#define PLIANT_SERVER_HTTP_OWN_REQUEST_H

#include "server/http/http.h"

/* The parts of the daemon that handlers reach through these requests. */
typedef struct pl_own_host {
    pl_daemon *daemon;
} pl_own_host;

/* Acquires the principal, takes the body (malloc'ed). NULL, with the body freed, without memory. */
pl_request *pl_own_request_create(const pl_own_host *host, pl_principal *principal, char *body,
                                  size_t length);
void pl_own_request_destroy(pl_request *r); /* NULL is allowed */
/* The reply; 0 and "" before one is made. */
int pl_own_request_status(const pl_request *r);
const char *pl_own_request_reply(const pl_request *r);

#endif
