/* replay.h - a recorded session computed once more from its scene and the controls that its log notes,
 * and compared with what is stored: every frame's positions to the bit, its metrics but for times.
 * Nothing in the directory is changed; a session that runs meanwhile is looked at as far as it is.
 *
 * One line of JSON goes to the standard output:
 *
 *   {"same", "frames": looked at, "compared", "skipped": damaged or of another numerics class,
 *    "controls": number of the last, "frame": the first that differs, or null, "reason": "", "class"}
 */
#ifndef PLIANT_SERVER_WORKER_REPLAY_H
#define PLIANT_SERVER_WORKER_REPLAY_H

#include "server/worker/session_options.h"

/* Takes over the process like pl_session_run; attempt is not used. PL_WORKER_SUCCEEDED where nothing
 * differs, PL_WORKER_FAILED where something does or nothing can be compared. */
pl_worker_exit pl_replay_run(const pl_session_options *options);

#endif
