/* settings.h - settings of a scene's solution: time, method, device. */
#ifndef PLIANT_ENGINE_SCENE_SETTINGS_H
#define PLIANT_ENGINE_SCENE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* DO(suffix of the kind's name, name in functions and scenes) for each. quasi_static has no inertia: a step is the
 * equilibrium at its end. */
#define PL_EACH_INTEGRATOR(DO)                                                                     \
    DO(BACKWARD_EULER, backward_euler)                                                             \
    DO(QUASI_STATIC, quasi_static)                                                                 \
    DO(BDF2, bdf2)                                                                                 \
    DO(TRAPEZOIDAL, trapezoidal)                                                                   \
    DO(IMPLICIT_MIDPOINT, implicit_midpoint)                                                       \
    DO(TR_BDF2, tr_bdf2)                                                                           \
    DO(SDIRK2, sdirk2)
/* Their numbers are part of a model's hash: a new one comes last. */
#define PL_EACH_METHOD(DO)                                                                         \
    DO(ADMM, admm)                                                                                 \
    DO(QUASI_NEWTON, quasi_newton)                                                                 \
    DO(NEWTON, newton)                                                                             \
    DO(LBFGS, lbfgs)                                                                               \
    DO(GRADIENT_DESCENT, gradient_descent)                                                         \
    DO(NONLINEAR_CG, nonlinear_cg)                                                                 \
    DO(CHEBYSHEV_SEMI_ITERATIVE, chebyshev_semi_iterative)                                         \
    DO(CHEBYSHEV_DESCENT, chebyshev_descent)                                                       \
    DO(PROJECTIVE_DYNAMICS, projective_dynamics)                                                   \
    DO(BARZILAI_BORWEIN, barzilai_borwein)                                                         \
    DO(AUTO, auto)                                                                                 \
    DO(VERTEX_BLOCK_DESCENT, vertex_block_descent)

typedef enum pl_integrator_kind {
#define KIND(kind, name) PL_INTEGRATOR_##kind,
    PL_EACH_INTEGRATOR(KIND)
#undef KIND
} pl_integrator_kind;
typedef enum pl_method_kind {
#define KIND(kind, name) PL_METHOD_##kind,
    PL_EACH_METHOD(KIND)
#undef KIND
} pl_method_kind;
#define PL_COUNT_ONE(kind, name) +1
#define PL_METHOD_KINDS          ((int)(0 PL_EACH_METHOD(PL_COUNT_ONE)))
typedef enum pl_device_kind { PL_DEVICE_CPU, PL_DEVICE_GPU } pl_device_kind;
/* Floating-point precision of the computation. */
typedef enum pl_precision {
    PL_PRECISION_AUTO, /* double on the CPU, single on a GPU */
    PL_PRECISION_SINGLE,
    PL_PRECISION_DOUBLE
} pl_precision;
typedef enum pl_on_not_converged {
    PL_NOT_CONVERGED_CONTINUE,
    PL_NOT_CONVERGED_FAIL
} pl_on_not_converged;
typedef enum pl_acceleration {
    PL_ACCELERATION_NONE,
    PL_ACCELERATION_NESTEROV,
    PL_ACCELERATION_ANDERSON
} pl_acceleration;
/* k_i of the weights w_i^2 = k_i V_i, which make the constant matrix. */
typedef enum pl_stiffness_kind {
    PL_STIFFNESS_SHEAR, /* weight_scale * mu */
    PL_STIFFNESS_FIT, /* the slope of the stress over stretches of 0.5 to 1.5 (Liu 2017, eq. 11) */
} pl_stiffness_kind;
/* How Newton's steps are solved for. */
typedef enum pl_linear_kind {
    PL_LINEAR_DIRECT,     /* one Cholesky factor per iteration */
    PL_LINEAR_PCG,        /* conjugate gradients, preconditioned by the constant matrix */
    PL_LINEAR_PCG_JACOBI, /* ... by the 3 x 3 blocks on the diagonal */
    PL_LINEAR_AUTO,       /* pcg, and a factor where gradients take longer */
} pl_linear_kind;
/* How methods with a constant matrix solve with it, on the CPU. */
typedef enum pl_matrix_kind {
    PL_MATRIX_AUTO, /* a factor */
    PL_MATRIX_CHOLESKY,
    PL_MATRIX_MULTIGRID,
} pl_matrix_kind;
enum { PL_WINDOW_MAX = 64, PL_PHASES_MAX = 8 };
/* The diagonal matrix of descent methods without a constant matrix. */
typedef enum pl_preconditioner {
    PL_PRECONDITIONER_JACOBI,   /* the diagonal of the objective's Hessian */
    PL_PRECONDITIONER_NONE,     /* a multiple of the identity */
    PL_PRECONDITIONER_CONSTANT, /* the diagonal of the constant matrix */
} pl_preconditioner;
typedef enum pl_line_search { PL_LINE_SEARCH_BACKTRACKING, PL_LINE_SEARCH_WOLFE } pl_line_search;
/* Initial guess of a step's iterations (Wang 2016, section 4.4). */
typedef enum pl_initial_guess {
    PL_GUESS_BEST,         /* the lowest objective of x~, x(n) and others: guess.c */
    PL_GUESS_POSITION,     /* x(n) */
    PL_GUESS_VELOCITY,     /* x(n) + h v(n) */
    PL_GUESS_ACCELERATION, /* x(n) + h v(n) + 0.2 h (v(n) - v(n-1)) */
    PL_GUESS_STEP,         /* x(n) + d v(n), d by a parabola through the objective (eq. 10) */
} pl_initial_guess;
/* How bodies are kept out of obstacles. */
typedef enum pl_obstacle_way {
    PL_OBSTACLES_HARD,   /* constraints (Narain 2016, eq. 38-39) */
    PL_OBSTACLES_ENERGY, /* springs that are not in the matrix (Liu 2017, section 4.3) */
} pl_obstacle_way;

/* Run as fast as possible, or no faster than the wall clock. Changes no bit of a run. */
typedef enum pl_pace { PL_PACE_FREE, PL_PACE_REALTIME } pl_pace;

/* Number of steps of a run without an end. */
#define PL_STEPS_ENDLESS ((int64_t)1 << 53)

typedef struct pl_time {
    double step;     /* h, s */
    double duration; /* s; the given duration, or steps * step; 0 without an end */
    int64_t steps;   /* number of steps, >= 1, or PL_STEPS_ENDLESS */
    pl_integrator_kind integrator;
    pl_pace pace;
} pl_time;

typedef struct pl_solver_settings {
    pl_method_kind method;
    int32_t iterations; /* maximum number of iterations per step */
    double tolerance;   /* relative Newton decrement; 0: a fixed number of iterations */
    pl_stiffness_kind stiffness;
    double weight_scale;          /* with stiffness shear: w_i^2 = weight_scale * mu * V */
    double relaxation;            /* ADMM over-relaxation, 1 = none */
    pl_acceleration acceleration; /* ADMM */
    int32_t window; /* quasi-Newton: number of pairs that L-BFGS remembers, 0 .. PL_WINDOW_MAX */
    bool automatic; /* the scene says auto, and `method` is its selection: changes no bit */
    bool has_obstacles; /* otherwise pl_obstacles_are_hard() decides by the method */
    pl_obstacle_way obstacles;
    double contact_stiffness; /* with obstacles energy: stiffness over a vertex's diagonal of A */
    pl_on_not_converged on_not_converged;
    pl_device_kind device;
    pl_precision precision; /* pl_solver_is_single() resolves auto */
    bool has_linear;        /* otherwise pl_newton_linear() decides by the size */
    pl_linear_kind linear;  /* Newton */
    pl_matrix_kind matrix;
    pl_preconditioner preconditioner;
    int32_t jacobi_refresh; /* iterations from one Jacobi preconditioner to the next */
    pl_line_search line_search;
    pl_initial_guess initial_guess;
    double rho;     /* Chebyshev: spectral radius; 0: estimated, or no momentum */
    int32_t phases; /* chebyshev_descent: number of phases of rho, 1 .. PL_PHASES_MAX */
    int32_t tune;   /* chebyshev_descent: solve before which phases are tuned, from 1; 0: none */
} pl_solver_settings;

/* True if it is computed in single precision: as the scene says, or by default on a GPU. */
static inline bool pl_solver_is_single(const pl_solver_settings *solver)
{
    if (solver->precision != PL_PRECISION_AUTO)
        return solver->precision == PL_PRECISION_SINGLE;
    return solver->device == PL_DEVICE_GPU;
}

#endif
