/* dissipation.h - where energy went: by each dissipation function (model/damping.h), summed over steps.
 *
 * The power P = dR/dv . v of the forces that were in the objective, at a step's end. Backward Euler's steps
 * do the work h P there exactly, v being (x(n+1) - x(n)) / h, and so nearly does the midpoint's; of other
 * integrators the trapezoidal rule of P at both ends is of their order. */
#ifndef PLIANT_ENGINE_DISSIPATION_H
#define PLIANT_ENGINE_DISSIPATION_H

#include "engine/integrators/integrator.h"
#include "engine/metrics.h"
#include "engine/model/model.h"

struct pl_stepper;

typedef struct pl_dissipated {
    double energy[PL_DISSIPATION_COUNT]; /* J, since the start */
    double power[PL_DISSIPATION_COUNT];  /* W, at the end of the last step */
    int64_t steps;                       /* that power is of: 0 before the first */
} pl_dissipated;

/* Whether anything of the model dissipates. */
bool pl_dissipates(const pl_model *model);

/* Add a step of length h whose last stage, as it was frozen, ended at x, an array of the stepper's backend. */
void pl_dissipate(pl_dissipated *d, const struct pl_stepper *by,
                  const pl_integrator *integrator, const double *x);

/* Into a frame's metrics: NaN for what the model does not have. */
void pl_dissipation_measure(const pl_dissipated *d, const pl_model *model, pl_metrics *out);

#endif
