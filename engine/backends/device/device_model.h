/* device_model.h - a model in a device's memory. The host's model uses doubles in either precision. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_MODEL_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_MODEL_H

#include "engine/backends/device/row_kernels.h"
#include "engine/backends/device/term_kernels.h"
#include "engine/model/model.h"

typedef struct pl_device_group {
    const pl_term_kernels *kernels;
    pl_term_arguments arguments; /* except for x and the arguments of a call */
    int64_t threads, first;      /* first: in the list of all groups' threads */
} pl_device_group;

typedef struct pl_device_model {
    pl_device_queue *queue;
    pl_device_vertices vertices;
    pl_device_group *groups;
    int64_t threads;                        /* over all groups */
    int32_t **pin_vertex;                   /* [pins] */
    double *x0;                             /* [vertices][3] */
    pl_number4 *contributions;              /* [model->contributions / 3] */
    pl_number *energy, *stretch, *inverted; /* [threads] */
    void **memory;                          /* everything above */
    int64_t memory_count, memory_room;
    /* Counts changes of the groups' arguments: a recording of their kernels is good for one count. */
    uint64_t generation;
} pl_device_model;

/* The reason why a device cannot hold a model, or NULL. */
const char *PL_NAMED(pl_device_refuses)(const pl_model *model);

/* True for a group of model/groups/touching.h, recognised by its name, because a plug-in's tables are not the
 * host's. */
bool PL_NAMED(pl_device_is_touching)(const pl_group *group);

/* PL_OK or PL_NO_MEMORY; destroy *out in either case. */
pl_status PL_NAMED(pl_device_model_create)(pl_device_queue *queue, const pl_model *model,
                                           pl_device_model *out);
void PL_NAMED(pl_device_model_destroy)(pl_device_model *m);

/* Copy the host's numbers, doubles, to the device and back in its precision. They go in pieces, to avoid a copy of
 * the whole array. */
void PL_NAMED(pl_device_put_numbers)(pl_device_queue *queue, pl_number *to, const double *from,
                                     int64_t count);
void PL_NAMED(pl_device_get_numbers)(pl_device_queue *queue, double *to, const pl_number *from,
                                     int64_t count);

#endif
