/* gpu.h - the GPU of a worker: a plug-in (engine/backends/plugin.h), loaded before the sandbox is entered, and one of
 * its devices, taken when the scene is known. A scene that asks for a GPU and gets none is rejected with the reason, a
 * clause that begins with "no device, because"; it never runs on the CPU instead. One per process; a session's
 * allocations on it belong to the session's thread.
 */
#ifndef PLIANT_SERVER_WORKER_GPU_H
#define PLIANT_SERVER_WORKER_GPU_H

#include "engine/step/pliant.h"

#include <stdbool.h>
#include <stddef.h>

/* Load `plugin` (NULL: libpliant_cuda.so beside the program) for the device `uuid`, or with "auto" for the one with the
 * most unused memory. `several`: sessions launch together. pl_worker_gpu_take reports errors. */
void pl_worker_gpu_open(const char *uuid, const char *plugin, bool several);

/* If a scene's solver asks for a GPU, give it the opened one in the requested precision; call it before the model is
 * made. False with `why` if there is no GPU. For the CPU, true without effect. */
bool pl_worker_gpu_take(const pl_solver_settings *solver, char *why, size_t why_size);

/* A device error, after which nothing in this process can compute on it; NULL: none. */
const char *pl_worker_gpu_fault(void);

/* Why the taken device cannot run a model; NULL: it can. */
const char *pl_worker_gpu_refuses(const pl_model *model);

/* The numerics class: pl_engine_class(), plus the class of the taken device, if any. */
const char *pl_worker_class(void);

/* "double" or "single": the precision of the computation, if the scene took a GPU. */
const char *pl_worker_precision(void);

/* Print {"devices": [{"name", "uuid", "memory", "unused", "capability"}], "reason": null or why the list is empty} on
 * standard output. False if that fails. */
bool pl_worker_gpu_list(const char *plugin);

#endif
