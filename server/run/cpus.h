/* cpus.h - which CPUs each worker runs on: as many as it has cores, nobody else's, and of one NUMA node where they fit.
 * A set is a text as the kernel writes it, "0-3,8", or NULL for a worker that is not pinned. No lock of its own.
 */
#ifndef PLIANT_SERVER_RUN_CPUS_H
#define PLIANT_SERVER_RUN_CPUS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_cpus pl_cpus;

/* The CPUs of a set for sessions with `cores` cores together, and their NUMA nodes as `nodes` has them
 * ("/sys/devices/system/node"); without it they are one. NULL: fewer CPUs than cores, a set that is none, or out of
 * memory; then nothing is pinned. */
pl_cpus *pl_cpus_create(const char *set, int64_t cores, const char *nodes);
void pl_cpus_destroy(pl_cpus *cpus);

/* The set of a worker that had `own` and has so many cores from now on: what it gets or gives back is changed in it, the
 * rest stays. Malloc'ed; NULL for 0 cores, where there are too few or out of memory: then it has none. `cpus` may be
 * NULL. */
char *pl_cpus_change(pl_cpus *cpus, const char *own, int64_t cores);
/* A worker runs on this set already. False, and nothing is taken, where these are not `cores` CPUs that are free. */
bool pl_cpus_claim(pl_cpus *cpus, const char *set, int64_t cores);

#endif
