/* check_result.h - interprets a finished preflight: the session's memory, the scene's faults, and the next state of a
 * session in `checking`.
 */
#ifndef PLIANT_SERVER_RUN_CHECK_RESULT_H
#define PLIANT_SERVER_RUN_CHECK_RESULT_H

#include "protocol/log/session_dir.h"
#include "server/run/machine.h"
#include "server/run/preflight_run.h"
#include "server/sessions/sessions.h"

/* Bytes that a session's worker may use: as the scene asks, else four times the estimate plus 1 GiB; 0 while there is
 * no estimate. */
double pl_check_memory_limit(double asked, double estimate);
/* Bytes of GPU memory reserved for a session; 0: it runs on the CPU. */
double pl_check_gpu_memory(const pl_preflight *report);

/* Read the report in the directory; faults are moved or added to `faults`. False with errno if the check itself failed,
 * not the scene. */
bool pl_check_read(const pl_machine *machine, const char *directory, pl_preflight_outcome outcome,
                   pl_preflight *report, pl_faults *faults);
/* A session in `checking` becomes queued, paused, rejected, cancelled or failed. False if too few open files or memory
 * prevented reading or syncing its files; it then stays in `checking`. */
bool pl_check_conclude(pl_sessions *sessions, const pl_machine *machine, pl_session *session,
                       pl_preflight_outcome outcome, pl_faults *faults);

/* Most cores of a session whose scene does not say: as many as are worthwhile, on this machine. */
int64_t pl_check_cores(const pl_machine *machine, const pl_preflight *report);
/* Expected seconds of a run of so many frames on its fewest cores; 0: unknown, or it has no end. */
double pl_check_estimate(const pl_preflight *report, int64_t frames);

#endif
