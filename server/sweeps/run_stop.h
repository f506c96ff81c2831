/* run_stop.h - checks a run's records against its stop condition. */
#ifndef PLIANT_SERVER_SWEEPS_RUN_STOP_H
#define PLIANT_SERVER_SWEEPS_RUN_STOP_H

#include "protocol/sweep/sweep.h"

bool pl_run_stop_wanted(const pl_run_stop *stop);
/* True if a record from frame *from on meets the condition; `why`, which may be NULL, gets the number and its frame.
 * Sets *from to the first unread frame. */
bool pl_run_stop_met(const pl_run_stop *stop, const char *directory, int64_t *from, char why[200]);

#endif
