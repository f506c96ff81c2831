/* output.h - what is stored of a run and what it may take. */
#ifndef PLIANT_ENGINE_SCENE_OUTPUT_H
#define PLIANT_ENGINE_SCENE_OUTPUT_H

#include "engine/scene/expectation.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_metrics_detail { PL_METRICS_FRAME, PL_METRICS_ITERATION } pl_metrics_detail;
typedef enum pl_output_precision { PL_OUTPUT_SINGLE, PL_OUTPUT_DOUBLE } pl_output_precision;

/* What is kept of the frames of a run (protocol/log/log_prune.h); all where everything is 0. */
typedef struct pl_retention {
    int64_t every; /* of older frames, those with a number that this divides; 0: none */
    int64_t last;  /* frames that are all kept; 0: those of the open segment */
    double days;   /* after its end it all goes; 0: it does not */
} pl_retention;

/* Bits of what is stored of each vertex. */
enum {
    PL_OUTPUT_POSITION = 1,
    PL_OUTPUT_VELOCITY = 2,
    PL_OUTPUT_STRESS = 4,
    PL_OUTPUT_ELEMENT_STRESS = 8,
    PL_OUTPUT_CONTACTS = 16 /* of the frame, and of no vertex */
};

typedef struct pl_output {
    int64_t every; /* steps a frame */
    pl_metrics_detail metrics;
    pl_output_precision precision;
    int32_t fields; /* PL_OUTPUT_*, the position always */
    pl_retention retention;
    int32_t probe_count;
    pl_expectation *probes; /* what is looked at, without times and bounds; "probe-K" */
} pl_output;

enum { PL_AFTER_MAX = 16, PL_SESSION_ID_MAX = 33 };

/* Where a daemon runs a session. */
typedef enum pl_executor_choice {
    PL_EXECUTOR_AUTO, /* as the daemon's options say */
    PL_EXECUTOR_LOCAL,
    PL_EXECUTOR_SLURM,
    PL_EXECUTOR_BATCH, /* whatever batch system the daemon has */
} pl_executor_choice;

typedef struct pl_resources {
    int32_t cores;      /* threads of the worker, at least */
    int32_t cores_most; /* at most; 0: as many */
    bool cores_given;   /* else it may have as many as pay (pl_estimate) */
    bool preemptible;   /* it may be stopped at a checkpoint for another */
    bool hold;          /* it begins paused */
    pl_executor_choice executor;
    int32_t after_count;
    char after[PL_AFTER_MAX][PL_SESSION_ID_MAX]; /* ids of sessions that it waits for */
    double memory;                               /* bytes; 0: as estimated */
    double time_limit;                           /* s of running; 0: none */
} pl_resources;

#endif
