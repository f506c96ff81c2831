/* control_apply.h - applies controls to the run. Each takes effect between two frames and is noted in the log before
 * the first frame that it affects; code that recomputes that frame finds it there.
 *
 *     control.log   {"action": "control", "id": N, "control": {...}}     by the daemon, before its 202
 *     log           epoch record {"event": "applied", "control": N, "frame": k, "change": {...}},
 *                   right before the record of frame k
 *     checkpoint    N of the last one in effect, and the resulting values
 *
 * Numbers N count from 1, and controls take effect in this order. A note that no frame follows (the worker was killed)
 * has had no effect: that control is applied, and noted, again.
 */
#ifndef PLIANT_SERVER_WORKER_CONTROL_APPLY_H
#define PLIANT_SERVER_WORKER_CONTROL_APPLY_H

#include "engine/step/pliant.h"
#include "protocol/log/log.h"
#include "server/worker/control_reader.h"
#include "server/worker/session_scene.h"

typedef struct pl_steering {
    int directory;           /* borrowed, like the next two */
    pl_session_scene *scene; /* its materials are kept up to date */
    pl_log_writer *log;
    int32_t threads;
    pl_model *model; /* owned, like the state: a control of a material replaces both */
    pl_state *state;
    int64_t last;      /* number of the last control in effect; 0: none */
    bool carried;      /* it began with the effects of another session's controls (branch.h) */
    void *first;       /* the model's initial values, as saved by pl_changes_save */
    size_t first_size; /* 0: not known yet */
    pl_model *ready;   /* built ahead for the control of the next number, or NULL; owned */
    int64_t ready_for;
    int64_t looked;   /* number of the last control considered for building ahead */
    int64_t prepared; /* number of models built ahead and used */
} pl_steering;

/* Release model, state and everything else. */
void pl_steering_clear(pl_steering *s);

/* Build model and state for a run with these materials, replacing earlier ones; the state is carried over. */
pl_status pl_steering_build(pl_steering *s, pl_faults *faults);

/* If the first control of the queue needs a new model and has none yet, build it now, so that it takes effect sooner.
 * Changes nothing that a frame, the log or a checkpoint contains; a failure is retried when the control takes
 * effect. */
void pl_steering_prepare(pl_steering *s, const pl_control_reader *queue);
/* Apply the queued controls before frame `frame`, the next in the log, and note them there. PL_OK; PL_INVALID if a
 * control is impossible (with faults); PL_NO_MEMORY; PL_IO. */
pl_status pl_steering_apply(pl_steering *s, pl_control_reader *queue, int64_t frame,
                            pl_faults *faults);
/* Apply one control, from the next step on. */
pl_status pl_steering_take(pl_steering *s, int64_t number, const char *text, size_t length,
                           pl_faults *faults);
/* Apply the controls that the log notes for a committed frame, before it is recomputed. */
pl_status pl_steering_repeat(pl_steering *s, pl_log_reader *stored, int64_t frame,
                             pl_faults *faults);

/* Data for a checkpoint: *bytes malloc'ed, NULL with size 0 if nothing was controlled. */
pl_status pl_steering_save(const pl_steering *s, void **bytes, size_t *size);
/* Restore the data of a checkpoint; size 0: nothing was controlled. PL_INVALID if it does not fit. */
pl_status pl_steering_restore(pl_steering *s, const void *bytes, size_t size, pl_faults *faults);

#endif
