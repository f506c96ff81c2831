/* run_profile.h - the profile of a run (pliant-worker --profile): frames are computed on one and on two threads in
 * turns, and profile.json has the sums, with bounds of what more threads can gain. engine/scene/profile.h says how
 * they are counted.
 *
 * profile.json: {"format": 1, "frames": [n1, n2], "setup_seconds": s, "threads": [2, 4, ..., 64, null],
 *   "phases": [{"name", "counting": "counted|serial|measured", "calls": per frame, "seconds": [one, two] per frame,
 *               "work": operations per frame or null, "speedup": [for each of `threads`, at most]}],
 *   "frame": {"seconds": [one, two], "speedup": [...]}}
 * Phases that took no time are left out. seconds on two threads are null if no frame was computed so. The last speedup,
 * for any number of threads, is that of the longest chain; null: a measured phase without a serial part, no bound.
 */
#ifndef PLIANT_SERVER_WORKER_RUN_PROFILE_H
#define PLIANT_SERVER_WORKER_RUN_PROFILE_H

#include "engine/scene/profile.h"
#include "engine/step/pliant.h"

#include <stdbool.h>

typedef struct pl_run_profile {
    bool on;
    pl_profile sums;
    double began, stepped; /* s, monotonic: of the current frame */
} pl_run_profile;

/* With `on` false, all that follows does nothing. */
void pl_run_profile_init(pl_run_profile *p, bool on);
/* The model is made, in so many seconds: what was counted so far is dropped. */
void pl_run_profile_built(pl_run_profile *p, double seconds);
/* Before a frame's steps, which then run on one or two threads; after them; and when it is written. */
void pl_run_profile_begin(pl_run_profile *p, pl_state *state);
void pl_run_profile_stepped(pl_run_profile *p);
void pl_run_profile_end(pl_run_profile *p);
/* Writes profile.json. worker.log has the reason if that fails: a profile is no reason to fail a run. */
void pl_run_profile_write(const pl_run_profile *p, int directory);

#endif
