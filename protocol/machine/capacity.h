/* capacity.h - how many cores and how much memory this process may use. A container or a service often has
 * less than its machine: the CPUs of its affinity, and what its control group and all groups above
 * that allow.
 */
#ifndef PLIANT_PROTOCOL_MACHINE_CAPACITY_H
#define PLIANT_PROTOCOL_MACHINE_CAPACITY_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

/* By what something is limited: "machine", "affinity" or "control_group". */
typedef struct pl_capacity {
    int cores;             /* 1 or more; a part of one is dropped */
    int64_t memory;        /* bytes */
    const char *cores_by;  /* static */
    const char *memory_by; /* static */
    char cores_file[PATH_MAX + 32], memory_file[PATH_MAX + 32]; /* of the control group, or "" */
} pl_capacity;

/* Before control groups: what the machine has, and on how many CPUs the process may run (0: unknown). */
typedef struct pl_machine_size {
    int cores, affinity;
    int64_t memory;
} pl_machine_size;

/* Of this process. */
void pl_capacity_own(pl_capacity *out);
/* By the lines of /proc/self/cgroup and /proc/self/mountinfo; either may be NULL. */
void pl_capacity_find(const pl_machine_size *machine, FILE *groups, FILE *mounts, pl_capacity *out);

#endif
