/* gpus.h - the GPUs that sessions may run on: what the driver says of them, through
 * `pliant-worker --devices`, and what is promised to sessions. The daemon itself loads no driver.
 *
 * The list is made once, at the start; a thread looks again while a session runs on one or waits for
 * one, so that memory that strangers take is noticed. Device memory of a session is its preflight's
 * estimate and what a driver takes for a process. Locks: one mutex, taken last.
 */
#ifndef PLIANT_SERVER_RUN_GPUS_H
#define PLIANT_SERVER_RUN_GPUS_H

#include "protocol/text/json.h"
#include "server/base/options.h"

#include <stdbool.h>

/* Bytes that a driver takes for a process's context, beside what the session allocates. */
#define PL_GPU_CONTEXT 536870912.0

/* Of its own a session that shares a worker has at most this: as chebyshev_descent is estimated, of 57 k tetrahedra
 * in single precision and 33 k in double. More of them are work enough for a GPU. */
#define PL_GPU_SMALL 16777216.0

enum { PL_GPUS_MAX = 64 };

typedef struct pl_gpu_load {
    char uuid[48], name[128], capability[16];
    double memory; /* bytes */
    double
        others;  /* bytes that neither are unused nor were promised to sessions, at the last look */
    double used; /* bytes promised to sessions */
    double settled; /* of these, those promised before the last look: they are taken by now */
    int sessions;
    bool draining;
    bool lost; /* the last look did not find it */
} pl_gpu_load;

typedef struct pl_gpus pl_gpus;

/* Where the list comes from, and who is told of it. Copied; what it points at outlives the list. */
typedef struct pl_gpu_source {
    const pl_options *options;
    const char *programs; /* folder of pliant-worker */
    int stop_fd;          /* readable: a look is given up */
    /* There may be room for a session that waited; on the list's own thread. */
    void (*freed)(void *context);
    void *context;
} pl_gpu_source;

/* With --gpus none an empty table. Waits for the first look, 20 s at most. NULL: out of memory. */
pl_gpus *pl_gpus_create(const pl_gpu_source *source);
void pl_gpus_stop(pl_gpus *gpus); /* no more looks */
void pl_gpus_destroy(pl_gpus *gpus);

int pl_gpus_count(const pl_gpus *gpus); /* constant */
pl_gpu_load pl_gpus_load(pl_gpus *gpus, int gpu);
const char *pl_gpus_reason(const pl_gpus *gpus); /* why there are none; constant */
double pl_gpus_largest(pl_gpus *gpus);           /* memory of the largest, bytes */

/* A session waits for memory of one: strangers' is looked at again soon. */
void pl_gpus_await(pl_gpus *gpus);
/* Promise that many bytes on this one; false where it has not as much free. */
bool pl_gpus_place_on(pl_gpus *gpus, const char *uuid, double bytes);
/* The same on the one that a session runs on already, whatever is free. */
void pl_gpus_take(pl_gpus *gpus, const char *uuid, double bytes);
void pl_gpus_give(pl_gpus *gpus, const char *uuid, double bytes);
/* What no session has any more: a context that several had. */
void pl_gpus_give_context(pl_gpus *gpus, const char *uuid);
double pl_gpus_free(pl_gpus *gpus); /* the most that is free on one, bytes */

bool pl_gpus_drain(pl_gpus *gpus, const char *uuid,
                   bool draining); /* false: there is no such one */
/* As members of an array that the writer has begun. */
void pl_gpus_view(pl_gpus *gpus, pl_json_writer *w);

#endif
