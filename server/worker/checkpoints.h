/* checkpoints.h - the worker's checkpoints: when one is due, and how it gets to the disk.
 *
 * The state is copied on the solver's thread and written by the log's syncer, after the log: what a
 * checkpoint stands on is on the disk before it is. One is due when the time since the last exceeds
 * both `every` and 50 times what the last one took, so that they cost at most 2 %; but never while
 * one is still being written. Where one cannot be written the run goes on: worker.log says so.
 */
#ifndef PLIANT_SERVER_WORKER_CHECKPOINTS_H
#define PLIANT_SERVER_WORKER_CHECKPOINTS_H

#include "engine/step/pliant.h"
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "server/worker/log_syncer.h"
#include "server/worker/control_apply.h"

typedef struct pl_checkpoints {
    int directory;               /* borrowed, as are the next three */
    pl_log_writer *log;          /* whose end is noted */
    pl_log_syncer *syncer;       /* which writes */
    const pl_steering *steering; /* whose model it is, and what controls have made of it */
    int32_t attempt;
    double every;    /* s */
    double last;     /* when the last one was taken; 0: never */
    bool kept_state; /* `kept` holds a state */
    pl_checkpoint kept;
    void *kept_payload;
    /* The one being written; the syncer's while it is busy. */
    pl_checkpoint job;
    void *payload;
    double copied; /* s that copying took */
    double cost;   /* s, of the last one, copying and writing */
    int slot;      /* the one to write next */
    int64_t written, failed;
} pl_checkpoints;

/* `slot`: the one that may be lost, where the other was resumed from. */
void pl_checkpoints_init(pl_checkpoints *c, int directory, int32_t attempt, double every, int slot);
void pl_checkpoints_clear(pl_checkpoints *c);

/* What a checkpoint says beside the state. */
typedef struct pl_checkpoint_note {
    int64_t frame;        /* that the state is of; committed */
    uint64_t control_end; /* commands applied */
    double seconds;       /* of running, over all attempts */
} pl_checkpoint_note;

bool pl_checkpoints_due(const pl_checkpoints *c);
/* Take one of the state, which is due. */
void pl_checkpoints_take(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note);
/* Copy the state, in place of an earlier copy, so that pl_checkpoints_last can write it when a
 * frame of several steps is broken off. */
void pl_checkpoints_keep(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note);
/* Write a last one, of the state or (NULL) of the copy, before returning; the syncer must have been
 * stopped. seconds of running is brought up to date. False where it could not be written. */
bool pl_checkpoints_last(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note);

#endif
