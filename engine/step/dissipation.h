/* dissipation.h - where energy went: by each dissipation function (model/damping/damping.h), summed over steps.
 *
 * The power P = dR/dv . v at a step's end, with the rates that R is of. Backward Euler's steps take h P, to
 * their own order, and the midpoint's; of other integrators it is the trapezoidal rule of P at both ends. */
#ifndef PLIANT_ENGINE_STEP_DISSIPATION_H
#define PLIANT_ENGINE_STEP_DISSIPATION_H

#include "engine/integrators/integrator.h"
#include "engine/scene/metrics.h"
#include "engine/model/model.h"
#include "engine/step/stepper.h"

typedef struct pl_dissipated {
    double energy[PL_DISSIPATION_COUNT]; /* J, since the start */
    double power[PL_DISSIPATION_COUNT];  /* W, at the end of the last step */
    int64_t steps;                       /* that power is of: 0 before the first */
} pl_dissipated;

/* Whether anything of the model dissipates, as far as is known of it. */
bool pl_dissipates(const pl_model *model);

/* Add a step of length h whose last stage, as it was frozen, ended at x, an array of the stepper's backend. */
void pl_dissipate(pl_dissipated *d, const pl_stepper *by, const pl_integrator *integrator,
                  const pl_array *x);

/* Add what friction took over a stage that went from v to v_end: its impulse, `within` x the force at x,
 * times the velocity of the slip, at the end or, where `mean`, the mean of both. */
void pl_dissipate_friction(pl_dissipated *d, const pl_stepper *by, const pl_backend_stage *stage,
                           pl_array *const *u, const pl_array *x, const pl_array *v,
                           const pl_array *v_end, double within, bool mean);

/* Into a frame's metrics: NaN for what the model does not have. */
void pl_dissipation_measure(const pl_dissipated *d, const pl_model *model, pl_metrics *out);

#endif
