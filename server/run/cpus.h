/* cpus.h - assigns CPUs to workers: one for each core, disjoint, on one NUMA node if they fit. A set is a text as the
 * kernel writes it, "0-3,8", or NULL for a worker that is not pinned. It has no lock of its own.
 */
#ifndef PLIANT_SERVER_RUN_CPUS_H
#define PLIANT_SERVER_RUN_CPUS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_cpus pl_cpus;

/* Takes the CPUs of a set for sessions with `cores` cores together. `nodes` is the directory of NUMA nodes
 * ("/sys/devices/system/node"); NULL: a single node. Returns NULL, and nothing is pinned, with fewer CPUs than cores,
 * an invalid set, or out of memory. */
pl_cpus *pl_cpus_create(const char *set, int64_t cores, const char *nodes);
void pl_cpus_destroy(pl_cpus *cpus);

/* Changes a worker's set `own` to `cores` CPUs, keeping those that it can. Returns the new set, malloc'ed. Returns
 * NULL, and the worker has no CPUs, for 0 cores, too few free CPUs, or out of memory. `cpus` may be NULL. */
char *pl_cpus_change(pl_cpus *cpus, const char *own, int64_t cores);
/* Takes the set that a worker already runs on. Returns false, and takes nothing, unless it is `cores` free CPUs. */
bool pl_cpus_claim(pl_cpus *cpus, const char *set, int64_t cores);

#endif
