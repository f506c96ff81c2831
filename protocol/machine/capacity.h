/* capacity.h - cores and memory available to this process. A container or a service often has less than its machine:
 * CPU affinity and the limits of its control group and all groups above it.
 */
#ifndef PLIANT_PROTOCOL_MACHINE_CAPACITY_H
#define PLIANT_PROTOCOL_MACHINE_CAPACITY_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

/* Limits, each with its source: "machine", "affinity" or "control_group". */
typedef struct pl_capacity {
    int cores;                                                  /* 1 or more; rounded down */
    int64_t memory;                                             /* bytes */
    const char *cores_by;                                       /* static */
    const char *memory_by;                                      /* static */
    char cores_file[PATH_MAX + 32], memory_file[PATH_MAX + 32]; /* limit files of groups, or "" */
} pl_capacity;

/* Size without control groups: cores of the machine, and CPUs the process may run on (0: unknown). */
typedef struct pl_machine_size {
    int cores, affinity;
    int64_t memory;
} pl_machine_size;

/* Finds the capacity of this process. */
void pl_capacity_own(pl_capacity *out);
/* Finds the capacity from the lines of /proc/self/cgroup and /proc/self/mountinfo; either may be NULL. */
void pl_capacity_find(const pl_machine_size *machine, FILE *groups, FILE *mounts, pl_capacity *out);

#endif
