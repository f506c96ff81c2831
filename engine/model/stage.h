/* stage.h - one optimisation stage of a time step. Every solver minimises
 *
 *     e(x) = inertia / 2 |x - x~|^2_M - load . x + U(x) + a h R(x, (x - xp) / (a h))
 *
 * with (a, xp, x~) from the time integrator (Brown 2018, eq. 19, 28, 31) and inertia = 1 / (a h)^2, gravity in x~;
 * or, in statics, inertia = 0 and gravity in the load. The stage's velocity of x is (x - xp) / (a h). The sums are
 * over free coordinates: at a held coordinate, neither of the first two terms can change.
 */
#ifndef PLIANT_ENGINE_MODEL_STAGE_H
#define PLIANT_ENGINE_MODEL_STAGE_H

#include <stdint.h>

/* Number type of arrays in terms; kernels of another precision read that precision (backends/device). */
#ifdef PL_SINGLE
typedef float pl_number;
#else
typedef double pl_number;
#endif

/* All of a stage except its arrays.
 *
 * Contact is evaluated at y = x_start + extrapolation (x - x_start), where 0 means 1: the implicit midpoint rule
 * solves for a place half way. A vertex that ends at rest has its y at `stationary`; on an obstacle that carries it
 * along by d over the stage, at stationary + carry_fraction d. */
typedef struct pl_stage_scalars {
    double a, h;       /* 1; s */
    double inertia;    /* 1 / (a h)^2, 1/s^2; 0: statics */
    double span;       /* s from x_start to the time of x */
    double time_start; /* of this stage, s */
    double time_end;   /* of this stage, s */
    double extrapolation, carry_fraction;
} pl_stage_scalars;

/* A stage as terms read it, on the host or in a kernel on a device; solvers have a pl_backend_stage
 * (backends/backend.h). */
typedef struct pl_stage {
    pl_stage_scalars scalars;
    const pl_number *x_start;    /* [n][3], x at time_start */
    const pl_number *v_start;    /* [n][3], its velocity there */
    const pl_number *xp;         /* [n][3]: where x would be at rest; x_start for backward Euler */
    const pl_number *stationary; /* [n][3]; NULL: x_start, and carry_fraction is 1 */
    const pl_number *x_pred;     /* [n][3], x~ */
    const pl_number
        *x_grip; /* [n][3]: positions whose depth gives friction's grip; NULL: those of x_start */
    const pl_number *load; /* [n][3], N: forces that are constant over the stage; NULL: none */
} pl_stage;

/* Component `i` of the load, N. */
static inline double pl_stage_load(const pl_stage *stage, int64_t i)
{
    return stage->load ? stage->load[i] : 0;
}

/* The time at which contact is evaluated, s. */
static inline double pl_stage_touch_time(const pl_stage_scalars *stage)
{
    return stage->extrapolation > 1
               ? stage->time_start + stage->extrapolation * (stage->time_end - stage->time_start)
               : stage->time_end;
}

#endif
