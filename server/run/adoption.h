/* adoption.h - sessions that waited, ran or may have run under an earlier daemon are taken up again. */
#ifndef PLIANT_SERVER_RUN_ADOPTION_H
#define PLIANT_SERVER_RUN_ADOPTION_H

#include "server/run/executor.h"

/* Watch the session's worker if it lives; else conclude the session by the exit.json it left, else by
 * the crash rule. control.log outranks its row. Before the daemon is ready: until then nothing is
 * started. */
void pl_executor_adopt(pl_executor *executor, pl_session *session);

/* The same of a session on this machine. */
void pl_executor_adopt_worker(pl_executor *executor, pl_session *session);

#endif
