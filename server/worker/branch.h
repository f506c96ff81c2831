/* branch.h - a session that begins where another one was at one of its frames.
 *
 *     DIR/parent/scene.json, meshes/     the other's, as it was posted
 *     DIR/parent/start.json              {"session", "frame": k, "control": N, "controls": [{"frame", "control",
 *                                        "change"}], "from_branch", "begins"}: what was in effect there, up to frame
 *                                        k; frames of others before its frame 0
 *     DIR/parent/checkpoint-A.bin        the newest of the other's that is not after frame k, if there is one
 *
 *     DIR/parent/parent/                 where the other is a branch itself: the same of a third
 *
 * The other's run is computed again up to frame k, and ours goes on from its state: its step and time,
 * positions, velocities, and what controls had made of it, as far as our scene says of a thing what the
 * other's did. Frame k is our frame 0.
 */
#ifndef PLIANT_SERVER_WORKER_BRANCH_H
#define PLIANT_SERVER_WORKER_BRANCH_H

#include "server/worker/control_apply.h"

/* Where DIR/parent is there, bring the steering's state, a fresh one, to where the other's was. *step is
 * that of our frame 0. PL_OK; PL_INVALID (faults), PL_IO, PL_NO_MEMORY, PL_FAILED. */
pl_status pl_branch_enter(int directory, pl_steering *s, int64_t *step, pl_faults *faults);

#endif
