#include "engine/backends/backend.h"

#include "engine/backends/cpu/cpu.h"

static const pl_backend_ops *gpu;

void pl_backend_register(const pl_backend_ops *ops)
{
    gpu = ops;
}

const pl_backend_ops *pl_backend_find(pl_device_kind device)
{
    switch (device) {
    case PL_DEVICE_CPU:
        return &pl_backend_cpu;
    case PL_DEVICE_GPU:
        return gpu;
    }
    return NULL;
}
