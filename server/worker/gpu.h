/* gpu.h - the GPU of a worker: a plug-in (engine/backends/plugin.h), loaded before the sandbox is entered,
 * and one of the devices that it finds, taken when the scene is known. A scene that asks for a GPU and
 * gets none is refused with the reason, a clause that begins with "no device, because"; it never runs
 * on the CPU instead. One a process; what a session has taken of it is its thread's.
 */
#ifndef PLIANT_SERVER_WORKER_GPU_H
#define PLIANT_SERVER_WORKER_GPU_H

#include "engine/step/pliant.h"

#include <stdbool.h>
#include <stddef.h>

/* Load `plugin` (NULL: libpliant_cuda.so beside the program) for the device of `uuid`, or with "auto" the
 * one with the most unused memory; several sessions launch together. What went wrong is told by
 * pl_worker_gpu_take. */
void pl_worker_gpu_open(const char *uuid, const char *plugin, bool several);

/* Where a scene's solver asks for a GPU, give it the opened one in the precision that it asks for: before its
 * model is made. False and why where there is none. True, and nothing done, for the CPU. */
bool pl_worker_gpu_take(const pl_solver_settings *solver, char *why, size_t why_size);

/* What went wrong with the device, after which nothing in this process computes on it; NULL: nothing. */
const char *pl_worker_gpu_fault(void);

/* Why the device that was taken cannot run a model; NULL where it can. */
const char *pl_worker_gpu_refuses(const pl_model *model);

/* The numerics class: pl_engine_class(), and of a device that was taken what it is. */
const char *pl_worker_class(void);

/* "double" or "single": what the scene, where it took a GPU, is computed with. */
const char *pl_worker_precision(void);

/* {"devices": [{"name", "uuid", "memory", "unused", "capability"}], "reason": null or why there is none}
 * to standard output. False where it cannot be written. */
bool pl_worker_gpu_list(const char *plugin);

#endif
