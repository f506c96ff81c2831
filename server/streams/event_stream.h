/* event_stream.h - session events for clients: server-sent events, or a long poll. */
#ifndef PLIANT_SERVER_STREAMS_EVENT_STREAM_H
#define PLIANT_SERVER_STREAMS_EVENT_STREAM_H

#include "server/http/http.h"

void pl_handle_events(pl_request *r);         /* of every session that the caller may see */
void pl_handle_session_events(pl_request *r); /* of one session */

#endif
