/* worker_setup.h - the environment of workers, and callbacks for their starts and ends. */
#ifndef PLIANT_SERVER_RUN_WORKER_SETUP_H
#define PLIANT_SERVER_RUN_WORKER_SETUP_H

#include "server/base/options.h"
#include "server/base/prepared.h"
#include "server/run/dispatcher.h"
#include "server/run/log_follower.h"
#include "server/sessions/sessions.h"

typedef struct pl_worker_setup {
    const pl_options *options;
    const char *state;    /* the state directory, absolute */
    const char *programs; /* folder of pliant-worker */
    pl_prepared *prepared;
    double memory;                          /* of the machine, bytes */
    struct pl_memory_groups *memory_groups; /* NULL: workers have none */
    pl_sessions *sessions;
    pl_dispatcher *dispatcher;
    pl_counters *counters; /* of workers */
    struct pl_learning *learning;
    pl_log_follower follower;
    const struct pl_batch_system *batch; /* NULL: sessions run on this machine only */
    struct pl_disk *disk;                /* no worker is started while it is full */
    /* workers are started only after `ready` and before `draining` */
    const _Atomic bool *ready, *draining;
} pl_worker_setup;

#endif
