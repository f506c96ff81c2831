/* between_state.h - contact between bodies, and of a body with itself, on a device. The host finds the pairs
 * (host_contact.h), in double. The device evaluates their rows and solves the joint prox of methods that split. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_BETWEEN_STATE_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_BETWEEN_STATE_H

#include "engine/backends/device/between_kernels.h"
#include "engine/backends/host_contact.h"
#include "engine/contact/joint_prox.h"

typedef struct pl_device_between {
    pl_host_contact host;
    bool uploaded; /* the device has the current rows */
    int64_t count, touched;
    pl_device_rows rows;
    double *pull, *energy;
    pl_number *force; /* [vertices][3]: of the touched ones; 0 elsewhere */
    int64_t room;     /* capacity in rows */
    /* For methods that split; empty otherwise. */
    int32_t group; /* the model's group `touching`, or -1 */
    pl_joint_prox prox;
    double *rest;  /* [vertices], m/N: 1 / w^2 of its terms, 0 where held */
    int32_t *term; /* [vertices] */
    pl_prox_arguments arguments;
    double exact;       /* tolerance of the next prox, J^(1/2) */
    bool newer;         /* multipliers on the device are newer than the host's */
    bool out_of_memory; /* to be reported by the next phase with a status */
    void *memory[16];   /* everything on the device except `force` */
    int32_t memory_count;
} pl_device_between;

#endif
