/* stage.h - one optimisation stage of a time step. Every solver minimises
 *
 *     e(x) = 1 / (2 a^2 h^2) |x - x~|^2_M + U(x)
 *
 * with (a, x~) from the time integrator (Brown 2018, eq. 19); gravity is in x~.
 */
#ifndef PLIANT_ENGINE_MODEL_STAGE_H
#define PLIANT_ENGINE_MODEL_STAGE_H

typedef struct pl_stage {
    double a, h;           /* 1; s */
    double time_start;     /* of the step, s */
    double time_end;       /* of this stage, s */
    const double *x_start; /* [n][3], x at time_start */
    const double *x_pred;  /* [n][3], x~ */
} pl_stage;

#endif
