/* session_options.h - the daemon's instructions to a worker about a session, and the worker's exit statuses. */
#ifndef PLIANT_SERVER_WORKER_SESSION_OPTIONS_H
#define PLIANT_SERVER_WORKER_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_worker_exit {
    PL_WORKER_SUCCEEDED = 0,
    PL_WORKER_USAGE = 2,        /* or the directory cannot be opened */
    PL_WORKER_FAILED = 3,       /* exit.json says why */
    PL_WORKER_CANCELLED = 4,    /* likewise */
    PL_WORKER_REFUSED = 5,      /* the lock is held, or the attempt is or has become stale */
    PL_WORKER_STOPPED = 6,      /* by SIGTERM or SIGINT: a later attempt continues */
    PL_WORKER_PAUSED = 7,       /* by control.log: a later attempt continues, after a resume */
    PL_WORKER_DEVICE_FAULT = 8, /* of the GPU: a later attempt continues */
    PL_WORKER_NO_DISK = 9,      /* exit.json could not be written, because of the disk, */
    PL_WORKER_NO_MEMORY = 10,   /* or for lack of memory; a later attempt continues */
} pl_worker_exit;

typedef struct pl_session_options {
    const char *directory;
    int32_t attempt;         /* >= 1, above all earlier ones */
    int32_t threads;         /* 0: the scene's resources.cores */
    int32_t threads_most;    /* most threads that cores.json may ask for; 0: it is not read */
    uint64_t memory;         /* bytes, 0: no limit */
    double checkpoint_every; /* s, minimum time between two checkpoints */
    uint32_t uid;            /* uid to run as, from root; 0: unchanged */
    const char *gpu;         /* UUID or "auto"; NULL: do not use one */
    const char *gpu_plugin;  /* NULL: libpliant_cuda.so beside the program */
    bool profile;            /* write profile.json (run_profile.h); not with a GPU */
} pl_session_options;

#endif
