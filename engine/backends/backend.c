#include "engine/backends/backend.h"

#include "engine/backends/cpu/cpu.h"

const pl_backend_ops *pl_backend_find(pl_device_kind device)
{
    switch (device) {
    case PL_DEVICE_CPU:
        return &pl_backend_cpu;
    }
    return NULL;
}
