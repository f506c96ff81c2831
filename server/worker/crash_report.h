/* crash_report.h - a worker that crashes says so in worker.log: by which signal, at which address, and where it was. The
 * daemon puts the end of worker.log into the session's failure.
 */
#ifndef PLIANT_SERVER_WORKER_CRASH_REPORT_H
#define PLIANT_SERVER_WORKER_CRASH_REPORT_H

/* For signals of this process from now on; it still ends by them. */
void pl_crash_report_begin(void);

#endif
