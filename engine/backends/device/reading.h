/* reading.h - copies numbers from the device's memory to the host through a queue's pinned memory, so that no
 * driver stages them, many at a time. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_READING_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_READING_H

#include "engine/backends/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Size of one copy in bytes. */
enum { PL_DEVICE_READ = 1 << 20 };

/* When it returns, all earlier launches have ended. The data stay until the queue is used again; after a fault they
 * are NaN. */
const void *pl_device_read(pl_device_queue *queue, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
