/* request_check.h - checks a request's head: framing that two parsers may read differently, foreign host names, pages
 * of other origins, paths, credentials, query keys, sizes and content types.
 */
#ifndef PLIANT_SERVER_HTTP_REQUEST_CHECK_H
#define PLIANT_SERVER_HTTP_REQUEST_CHECK_H

#include "server/http/request.h"

/* A rejected body up to this size is read: many clients send all of it before they look at the reply. */
enum { PL_SWALLOW_MAX = 64 << 20 };

/* Find route, parameters and principal, or make the reply that rejects the request. True if that is to be sent at once,
 * without reading the body. */
bool pl_request_check_head(pl_request *r, const char *method, const char *path);

/* True if a rejection is sent before the body, which closes the connection: the client waits to be asked for the body,
 * or the body is very large. */
bool pl_request_check_refuses_now(pl_request *r);
/* When all connections are taken, reject the request with 503, except for health, metrics and administrators. True if
 * rejected. */
bool pl_request_check_crowded(pl_request *r);
uint64_t pl_request_body_limit(const pl_request *r); /* bytes */
void pl_request_check_too_large(pl_request *r);      /* replies 413 */

#endif
