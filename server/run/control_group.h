/* control_group.h - the control group in which the kernel counts this process's memory, in version 1
 * or 2 of its interface, and what the kernel says of it.
 */
#ifndef PLIANT_SERVER_RUN_CONTROL_GROUP_H
#define PLIANT_SERVER_RUN_CONTROL_GROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { PL_WHY_NO_GROUP = 400 }; /* characters of a reason, with its NUL */

typedef struct pl_control_group {
    int version;         /* 1 or 2 */
    char path[PATH_MAX]; /* its directory */
} pl_control_group;

/* By the lines of /proc/self/cgroup and /proc/self/mountinfo. False with the reason in `why`. */
bool pl_control_group_find(FILE *groups, FILE *mounts, pl_control_group *out,
                           char why[PL_WHY_NO_GROUP]);
/* The group that this process is in. */
bool pl_control_group_own(pl_control_group *out, char why[PL_WHY_NO_GROUP]);

/* A group below another, by its descriptor; -1 with errno. */
int pl_control_group_open(int dir_fd, const char *name);
/* Write to a file of a group: 0, or an errno. */
int pl_control_group_put(int dir_fd, const char *file, const char *text);
/* Put a process into a group: 0, or an errno. */
int pl_control_group_enter(int dir_fd, pid_t pid);
/* Read a file of a group; NULL with errno. */
FILE *pl_control_group_read(int dir_fd, const char *file);

/* How many processes of the group the kernel has killed for want of memory; -1 where that cannot be
 * read. The directory's descriptor may be -1. */
int64_t pl_control_group_kills(int dir_fd, int version);
/* The same of the group that this process was in at the first call. */
int64_t pl_memory_kills(void);

#endif
