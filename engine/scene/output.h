/* output.h - the stored output of a run, and its resource limits. */
#ifndef PLIANT_ENGINE_SCENE_OUTPUT_H
#define PLIANT_ENGINE_SCENE_OUTPUT_H

#include "engine/scene/expectation.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_metrics_detail { PL_METRICS_FRAME, PL_METRICS_ITERATION } pl_metrics_detail;
typedef enum pl_output_precision { PL_OUTPUT_SINGLE, PL_OUTPUT_DOUBLE } pl_output_precision;

/* Which frames of a run are kept (protocol/log/log_prune.h); all if every field is 0. */
typedef struct pl_retention {
    int64_t every; /* of older frames, keep every n-th; 0: none */
    int64_t last;  /* number of newest frames that are all kept; 0: those of the open segment */
    double days;   /* all is removed this long after its end; 0: never */
} pl_retention;

/* Bits of the stored fields of each vertex. */
enum {
    PL_OUTPUT_POSITION = 1,
    PL_OUTPUT_VELOCITY = 2,
    PL_OUTPUT_STRESS = 4,
    PL_OUTPUT_ELEMENT_STRESS = 8,
    PL_OUTPUT_CONTACTS = 16 /* per frame, not per vertex */
};

typedef struct pl_output {
    int64_t every; /* number of steps per frame */
    pl_metrics_detail metrics;
    pl_output_precision precision;
    int32_t fields; /* PL_OUTPUT_*, the position always */
    pl_retention retention;
    int32_t probe_count;
    pl_expectation *probes; /* the quantity, without times and bounds; "probe-K" */
} pl_output;

enum { PL_AFTER_MAX = 16, PL_SESSION_ID_MAX = 33 };

/* How a daemon runs a session. */
typedef enum pl_executor_choice {
    PL_EXECUTOR_AUTO, /* as configured by the daemon's options */
    PL_EXECUTOR_LOCAL,
    PL_EXECUTOR_SLURM,
    PL_EXECUTOR_BATCH, /* on the daemon's batch system, of any kind */
} pl_executor_choice;

typedef struct pl_resources {
    int32_t cores;      /* minimum number of the worker's threads */
    int32_t cores_most; /* maximum; 0: the same */
    bool cores_given;   /* otherwise as many as are useful (pl_estimate) */
    bool preemptible;   /* another session may stop it at a checkpoint */
    bool hold;          /* starts paused */
    pl_executor_choice executor;
    int32_t after_count;
    char after[PL_AFTER_MAX][PL_SESSION_ID_MAX]; /* ids of sessions that it waits for */
    double memory;                               /* bytes; 0: as estimated */
    double time_limit;                           /* s of running; 0: none */
} pl_resources;

#endif
