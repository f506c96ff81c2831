/* backend.h - execution of a step's work, as tables of phases chosen at run time.
 *
 * The boundary between a solver and a backend is the phase: a solver is a list of phases with scalars between them
 * and never touches an array's elements. Arrays may therefore live in another memory, in another precision: a
 * pl_array is an address that only its backend reads (numbers.h), and its type tells the compiler that it holds no
 * host numbers. Arrays come from `alloc` and are of three kinds: positions [vertices][3]; rows [3][free_vertices],
 * column-major as the factor takes them; and values of a group [block][rows][PL_BLOCK]. Rows that are gradients,
 * steps or directions are zero in a coordinate that a pin holds (model.h); positions are where the pin puts them.
 *
 * A NULL table pointer marks work that a device cannot do. `pl_backend_find` is the only way to a backend; a
 * missing backend gives its reason. Sums are taken in an order that does not depend on the number of threads.
 */
#ifndef PLIANT_ENGINE_BACKENDS_BACKEND_H
#define PLIANT_ENGINE_BACKENDS_BACKEND_H

#include "engine/backends/array.h"
#include "engine/backends/histories.h"
#include "engine/contact/points.h"
#include "engine/contact/set.h"
#include "engine/scene/metrics.h"
#include "engine/model/model.h"

typedef struct pl_backend pl_backend;

/* Least P of a Jacobi preconditioner, relative to A_ii: it covers a free quasi-static vertex whose terms are all
 * flat. */
#define PL_JACOBI_LEAST 0.01

/* What Anderson acceleration takes from u before a local step; arrays by group, of a group's values in single
 * precision, half as long as the values. */
typedef struct pl_mixing {
    int32_t count;
    const double *gamma;        /* [count] */
    pl_array *const *const *dg; /* [count][group] */
    pl_array *const *taken;     /* out: sum gamma_j dg_j; may be one of dg */
} pl_mixing;

/* One ADMM iteration's local step over all groups; arrays by group, as in pl_admm_local. Of a group without momentum,
 * beta = beta_next = 0, u_old and z_old may be u and z. */
typedef struct pl_local_step {
    const pl_array *x;
    pl_array *const *u, *const *z;
    pl_array *const *u_old, *const *z_old; /* replaced by the new ones */
    double beta, beta_next, relaxation;
    const pl_mixing *mixing; /* u is first lowered by `taken`; NULL: it is not */
    bool want_dual;          /* also compute the contributions of D^T W^2 (z - z^) */
    bool want_sums;          /* if false, a backend may leave all results but the times at 0 */
} pl_local_step;

typedef struct pl_local_sums {
    double primal;                  /* |W (D x - z)|, J^(1/2) */
    double change;                  /* |W (z - z^)|, J^(1/2) */
    double size;                    /* |W z|, J^(1/2) */
    double ms_elastic, ms_contacts; /* wall time of the hard and of the other groups */
} pl_local_sums;

/* Anderson acceleration of ADMM: arrays by group. Residuals r and differences dg of a group's values are in single
 * precision, half as long as the values. */
typedef struct pl_anderson {
    const pl_array *x;
    pl_array *const *z; /* of the last local step */
    double relaxation;
    int32_t count;             /* number of earlier residuals */
    pl_array *const *const *r; /* [count + 1][group], oldest first; the last is out: D x - z */
    pl_array *const *dg;       /* out: relaxation r - taken; NULL: not wanted */
    bool taken;                /* dg holds the last local step's `taken`; false: it was 0 */
    double *dot_r; /* out, [count + 1]: inner products, in the norm of W, of the last r with each */
} pl_anderson;

/* One trial of a descent method at x_new = x + alpha d. */
typedef struct pl_trial {
    const pl_array *x; /* positions */
    const pl_array *d; /* rows; NULL: evaluate the given x_new, and do not read x */
    double alpha;
    pl_array *x_new;    /* positions; its pinned vertices are in place already */
    pl_array *gradient; /* positions: the result of `gradient` for a model without hard groups */
    pl_array *g;        /* the gradient at free vertices, as rows; 0 where held */
    bool
        same_x; /* x_new is that of the last trial, and only the rows of contact have changed since: a backend may
                    keep what it knows of the elements */
} pl_trial;

typedef struct pl_trial_sums {
    double objective; /* e(x_new), J; +inf outside the domain, where the gradient is undefined */
    double slope;     /* gradient . d, J; 0 without d */
    double norm;      /* |g|, N */
    double decrement; /* (sum of |g_i|^2 / A_ii)^(1/2), J^(1/2): |g| in the norm of diag(A)^-1 */
} pl_trial_sums;

/* One accelerated step of a preconditioned descent (Wang 2016, algorithm 1, steps 3 and 4). With
 * x_bar = x - alpha P^-1 g, Chebyshev's x_new = omega (x_bar - x_old) + x_old is x + s_new with
 * s_new = -omega alpha P^-1 g + (omega - 1) s, where s = x - x_old. */
typedef struct pl_chebyshev {
    const pl_array *x;       /* positions */
    const pl_array *inverse; /* rows: P^-1 */
    const pl_array *g;       /* rows */
    double alpha, omega;
    pl_array *s;     /* rows: x - x_old in, x_new - x out */
    pl_array *x_new; /* positions; its pinned vertices are in place already; may be x */
} pl_chebyshev;

/* A stage's end, where velocities are known except for the effect of contact. */
typedef struct pl_contact_end {
    pl_array *const *u;        /* multipliers of hard groups, as for `gradient`, or NULL */
    bool all;                  /* if false, only obstacles with a restitution */
    const pl_array *x;         /* positions that the stage was solved for */
    const pl_array *x_end;     /* positions at its end */
    const pl_array *v_start;   /* velocities at its start */
    pl_array *v;               /* in, out: at its end */
    pl_array *x_back, *v_back; /* in, out: the start as a later stage sees it; or NULL */
    /* m/s: a vertex that hits an obstacle faster than this has landed; INFINITY: do not check. */
    double landing;
} pl_contact_end;

typedef struct pl_measures {
    double elastic; /* J, +inf where an element is outside its energy's domain */
    int64_t inverted;
    double max_stretch;
} pl_measures;

/* Energies of the motion, J, and momenta, kg m/s and kg m^2/s about the origin. */
typedef struct pl_motion_sums {
    double kinetic, gravity; /* gravity: -sum m g . x */
    double linear[3], angular[3];
} pl_motion_sums;

/* Arrays of positions or velocities in the precision of a frame. */
typedef struct pl_fetch pl_fetch;
enum { PL_FETCH_ARRAYS = 2 };
typedef struct pl_fetch_form {
    bool single;    /* floats if true, else doubles */
    int32_t arrays; /* one after the other, at most PL_FETCH_ARRAYS */
} pl_fetch_form;

/* ---- the tables ----
 * A table that exists is complete: all its slots are set (pl_backend_incomplete). Every backend has those of the
 * first block; each table of the second block exists only where the device supports it. */

/* Arrays in the backend's memory, shared with backends created beside it. */
typedef struct pl_memory_ops {
    /* Zeroed; NULL if out of memory. */
    pl_array *(*alloc)(pl_backend *b, int64_t count);
    void (*release)(pl_backend *b, pl_array *array);
    /* Copies from and to the host's memory. */
    void (*upload)(pl_backend *b, pl_array *to, const double *from, int64_t count);
    void (*download)(pl_backend *b, double *to, const pl_array *from, int64_t count);
    void (*copy)(pl_backend *b, pl_array *to, const pl_array *from, int64_t count);
    void (*clear)(pl_backend *b, pl_array *array, int64_t count);
} pl_memory_ops;

/* Data for a frame, converted on the device and copied to the host while the backend continues. A fetch is the
 * memory for one frame at a time. */
typedef struct pl_fetch_ops {
    pl_status (*create)(pl_backend *b, const pl_fetch_form *form, pl_fetch **out);
    void (*destroy)(pl_backend *b, pl_fetch *f);
    /* Takes the arrays, positions [vertices][3] each, at their current values: they may change right after. The
     * fetch's previous content is lost. */
    void (*begin)(pl_backend *b, pl_fetch *f, const pl_array *const *arrays);
    /* Returns [arrays][vertices][3] of the last begin, the fetch's memory; NULL while the copy is in flight. `wait`
     * waits for it. */
    const void *(*take)(pl_backend *b, pl_fetch *f, bool wait);
} pl_fetch_ops;

/* The work of a step around its minimisation; all arrays are positions [vertices][3]. */
typedef struct pl_kinematics_ops {
    /* Prediction: out = x + h (v + h gravity). */
    void (*drift)(pl_backend *b, double h, const double gravity[3], const pl_array *x,
                  const pl_array *v, pl_array *out);
    /* out = base + d v + e (v - v_old); an array with a weight of 0 is not read and may be NULL. */
    void (*blend)(pl_backend *b, const pl_array *base, double d, const pl_array *v, double e,
                  const pl_array *v_old, pl_array *out);
    /* out = (x_new - x) / h. */
    void (*velocity)(pl_backend *b, double h, const pl_array *x, const pl_array *x_new,
                     pl_array *out);
    /* Sets the held coordinates of x to their pins' positions at `time`. */
    void (*place_pins)(pl_backend *b, double time, pl_array *x);
    /* The force that a pin exerts, from the stage's gradient at its result, N; 0 along the axes that it does not
     * hold. */
    void (*pin_force)(pl_backend *b, int32_t pin, const pl_array *gradient, double force[3]);
    /* The scene's forces over a step that starts at `time` (loads.h); total: host memory, [loads]. */
    void (*evaluate_loads)(pl_backend *b, double time, const pl_array *x, const pl_array *v,
                           pl_array *load, pl_force *total);
    /* Returns the largest |a - b| of a coordinate, where NaN counts as less than any, and its vertex; *vertex is 0
     * if a and b are equal. */
    double (*farthest)(pl_backend *b, const pl_array *a, const pl_array *c, int64_t *vertex);
    /* First vertex with a coordinate that is not finite, or -1. */
    int64_t (*find_not_finite)(pl_backend *b, const pl_array *x);
} pl_kinematics_ops;

/* Arithmetic on rows. */
typedef struct pl_rows_ops {
    /* Copies the free vertices of x from rows, except for held coordinates; and back. */
    void (*set_free)(pl_backend *b, const pl_array *rows, pl_array *x);
    void (*get_free)(pl_backend *b, const pl_array *x, pl_array *rows);
    /* a . b */
    double (*dot)(pl_backend *b, const pl_array *a, const pl_array *c);
    /* (a1 - a0) . (b1 - b0) */
    double (*dot_change)(pl_backend *b, const pl_array *a1, const pl_array *a0, const pl_array *b1,
                         const pl_array *b0);
    /* out = sum of coefficient[i] list[i]; out must not be in the list. */
    void (*combine)(pl_backend *b, const pl_array *const *list, const double *coefficient,
                    int32_t count, pl_array *out);
    /* out = inverse g, entry by entry; returns g . out. */
    double (*scale)(pl_backend *b, const pl_array *inverse, const pl_array *g, pl_array *out);
    /* out = p / inverse */
    void (*unscale)(pl_backend *b, const pl_array *inverse, const pl_array *p, pl_array *out);
} pl_rows_ops;

/* The stage objective e(x) (stage.h). */
typedef struct pl_objective_ops {
    /* Prepares what groups keep constant over a stage; called before all else of the stage. */
    void (*freeze)(pl_backend *b, const pl_backend_stage *stage);
    /* e(x), with hard constraints taken as satisfied; +inf outside the domain. */
    double (*value)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x);
    /* gradient [vertices][3] of e plus D^T W^2 u of the hard groups (u NULL: without them): the imbalance of each
     * vertex. At a held coordinate it is the force that the pin exerts. Returns its norm over free coordinates, N. */
    double (*gradient)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *const *u, pl_array *gradient);
    /* sum of A_ii |x_i|^2 over the free vertices, J. Times machine epsilon, it is the rounding error of energies
     * from positions; times epsilon squared, that of a squared decrement. */
    double (*magnitude)(pl_backend *b, const pl_array *x);
    /* The first element that makes e(x) infinite, or -1: a tetrahedron, or tets + a triangle. */
    int64_t (*find_outside)(pl_backend *b, const pl_array *x);
    /* The free vertex with the largest gradient [vertices][3]. */
    int64_t (*find_steepest)(pl_backend *b, const pl_array *gradient);
} pl_objective_ops;

/* Metrics of a state for frames. */
typedef struct pl_measures_ops {
    pl_measures (*elements)(pl_backend *b, const pl_array *x);
    pl_motion_sums (*motion)(pl_backend *b, const pl_array *x, const pl_array *v);
    /* The force of a group that is an obstacle with an energy, and the number of its terms that exert any: `push`. */
    int64_t (*soft_force)(pl_backend *b, int32_t group, const pl_array *x, double force[3]);
    /* Depth of the deepest vertex in each obstacle that is a group, m: `depth`. out: [obstacles]; entries of other
     * obstacles stay unchanged. */
    void (*depths)(pl_backend *b, double time, const pl_array *x, double *out);
    /* The power that a dissipative group's forces take at x, the end of the stage, W: `dissipate`. */
    double (*dissipation)(pl_backend *b, int32_t group, const pl_array *x);
} pl_measures_ops;

/* Descent methods. Every group is assumed to have an energy: none is hard. */
typedef struct pl_descent_ops {
    /* Called once, before the first trial. */
    pl_status (*prepare)(pl_backend *b);
    /* Computes objective, gradient and slope in one pass. */
    pl_trial_sums (*trial)(pl_backend *b, const pl_backend_stage *stage, const pl_trial *trial);
    /* Computes s and w of the newest pair if count > 0, and the inner products; returns p . g. */
    double (*pair)(pl_backend *b, const pl_history_pair *pair);
    /* The Jacobi preconditioner (Wang 2016, section 4.1): rows of 1 / P, N/m. P is the diagonal of inertia plus
     * that of every term's Hessian at x, where negative entries of a term count as 0; P is at least PL_JACOBI_LEAST
     * A_ii. Returns sum inertia m / sum P: the Rayleigh quotient of a translation under inertia and P. */
    double (*jacobi)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                     pl_array *inverse);
    /* The same with P = the diagonal of A or, if `flat`, its largest entry everywhere. */
    double (*jacobi_constant)(pl_backend *b, const pl_backend_stage *stage, bool flat,
                              pl_array *inverse);
    void (*chebyshev)(pl_backend *b, const pl_chebyshev *step);
} pl_descent_ops;

/* Integrators of more than one stage or step, restitution and friction's power (derived in cpu/cpu_contact.c).
 * Without this table: only backward Euler and statics, and no restitution. */
typedef struct pl_contact_ops {
    /* The force of all obstacles on each vertex at a stage's result x, N; u as for `gradient`, or NULL. */
    void (*forces)(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                   const pl_array *x, pl_array *force);
    /* Sets the velocities of vertices in contact. True if one has landed (pl_contact_end). */
    bool (*velocities)(pl_backend *b, const pl_backend_stage *stage, const pl_contact_end *end);
    /* out = the acceleration caused by elements at a stage's result, from the objective's gradient there. The
     * gradient contains everything except the inertia of held coordinates; gravity, loads and the obstacles' force
     * are excluded from out. Stage NULL: the gradient is of elements and obstacles alone, without inertia. */
    void (*inner_acceleration)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                               const pl_array *gradient, const pl_array *contact, pl_array *out);
    /* Sets held coordinates of v to the pins' velocity at `time`, from their positions `span` earlier. */
    void (*pin_velocities)(pl_backend *b, double time, double span, pl_array *v);
    /* The power that friction takes, W, at a stage's result x, for vertices with velocity v; u as for `gradient`,
     * or NULL. */
    double (*friction)(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                       const pl_array *x, const pl_array *v);
} pl_contact_ops;

/* Constraints by augmented Lagrangians: held groups. Without this table: only models without such groups. */
typedef struct pl_augmented_ops {
    /* Renews the model's multipliers from x, a minimiser under the last frozen stage; the next `freeze` reads them.
     * The update is of second order if a factor of H near x was made since the last renewal. */
    void (*renew)(pl_backend *b, const pl_array *x, pl_array *multipliers);
} pl_augmented_ops;

/* Contact between bodies (contact/set.h), for a model with `touching`: the rows of the backend's set are part of
 * the objective from `begin` on. Without this table: only models without such contact. */
typedef struct pl_pairs_ops {
    /* Begins a stage at stage->x_start that is expected to end near x. Returns as pl_contact_set_begin. */
    pl_status (*begin)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x);
    /* Makes the forces at x the multipliers of the rows, which changes the objective. See pl_contact_rows_renew. */
    pl_contact_renewal (*renew)(pl_backend *b, const pl_array *x);
    /* Begins a solve by a model's group `touching` with the current rows: its u becomes their forces. PL_OK or
     * PL_NO_MEMORY. */
    pl_status (*apart)(pl_backend *b, pl_array *const *u);
    /* See pl_contact_rows_lack. */
    double (*lack)(pl_backend *b, const pl_array *x);
    /* A solve with the current rows has found x. */
    pl_status (*advance)(pl_backend *b, const pl_array *x, pl_contact_keeping keeping,
                         pl_contact_advance *out);
    /* Effect of the rows at x, where the last `advance` ended. PL_OK or PL_NO_MEMORY. */
    pl_status (*measure)(pl_backend *b, const pl_array *x, pl_contact_sums *out);
    /* Restitution: changes velocities v at the answer of a step that began with v_start. See pl_contact_bounce. */
    pl_status (*bounce)(pl_backend *b, const pl_array *v_start, pl_array *v);
    /* The rows that rub, at the same x. PL_OK or PL_NO_MEMORY. */
    pl_status (*points)(pl_backend *b, const pl_array *x, pl_contact_points *out);
    /* The set: its memory is saved and restored with the solver's. */
    pl_contact_set *(*set)(pl_backend *b);
} pl_pairs_ops;

/* Methods that solve with the model's constant matrix A. */
typedef struct pl_matrix_ops {
    /* rows = A^-1 rhs of each coordinate, if the model is solved with by a factor; otherwise (pl_backend_iterates) B
     * rhs, with one fixed symmetric positive definite B near A^-1. */
    pl_status (*solve)(pl_backend *b, const pl_array *rhs, pl_array *rows);
    /* Continues with another model, which differs only in weights, matrix and factor, and must outlive its use.
     * PL_OK, or PL_NO_MEMORY with nothing changed; returning to the original model always succeeds. */
    pl_status (*use_model)(pl_backend *b, const pl_model *model);
} pl_matrix_ops;

/* A backend with pl_matrix_ops has this table, whose `solve` is exact, or the next, or both. */
typedef struct pl_factored_ops {
    /* rows = A_k x_k of each coordinate; x itself where it is held. */
    void (*multiply)(pl_backend *b, const pl_array *rows, pl_array *out);
} pl_factored_ops;

/* There is no factor, and the global step iterates. */
typedef struct pl_iterated_ops {
    /* Solves A rows = rhs to a small fraction of the residual at `from`, with *square =
     * (rows - from) . A (rows - from). Not finite if a number is not. PL_FAILED: it does not converge. */
    pl_status (*solve_from)(pl_backend *b, const pl_array *rhs, const pl_array *from,
                            pl_array *rows, double *square);
} pl_iterated_ops;

/* Methods that split the objective: local steps by term, global steps with A. */
typedef struct pl_splitting_ops {
    /* z[g] = D_g x for every group. */
    void (*reduce)(pl_backend *b, const pl_array *x, pl_array *const *z);
    pl_local_sums (*local_step)(pl_backend *b, const pl_backend_stage *stage,
                                const pl_local_step *step);
    /* Replaces the contributions of the last local step by those without momentum. */
    void (*contribute)(pl_backend *b, pl_array *const *u, pl_array *const *z);
    /* rows = inertia M x~ + load - A_fp x_p: the part of the right-hand side that is constant over a stage. In x,
     * held vertices are at the stage's end; a held coordinate's row is that value. */
    void (*stage_rows)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *rows);
    /* rows = base + the last local step's contributions, gathered (Narain 2016, eq. 15). */
    void (*gather_global)(pl_backend *b, const pl_array *base, pl_array *rows);
    /* |D^T W^2 (z - z^)| over the free vertices, of the last local step with want_dual (eq. 23). */
    double (*dual_norm)(pl_backend *b);
    /* Sum of -W^2 u over the terms of a hard group: the force it exerts, and the number of terms that exert any. */
    int64_t (*hard_force)(pl_backend *b, int32_t group, const pl_array *u, double force[3]);
    /* The concavity of each term of a group at z (`concavity` of groups that have it): out [block][PL_BLOCK], in
     * the caller's memory, aligned to 64 bytes. */
    void (*concavity)(pl_backend *b, int32_t group, const pl_array *z, double *out);
    /* Multiplies each term's rows of a group's values by its factor [block][PL_BLOCK], in the caller's memory. */
    void (*scale_terms)(pl_backend *b, int32_t group, const double *factor, pl_array *values);
} pl_splitting_ops;

/* Anderson acceleration of ADMM. */
typedef struct pl_anderson_ops {
    /* Allocates what the phases need beside their arrays; called once. */
    pl_status (*prepare)(pl_backend *b);
    /* Computes the newest residual, its inner products with the others, and the newest difference of g. */
    void (*difference)(pl_backend *b, const pl_anderson *a);
} pl_anderson_ops;

/* Newton's matrix H, 3 n x 3 n over the free vertices: inertia and every term's Hessian, each made semidefinite if
 * `project`. `make` computes it at an x where e is finite, and it is kept until the next `make`. */
typedef struct pl_hessian_ops {
    /* Called once, first: prepares what is constant over a model. */
    pl_status (*prepare)(pl_backend *b);
    pl_status (*make)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                      bool project);
    /* Factors H. If H was projected and cannot be factored, adds a little to its diagonal. PL_FAILED if that also
     * fails. */
    pl_status (*factor)(pl_backend *b);
    /* out = H^-1 rows, with that factor; out may be rows. */
    pl_status (*solve)(pl_backend *b, const pl_array *rows, pl_array *out);
    /* out = H rows. */
    void (*multiply)(pl_backend *b, const pl_array *rows, pl_array *out);
    /* out = rows times the inverse of the 3 x 3 blocks on H's diagonal. */
    void (*jacobi)(pl_backend *b, const pl_array *rows, pl_array *out);
} pl_hessian_ops;

/* Minimisation over one vertex after another (cpu/cpu_sweep.c), for `vertex_block_descent`. */
typedef struct pl_sweep_ops {
    /* Called once, first. PL_OK or PL_NO_MEMORY. */
    pl_status (*prepare)(pl_backend *b);
    /* Each free vertex moves once, in an order that does not depend on x, and no move raises e by more than `noise`,
     * J. e must be finite at x. *moved: the number of vertices that are not where they were. PL_OK or PL_NO_MEMORY.
     */
    pl_status (*vertices)(pl_backend *b, const pl_backend_stage *stage, double noise, pl_array *x,
                          int64_t *moved);
} pl_sweep_ops;

/* Several accelerated steps at once, for devices on which that is faster. */
typedef struct pl_runs_ops {
    /* Makes `count` steps, one after the other, in place from step->x (x_new is x; g is not read). Each uses the
     * stage's gradient at its start and its own omega. Nothing is measured between them. */
    void (*chebyshev)(pl_backend *b, const pl_backend_stage *stage, const pl_chebyshev *step,
                      const double *omega, int32_t count);
} pl_runs_ops;

/* A device that works beside the host: it needs waiting for, and it can fail. */
typedef struct pl_queue_ops {
    /* Calls `work` with `context` before the backend waits for a sum of its device's, or for positions; NULL ends
     * the calls. `work` may call a fetch's `take` without waiting, and no other phase. */
    void (*meanwhile)(pl_backend *b, void (*work)(void *context), void *context);
    /* The device's fault; NULL: none. After a fault, no number of any backend of the process is valid, now or
     * later, and the process must end. *launching: this backend's launches were not known to have ended, so they
     * may be the cause. */
    const char *(*fault)(const pl_backend *b, bool *launching);
} pl_queue_ops;

typedef struct pl_backend_ops {
    const char *name;
    bool on_host;   /* the caller may read the arrays' memory; otherwise only download shows them */
    double epsilon; /* of the numbers in arrays */
    double energy_epsilon; /* relative: smaller differences of energies are rounding */
    /* The reason why it cannot hold a model's terms (pl_backend_refuses); NULL: it can. */
    const char *(*refuses)(const pl_model *model);
    /* One thread at a time creates, uses and destroys a backend; other threads may use other backends meanwhile.
     * `beside`, or NULL: a backend of the same table whose arrays the new one will read and write, in the order of
     * the calls on both. It must be destroyed after the new one. */
    pl_status (*create)(const pl_model *model, int32_t threads, pl_backend *beside,
                        pl_backend **out);
    void (*destroy)(pl_backend *b);

    /* Every backend has these. */
    const pl_memory_ops *memory;
    const pl_fetch_ops *fetch;
    const pl_kinematics_ops *kinematics;
    const pl_rows_ops *rows;
    const pl_objective_ops *objective;
    const pl_measures_ops *measures;
    const pl_descent_ops *descent;

    /* NULL: the device does not support it. */
    const pl_contact_ops *contact;
    const pl_augmented_ops *augmented;
    const pl_pairs_ops *pairs;
    const pl_matrix_ops *matrix;
    const pl_factored_ops *factored;
    const pl_iterated_ops *iterated;
    const pl_splitting_ops *splitting; /* only with a matrix */
    const pl_anderson_ops *anderson;   /* only with splitting */
    const pl_hessian_ops *hessian;
    const pl_sweep_ops *sweep;
    const pl_runs_ops *runs;
    const pl_queue_ops *queue;
    /* Sets the number of host threads from now on. PL_OK, or PL_NO_MEMORY with the number unchanged. NULL: the
     * backend does not use threads. */
    pl_status (*set_threads)(pl_backend *b, int32_t threads);
} pl_backend_ops;

/* Every backend begins with its table. */
struct pl_backend {
    const pl_backend_ops *ops;
    const pl_model *model;
};

/* True if a global step is solved by `iterated`, and `matrix->solve` is not exact. */
static inline bool pl_backend_iterates(const pl_backend *b)
{
    return b->ops->iterated && (!b->ops->factored || b->model->multigrid[0]);
}

/* The CPU's (cpu/), always available. */
extern const pl_backend_ops pl_backend_cpu;

/* The backend for a device, or NULL if the device has none. */
const pl_backend_ops *pl_backend_find(pl_device_kind device);

/* The name of a required table that is missing, or of a table that lacks a slot; NULL: all are complete. */
const char *pl_backend_incomplete(const pl_backend_ops *ops);

/* The reason why a backend cannot run a model with its method, as a clause to follow a colon; NULL if it can. `ops`
 * may be NULL: no such backend. */
const char *pl_backend_refuses(const pl_backend_ops *ops, const pl_model *model);

/* Gives the device `gpu` its backend, from a plug-in or a test; NULL removes it. Applies to the calling thread, and
 * must precede its first model: sessions of one process, a thread each, compute in their own precision. */
void pl_backend_register(const pl_backend_ops *ops);

#endif
