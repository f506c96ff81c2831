/* sandbox_calls.h - restricts system calls with a seccomp filter. */
#ifndef PLIANT_SERVER_WORKER_SANDBOX_CALLS_H
#define PLIANT_SERVER_WORKER_SANDBOX_CALLS_H

#include "engine/scene/fault.h"

/* Install the filter for every thread of the process; no_new_privs must be set. `traced` omits the rules that a
 * sanitizer's leak checker runs into (ptrace of and signals to its own helper). *installed is false if the kernel or
 * the architecture has no filters. PL_IO with errno if installing it failed for another reason. */
pl_status pl_sandbox_calls(bool traced, bool *installed);

#endif
