/* checkpoints.h - the worker's checkpoints: when one is due, and how it is written.
 *
 * The state is copied on the solver's thread and written by the log's syncer, after the log: everything that a
 * checkpoint depends on is on disk before it is. A checkpoint is due when the time since the last exceeds both `every`
 * and 50 times the last one's cost, so that checkpoints cost at most 2 %; but never while one is being written. If one
 * cannot be written the run continues, and worker.log says so. The first is due `first` s after the start, so that a
 * short run writes none: it is sooner computed again.
 */
#ifndef PLIANT_SERVER_WORKER_CHECKPOINTS_H
#define PLIANT_SERVER_WORKER_CHECKPOINTS_H

#include "engine/step/pliant.h"
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "server/worker/log_syncer.h"
#include "server/worker/control_apply.h"

typedef struct pl_checkpoints {
    int directory;               /* borrowed, like the next three */
    pl_log_writer *log;          /* its end is noted */
    pl_log_syncer *syncer;       /* writes the checkpoints */
    const pl_steering *steering; /* its model, and the effects of controls */
    int32_t attempt;
    double every;    /* s */
    double wait;     /* s from the last one until the next may be due */
    double last;     /* time of the last one, or of the start */
    bool kept_state; /* `kept` holds a state */
    pl_checkpoint kept;
    void *kept_payload;
    /* The one being written; it belongs to the syncer while that is busy. */
    pl_checkpoint job;
    void *payload;
    double copied; /* s taken by copying */
    double cost;   /* s taken by the last one, copying and writing */
    int slot;      /* the next one to write */
    int64_t written, failed;
} pl_checkpoints;

/* `slot`: the one that may be overwritten; the run was resumed from the other. */
void pl_checkpoints_init(pl_checkpoints *c, int directory, int32_t attempt, double first,
                         double every, int slot);
void pl_checkpoints_clear(pl_checkpoints *c);

/* A checkpoint's contents besides the state. */
typedef struct pl_checkpoint_note {
    int64_t frame;        /* frame of the state; committed */
    uint64_t control_end; /* commands applied */
    double seconds;       /* running time over all attempts */
} pl_checkpoint_note;

bool pl_checkpoints_due(const pl_checkpoints *c);
/* Take a checkpoint of the state, which is due. */
void pl_checkpoints_take(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note);
/* Copy the state, replacing an earlier copy, so that pl_checkpoints_last can write it when a frame of several steps is
 * interrupted. */
void pl_checkpoints_keep(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note);
/* Write a last checkpoint, of the state or (NULL) of the copy, before returning; the syncer must have been stopped. The
 * seconds of running are updated. False if it could not be written. */
bool pl_checkpoints_last(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note);

#endif
