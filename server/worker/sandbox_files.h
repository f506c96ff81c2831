/* sandbox_files.h - the file system as the sandbox leaves it, through Landlock. */
#ifndef PLIANT_SERVER_WORKER_SANDBOX_FILES_H
#define PLIANT_SERVER_WORKER_SANDBOX_FILES_H

#include "engine/scene/fault.h"

/* From now on only the `directories` can be read and written, and libraries and the CPU's
 * description read; with `gpu` the NVIDIA driver's devices used and its description read; the calling thread and its later threads. *abi is the version in force, 0 where
 * the kernel has no Landlock or it is switched off. PL_IO with errno where applying it failed. */
pl_status pl_sandbox_files(const int *directories, int count, bool gpu, int *abi);

#endif
