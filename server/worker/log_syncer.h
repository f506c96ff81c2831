/* log_syncer.h - a thread that brings the log to the disk at least each second, so that the solver
 * never waits for an fdatasync.
 */
#ifndef PLIANT_SERVER_WORKER_LOG_SYNCER_H
#define PLIANT_SERVER_WORKER_LOG_SYNCER_H

#include "protocol/log.h"

typedef struct pl_log_syncer pl_log_syncer;
/* Start the thread; the writer must outlive it. PL_NO_MEMORY where none can be started. */
pl_status pl_log_syncer_start(pl_log_writer *log, pl_log_syncer **out);
/* Say that something was appended. Cheap. */
void pl_log_syncer_mark(pl_log_syncer *s);
/* errno of the first sync that failed, else 0. */
int pl_log_syncer_error(const pl_log_syncer *s);
/* End the thread without a last sync, and release it. NULL is allowed. */
void pl_log_syncer_stop(pl_log_syncer *s);

#endif
