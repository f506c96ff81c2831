/* exports.h - downloads a session's run in a format of other tools: generated while being sent, by one of a few threads
 * (export_slots.h), in constant memory (pipe.h).
 */
#ifndef PLIANT_SERVER_STREAMS_EXPORTS_H
#define PLIANT_SERVER_STREAMS_EXPORTS_H

#include "server/http/http.h"
#include "server/streams/export_slots.h"

void pl_handle_export(pl_request *r);

#endif
