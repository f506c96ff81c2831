/* control_group.h - files of control groups, and their counts of out-of-memory kills. protocol/machine/own_group.h
 * finds the daemon's own group.
 */
#ifndef PLIANT_SERVER_RUN_CONTROL_GROUP_H
#define PLIANT_SERVER_RUN_CONTROL_GROUP_H

#include "protocol/machine/own_group.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Open a group below another, given its descriptor; -1 with errno. */
int pl_control_group_open(int dir_fd, const char *name);
/* Write to a file of a group: 0, or an errno. */
int pl_control_group_put(int dir_fd, const char *file, const char *text);
/* Put a process into a group: 0, or an errno. */
int pl_control_group_enter(int dir_fd, pid_t pid);
/* Read a file of a group; NULL with errno. */
FILE *pl_control_group_read(int dir_fd, const char *file);

/* Number of the group's processes killed for lack of memory; -1 if unreadable. The directory's descriptor may be -1. */
int64_t pl_control_group_kills(int dir_fd, int version);
/* The same for the group that this process was in at the first call. */
int64_t pl_memory_kills(void);

#endif
