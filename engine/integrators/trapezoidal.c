/* The trapezoidal rule: the theta form with a = 1/2. It has no damping, so stiff modes, once excited, oscillate for
 * ever, at the step's own rate. */
#include "engine/integrators/integrator.h"

static void predict(const pl_stage_start *o, int32_t stage)
{
    pl_predict_theta(o);
}

const pl_integrator pl_trapezoidal = {.stages = 1,
                                      .a = 0.5,
                                      .end = {1},
                                      .extrapolation = 1,
                                      .forces = true,
                                      .predict = predict,
                                      .finish = pl_finish_stage};
