/* worker_log.h - a worker's few messages, in DIR/worker.log: what it runs, its set-up time, how it ended. Each line is
 * one write, so that a killed worker leaves no half line of another thread.
 */
#ifndef PLIANT_SERVER_WORKER_WORKER_LOG_H
#define PLIANT_SERVER_WORKER_WORKER_LOG_H

#include "engine/scene/fault.h"

/* Append to DIR/worker.log from now on: open it and make it standard error, so that libraries' output goes there too.
 * False with errno if it cannot be opened. */
bool pl_worker_log_open(int directory);

/* Open DIR/worker.log for a session that shares its process; -1 with errno on failure. */
int pl_worker_log_open_own(int directory);
/* Set, and get, where the calling thread's lines go; standard error by default. */
void pl_worker_log_use(int log);
int pl_worker_log_used(void);

/* One line to the calling thread's log: UTC time, then the text. */
__attribute__((format(printf, 1, 2))) void pl_worker_logf(const char *format, ...);

/* Write each fault as a line. */
void pl_worker_log_faults(const pl_faults *faults);

/* Seconds on the monotonic clock. */
double pl_worker_clock(void);

#endif
