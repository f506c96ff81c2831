/* queue_reason.h - why a queued session waits, in words. */
#ifndef PLIANT_SERVER_RUN_QUEUE_REASON_H
#define PLIANT_SERVER_RUN_QUEUE_REASON_H

#include "server/schedule/schedule.h"
#include "server/sessions/session.h"

/* `no_gpu`: why the machine has no GPU; NULL if it has one. */
void pl_queue_reason(const pl_session *session, const pl_wait *wait, const pl_schedule_load *load,
                     const char *no_gpu, char *out, size_t size);

#endif
