/* phases.h - the backends of devices, compiled as device.h describes. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_PHASES_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_PHASES_H

#include "engine/backends/backend.h"

extern const pl_backend_ops pl_backend_device_f32, pl_backend_device_f64;

#endif
