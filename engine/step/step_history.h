/* step_history.h - what a time integrator keeps from one step to the next, beside positions and velocities, as
 * arrays of a backend. Private to the engine's own files. */
#ifndef PLIANT_ENGINE_STEP_STEP_HISTORY_H
#define PLIANT_ENGINE_STEP_STEP_HISTORY_H

#include "engine/integrators/integrator.h"
#include "engine/solvers/bytes.h"

typedef struct pl_step_history {
    bool known;      /* false: the next step is a first step */
    pl_array *x, *v; /* [vertices][3], positions at the previous step's start; NULL: unused */
    pl_array *inner; /* [vertices][3], m/s^2: from pl_stage_start; NULL: none */
} pl_step_history;

/* Creates the arrays that the integrator needs, with no past. PL_NO_MEMORY: release it all the same. */
pl_status pl_step_history_create(const pl_integrator *integrator, pl_backend *backend,
                                 pl_step_history *out);
void pl_step_history_release(pl_backend *backend, pl_step_history *history);

/* Reads and writes the bytes of a saved state; empty for an integrator without a past. `take` returns false, with
 * the past unchanged, if the bytes end too early. */
void pl_step_history_save(const pl_integrator *integrator, pl_backend *backend,
                          const pl_step_history *history, pl_bytes_out *out);
typedef struct pl_step_history_bytes {
    bool known;
    const void *x, *v, *inner; /* size in the saved state */
} pl_step_history_bytes;
bool pl_step_history_read(const pl_integrator *integrator, int64_t vertices, pl_bytes_in *in,
                          pl_step_history_bytes *out);
void pl_step_history_put(pl_backend *backend, const pl_step_history_bytes *from,
                         pl_step_history *history);

#endif
