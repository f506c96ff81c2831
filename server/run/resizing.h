/* resizing.h - changes the number of cores of a running worker, by the two files of protocol/log/cores.h. */
#ifndef PLIANT_SERVER_RUN_RESIZING_H
#define PLIANT_SERVER_RUN_RESIZING_H

#include "server/sessions/session.h"

/* Asks the session's worker to compute with `cores`. `number` increases within an attempt. 0, or errno. */
int pl_resizing_ask(const pl_session *session, int64_t number, int64_t cores);
/* Finds how many cores the worker of the current attempt may use: *cores is the larger of the newest request and the
 * newest answer, *number the newest request's, *since_ms when either was written (ms since 1970; 0: no request yet).
 * Returns false, and leaves all unchanged, if the worker does not follow requests. */
bool pl_resizing_find(const pl_session *session, int64_t *number, int64_t *cores,
                      int64_t *since_ms);

#endif
