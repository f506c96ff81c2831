/* replay.h - recomputes a recorded session from its scene and the controls in its log, and compares it with the stored
 * frames: positions bit by bit, and metrics except times. Nothing in the directory is changed; of a running session,
 * the frames so far are compared.
 *
 * One line of JSON goes to standard output:
 *
 *   {"same", "frames": looked at, "compared", "skipped": damaged or of another numerics class,
 *    "controls": number of the last, "frame": the first that differs, or null, "reason": "", "class"}
 */
#ifndef PLIANT_SERVER_WORKER_REPLAY_H
#define PLIANT_SERVER_WORKER_REPLAY_H

#include "server/worker/session_options.h"

/* Takes over the process like pl_session_run; attempt is unused. PL_WORKER_SUCCEEDED if nothing differs,
 * PL_WORKER_FAILED if something differs or nothing can be compared. */
pl_worker_exit pl_replay_run(const pl_session_options *options);

#endif
