/* sandbox.h - restricts a process before it reads a stranger's scene and meshes.
 *
 *   descriptors   everything but 0, 1, 2 closed
 *   privileges    no_new_privs: no set-uid program gives any back
 *   resources     address space, CPU seconds, 256 descriptors a session, no core dumps
 *   files         Landlock, if the kernel has it: read and write the session's own directory (or those of all
 *                 that share a worker), read system libraries and the CPU description, nothing else
 *   system calls  a seccomp filter: no sockets, no programs or processes started, no tracing, no
 *                 signals to others, no mounts, modules, keys, io_uring, changes of mode or owner
 *
 * The filter is a deny-list: the needs of glibc, libgomp and a BLAS differ from version to version, and an allow-list
 * that misses one call kills a long run. The restrictions are independent; one that the kernel lacks is skipped and
 * listed in the report. Threads can still be created and inherit everything, so enter the sandbox before creating one.
 */
#ifndef PLIANT_SERVER_WORKER_SANDBOX_H
#define PLIANT_SERVER_WORKER_SANDBOX_H

#include "engine/scene/fault.h"

#include <stdint.h>

typedef struct pl_sandbox {
    const int *directories; /* [count], open on the directories to read and write, of one owner */
    int count;
    uint64_t address_space; /* bytes, 0: no limit */
    uint64_t cpu_seconds;   /* 0: no limit */
    bool gpu;               /* leave the GPU driver's files open */
} pl_sandbox;

typedef struct pl_sandbox_report {
    int landlock;  /* ABI version in force, 0: not supported by the kernel */
    bool seccomp;  /* the filter is in force */
    char text[96]; /* the same in words, for worker.log */
} pl_sandbox_report;

/* Call first in main: close inherited descriptors from 3 up and keep the standard ones open (on /dev/null if the caller
 * closed them), so that no file is ever opened as 0, 1 or 2. */
void pl_sandbox_close_inherited(void);

/* Enter the sandbox. PL_IO with errno only if a restriction that the kernel supports could not be applied; the caller
 * then ends rather than run without it. */
pl_status pl_sandbox_enter(const pl_sandbox *options, pl_sandbox_report *report);

/* Limit the process's memory to `bytes`, plus address space that its threads' stacks and the libraries' buffers reserve
 * without touching. May follow pl_sandbox_enter. */
pl_status pl_sandbox_limit_memory(uint64_t bytes, int32_t threads);

#endif
