/* step_history.h - what a time integrator keeps from one step to the next beside positions and velocities, as
 * arrays of a backend. Private to the engine's own files. */
#ifndef PLIANT_ENGINE_STEP_STEP_HISTORY_H
#define PLIANT_ENGINE_STEP_STEP_HISTORY_H

#include "engine/integrators/integrator.h"
#include "engine/solvers/bytes.h"

typedef struct pl_step_history {
    bool known;      /* else the next step is a first one */
    pl_array *x, *v; /* [vertices][3], where the step before began; NULL: not looked at */
    pl_array *inner; /* [vertices][3], m/s^2: pl_stage_start's; NULL: none */
} pl_step_history;

/* Arrays for what the integrator wants, nothing known. PL_NO_MEMORY: release it all the same. */
pl_status pl_step_history_create(const pl_integrator *integrator, pl_backend *backend,
                                 pl_step_history *out);
void pl_step_history_release(pl_backend *backend, pl_step_history *history);

/* As bytes of a saved state: nothing of an integrator that needs no past. `take` leaves the past as it
 * was and answers false where the bytes end too early. */
void pl_step_history_save(const pl_integrator *integrator, pl_backend *backend,
                          const pl_step_history *history, pl_bytes_out *out);
typedef struct pl_step_history_bytes {
    bool known;
    const void *x, *v, *inner; /* in the saved state */
} pl_step_history_bytes;
bool pl_step_history_read(const pl_integrator *integrator, int64_t vertices, pl_bytes_in *in,
                          pl_step_history_bytes *out);
void pl_step_history_put(pl_backend *backend, const pl_step_history_bytes *from,
                         pl_step_history *history);

#endif
