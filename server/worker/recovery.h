/* recovery.h - continues a session that an earlier attempt began: the newest good checkpoint, and the comparison of
 * recomputed frames with stored ones.
 *
 *     frames  0 ........ c ............ e-1
 * e ...
 *                        ^ checkpoint   ^ last committed frame
 *             restored at c; c .. e-1 compared, not written; written from e on
 *
 * A frame is comparable if every frame from the restored one up to it was written by workers of this numerics class:
 * another class may differ in the last bits, and then so may everything after.
 */
#ifndef PLIANT_SERVER_WORKER_RECOVERY_H
#define PLIANT_SERVER_WORKER_RECOVERY_H

#include "engine/step/pliant.h"
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "server/worker/frame_writer.h"
#include "server/worker/control_apply.h"

/* Remove temporary files that killed workers left in the directory. */
void pl_recovery_clean(int directory);

/* Restore the newest good checkpoint of a committed frame into the steering's state (a fresh one), and the effects of
 * controls into its model. Skipped checkpoints are reported in worker.log. PL_OK with *found = that checkpoint, or with
 * found->frame = -1 if none is found and the run starts over from frame 0. PL_INVALID: a good checkpoint of this
 * numerics class belongs to another model; the state is unchanged. PL_NO_MEMORY. Model and state may be replaced. */
pl_status pl_recovery_restore(int directory, pl_steering *steering, int64_t committed,
                              pl_checkpoint *found);

/* Put a checkpoint's payload into the state, and the effects of controls into the model. PL_INVALID: it is of this
 * numerics class but of another model. PL_UNSUPPORTED: it does not fit, and the state is a fresh one (a half-restored
 * state is replaced). PL_NO_MEMORY. */
pl_status pl_recovery_put(const pl_checkpoint *c, const char *payload, pl_steering *steering);

/* Note in the log if the following frames come from another numerics class than the frames before. PL_OK, PL_IO with
 * errno, PL_NO_MEMORY. */
pl_status pl_recovery_note_class(pl_log_writer *log, const char *before);

typedef struct pl_comparison {
    pl_log_reader *reader; /* NULL: closed */
    bool on;               /* false: comparing has ended */
    /* the last attempt whose frames were found to be of this class, -1: none yet */
    int32_t attempt;
    int64_t compared, skipped;
    char last_class[PL_CHECKPOINT_CLASS]; /* of the attempt that wrote the last committed frame */
} pl_comparison;

/* Begin to compare, from the checkpoint `from` (or from the beginning, frame -1). */
pl_status pl_comparison_open(pl_comparison *c, int directory, const pl_checkpoint *from,
                             int64_t committed);
void pl_comparison_close(pl_comparison *c);
/* Compare a frame, in order, as pl_frame_writer_compare does; PL_FRAME_SAME if there is nothing to compare. */
pl_status pl_comparison_check(pl_comparison *c, pl_frame_writer *writer, int64_t frame,
                              pl_state *state, pl_metrics *metrics, int64_t *bad_vertex,
                              pl_frame_outcome *outcome);

#endif
