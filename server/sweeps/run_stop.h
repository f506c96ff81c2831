/* run_stop.h - whether a run has a record that ends it. */
#ifndef PLIANT_SERVER_SWEEPS_RUN_STOP_H
#define PLIANT_SERVER_SWEEPS_RUN_STOP_H

#include "protocol/sweep/sweep.h"

bool pl_run_stop_wanted(const pl_run_stop *stop);
/* Look at the records of a session's directory from frame *from on, which becomes the first that was not looked at.
 * With the number and its frame in `why`, which may be NULL. */
bool pl_run_stop_met(const pl_run_stop *stop, const char *directory, int64_t *from, char why[200]);

#endif
