/* session_run.h - one attempt at one session, from its lock to exit.json.
 *
 *   lock -> attempt newer than head.json's? -> worker.log -> sandbox -> log -> scene.json, meshes ->
 *   model -> state -> frame 0, or the newest checkpoint and the recomputed frames after it ->
 *   step, write, step, write, ... -> exit.json
 *
 * Before worker.log nothing in the directory is changed (except for creating a missing `lock`), so that a stale or
 * second worker leaves no trace. Between steps the run checks for a newer attempt, a cancel, a signal, a pause, a
 * failed sync, a fault of the device and the time limit; a step is never interrupted.
 */
#ifndef PLIANT_SERVER_WORKER_SESSION_RUN_H
#define PLIANT_SERVER_WORKER_SESSION_RUN_H

#include "server/worker/session_options.h"

/* Run the attempt. Takes over the process: signals, standard error, sandbox. */
pl_worker_exit pl_session_run(const pl_session_options *options);

/* Run [count] sessions, a thread each, all of one owner and on one GPU. Their options are equal except directory and
 * attempt; `memory` is the total. Each has its own worker.log, control.log and exit.json, and ends independently, but a
 * fault of the device ends all. SIGTERM and SIGINT stop all. PL_WORKER_SUCCEEDED if each has an exit.json, however it
 * ended; PL_WORKER_DEVICE_FAULT; or the status of the first session without one. */
pl_worker_exit pl_session_run_all(const pl_session_options *options, int count);

#endif
