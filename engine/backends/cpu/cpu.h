/* cpu.h - the phases on CPU threads: OpenMP over blocks and vertices, kernels on lanes. */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_H

#include "engine/backends/backend.h"

extern const pl_backend_ops pl_backend_cpu;

#endif
