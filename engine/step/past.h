/* past.h - what a time integrator keeps from one step to the next beside positions and velocities, as
 * arrays of a backend. Private to the engine's own files. */
#ifndef PLIANT_ENGINE_PAST_H
#define PLIANT_ENGINE_PAST_H

#include "engine/integrators/integrator.h"
#include "engine/solvers/bytes.h"

typedef struct pl_past {
    bool known;    /* else the next step is a first one */
    double *x, *v; /* [vertices][3], where the step before began; NULL: not looked at */
    double *inner; /* [vertices][3], m/s^2: pl_outset's; NULL: none */
} pl_past;

/* Arrays for what the integrator wants, nothing known. PL_NO_MEMORY: release it all the same. */
pl_status pl_past_create(const pl_integrator *integrator, pl_backend *backend, pl_past *out);
void pl_past_release(pl_backend *backend, pl_past *past);

/* As bytes of a saved state: nothing of an integrator that needs no past. `take` leaves the past as it
 * was and answers false where the bytes end too early. */
void pl_past_save(const pl_integrator *integrator, pl_backend *backend, const pl_past *past,
                  pl_bytes_out *out);
typedef struct pl_past_bytes {
    bool known;
    const void *x, *v, *inner; /* in the saved state */
} pl_past_bytes;
bool pl_past_read(const pl_integrator *integrator, int64_t vertices, pl_bytes_in *in,
                  pl_past_bytes *out);
void pl_past_put(pl_backend *backend, const pl_past_bytes *from, pl_past *past);

#endif
