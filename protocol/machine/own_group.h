/* own_group.h - the control group that this process is in, in version 1 or 2 of the kernel's interface.
 */
#ifndef PLIANT_PROTOCOL_MACHINE_OWN_GROUP_H
#define PLIANT_PROTOCOL_MACHINE_OWN_GROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PL_WHY_NO_GROUP = 400 }; /* characters of a reason, with its NUL */

typedef struct pl_control_group {
    int version;         /* 1 or 2 */
    char path[PATH_MAX]; /* its directory */
    size_t top;          /* characters of the directory that the hierarchy is mounted at */
} pl_control_group;

/* Finds the group that applies to a controller ("memory", "cpu") in the lines of /proc/self/cgroup and
 * /proc/self/mountinfo: version 1 if the controller has its own hierarchy, else version 2. False with the reason in
 * `why`. */
bool pl_control_group_find(FILE *groups, FILE *mounts, const char *controller,
                           pl_control_group *out, char why[PL_WHY_NO_GROUP]);
/* Finds the group of this process. */
bool pl_control_group_own(const char *controller, pl_control_group *out, char why[PL_WHY_NO_GROUP]);

#endif
