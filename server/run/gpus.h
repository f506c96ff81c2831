/* gpus.h - the GPUs that sessions may run on: the driver's information, from `pliant-worker --devices`, and the memory
 * promised to sessions. The daemon itself loads no driver.
 *
 * The list is built once, at the start. While a session runs on a GPU or waits for one, a thread updates it, so that
 * memory taken by other programs is noticed. A session counts with its preflight's estimate plus the driver's memory
 * for a process. Locks: one mutex, taken last.
 */
#ifndef PLIANT_SERVER_RUN_GPUS_H
#define PLIANT_SERVER_RUN_GPUS_H

#include "protocol/text/json.h"
#include "server/base/options.h"

#include <stdbool.h>

/* Bytes of a driver's context for a process, in addition to the session's memory. */
#define PL_GPU_CONTEXT 536870912.0

/* Most bytes of its own for a session that shares a worker: the estimate for chebyshev_descent with 57 k tetrahedra in
 * single precision, or 33 k in double. Larger sessions keep a GPU busy alone. */
#define PL_GPU_SMALL 16777216.0

enum { PL_GPUS_MAX = 64 };

typedef struct pl_gpu_load {
    char uuid[48], name[128], capability[16];
    double memory; /* bytes */
    double
        others;  /* bytes that neither are unused nor were promised to sessions, at the last look */
    double used; /* bytes promised to sessions */
    double settled; /* of these, promised before the last look, so allocated by now */
    int sessions;
    bool draining;
    bool lost; /* the last look did not find it */
} pl_gpu_load;

typedef struct pl_gpus pl_gpus;

/* The source of the list, and its callback. Copied; what it points to outlives the list. */
typedef struct pl_gpu_source {
    const pl_options *options;
    const char *programs; /* folder of pliant-worker */
    int stop_fd;          /* when readable, a look is abandoned */
    /* A waiting session may now have room; called on the list's own thread. */
    void (*freed)(void *context);
    void *context;
} pl_gpu_source;

/* With --gpus none an empty table. Waits for the first look, 20 s at most. NULL: out of memory. */
pl_gpus *pl_gpus_create(const pl_gpu_source *source);
void pl_gpus_stop(pl_gpus *gpus); /* no more looks */
void pl_gpus_destroy(pl_gpus *gpus);

int pl_gpus_count(const pl_gpus *gpus); /* constant */
pl_gpu_load pl_gpus_load(pl_gpus *gpus, int gpu);
const char *pl_gpus_reason(const pl_gpus *gpus); /* why there are no GPUs; constant */
double pl_gpus_largest(pl_gpus *gpus);           /* memory of the largest GPU, bytes */

/* A session waits for GPU memory: check soon how much other programs use. */
void pl_gpus_await(pl_gpus *gpus);
/* Promise so many bytes on this GPU; false if fewer are free. */
bool pl_gpus_place_on(pl_gpus *gpus, const char *uuid, double bytes);
/* The same on the GPU that a session already runs on, regardless of what is free. */
void pl_gpus_take(pl_gpus *gpus, const char *uuid, double bytes);
void pl_gpus_give(pl_gpus *gpus, const char *uuid, double bytes);
/* Give back a context that several sessions shared and none needs now. */
void pl_gpus_give_context(pl_gpus *gpus, const char *uuid);
double pl_gpus_free(pl_gpus *gpus); /* most bytes free on one GPU */

bool pl_gpus_drain(pl_gpus *gpus, const char *uuid,
                   bool draining); /* false: there is no such one */
/* Write the GPUs as members of an array that the writer has begun. */
void pl_gpus_view(pl_gpus *gpus, pl_json_writer *w);

#endif
