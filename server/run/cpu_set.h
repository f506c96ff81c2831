/* cpu_set.h - sets of CPUs as texts, "0-3,8", and the kernel's affinities. Linux. */
#ifndef PLIANT_SERVER_RUN_CPU_SET_H
#define PLIANT_SERVER_RUN_CPU_SET_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* False where it is no such text, or has a CPU that a cpu_set_t has no place for. */
bool pl_cpu_set_parse(const char *text, cpu_set_t *out);
/* Malloc'ed; NULL for an empty set or without memory. */
char *pl_cpu_set_print(const cpu_set_t *set);

/* What a process (0: the calling thread) may run on; malloc'ed, NULL where that cannot be told. */
char *pl_cpu_set_of(pid_t pid);
/* All threads of a process onto this set, its later ones with them. 0, or errno. */
int pl_cpu_set_pin(pid_t pid, const char *set);

/* The calling thread on this set (NULL: no change) until it is put back, so that a child that it begins is on it from
 * its first instruction. */
void pl_cpu_set_enter(const char *set, cpu_set_t *before);
void pl_cpu_set_leave(const char *set, const cpu_set_t *before);

#endif
