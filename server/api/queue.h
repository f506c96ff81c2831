/* queue.h - the queue of waiting sessions, and the devices that sessions run on. */
#ifndef PLIANT_SERVER_API_QUEUE_H
#define PLIANT_SERVER_API_QUEUE_H

#include "server/http/http.h"

void pl_handle_queue(pl_request *r);
void pl_handle_devices(pl_request *r);
void pl_handle_drain(pl_request *r); /* drain a device until it is resumed or the daemon ends */
void pl_handle_undrain(pl_request *r);

#endif
