/* control_requests.h - requests that steer a session: controls, which change what it computes, and steps.
 * A control is judged by the session's scene, stands in control.log before it is answered for, and is in
 * effect from the next frame on that its worker begins; that frame's metrics name it (`control`).
 */
#ifndef PLIANT_SERVER_API_CONTROL_REQUESTS_H
#define PLIANT_SERVER_API_CONTROL_REQUESTS_H

#include "server/http/http.h"

void pl_handle_control(pl_request *r);
void pl_handle_controls(pl_request *r); /* those that it had, and from which frame on */
void pl_handle_step(pl_request *r);

#endif
