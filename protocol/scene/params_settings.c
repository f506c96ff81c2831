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
           "Time integrator. backward_euler: first order, stable at any step, dissipates the "
           "energy of oscillations. bdf2: second order, loses little energy of slow motions. "
           "trapezoidal and implicit_midpoint: second order, lose no energy of small motions; "
           "stiff modes keep ringing. tr_bdf2: second order, two minimisations a step, keeps slow "
           "motions and damps stiff ones at once. sdirk2: like tr_bdf2, smoother where forces "
           "jump, but loses more of slow motions. quasi_static: no inertia; a step is the "
           "equilibrium under the loads and pins at its end."),
    CHOICE("pace", paces, pl_time, pace,
           "free: as fast as possible. realtime: a frame does not start before the wall clock "
           "reaches its simulated time; delays are not caught up. Without steps and duration a "
           "realtime run is endless."),
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
static const char *const linears[] = {"direct", "pcg", "pcg_jacobi", "auto", NULL};
static const char *const matrices[] = {"auto", "cholesky", "multigrid", NULL};
static const char *const devices[] = {"cpu", "gpu", NULL};
static const char *const solver_precisions[] = {"auto", "single", "double", NULL};
static const char *const obstacle_ways[] = {"hard", "energy", NULL};

static const pl_param solver_rows[] = {
    CHOICE("method", methods, pl_solver_settings, method,
           "Method that minimises each step's objective. auto: quasi_newton, handing over to "
           "newton if it stalls; newton for inextensible edges; admm for strain limits, obstacles "
           "under a second-order "
           "integrator, random or collapsed initial shapes, and those stretched inside out if the "
           "model's energy is infinite there. Splitting methods: admm, and "
           "projective_dynamics for energies that are squared distances. Descent with a constant "
           "matrix, factored once: quasi_newton (L-BFGS), chebyshev_semi_iterative. Descent "
           "without a matrix: lbfgs, nonlinear_cg, gradient_descent, barzilai_borwein (gradient "
           "descent with the last step's curvature), chebyshev_descent, which is "
           "Jacobi-preconditioned gradient descent with Chebyshev's momentum, and "
           "vertex_block_descent, which minimises over one vertex after another. newton: with "
           "Hessians made semidefinite. The capabilities' `carries` lists what each supports.",
           DEFAULT(PL_METHOD_AUTO)),
    INTEGER("iterations", FROM(1, 10000), 50, pl_solver_settings, iterations,
            "Maximum iterations of a step.",
            WORDED("2000 with auto (5000 with strain limits), else 50")),
    NUMBER(
        "tolerance", "1", FROM(0, 1), 1e-3, pl_solver_settings, tolerance,
        "Bound on the Newton decrement of a converged step, relative to that of its first iterate; "
        "0 runs every iteration of every step. The decrement is measured in the norm of the "
        "constant matrix. Methods without one use its diagonal, in which smooth errors weigh less.",
        WORDED("1e-4 with auto that descends, 3e-6 if an obstacle has friction; else 1e-3")),
    CHOICE("stiffness", stiffnesses, pl_solver_settings, stiffness,
           "Stiffness of the constant matrix's terms, per rest volume. shear: weight_scale times "
           "shear modulus; fit: the slope that fits the material's stress over stretches of 0.5 "
           "to 1.5."),
    NUMBER(
        "weight_scale", "1", FROM(1e-6, 1e6), 1.8, pl_solver_settings, weight_scale,
        "With stiffness shear: factor of the squared weights, which are this times shear modulus "
        "times rest volume. ADMM raises them itself where elements are compressed strongly. "
        "projective_dynamics takes them from the energies.",
        WORDED("1.8 with admm, else 2")),
    NUMBER("relaxation", "1", FROM(0.5, 1.95), 1.8, pl_solver_settings, relaxation,
           "Over-relaxation of ADMM; 1 disables it. Above 1 ADMM may not converge with momentum.",
           WORDED("1.8 with anderson, else 1")),
    CHOICE("acceleration", accelerations, pl_solver_settings, acceleration,
           "Acceleration of ADMM. anderson: extrapolation from the last six iterations; nesterov: "
           "momentum, dropped when the residuals do not fall.",
           DEFAULT(PL_ACCELERATION_ANDERSON)),
    INTEGER("window", FROM(0, PL_WINDOW_MAX), 12, pl_solver_settings, window,
            "quasi_newton and lbfgs: number of iterations in the history; 0 uses only the constant "
            "matrix or the preconditioner."),
    CHOICE("preconditioner", preconditioners, pl_solver_settings, preconditioner,
           "Preconditioner of methods without a matrix. jacobi: the diagonal of the objective's "
           "Hessian; none: a multiple of the identity; constant: the diagonal of the constant "
           "matrix of other methods."),
    INTEGER("jacobi_refresh", FROM(1, 10000), 32, pl_solver_settings, jacobi_refresh,
            "Methods without a matrix: iterations between updates of the Jacobi preconditioner, "
            "which is also updated at the start of every step."),
    CHOICE("line_search", line_searches, pl_solver_settings, line_search,
           "Line search of quasi_newton and lbfgs. backtracking: halve a step until the objective "
           "falls enough (Armijo); wolfe: meet both of Wolfe's conditions. nonlinear_cg always "
           "uses wolfe, the other methods never."),
    CHOICE("initial_guess", initial_guesses, pl_solver_settings, initial_guess,
           "Start of a step's iterations. best: the place of lowest objective among those to which "
           "inertia and gravity lead, position and, for methods without a matrix, acceleration. "
           "position: the current place. velocity: moved by the velocity. acceleration: moved also "
           "by a fifth of the last change of velocity. step: along the velocity, to the minimum of "
           "a parabola through the objective. If the objective is infinite there: the current "
           "place."),
    NUMBER("rho", "1", FROM(0, 0.99999), 0, pl_solver_settings, rho,
           "Spectral radius. chebyshev_semi_iterative: 0 estimates it from the first ten "
           "iterations of a step. chebyshev_descent: that of the last phase; 0 takes it from "
           "inertia and preconditioner. vertex_block_descent: 0 has no momentum."),
    INTEGER(
        "phases", FROM(1, PL_PHASES_MAX), 1, pl_solver_settings, phases,
        "chebyshev_descent: number of phases, each with its own rho: 8, 16, 32, ... iterations, "
        "the last endless, with 1 - rho three times that of the next. Use more than one with "
        "tune."),
    INTEGER("tune", FROM(0, PL_SCENE_STEPS_MAX), 0, pl_solver_settings, tune,
            "chebyshev_descent: step, counted from 1, that is solved repeatedly to tune lengths "
            "and rho of the phases; later steps keep them. 0: no tuning."),
    CHOICE("obstacles", obstacle_ways, pl_solver_settings, obstacles,
           "Contact with obstacles. hard: constraints; energy: springs that push vertices out.",
           OPTIONAL(pl_solver_settings, has_obstacles,
                    "hard if the method supports constraints, else energy")),
    NUMBER("contact_stiffness", "1", ABOVE(0, 1e6), 10, pl_solver_settings, contact_stiffness,
           "With obstacles energy: stiffness of a vertex's spring, relative to its diagonal of the "
           "constant matrix. Larger values mean less penetration and more iterations."),
    CHOICE("on_not_converged", not_converged, pl_solver_settings, on_not_converged,
           "Reaction to an unconverged step: continue with a warning, or fail the session."),
    CHOICE("device", devices, pl_solver_settings, device,
           "Device that runs the iterations. A GPU supports every method but newton. Without a GPU "
           "the scene is rejected, never run on the CPU instead."),
    CHOICE("precision", solver_precisions, pl_solver_settings, precision,
           "Floating-point precision: auto is double on the CPU and single on a GPU. The CPU has "
           "double only."),
    CHOICE("linear", linears, pl_solver_settings, linear,
           "Linear solver of newton. direct: a Cholesky factor per iteration; pcg: conjugate "
           "gradients, preconditioned by the constant matrix; pcg_jacobi: by its diagonal blocks; "
           "auto: pcg, and a factor where it takes less time.",
           OPTIONAL(pl_solver_settings, has_linear, "auto up to 4096 free vertices, pcg beyond")),
    CHOICE(
        "matrix", matrices, pl_solver_settings, matrix,
        "Solver for the constant matrix, on the CPU. auto: cholesky. cholesky: an exact factor. "
        "multigrid: V-cycles of smoothed aggregation, which leave at most a tenth of the error of "
        "a direction and a hundredth of a global step; less memory and set-up on large meshes."),
};
const pl_param_table pl_solver_table = {
    .name = "solver", .doc = "The method and when it stops.", ROWS(solver_rows)};

static const char *const metrics_details[] = {"frame", "iteration", NULL};
static const char *const precisions[] = {"single", "double", NULL};

static const pl_param retention_rows[] = {
    INTEGER("last", FROM(0, PL_SCENE_STEPS_MAX), 0, pl_retention, last,
            "Number of newest frames to keep, and up to a quarter more; 0: the newest segment of "
            "the log."),
    INTEGER("every", FROM(0, PL_SCENE_STEPS_MAX), 0, pl_retention, every,
            "Keep every n-th older frame; 0 keeps none (or all, if `last` is 0 too)."),
    NUMBER("days", "days", FROM(0, 100000), 0, pl_retention, days,
           "Days until the daemon removes the session after its end; 0: never."),
};
const pl_param_table pl_retention_table = {
    .name = "retention", .doc = "Frames of a run to keep.", ROWS(retention_rows)};

static const pl_param output_rows[] = {
    INTEGER("every", FROM(1, PL_SCENE_STEPS_MAX), 1, pl_output, every,
            "Steps from one frame to the next."),
    CHOICE("metrics", metrics_details, pl_output, metrics,
           "Detail of the metrics: a record per frame, or also every iteration."),
    CHOICE("precision", precisions, pl_output, precision, "Stored numbers: float32 or float64."),
    CUSTOM(
        "fields", FIELDS, "array of: position, velocity, stress, element_stress, contacts",
        "Values stored for each vertex; position is always among them. stress: von Mises, the "
        "greatest principal and the mean Cauchy stress (Pa) of the tetrahedra around the vertex, "
        "weighted by volume; 0 without tetrahedra. element_stress: the same for each tetrahedron "
        "and each triangle of cloth (over its thickness at rest), for exports as npz and vtu. "
        "contacts: where bodies touch each other or themselves, with force (N) and gap (m), up to "
        "65536 a frame.",
        AT(pl_output, fields), DEFAULT(PL_OUTPUT_POSITION), WORDED("position")),
    LIST("probes", pl_probe_table, FROM(1, 256), pl_output, probes, probe_count,
         "Named numbers in each frame's metrics; /probes has them as a table.", WORDED("none")),
    OBJECT("retention", pl_retention_table, pl_output, retention,
           "Frames to keep; by default all."),
};
const pl_param_table pl_output_table = {
    .name = "output", .doc = "Stored results of a run.", ROWS(output_rows)};

static const char *const executors[] = {"auto", "local", "slurm", "batch", NULL};

static const pl_param resources_rows[] = {
    CUSTOM(
        "cores", CORES, "whole number, or a range as \"1-4\"",
        "Number of threads, or a range. With a range the session takes more cores while they are "
        "idle and gives them back when another session waits. The results are the same bits for "
        "any number.",
        AT(pl_resources, cores), FROM(1, 256), DEFAULT(1),
        OPTIONAL(pl_resources, cores_given,
                 "1; in a daemon a range from 1 to one core for each 4,000 tetrahedra, at most 8")),
    NUMBER("memory", "bytes", FROM(0, 1e15), 0, pl_resources, memory,
           "Memory limit; 0: as estimated."),
    NUMBER("time_limit", "s", FROM(0, 1e9), 0, pl_resources, time_limit,
           "Limit of the running time, over all attempts; it also applies inside a step. 0: no "
           "limit."),
    PRIORITY,
    BOOLEAN("preemptible", pl_resources, preemptible,
            "Let the scheduler stop the session at a checkpoint when another needs its cores; it "
            "continues from there, with the same bits."),
    CHOICE("executor", executors, pl_resources, executor,
           "Where a daemon runs the session: on its own machine (`local`), as a job of its batch "
           "system (`batch`; `slurm`: only if that is Slurm), or as set by its options (`auto`)."),
    BOOLEAN("hold", pl_resources, hold,
            "Start paused: the session is checked and waits for a resume."),
    CUSTOM("after", AFTER, "array of session ids",
           "Start only when these sessions of yours have ended, in any state.",
           AT(pl_resources, after), FROM(0, PL_AFTER_MAX), WORDED("none")),
};
static const pl_absent resources_absent[] = {{"gpu", 0}, {0}};
const pl_param_table pl_resources_table = {.name = "resources",
                                           .doc = "Resources of the machine for a run.",
                                           ROWS(resources_rows),
                                           .absent = resources_absent};
