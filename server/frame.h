/* frame.h - one frame of a session as a reply: its record, an npy array, or a line of JSON. */
#ifndef PLIANT_SERVER_FRAME_H
#define PLIANT_SERVER_FRAME_H

#include "server/http.h"

void pl_handle_frame(pl_request *r);

#endif
