/* worker_log.h - the few lines that a worker says, in DIR/worker.log: what it runs, how long it
 * took to set up, how it ended. Lines are one write each, so that a killed worker leaves no half
 * line of another thread.
 */
#ifndef PLIANT_SERVER_WORKER_WORKER_LOG_H
#define PLIANT_SERVER_WORKER_WORKER_LOG_H

#include "engine/scene/fault.h"

/* Append to DIR/worker.log from now on: opens it and makes it the standard error, so that what
 * libraries print lands there too. False with errno where it cannot be opened. */
bool pl_worker_log_open(int directory);

/* Open DIR/worker.log for a session that shares its process; -1 with errno where that fails. */
int pl_worker_log_open_own(int directory);
/* Where lines of the calling thread go from now on, and where they do: the standard error until then. */
void pl_worker_log_use(int log);
int pl_worker_log_used(void);

/* One line to the calling thread's log: UTC time, then the text. */
__attribute__((format(printf, 1, 2))) void pl_worker_logf(const char *format, ...);

/* Each fault as a line. */
void pl_worker_log_faults(const pl_faults *faults);

/* Seconds on the monotonic clock. */
double pl_worker_clock(void);

#endif
