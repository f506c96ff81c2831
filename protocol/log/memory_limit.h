/* memory_limit.h - what a worker's --memory comes to where the kernel holds it to it. The worker sets
 * the first for itself as RLIMIT_DATA: an allocation beyond it fails, and the worker says so in its
 * exit.json. The daemon sets the second for the worker's control group, where the kernel also counts
 * what it keeps for the process (page tables, stacks, cached files), and kills. It is larger, so that
 * a worker meets the first before the second.
 */
#ifndef PLIANT_PROTOCOL_LOG_MEMORY_LIMIT_H
#define PLIANT_PROTOCOL_LOG_MEMORY_LIMIT_H

#include <stdint.h>

/* Writable private memory that is mapped but hardly touched: BLAS work buffers, malloc's arenas. */
#define PL_MEMORY_BUFFERS ((uint64_t)192 << 20)
#define PL_MEMORY_STACK   ((uint64_t)8 << 20) /* of a thread */

static inline uint64_t pl_memory_limit_data(uint64_t bytes, int64_t threads)
{
    return bytes + PL_MEMORY_BUFFERS + (uint64_t)threads * PL_MEMORY_STACK;
}

/* A page table is a 512th of what it maps. */
static inline uint64_t pl_memory_limit_group(uint64_t bytes, int64_t threads)
{
    uint64_t data = pl_memory_limit_data(bytes, threads);
    return data + data / 128 + ((uint64_t)16 << 20);
}

#endif
