/* sandbox_files.h - restricts access to files with Landlock. */
#ifndef PLIANT_SERVER_WORKER_SANDBOX_FILES_H
#define PLIANT_SERVER_WORKER_SANDBOX_FILES_H

#include "engine/scene/fault.h"

/* From now on the calling thread and its later threads can read and write only the `directories`, and read libraries
 * and the CPU's description; with `gpu`, also use the NVIDIA driver's devices and read its description. *abi is the
 * version in force, 0 if the kernel has no Landlock or it is switched off. PL_IO with errno if applying it failed. */
pl_status pl_sandbox_files(const int *directories, int count, bool gpu, int *abi);

#endif
