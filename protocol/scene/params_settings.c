/* The tables of time, solver, output and resources. */
#include "engine/scene/scene.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/params_rows.h"

#define WORD(kind, name) #name,
static const char *const integrators[] = {PL_EACH_INTEGRATOR(WORD) NULL};
static const char *const paces[] = {"free", "realtime", NULL};
static const pl_param time_rows[] = {
    NUMBER("step", "s", ABOVE(0, 1000), 1.0 / 30.0, pl_time, step, "Time step h."),
    NUMBER("duration", "s", ABOVE(0, 1e12), 1, pl_time, duration,
           "Simulated time; the steps are duration / step, rounded up. Excludes steps.",
           WORDED("1, unless steps is given; with pace realtime no end")),
    INTEGER("steps", FROM(1, PL_SCENE_STEPS_MAX), 0, pl_time, steps,
            "Number of steps. Excludes duration.", WORDED("from duration")),
    CHOICE("integrator", integrators, pl_time, integrator,
           "How a step is made into one minimisation, or two. backward_euler: of the first order, "
           "loses energy wherever something swings, stable at any step. bdf2: of the second, loses "
           "little of what is slow. trapezoidal and implicit_midpoint: of the second, lose nothing "
           "of small motions, and what is stiff rings on. tr_bdf2: of the second, two "
           "minimisations a step, keeps slow motions and loses stiff ones at once. sdirk2: as "
           "tr_bdf2, smoother where forces jump, but loses more of slow motions. quasi_static "
           "leaves out inertia: a step is the equilibrium under the loads and pins at its end."),
    CHOICE("pace", paces, pl_time, pace,
           "free: as fast as it can. realtime: a frame is not shown before as much wall time has "
           "passed as simulated time; what is late is not caught up. Without steps and duration "
           "such a run has no end."),
};
const pl_param_table pl_time_table = {
    .name = "time", .doc = "Steps and their integrator.", ROWS(time_rows)};

static const char *const methods[] = {PL_EACH_METHOD(WORD) NULL};
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
    CHOICE("method", methods, pl_solver_settings, method,
           "How each step's objective is minimised. auto: quasi_newton, handing over to newton "
           "where it "
           "stalls; admm for hard constraints, obstacles under a second-order integrator, and "
           "random or "
           "collapsed initial shapes. By splitting: admm, and projective_dynamics, "
           "for energies that are squared distances. By descent on a constant matrix, factored "
           "once: quasi_newton (L-BFGS), chebyshev_semi_iterative. By descent without a matrix: "
           "lbfgs, nonlinear_cg, gradient_descent, barzilai_borwein (gradient descent with the "
           "last step's curvature), and chebyshev_descent, which is Jacobi-preconditioned gradient "
           "descent with Chebyshev's momentum. newton: by Hessians made semidefinite. The "
           "capabilities' `carries` says which takes what.",
           DEFAULT(PL_METHOD_AUTO)),
    INTEGER("iterations", FROM(1, 10000), 50, pl_solver_settings, iterations,
            "Most iterations of a step.", WORDED("2000 with auto, else 50")),
    NUMBER(
        "tolerance", "1", FROM(0, 1), 1e-3, pl_solver_settings, tolerance,
        "A step has converged when its Newton decrement, relative to the first iterate's, is below "
        "this; 0 makes every iteration of every step. The decrement is in the norm of the constant "
        "matrix; of methods without one, in that of its diagonal, where smooth errors weigh less."),
    CHOICE("stiffness", stiffnesses, pl_solver_settings, stiffness,
           "Of the constant matrix's terms, per rest volume: weight_scale times shear modulus, or "
           "the slope that fits the material's stress over stretches of 0.5 to 1.5."),
    NUMBER("weight_scale", "1", FROM(1e-6, 1e6), 1.8, pl_solver_settings, weight_scale,
           "With stiffness shear: the squared weights are this, times shear modulus, times rest "
           "volume. ADMM raises them of itself where elements are compressed hard. "
           "projective_dynamics has the energies' own.",
           WORDED("1.8 with admm, else 2")),
    NUMBER("relaxation", "1", FROM(0.5, 1.95), 1.8, pl_solver_settings, relaxation,
           "ADMM's over-relaxation; 1 is none. With momentum more than 1 may not converge.",
           WORDED("1.8 with anderson, else 1")),
    CHOICE("acceleration", accelerations, pl_solver_settings, acceleration,
           "ADMM's: Anderson's, which extrapolates from the last six iterations; Nesterov's "
           "momentum, dropped where the residuals do not fall; or none.",
           DEFAULT(PL_ACCELERATION_ANDERSON)),
    INTEGER("window", FROM(0, PL_WINDOW_MAX), 12, pl_solver_settings, window,
            "quasi_newton and lbfgs: iterations that the history remembers; 0 uses the constant "
            "matrix, or the preconditioner, alone."),
    CHOICE("preconditioner", preconditioners, pl_solver_settings, preconditioner,
           "Methods without a matrix: the diagonal of the objective's Hessian, a multiple of the "
           "identity, or the diagonal of the constant matrix that other methods solve with."),
    INTEGER("jacobi_refresh", FROM(1, 10000), 32, pl_solver_settings, jacobi_refresh,
            "Methods without a matrix: iterations until the Jacobi preconditioner is made anew, as "
            "it is at the beginning of every step."),
    CHOICE("line_search", line_searches, pl_solver_settings, line_search,
           "quasi_newton and lbfgs: halve a step until the objective falls enough (Armijo), or "
           "look for both of Wolfe's conditions. nonlinear_cg always looks for those, the other "
           "methods never."),
    CHOICE("initial_guess", initial_guesses, pl_solver_settings, initial_guess,
           "Where the iterations of a step begin: where inertia and gravity alone would lead, "
           "where it is or, with methods without a matrix, as acceleration says, whichever has the "
           "lowest objective; where it is; with its velocity; with a fifth of its last change of "
           "velocity too; or along its velocity as far as a parabola through the objective says. "
           "Where the objective is infinite there, where it is."),
    NUMBER("rho", "1", FROM(0, 0.99999), 0, pl_solver_settings, rho,
           "chebyshev_semi_iterative: the spectral radius; 0 estimates it from the first ten "
           "iterations of a step. chebyshev_descent: that of the last phase; 0 takes it from "
           "inertia and preconditioner."),
    INTEGER(
        "phases", FROM(1, PL_PHASES_MAX), 1, pl_solver_settings, phases,
        "chebyshev_descent: phases with a rho of their own: of 8, 16, 32, ... iterations, the last "
        "without end, and 1 - rho three times that of the next. More than one is for tune."),
    INTEGER(
        "tune", FROM(0, PL_SCENE_STEPS_MAX), 0, pl_solver_settings, tune,
        "chebyshev_descent: the step, counted from 1, before which lengths and rho of the phases "
        "are tuned to it by solving it again and again; all later ones keep them. 0: none."),
    CHOICE("obstacles", obstacle_ways, pl_solver_settings, obstacles,
           "What keeps bodies out of obstacles: constraints, or springs that push back what is "
           "inside.",
           OPTIONAL(pl_solver_settings, has_obstacles,
                    "hard where the method holds constraints, else energy")),
    NUMBER("contact_stiffness", "1", ABOVE(0, 1e6), 10, pl_solver_settings, contact_stiffness,
           "With obstacles energy: a vertex's spring over its diagonal of the constant matrix. "
           "Bodies go in less, and iterations are more, the larger it is."),
    CHOICE("on_not_converged", not_converged, pl_solver_settings, on_not_converged,
           "What a step that has not converged does to the session."),
    CHOICE("device", devices, pl_solver_settings, device,
           "Where the iterations run. A GPU has every method but newton. Where there is none the "
           "scene is refused, never run on the CPU instead."),
    CHOICE("precision", solver_precisions, pl_solver_settings, precision,
           "Floating-point precision: auto is double on the CPU and single on a GPU. The CPU has "
           "double only."),
    CHOICE("linear", linears, pl_solver_settings, linear,
           "How Newton's steps are solved for: a Cholesky factor an iteration, or conjugate "
           "gradients preconditioned by the constant matrix or by the blocks on the diagonal.",
           OPTIONAL(pl_solver_settings, has_linear, "direct up to 4096 free vertices, pcg beyond")),
};
const pl_param_table pl_solver_table = {
    .name = "solver", .doc = "The method and when it stops.", ROWS(solver_rows)};

static const char *const metrics_details[] = {"frame", "iteration", NULL};
static const char *const precisions[] = {"single", "double", NULL};

static const pl_param retention_rows[] = {
    INTEGER("last", FROM(0, PL_SCENE_STEPS_MAX), 0, pl_retention, last,
            "Frames at the end that are all kept, and a quarter of them more; 0: the newest "
            "segment of the log."),
    INTEGER("every", FROM(0, PL_SCENE_STEPS_MAX), 0, pl_retention, every,
            "Of older frames those stay whose number it divides; 0: none does, or all where `last` "
            "is 0 too."),
    NUMBER("days", "days", FROM(0, 100000), 0, pl_retention, days,
           "After its end the session is removed, by the daemon; 0: it is not."),
};
const pl_param_table pl_retention_table = {
    .name = "retention", .doc = "What is kept of the frames of a run.", ROWS(retention_rows)};

static const pl_param output_rows[] = {
    INTEGER("every", FROM(1, PL_SCENE_STEPS_MAX), 1, pl_output, every,
            "Steps from one frame to the next."),
    CHOICE("metrics", metrics_details, pl_output, metrics,
           "Whether metrics also list every iteration."),
    CHOICE("precision", precisions, pl_output, precision, "Stored numbers: float32 or float64."),
    CUSTOM(
        "fields", FIELDS, "array of: position, velocity, stress, element_stress",
        "What is stored of each vertex; its position always is. stress: von Mises', the greatest "
        "principal and the mean Cauchy stress (Pa) in the tetrahedra about it, weighted by their "
        "volumes; 0 where there are none. element_stress: the same of each tetrahedron and of each "
        "triangle of cloth (over its thickness at rest), for exports as npz and vtu.",
        AT(pl_output, fields), DEFAULT(PL_OUTPUT_POSITION), WORDED("position")),
    LIST("probes", pl_probe_table, FROM(1, 256), pl_output, probes, probe_count,
         "Numbers that each frame's metrics have, by name; as a table at /probes.", WORDED("none")),
    OBJECT("retention", pl_retention_table, pl_output, retention,
           "What is kept: everything, unless it says otherwise."),
};
const pl_param_table pl_output_table = {
    .name = "output", .doc = "What is stored of a run.", ROWS(output_rows)};

static const pl_param resources_rows[] = {
    INTEGER("cores", FROM(1, 256), 1, pl_resources, cores,
            "Threads; the results are the same bits for any number."),
    NUMBER("memory", "bytes", FROM(0, 1e15), 0, pl_resources, memory,
           "Most memory; 0: as estimated."),
    NUMBER("time_limit", "s", FROM(0, 1e9), 0, pl_resources, time_limit,
           "Most time of running; 0: no limit."),
    PRIORITY,
};
static const pl_absent resources_absent[] = {{"gpu", 0}, {0}};
const pl_param_table pl_resources_table = {.name = "resources",
                                           .doc = "What a run may take of the machine.",
                                           ROWS(resources_rows),
                                           .absent = resources_absent};
