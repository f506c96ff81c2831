/* The tables of time, solver, output and resources. */
#include "engine/scene/scene.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/params_rows.h"

static const char *const integrators[] = {
    "backward_euler",    "quasi_static", "bdf2",   "trapezoidal",
    "implicit_midpoint", "tr_bdf2",      "sdirk2", NULL};

static const char *const paces[] = {"free", "realtime", NULL};
static const pl_param time_rows[] = {
    {.key = "step",
     .kind = PL_PARAM_NUMBER,
     AT(pl_time, step),
     .unit = "s",
     ABOVE(0, 1000),
     .standard = {1.0 / 30.0},
     .doc = "Time step h."},
    {.key = "duration",
     .kind = PL_PARAM_NUMBER,
     AT(pl_time, duration),
     .unit = "s",
     ABOVE(0, 1e12),
     .standard = {1},
     .standard_text = "1, unless steps is given; with pace realtime no end",
     .doc = "Simulated time; the steps are duration / step, rounded up. Excludes steps."},
    {.key = "steps",
     .kind = PL_PARAM_INTEGER,
     AT(pl_time, steps),
     FROM(1, PL_SCENE_STEPS_MAX),
     .standard_text = "from duration",
     .doc = "Number of steps. Excludes duration."},
    {.key = "integrator",
     .kind = PL_PARAM_CHOICE,
     AT(pl_time, integrator),
     .choices = integrators,
     .doc = "How a step is made into one minimisation, or two. backward_euler: of the first order, "
            "loses energy wherever something swings, stable at any step. bdf2: of the second, "
            "loses little of what is slow. trapezoidal and implicit_midpoint: of the second, lose "
            "nothing of small motions, and what is stiff rings on. tr_bdf2: of the second, two "
            "minimisations a step, keeps slow motions and loses stiff ones at once. sdirk2: as "
            "tr_bdf2, smoother where forces jump, but loses more of slow motions. quasi_static "
            "leaves out inertia: a step is the equilibrium under the loads and pins at its end."},
    {.key = "pace",
     .kind = PL_PARAM_CHOICE,
     AT(pl_time, pace),
     .choices = paces,
     .doc = "free: as fast as it can. realtime: a frame is not shown before as much wall time has "
            "passed as simulated time; what is late is not caught up. Without steps and duration "
            "such a run has no end."},
};
const pl_param_table pl_time_table = {
    .name = "time", .doc = "Steps and their integrator.", ROWS(time_rows)};

static const char *const methods[] = {"admm",
                                      "quasi_newton",
                                      "newton",
                                      "lbfgs",
                                      "gradient_descent",
                                      "nonlinear_cg",
                                      "chebyshev_semi_iterative",
                                      "chebyshev_descent",
                                      "projective_dynamics",
                                      "barzilai_borwein",
                                      NULL};
static const char *const preconditioners[] = {"jacobi", "none", "constant", NULL};
static const char *const line_searches[] = {"backtracking", "wolfe", NULL};
static const char *const initial_guesses[] = {"best",         "position", "velocity",
                                              "acceleration", "step",     NULL};
static const char *const stiffnesses[] = {"shear", "fit", NULL};
static const char *const accelerations[] = {"none", "nesterov", "anderson", NULL};
static const char *const not_converged[] = {"continue", "fail", NULL};
static const char *const linears[] = {"direct", "pcg", "pcg_jacobi", NULL};
static const char *const devices[] = {"cpu", "gpu", NULL};
static const char *const solver_precisions[] = {"auto", "single", "double", NULL};
static const char *const obstacle_ways[] = {"hard", "energy", NULL};

static const pl_param solver_rows[] = {
    {.key = "method",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, method),
     .choices = methods,
     .doc = "How each step's objective is minimised. By splitting: admm, and projective_dynamics, "
            "for energies that are squared distances. By descent on a constant "
            "matrix, factored once: quasi_newton (L-BFGS), chebyshev_semi_iterative. By descent "
            "without a matrix: lbfgs, nonlinear_cg, gradient_descent, barzilai_borwein (gradient "
            "descent with the last step's curvature), and chebyshev_descent, which is "
            "Jacobi-preconditioned gradient descent with Chebyshev's momentum. newton: by "
            "Hessians made semidefinite. The capabilities' `carries` says which takes what."},
    {.key = "iterations",
     .kind = PL_PARAM_INTEGER,
     AT(pl_solver_settings, iterations),
     FROM(1, 10000),
     .standard = {50},
     .doc = "Most iterations of a step."},
    {.key = "tolerance",
     .kind = PL_PARAM_NUMBER,
     AT(pl_solver_settings, tolerance),
     .unit = "1",
     FROM(0, 1),
     .standard = {1e-3},
     .doc = "A step has converged when its Newton decrement, relative to the first iterate's, is "
            "below this; 0 makes every iteration of every step. The decrement is in the norm of "
            "the constant matrix; of methods without one, in that of its diagonal, where smooth "
            "errors weigh less."},
    {.key = "stiffness",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, stiffness),
     .choices = stiffnesses,
     .doc = "Of the constant matrix's terms, per rest volume: weight_scale times shear modulus, or "
            "the slope that fits the material's stress over stretches of 0.5 to 1.5."},
    {.key = "weight_scale",
     .kind = PL_PARAM_NUMBER,
     AT(pl_solver_settings, weight_scale),
     .unit = "1",
     FROM(1e-6, 1e6),
     .standard = {1.8},
     .standard_text = "1.8 with admm, else 2",
     .doc = "With stiffness shear: the squared weights are this, times shear modulus, times rest "
            "volume. ADMM raises them of itself where elements are compressed hard. "
            "projective_dynamics has the energies' own."},
    {.key = "relaxation",
     .kind = PL_PARAM_NUMBER,
     AT(pl_solver_settings, relaxation),
     .unit = "1",
     FROM(0.5, 1.95),
     .standard = {1.8},
     .standard_text = "1.8 with anderson, else 1",
     .doc = "ADMM's over-relaxation; 1 is none. With momentum more than 1 may not converge."},
    {.key = "acceleration",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, acceleration),
     .choices = accelerations,
     .standard = {PL_ACCELERATION_ANDERSON},
     .doc = "ADMM's: Anderson's, which extrapolates from the last six iterations; Nesterov's "
            "momentum, dropped where the residuals do not fall; or none."},
    {.key = "window",
     .kind = PL_PARAM_INTEGER,
     AT(pl_solver_settings, window),
     FROM(0, PL_WINDOW_MAX),
     .standard = {12},
     .doc = "quasi_newton and lbfgs: iterations that the history remembers; 0 uses the constant "
            "matrix, or the preconditioner, alone."},
    {.key = "preconditioner",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, preconditioner),
     .choices = preconditioners,
     .doc = "Methods without a matrix: the diagonal of the objective's Hessian, a multiple of the "
            "identity, or the diagonal of the constant matrix that other methods solve with."},
    {.key = "jacobi_refresh",
     .kind = PL_PARAM_INTEGER,
     AT(pl_solver_settings, jacobi_refresh),
     FROM(1, 10000),
     .standard = {32},
     .doc = "Methods without a matrix: iterations until the Jacobi preconditioner is made anew, as "
            "it is at the beginning of every step."},
    {.key = "line_search",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, line_search),
     .choices = line_searches,
     .doc = "quasi_newton and lbfgs: halve a step until the objective falls enough (Armijo), or "
            "look for both of Wolfe's conditions. nonlinear_cg always looks for those, the other "
            "methods never."},
    {.key = "initial_guess",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, initial_guess),
     .choices = initial_guesses,
     .doc = "Where the iterations of a step begin: where inertia and gravity alone would lead, "
            "where it is or, with methods without a matrix, as acceleration says, whichever has "
            "the lowest objective; where it is; with its velocity; with a fifth of its last change "
            "of velocity too; or along its velocity as far as a parabola through the objective "
            "says. Where the objective is infinite there, where it is."},
    {.key = "rho",
     .kind = PL_PARAM_NUMBER,
     AT(pl_solver_settings, rho),
     .unit = "1",
     FROM(0, 0.99999),
     .doc = "chebyshev_semi_iterative: the spectral radius; 0 estimates it from the first ten "
            "iterations of a step. chebyshev_descent: that of the last phase; 0 takes it from "
            "inertia and preconditioner."},
    {.key = "phases",
     .kind = PL_PARAM_INTEGER,
     AT(pl_solver_settings, phases),
     FROM(1, PL_PHASES_MAX),
     .standard = {1},
     .doc = "chebyshev_descent: phases with a rho of their own: of 8, 16, 32, ... iterations, the "
            "last without end, and 1 - rho three times that of the next. More than one is for "
            "tune."},
    {.key = "tune",
     .kind = PL_PARAM_INTEGER,
     AT(pl_solver_settings, tune),
     FROM(0, PL_SCENE_STEPS_MAX),
     .doc = "chebyshev_descent: the step, counted from 1, before which lengths and rho of the "
            "phases are tuned to it by solving it again and again; all later ones keep them. 0: "
            "none."},
    {.key = "obstacles",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, obstacles),
     .choices = obstacle_ways,
     .flagged = true,
     .flag_offset = offsetof(pl_solver_settings, has_obstacles),
     .standard_text = "hard where the method holds constraints, else energy",
     .doc = "What keeps bodies out of obstacles: constraints, or springs that push back what is "
            "inside."},
    {.key = "contact_stiffness",
     .kind = PL_PARAM_NUMBER,
     AT(pl_solver_settings, contact_stiffness),
     .unit = "1",
     ABOVE(0, 1e6),
     .standard = {10},
     .doc = "With obstacles energy: a vertex's spring over its diagonal of the constant matrix. "
            "Bodies go in less, and iterations are more, the larger it is."},
    {.key = "on_not_converged",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, on_not_converged),
     .choices = not_converged,
     .doc = "What a step that has not converged does to the session."},
    {.key = "device",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, device),
     .choices = devices,
     .doc = "Where the iterations run. A GPU has every method but newton. Where there is none the "
            "scene is refused, never run on the CPU instead."},
    {.key = "precision",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, precision),
     .choices = solver_precisions,
     .doc = "Of what is computed with: auto is double on the CPU and single on a GPU. The CPU has "
            "double only."},
    {.key = "linear",
     .kind = PL_PARAM_CHOICE,
     AT(pl_solver_settings, linear),
     .choices = linears,
     .flagged = true,
     .flag_offset = offsetof(pl_solver_settings, has_linear),
     .standard_text = "direct up to 4096 free vertices, pcg beyond",
     .doc = "How Newton's steps are solved for: a Cholesky factor an iteration, or conjugate "
            "gradients preconditioned by the constant matrix or by the blocks on the diagonal."},
};
const pl_param_table pl_solver_table = {
    .name = "solver", .doc = "The method and when it stops.", ROWS(solver_rows)};

static const char *const metrics_details[] = {"frame", "iteration", NULL};
static const char *const precisions[] = {"single", "double", NULL};

static const pl_param retention_rows[] = {
    {.key = "last",
     .kind = PL_PARAM_INTEGER,
     AT(pl_retention, last),
     FROM(0, PL_SCENE_STEPS_MAX),
     .doc = "Frames at the end that are all kept, and a quarter of them more; 0: the newest "
            "segment of the log."},
    {.key = "every",
     .kind = PL_PARAM_INTEGER,
     AT(pl_retention, every),
     FROM(0, PL_SCENE_STEPS_MAX),
     .doc = "Of older frames those stay whose number it divides; 0: none does, or all where `last` "
            "is 0 too."},
    {.key = "days",
     .kind = PL_PARAM_NUMBER,
     AT(pl_retention, days),
     .unit = "days",
     FROM(0, 100000),
     .doc = "After its end the session is removed, by the daemon; 0: it is not."},
};
const pl_param_table pl_retention_table = {
    .name = "retention", .doc = "What is kept of the frames of a run.", ROWS(retention_rows)};

static const pl_param output_rows[] = {
    {.key = "every",
     .kind = PL_PARAM_INTEGER,
     AT(pl_output, every),
     FROM(1, PL_SCENE_STEPS_MAX),
     .standard = {1},
     .doc = "Steps from one frame to the next."},
    {.key = "metrics",
     .kind = PL_PARAM_CHOICE,
     AT(pl_output, metrics),
     .choices = metrics_details,
     .doc = "Whether metrics also list every iteration."},
    {.key = "precision",
     .kind = PL_PARAM_CHOICE,
     AT(pl_output, precision),
     .choices = precisions,
     .doc = "Stored numbers: float32 or float64."},
    {.key = "fields",
     .kind = PL_PARAM_CUSTOM,
     AT(pl_output, fields),
     .custom = PL_CUSTOM_FIELDS,
     .standard = {PL_OUTPUT_POSITION},
     .standard_text = "position",
     .type = "array of: position, velocity, stress, element_stress",
     .doc =
         "What is stored of each vertex; its position always is. stress: von Mises', the greatest "
         "principal and the mean Cauchy stress (Pa) in the tetrahedra about it, weighted by their "
         "volumes; 0 where there are none. element_stress: the same of each tetrahedron and of "
         "each "
         "triangle of cloth (over its thickness at rest), for exports as npz and vtu."},
    {.key = "probes",
     .kind = PL_PARAM_LIST,
     .table = &pl_probe_table,
     .offset = offsetof(pl_output, probes),
     .size = sizeof(pl_expectation),
     .count_offset = offsetof(pl_output, probe_count),
     FROM(1, 256),
     .standard_text = "none",
     .doc = "Numbers that each frame's metrics have, by name; as a table at /probes."},
    {.key = "retention",
     .kind = PL_PARAM_OBJECT,
     AT(pl_output, retention),
     .table = &pl_retention_table,
     .doc = "What is kept: everything, unless it says otherwise."},
};
const pl_param_table pl_output_table = {
    .name = "output", .doc = "What is stored of a run.", ROWS(output_rows)};

static const pl_param resources_rows[] = {
    {.key = "cores",
     .kind = PL_PARAM_INTEGER,
     AT(pl_resources, cores),
     FROM(1, 256),
     .standard = {1},
     .doc = "Threads; the results are the same bits for any number."},
    {.key = "memory",
     .kind = PL_PARAM_NUMBER,
     AT(pl_resources, memory),
     .unit = "bytes",
     FROM(0, 1e15),
     .doc = "Most memory; 0: as estimated."},
    {.key = "time_limit",
     .kind = PL_PARAM_NUMBER,
     AT(pl_resources, time_limit),
     .unit = "s",
     FROM(0, 1e9),
     .doc = "Most time of running; 0: no limit."},
    PRIORITY_ROW,
};
static const pl_absent resources_absent[] = {{"gpu", 0}, {0}};
const pl_param_table pl_resources_table = {.name = "resources",
                                           .doc = "What a run may take of the machine.",
                                           ROWS(resources_rows),
                                           .absent = resources_absent};
