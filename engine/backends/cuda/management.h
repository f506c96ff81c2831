/* management.h - the driver's management library (NVML), which reports on GPUs without creating a context on them.
 * It comes with the driver and is loaded at a process's first query. */
#ifndef PLIANT_ENGINE_BACKENDS_CUDA_MANAGEMENT_H
#define PLIANT_ENGINE_BACKENDS_CUDA_MANAGEMENT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory in bytes of a GPU, or of a MIG instance: id is its UUID without the prefix word. False: the library is
 * missing, or does not know the GPU. */
bool pl_cuda_management_memory(const char *id, size_t *unused, size_t *all);

#ifdef __cplusplus
}
#endif

#endif
