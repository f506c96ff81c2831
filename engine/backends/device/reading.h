/* reading.h - numbers of the device's memory where the host can read them: by pinned memory of a queue, so that no
 * driver stages them, and many at a time. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_READING_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_READING_H

#include "engine/backends/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes at a time. */
enum { PL_DEVICE_READ = 1 << 20 };

/* What was launched before has ended then. It stays until the queue is used again; after a fault it is NaN. */
const void *pl_device_read(pl_device_queue *queue, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
