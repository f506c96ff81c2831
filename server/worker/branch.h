/* branch.h - a session that begins at a frame of another session (its parent).
 *
 *     DIR/parent/scene.json, meshes/     the parent's, as posted
 *     DIR/parent/start.json              {"session", "frame": k, "control": N, "controls": [{"frame", "control",
 *                                        "change"}], "from_branch", "begins"}: the controls in effect up to frame
 *                                        k; frames of ancestors before the parent's frame 0
 *     DIR/parent/checkpoint-A.bin        the parent's newest checkpoint not after frame k, if any
 *
 *     DIR/parent/parent/                 if the parent is a branch itself: the same for its parent
 *
 * The parent's run is recomputed up to frame k, and the branch continues from its state: its step and time, positions,
 * velocities, and the effects of controls, for those parts of the scene that are unchanged. Frame k is the branch's
 * frame 0.
 */
#ifndef PLIANT_SERVER_WORKER_BRANCH_H
#define PLIANT_SERVER_WORKER_BRANCH_H

#include "server/worker/control_apply.h"

/* If DIR/parent exists, bring the steering's state, a fresh one, to the parent's. *step is the step of the branch's
 * frame 0. PL_OK; PL_INVALID (faults), PL_IO, PL_NO_MEMORY, PL_FAILED. */
pl_status pl_branch_enter(int directory, pl_steering *s, int64_t *step, pl_faults *faults);

#endif
