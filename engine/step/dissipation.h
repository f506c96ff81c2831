/* dissipation.h - dissipated energy by dissipation function (model/damping/damping.h), summed over steps.
 *
 * The power at a step's end is P = dR/dv . v, with the rates that R depends on. Backward Euler's steps, and the
 * midpoint rule's, add h P, which is of their own order; other integrators use the trapezoidal rule on P at both
 * ends. */
#ifndef PLIANT_ENGINE_STEP_DISSIPATION_H
#define PLIANT_ENGINE_STEP_DISSIPATION_H

#include "engine/integrators/integrator.h"
#include "engine/scene/metrics.h"
#include "engine/model/model.h"
#include "engine/step/stepper.h"

typedef struct pl_dissipated {
    double energy[PL_DISSIPATION_COUNT]; /* J, since the start */
    double power[PL_DISSIPATION_COUNT];  /* W, at the end of the last step */
    int64_t steps;                       /* time of `power`: 0 before the first step */
} pl_dissipated;

/* True if the model is known to dissipate. */
bool pl_dissipates(const pl_model *model);

/* Adds a step of length h whose last stage, as frozen, ended at x, an array of the stepper's backend. */
void pl_dissipate(pl_dissipated *d, const pl_stepper *by, const pl_integrator *integrator,
                  const pl_array *x);

/* Adds the work of friction over a stage that went from v to v_end: its impulse, `within` x the force at x, times
 * the slip velocity, at the end or, with `mean`, the mean of both. */
void pl_dissipate_friction(pl_dissipated *d, const pl_stepper *by, const pl_backend_stage *stage,
                           pl_array *const *u, const pl_array *x, const pl_array *v,
                           const pl_array *v_end, double within, bool mean);

/* Writes a frame's metrics; NaN for functions that the model does not have. */
void pl_dissipation_measure(const pl_dissipated *d, const pl_model *model, pl_metrics *out);

#endif
