/* frame.h - one frame of a session as a reply: its record, an npy array, or a line of JSON. */
#ifndef PLIANT_SERVER_STREAMS_FRAME_H
#define PLIANT_SERVER_STREAMS_FRAME_H

#include "server/http/http.h"

void pl_handle_frame(pl_request *r);
/* 410 for a frame that was not kept, with the first kept frame. */
void pl_reply_pruned(pl_request *r, int64_t frame, int64_t first);

#endif
