/* integrator.h - a time step as one or more optimisation stages (stage.h). An integrator says where
 * a stage's prediction x~ is and what the state becomes once the stage's minimiser is known; it
 * knows nothing of how it is minimised. */
#ifndef PLIANT_ENGINE_INTEGRATORS_INTEGRATOR_H
#define PLIANT_ENGINE_INTEGRATORS_INTEGRATOR_H

#include "engine/backends/backend.h"

typedef struct pl_integrator {
    const char *name;
    int32_t stages;
    double a; /* the same in every stage: one matrix, one factor */
    /* Fill x_pred for stage `s` from the state at the step's start. Arrays are positions of the backend,
     * whose model's step is h. */
    void (*predict)(pl_backend *b, int32_t s, double time, const double *x, const double *v,
                    double *x_pred);
    /* The stage's minimiser is x_new: update velocities v at a step's end. x is still the old one. */
    void (*finish)(pl_backend *b, int32_t s, const double *x, const double *x_new, double *v);
} pl_integrator;

const pl_integrator *pl_integrator_find(pl_integrator_kind kind);

extern const pl_integrator pl_backward_euler;
extern const pl_integrator pl_quasi_static;

#endif
