/* management.h - the driver's management library (NVML), which knows cards without a context on them. It comes with
 * the driver and is looked for where a process first asks. */
#ifndef PLIANT_ENGINE_BACKENDS_CUDA_MANAGEMENT_H
#define PLIANT_ENGINE_BACKENDS_CUDA_MANAGEMENT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a card, or of an instance of one (MIG): id is its UUID without the word before it. False: no library, or
 * it does not know the card. */
bool pl_cuda_management_memory(const char *id, size_t *unused, size_t *all);

#ifdef __cplusplus
}
#endif

#endif
