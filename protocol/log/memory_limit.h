/* memory_limit.h - the limits that follow from a worker's --memory if the kernel enforces it. The worker sets the
 * first for itself as RLIMIT_DATA: an allocation beyond it fails, and the worker reports that in its exit.json. The
 * daemon sets the second for the worker's control group, in which the kernel also counts what it keeps for the
 * process (page tables, stacks, cached files), and kills beyond the limit. The second is larger, so a worker meets
 * the first before it.
 */
#ifndef PLIANT_PROTOCOL_LOG_MEMORY_LIMIT_H
#define PLIANT_PROTOCOL_LOG_MEMORY_LIMIT_H

#include <stdint.h>

/* Writable private memory that is mapped but hardly used: BLAS work buffers, malloc's arenas. */
#define PL_MEMORY_BUFFERS ((uint64_t)192 << 20)
#define PL_MEMORY_STACK   ((uint64_t)8 << 20) /* per thread */

static inline uint64_t pl_memory_limit_data(uint64_t bytes, int64_t threads)
{
    return bytes + PL_MEMORY_BUFFERS + (uint64_t)threads * PL_MEMORY_STACK;
}

/* A page table takes 1/512 of the memory that it maps. */
static inline uint64_t pl_memory_limit_group(uint64_t bytes, int64_t threads)
{
    uint64_t data = pl_memory_limit_data(bytes, threads);
    return data + data / 128 + ((uint64_t)16 << 20);
}

#endif
