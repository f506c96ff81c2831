/* vertices.h - a model's vertices in the device's memory, as kernel arguments. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_VERTICES_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_VERTICES_H

#include "engine/backends/device/device.h"
#include "engine/model/group.h"

typedef struct pl_device_vertices {
    int64_t count, free;
    const int32_t *free_vertex;  /* [free] */
    const int32_t *free_row;     /* [count], or -1 */
    const unsigned char *held;   /* [count]: bit c where coordinate c is held */
    const pl_number *mass;       /* [count], kg */
    const pl_number *diagonal;   /* [free]: A_ii, N/m */
    const int32_t *start, *slot; /* gather.h's lists, of whole corners */
} pl_device_vertices;

#endif
