/* stage.h - one optimisation stage of a time step. Every solver minimises
 *
 *     e(x) = inertia / 2 |x - x~|^2_M - load . x + U(x) + a h R(x, (x - xp) / (a h))
 *
 * with (a, xp, x~) from the time integrator (Brown 2018, eq. 19, 28, 31) and inertia = 1 / (a h)^2,
 * gravity in x~; or, in statics, inertia = 0 and gravity in the load. What the stage takes for the
 * velocity of x is (x - xp) / (a h). The sums are over what no pin holds: at a held coordinate neither
 * of the first two is a choice.
 */
#ifndef PLIANT_ENGINE_MODEL_STAGE_H
#define PLIANT_ENGINE_MODEL_STAGE_H

#include <stdint.h>

typedef struct pl_stage {
    double a, h;           /* 1; s */
    double inertia;        /* 1 / (a h)^2, 1/s^2; 0: statics */
    double time_start;     /* of the step, s */
    double time_end;       /* of this stage, s */
    const double *x_start; /* [n][3], x at time_start */
    const double *xp;      /* [n][3]: where x would be at rest; x_start for backward Euler */
    const double *x_pred;  /* [n][3], x~ */
    const double *load;    /* [n][3], N: forces that are constant over the stage; NULL: none */
} pl_stage;

/* Component `i` of the load, N. */
static inline double pl_stage_load(const pl_stage *stage, int64_t i)
{
    return stage->load ? stage->load[i] : 0;
}

#endif
