/* sandbox_calls.h - the system calls as the sandbox leaves them, through a seccomp filter. */
#ifndef PLIANT_SERVER_WORKER_SANDBOX_CALLS_H
#define PLIANT_SERVER_WORKER_SANDBOX_CALLS_H

#include "engine/scene/fault.h"

/* Install the filter for every thread of the process; no_new_privs must be set. `traced` leaves out
 * the rules that a sanitizer's leak checker runs into (ptrace of and signals to its own helper).
 * *installed is false where the kernel or the architecture has no filters. PL_IO with errno where
 * installing it failed otherwise. */
pl_status pl_sandbox_calls(bool traced, bool *installed);

#endif
