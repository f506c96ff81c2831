/* request_check.h - what a request's head says against it: framing that two parsers may read differently, names
 * that are not ours, pages of other origins, paths, credentials, query keys, sizes and forms.
 */
#ifndef PLIANT_SERVER_HTTP_REQUEST_CHECK_H
#define PLIANT_SERVER_HTTP_REQUEST_CHECK_H

#include "server/http/request.h"

/* A refused body up to this is read: many clients send it all before they look at the answer. */
enum { PL_SWALLOW_MAX = 64 << 20 };

/* Finds route, parameters and principal, or makes the reply that refuses the request. True where that
 * is to be sent at once, without the body. */
bool pl_request_check_head(pl_request *r, const char *method, const char *path);

/* Whether a refusal is sent before the body, which closes the connection: where the client waits to
 * be asked for the body, or the body is very large. */
bool pl_request_check_refuses_now(pl_request *r);
/* All connections are taken: refuses the request with 503, but not health and metrics, nor an administrator's. True
 * where it has. */
bool pl_request_check_crowded(pl_request *r);
uint64_t pl_request_body_limit(const pl_request *r); /* bytes */
void pl_request_check_too_large(pl_request *r);      /* replies 413 */

#endif
