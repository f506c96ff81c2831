/* control_requests.h - requests that steer a session: controls, which change its computation, and steps. A control is
 * checked against the session's scene and is durable in control.log before the reply. It takes effect from the next
 * frame that the worker begins; that frame's metrics name it (`control`).
 */
#ifndef PLIANT_SERVER_API_CONTROL_REQUESTS_H
#define PLIANT_SERVER_API_CONTROL_REQUESTS_H

#include "server/http/http.h"

void pl_handle_control(pl_request *r);
/* the session's controls, and the frame at which each took effect */
void pl_handle_controls(pl_request *r);
void pl_handle_step(pl_request *r);

#endif
