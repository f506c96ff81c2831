/* memory_group.h - a worker joins the control group that the daemon created for its memory. The daemon moves it there
 * as well, but may be late on a busy machine, and the kernel charges memory to the group where the process first
 * touched it.
 */
#ifndef PLIANT_SERVER_WORKER_MEMORY_GROUP_H
#define PLIANT_SERVER_WORKER_MEMORY_GROUP_H

/* On failure, the daemon's own attempt decides, and is logged there. Call it before privileges are dropped and the
 * sandbox is entered. */
void pl_memory_group_enter(const char *directory);

#endif
