/* SDIRK2 (Alexander 1977, section 2): two implicit stages of the same length, at t + a h and t + h, with
 * a = 1 - 1/sqrt(2). It is of second order and L-stable: its amplification factor is 0 for the stiffest modes. With
 * the first stage's rate k1 and the second's k2,
 *
 *     x1 = x(n) + a h k1,    x(n+1) = x(n) + (1 - a) h k1 + a h k2,
 *
 * so the second stage starts from
 *
 *     xp = x(n) + (1 - a) h k1 = x1 + w (x1 - x(n)),    w = (1 - a) / a - 1 = sqrt(2),
 *
 * and likewise vp. Both stages have the matrix of TR-BDF2, and neither needs the force at the step's start. */
#include "engine/integrators/integrator.h"

#define ROOT_2 1.41421356237309504880

static void predict(const pl_stage_start *o, int32_t stage)
{
    pl_predict_backward(o, stage == 0 ? 0 : ROOT_2);
}

const pl_integrator pl_sdirk2 = {.stages = 2,
                                 .a = 1 - 1 / ROOT_2,
                                 .end = {1 - 1 / ROOT_2, 1},
                                 .extrapolation = 1,
                                 .looks_back = true,
                                 .predict = predict,
                                 .finish = pl_finish_stage};
