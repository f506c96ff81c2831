/* crash_report.h - writes a worker's crash to worker.log: the signal, the address and the call stack. The daemon puts
 * the end of worker.log into the session's failure.
 */
#ifndef PLIANT_SERVER_WORKER_CRASH_REPORT_H
#define PLIANT_SERVER_WORKER_CRASH_REPORT_H

/* Report fatal signals of this process from now on; they still end it. */
void pl_crash_report_begin(void);

#endif
