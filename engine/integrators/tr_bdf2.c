/* TR-BDF2 (Brown 2018, section 4.3): the trapezoidal rule to t + g h, then BDF2 over t, t + g h and t + h, with
 * g = 2 - sqrt(2). Both stages have a = 1 - 1/sqrt(2) and so the same matrix, and stiff modes vanish after one
 * step. In the second stage
 *
 *     xp = x(n+g) + w (x(n+g) - x(n)),  w = (1 - g)^2 / (g (2 - g)) = 0.2071068,
 *
 * and likewise vp (eq. 36). The force at the start is the force at the end of the previous step, from the impulse
 * of its second stage (eq. 37), without the forces of obstacles and pins. */
#include "engine/integrators/integrator.h"

#define ROOT_2 1.41421356237309504880

static void predict(const pl_stage_start *o, int32_t stage)
{
    if (stage == 0)
        pl_predict_theta(o);
    else
        pl_predict_backward(o, (ROOT_2 - 1) / 2);
}

const pl_integrator pl_tr_bdf2 = {.stages = 2,
                                  .a = 1 - 1 / ROOT_2,
                                  .end = {2 - ROOT_2, 1},
                                  .extrapolation = 1,
                                  .looks_back = true,
                                  .forces = true,
                                  .predict = predict,
                                  .finish = pl_finish_stage};
