/* The second-order backward difference formula (Brown 2018, section 4): a = 2/3,
 *
 *     xp = 4/3 x(n) - 1/3 x(n-1),  vp = 4/3 v(n) - 1/3 v(n-1).
 *
 * A step without a past (the first step, or one after a change of the model or of the step's length) has the theta
 * form with the same a: 1/3 of the force at its start and 2/3 of that at its end. The matrix is the same, an error
 * of h^2 occurs once, which preserves the second order, and stiff modes are halved. */
#include "engine/integrators/integrator.h"

static void predict(const pl_stage_start *o, int32_t stage)
{
    if (o->known)
        pl_predict_backward(o, 1.0 / 3.0);
    else
        pl_predict_theta(o);
}

const pl_integrator pl_bdf2 = {.stages = 1,
                               .a = 2.0 / 3.0,
                               .end = {1},
                               .extrapolation = 1,
                               .looks_back = true,
                               .remembers = true,
                               .predict = predict,
                               .finish = pl_finish_stage};
