/* exports.h - a session's run in a format that other tools load, as a download: made while it is sent,
 * by one of a few threads, in constant memory (pipe.h). So many are made at once, and half of them for
 * one user; who asks for more is told to wait.
 */
#ifndef PLIANT_SERVER_STREAMS_EXPORTS_H
#define PLIANT_SERVER_STREAMS_EXPORTS_H

#include "server/http/http.h"

enum { PL_EXPORTS_MAX = 64 };

typedef struct pl_exports pl_exports;
/* `most` at once. NULL without memory or threads. */
pl_exports *pl_exports_create(pl_daemon *daemon, int most);
/* Wait for those that run, which streams' stop has stopped; later ones are refused. */
void pl_exports_stop(pl_exports *exports);
void pl_exports_destroy(pl_exports *exports); /* NULL is nothing */

/* A handler. */
void pl_handle_export(pl_request *r);

#endif
