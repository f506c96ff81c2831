/* memory_groups.h - a control group for each worker. The kernel enforces a worker's memory limit and reports, by the
 * group, which worker it killed. RLIMIT_DATA stays (protocol/log/memory_limit.h).
 *
 *     OWN                                  version 1: the daemon's own group
 *     OWN/pliant-daemon                    version 2: the daemon, because a group whose subgroups have
 *                                          limits cannot contain processes
 *     OWN/pliant-DEVICE.INODE-ID-ATTEMPT   a worker's: of the state's directory, session and attempt
 *
 * Groups of another daemon have another state's numbers. Nothing is written outside OWN. Only the supervisor's thread
 * uses these functions, except for opening and finding.
 */
#ifndef PLIANT_SERVER_RUN_MEMORY_GROUPS_H
#define PLIANT_SERVER_RUN_MEMORY_GROUPS_H

#include "server/base/options.h"
#include "server/run/control_group.h"

#include <sys/types.h>

enum { PL_MEMORY_GROUP_NAME = 112 };

/* In every function, NULL stands for a daemon without groups. */
typedef struct pl_memory_groups pl_memory_groups;

/* Groups below `own`. NULL with `why` if none can be created there. */
pl_memory_groups *pl_memory_groups_open(const pl_control_group *own, int state_fd,
                                        char why[PL_WHY_NO_GROUP]);
/* Applies --memory-groups and logs the result. False if the option is `on` and no groups can be created. */
bool pl_memory_groups_start(const pl_options *options, int state_fd, pl_memory_groups **out);
void pl_memory_groups_close(pl_memory_groups *groups);

/* Creates a group with this limit (bytes; 0: none) for a worker that is started next. If it fails, returns
 * false, sets `name` to "" and logs why; the worker then runs without a group. */
bool pl_memory_groups_make(pl_memory_groups *groups, const char *session, int64_t attempt,
                           uint64_t bytes, char name[PL_MEMORY_GROUP_NAME]);
/* The group's directory, which the worker joins by itself. False if the path does not fit. */
bool pl_memory_groups_path(const pl_memory_groups *groups, const char *name, char *out,
                           size_t size);
/* Moves a process into the group. On failure, logs it and sets the name to "". */
void pl_memory_groups_enter(pl_memory_groups *groups, char name[PL_MEMORY_GROUP_NAME], pid_t pid);
/* Find the group of the session's newest attempt, at least this one, that an earlier daemon made. */
bool pl_memory_groups_find(const pl_memory_groups *groups, const char *session, int64_t attempt,
                           char name[PL_MEMORY_GROUP_NAME]);
/* Number of the group's processes that the kernel killed for lack of memory; -1: unknown, or no group. */
int64_t pl_memory_groups_kills(const pl_memory_groups *groups, const char *name);
/* Removes the group of a worker that has ended; pl_memory_groups_sweep retries if a process is left in it. */
void pl_memory_groups_remove(pl_memory_groups *groups, const char *name);
/* Remove empty, unused groups of this state: at the first call, those of earlier daemons; later, those that could not
 * be removed at once. Returns when to call it next, on pl_monotonic_ms; INT64_MAX: when something has happened. */
int64_t pl_memory_groups_sweep(pl_memory_groups *groups, int64_t now_ms,
                               bool (*in_use)(void *context, const char *name), void *context);

#endif
