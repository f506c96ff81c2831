/* cpu_set.h - sets of CPUs as texts, "0-3,8", and the kernel's affinities. Linux. */
#ifndef PLIANT_SERVER_RUN_CPU_SET_H
#define PLIANT_SERVER_RUN_CPU_SET_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Parses a set; false if it is invalid or has a CPU beyond a cpu_set_t. */
bool pl_cpu_set_parse(const char *text, cpu_set_t *out);
/* Malloc'ed; NULL for an empty set or without memory. */
char *pl_cpu_set_print(const cpu_set_t *set);

/* The affinity of a process (0: the calling thread), malloc'ed; NULL on errors. */
char *pl_cpu_set_of(pid_t pid);
/* Sets the affinity of all threads of a process, including later ones. 0, or errno. */
int pl_cpu_set_pin(pid_t pid, const char *set);

/* Moves the calling thread to this set (NULL: no change) until it is restored, so that a child starts there. */
void pl_cpu_set_enter(const char *set, cpu_set_t *before);
void pl_cpu_set_leave(const char *set, const cpu_set_t *before);

#endif
