/* memory_group.h - a worker enters the control group that the daemon made for its memory. The daemon
 * puts it there as well, but may come late on a busy machine, and the kernel counts memory where the
 * process was when it first touched it.
 */
#ifndef PLIANT_SERVER_WORKER_MEMORY_GROUP_H
#define PLIANT_SERVER_WORKER_MEMORY_GROUP_H

/* Where that fails the daemon's own try decides, and says so in its log. Before privileges are dropped
 * and the sandbox is entered. */
void pl_memory_group_enter(const char *directory);

#endif
