/* control_requests.h - requests that steer a session: controls, which change what it computes, and steps.
 * A control is judged by the session's scene, stands in control.log before it is answered for, and is in
 * effect from the next frame on that its worker begins; that frame's metrics name it (`control`).
 */
#ifndef PLIANT_SERVER_API_CONTROL_REQUESTS_H
#define PLIANT_SERVER_API_CONTROL_REQUESTS_H

#include "protocol/log/log.h"
#include "server/http/http.h"

void pl_handle_control(pl_request *r);
void pl_handle_controls(pl_request *r); /* those that it had, and from which frame on */
void pl_handle_step(pl_request *r);

/* The number of the control that is in effect at a frame, 0 for none, by its metrics or by those of the next
 * frame before `end` that can be read; *number is -1 where none can. 0, or ENOMEM and -1. */
int pl_control_in_effect(pl_log_reader *reader, int64_t frame, int64_t end, int64_t *number);

#endif
