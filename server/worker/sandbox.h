/* sandbox.h - what a process that reads a stranger's scene and meshes gives up before it does so.
 *
 *   descriptors   everything but 0, 1, 2 closed
 *   privileges    no_new_privs: no set-uid program gives any back
 *   resources     address space, CPU seconds, 256 descriptors a session, no core dumps
 *   files         Landlock, where the kernel has it: the session's own directory (those of all that share a
 *                 worker) to read and write, system libraries and the CPU description to read, nothing else
 *   system calls  a seccomp filter: no sockets, no programs or processes started, no tracing, no
 *                 signals to others, no mounts, modules, keys, io_uring, changes of mode or owner
 *
 * The filter is a deny-list: what glibc, libgomp and a BLAS need differs from version to version,
 * and an allow-list that misses one call kills a long run. Each limit stands by itself; one that
 * the kernel lacks is left out and said so in the report. Threads can still be created and inherit
 * everything, so enter before the first one is.
 */
#ifndef PLIANT_SERVER_WORKER_SANDBOX_H
#define PLIANT_SERVER_WORKER_SANDBOX_H

#include "engine/scene/fault.h"

#include <stdint.h>

typedef struct pl_sandbox {
    const int *directories; /* [count], open on those to read and write: one owner's */
    int count;
    uint64_t address_space; /* bytes, 0: no limit */
    uint64_t cpu_seconds;   /* 0: no limit */
    bool gpu;               /* leave the GPU driver's files open */
} pl_sandbox;

typedef struct pl_sandbox_report {
    int landlock;  /* ABI version in force, 0: the kernel has none */
    bool seccomp;  /* the filter is in force */
    char text[96]; /* the same in words, for worker.log */
} pl_sandbox_report;

/* First thing in main: close inherited descriptors from 3 up and keep the standard ones open (on
 * /dev/null where the caller closed them), so that no file is ever opened as 0, 1 or 2. */
void pl_sandbox_close_inherited(void);

/* Enter. PL_IO with errno only where a limit that the kernel has could not be applied: then the
 * caller ends rather than run without it. */
pl_status pl_sandbox_enter(const pl_sandbox *options, pl_sandbox_report *report);

/* Limit the memory that the process may use to `bytes`, plus what its threads' stacks and the
 * libraries' buffers take without being touched. May follow pl_sandbox_enter. */
pl_status pl_sandbox_limit_memory(uint64_t bytes, int32_t threads);

#endif
