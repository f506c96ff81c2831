/* memory_groups.h - a control group for each worker. The kernel holds a worker to its memory limit and
 * says, by the group, which worker it killed. RLIMIT_DATA stays (protocol/log/memory_limit.h).
 *
 *     OWN                                  version 1: the daemon's own group
 *     OWN/pliant-daemon                    version 2: the daemon, for a group that has groups with
 *                                          limits holds no process itself
 *     OWN/pliant-DEVICE.INODE-ID-ATTEMPT   a worker's: of the state's directory, session and attempt
 *
 * Groups of another daemon have another state's numbers. Nothing is written outside of OWN. On the
 * supervisor's thread only, but for opening and finding.
 */
#ifndef PLIANT_SERVER_RUN_MEMORY_GROUPS_H
#define PLIANT_SERVER_RUN_MEMORY_GROUPS_H

#include "server/base/options.h"
#include "server/run/control_group.h"

#include <sys/types.h>

enum { PL_MEMORY_GROUP_NAME = 112 };

/* NULL stands for a daemon without them, in every function. */
typedef struct pl_memory_groups pl_memory_groups;

/* Groups below `own`. NULL with `why` where none can be made there. */
pl_memory_groups *pl_memory_groups_open(const pl_control_group *own, int state_fd,
                                        char why[PL_WHY_NO_GROUP]);
/* As --memory-groups says; the log says what came of it. False where they must be and cannot. */
bool pl_memory_groups_start(const pl_options *options, int state_fd, pl_memory_groups **out);
void pl_memory_groups_close(pl_memory_groups *groups);

/* A new group with these limits (bytes; 0: none) for a worker that is started next. False with "" and,
 * where groups can be made otherwise, a line in the log: the worker then goes without. */
bool pl_memory_groups_make(pl_memory_groups *groups, const char *session, int64_t attempt,
                           uint64_t bytes, char name[PL_MEMORY_GROUP_NAME]);
/* Its directory, for a worker that enters it by itself. False where that is too long. */
bool pl_memory_groups_path(const pl_memory_groups *groups, const char *name, char *out,
                           size_t size);
/* Put a process into it. Where that fails, a line in the log, and the name is "". */
void pl_memory_groups_enter(pl_memory_groups *groups, char name[PL_MEMORY_GROUP_NAME], pid_t pid);
/* The group of the session's newest attempt from this one on, which an earlier daemon made. */
bool pl_memory_groups_find(const pl_memory_groups *groups, const char *session, int64_t attempt,
                           char name[PL_MEMORY_GROUP_NAME]);
/* Processes of it that the kernel killed for want of memory; -1: not known, or no group. */
int64_t pl_memory_groups_kills(const pl_memory_groups *groups, const char *name);
/* Its worker has ended. Where a process is left in it, it is for pl_memory_groups_sweep. */
void pl_memory_groups_remove(pl_memory_groups *groups, const char *name);
/* Removes empty groups of this state that are not in use: at the first call, those that earlier daemons
 * left; later, those that could not be removed at once. Returns when it should be called next, on
 * pl_monotonic_ms; INT64_MAX: when something has happened. */
int64_t pl_memory_groups_sweep(pl_memory_groups *groups, int64_t now_ms,
                               bool (*in_use)(void *context, const char *name), void *context);

#endif
