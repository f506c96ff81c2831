/* dispatch.h - runs a request's handler: on the HTTP thread, or in a pool while its connection is suspended. Requests
 * that need a check take turns between users. */
#ifndef PLIANT_SERVER_HTTP_DISPATCH_H
#define PLIANT_SERVER_HTTP_DISPATCH_H

#include "server/http/request.h"

/* Runs the handler of a complete request now, or parks the request and runs the handler in a pool. */
void pl_request_dispatch(pl_request *r);

#endif
