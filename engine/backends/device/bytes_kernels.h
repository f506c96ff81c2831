/* bytes_kernels.h - copies and clears memory with a kernel. Both precisions share it. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_BYTES_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_BYTES_KERNELS_H

#include "engine/backends/device/device.h"

enum { PL_BYTES_A_THREAD = 16 };

typedef struct pl_bytes_arguments {
    void *to;
    const void *from; /* NULL: clear `to` */
    int64_t bytes;
} pl_bytes_arguments;

static inline int64_t pl_bytes_threads(size_t bytes)
{
    return ((int64_t)bytes + PL_BYTES_A_THREAD - 1) / PL_BYTES_A_THREAD;
}

PL_C void pl_device_bytes_f32(pl_device_queue *queue, const pl_bytes_arguments *arguments,
                              int64_t threads);
PL_C const pl_device_kernel *pl_device_bytes_kernel_f32(void);
PL_C const pl_device_kernel *pl_device_bytes_kernel_f64(void);

#endif
