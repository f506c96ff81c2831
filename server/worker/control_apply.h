/* control_apply.h - controls on their way into the run: each takes effect between two frames, is noted in the
 * log before the first frame that it affects, and is found there by whoever computes that frame again.
 *
 *     control.log   {"action": "control", "id": N, "control": {...}}     by the daemon, before its 202
 *     log           epoch record {"event": "applied", "control": N, "frame": k, "change": {...}},
 *                   right before the record of frame k
 *     checkpoint    N of the last one in effect, and the numbers that they have come to
 *
 * Numbers N count from 1, and controls take effect in their order. A note that no frame follows (the
 * worker was killed) has had no effect: that control is applied, and noted, once more.
 */
#ifndef PLIANT_SERVER_WORKER_CONTROL_APPLY_H
#define PLIANT_SERVER_WORKER_CONTROL_APPLY_H

#include "engine/step/pliant.h"
#include "protocol/log/log.h"
#include "server/worker/control_reader.h"
#include "server/worker/session_scene.h"

typedef struct pl_steering {
    int directory;           /* borrowed, as are the next two */
    pl_session_scene *scene; /* its materials are kept as they are now */
    pl_log_writer *log;
    int32_t threads;
    pl_model *model; /* owned, as is the state: a control of a material replaces both */
    pl_state *state;
    int64_t last;      /* number of the last control in effect; 0: none */
    bool carried;      /* it began with what controls had made of another session's (branch.h) */
    void *first;       /* what the model began with, as pl_changes_save has it */
    size_t first_size; /* 0: not known yet */
    pl_model *ready;   /* made ahead for the control of the next number, or NULL; owned */
    int64_t ready_for;
    int64_t looked;   /* number of the last control that a model was made ahead for, or was not */
    int64_t prepared; /* models made ahead that came to be used */
} pl_steering;

/* Release model, state and all else. */
void pl_steering_clear(pl_steering *s);

/* Model and state of a run with these materials, in place of earlier ones, which the state follows. */
pl_status pl_steering_build(pl_steering *s, pl_faults *faults);

/* Where the first control of the queue that needs another model has none yet: make it now, so that taking effect is
 * the sooner done. Changes nothing that a frame, the log or a checkpoint has; what fails is tried again then. */
void pl_steering_prepare(pl_steering *s, const pl_control_reader *queue);
/* Let what the queue has take effect before frame `frame`, which comes next in the log, and note it
 * there. PL_OK; PL_INVALID where a control cannot be had (with faults); PL_NO_MEMORY; PL_IO. */
pl_status pl_steering_apply(pl_steering *s, pl_control_reader *queue, int64_t frame,
                            pl_faults *faults);
/* Let one take effect, from the next step on. */
pl_status pl_steering_take(pl_steering *s, int64_t number, const char *text, size_t length,
                           pl_faults *faults);
/* Let what the log notes of a committed frame take effect before it is computed again. */
pl_status pl_steering_repeat(pl_steering *s, pl_log_reader *stored, int64_t frame,
                             pl_faults *faults);

/* What a checkpoint keeps: *bytes malloc'ed, NULL with size 0 where nothing was controlled. */
pl_status pl_steering_save(const pl_steering *s, void **bytes, size_t *size);
/* Become what a checkpoint kept; size 0: nothing was controlled. PL_INVALID where it does not fit. */
pl_status pl_steering_restore(pl_steering *s, const void *bytes, size_t size, pl_faults *faults);

#endif
