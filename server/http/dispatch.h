/* dispatch.h - where a request's handler runs: on the HTTP thread, or in a pool while its connection is suspended;
 * requests that need a check come by turns between users. */
#ifndef PLIANT_SERVER_HTTP_DISPATCH_H
#define PLIANT_SERVER_HTTP_DISPATCH_H

#include "server/http/request.h"

/* Run the handler, or have it run: the request is parked then. It is whole. */
void pl_request_dispatch(pl_request *r);

#endif
