/* session_run.h - one attempt at one session, from its lock to exit.json.
 *
 *   lock -> attempt newer than head.json's? -> worker.log -> sandbox -> log -> scene.json, meshes ->
 *   model -> state -> frame 0, or the newest checkpoint and the frames after it once more ->
 *   step, write, step, write, ... -> exit.json
 *
 * Up to worker.log nothing in the directory is changed (but for an absent `lock`), so that a stale
 * or second worker leaves no trace. Between steps the run looks for a newer attempt, a cancel, a
 * signal, a pause, a failed sync, a fault of the device and the time limit; a step is never cut short.
 */
#ifndef PLIANT_SERVER_WORKER_SESSION_RUN_H
#define PLIANT_SERVER_WORKER_SESSION_RUN_H

#include "server/worker/session_options.h"

/* Run it. Takes over the process: signals, standard error, sandbox. */
pl_worker_exit pl_session_run(const pl_session_options *options);

/* Run several, [count], a thread each, all of one owner and on one GPU; the options but for directory and attempt
 * are the same, and `memory` is that of all. Each has its worker.log, control.log and exit.json, and ends for
 * itself; but a fault of the device ends all. SIGTERM and SIGINT stop all. PL_WORKER_SUCCEEDED where each has an
 * exit.json, however it ended; PL_WORKER_DEVICE_FAULT; or what was wrong with the first that has none. */
pl_worker_exit pl_session_run_all(const pl_session_options *options, int count);

#endif
