/* resizing.h - other cores for a worker that runs: the two files of protocol/log/cores.h as the daemon sees them. */
#ifndef PLIANT_SERVER_RUN_RESIZING_H
#define PLIANT_SERVER_RUN_RESIZING_H

#include "server/sessions/session.h"

/* Ask the session's worker to compute with `cores`; `number` is above every earlier one of its attempt. 0, or errno. */
int pl_resizing_ask(const pl_session *session, int64_t number, int64_t cores);
/* What the worker of a session's present attempt may be computing with: at most *cores, by what it was asked and what
 * it has answered; *number is the newest request's, *since_ms when that or its answer was written, since 1970; 0: there
 * was none. False, and all are as before, where it does not follow requests. */
bool pl_resizing_find(const pl_session *session, int64_t *number, int64_t *cores,
                      int64_t *since_ms);

#endif
