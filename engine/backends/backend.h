/* backend.h - where the work of a step is done, as tables of phases chosen at run time.
 *
 * The cut between a solver and a backend is the phase: a solver is a list of phases with scalars
 * between them and never touches an array's elements, so that the arrays may live in another
 * memory, in another precision: a pl_array is an address that its backend alone reads (numbers.h), and
 * the compiler tells it from the host's numbers. They come from `alloc` and are of three kinds: positions
 * [vertices][3]; rows [3][free_vertices], column-major as the factor takes them; and values of a group
 * [block][rows][PL_BLOCK]. Rows that are gradients, steps or directions are zero in a coordinate that a
 * pin holds (model.h); positions are where the pin puts them.
 *
 * A table whose pointer is NULL is what a device cannot do; `pl_backend_find` is the only way to a
 * backend, and one that is missing says why. Sums are taken in an order that the number of threads
 * does not change.
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

/* The least P of a Jacobi preconditioner, of A_ii: a free quasi-static vertex whose terms are all flat
 * still has one. */
#define PL_JACOBI_LEAST 0.01

/* One ADMM iteration's local step over all groups; arrays by group, as in pl_admm_local. */
typedef struct pl_local_step {
    const pl_array *x;
    pl_array *const *u, *const *z;
    pl_array *const *u_old, *const *z_old; /* overwritten with the new ones */
    double beta, beta_next, relaxation;
    bool want_dual; /* also form the contributions of D^T W^2 (z - z^) */
    bool want_sums; /* else a backend may leave all but the times at 0 */
} pl_local_step;

typedef struct pl_local_sums {
    double primal;                  /* |W (D x - z)|, J^(1/2) */
    double change;                  /* |W (z - z^)|, J^(1/2) */
    double size;                    /* |W z|, J^(1/2) */
    double ms_elastic, ms_contacts; /* wall time of the hard and of the other groups */
} pl_local_sums;

/* Anderson's acceleration of ADMM: arrays by group, values of a group, but for the differences, which
 * are half as long. `r`, `g` and the last differences are made of the iteration that ended. */
typedef struct pl_anderson {
    const pl_array *x;
    pl_array *const *u, *const *z; /* of the last local step */
    double relaxation;
    pl_array *const *r, *const *r_old; /* out: D x - z; the one before */
    pl_array *const *g;                /* g of the iteration before in, z + u + relaxation r out */
    int32_t count;                     /* differences, oldest first; 0: no iteration before */
    pl_array *const *const *dr, *const *const *dg; /* [count][group] */
    double *dot_dr,
        *dot_r; /* out, [count]: in the norm of W, of the last dr and of r with each dr */
} pl_anderson;

/* One trial of a descent method: what is at x_new = x + alpha d. */
typedef struct pl_trial {
    const pl_array *x; /* positions */
    const pl_array *d; /* rows; NULL: evaluate x_new as it stands, and x is not read */
    double alpha;
    pl_array *x_new;    /* positions; its pinned vertices are in place already */
    pl_array *gradient; /* positions: what `gradient` gives for a model with no hard groups */
    pl_array *g;        /* its free vertices, as rows; 0 where held */
} pl_trial;

typedef struct pl_trial_sums {
    double objective; /* e(x_new), J; +inf outside the domain, where the gradient has no meaning */
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

/* A stage's end, where velocities are known but for what contact does to them. */
typedef struct pl_contact_end {
    pl_array *const *u;        /* multipliers of hard groups, as for `gradient`, or NULL */
    bool all;                  /* else obstacles with a restitution alone */
    const pl_array *x;         /* positions that the stage was solved for */
    const pl_array *x_end;     /* positions at its end */
    const pl_array *v_start;   /* velocities at its start */
    pl_array *v;               /* in, out: at its end */
    pl_array *x_back, *v_back; /* in, out: what a later stage takes for the start; or NULL */
    /* m/s: a vertex that hits an obstacle faster than this has landed; INFINITY: do not look. */
    double landing;
} pl_contact_end;

typedef struct pl_measures {
    double elastic; /* J, +inf where an element is outside its energy's domain */
    int64_t inverted;
    double max_stretch;
} pl_measures;

/* What moves: energies J, momenta kg m/s and kg m^2/s about the origin. */
typedef struct pl_motion_sums {
    double kinetic, gravity; /* gravity: -sum m g . x */
    double linear[3], angular[3];
} pl_motion_sums;

/* Arrays of positions or velocities in the numbers that a frame has them in. */
typedef struct pl_fetch pl_fetch;
enum { PL_FETCH_ARRAYS = 2 };
typedef struct pl_fetch_form {
    bool single;    /* floats, else doubles */
    int32_t arrays; /* one after the other, at most PL_FETCH_ARRAYS */
} pl_fetch_form;

/* ---- the tables ----
 * A table that is there is complete: all its slots are set (pl_backend_incomplete). Those of the first
 * block every backend has; each of the second is there where the device can do what it is for. */

/* Arrays in the backend's memory, which those made beside it share. */
typedef struct pl_memory_ops {
    /* Zeroed; NULL when out of memory. */
    pl_array *(*alloc)(pl_backend *b, int64_t count);
    void (*release)(pl_backend *b, pl_array *array);
    /* From and to the host's memory. */
    void (*upload)(pl_backend *b, pl_array *to, const double *from, int64_t count);
    void (*download)(pl_backend *b, double *to, const pl_array *from, int64_t count);
    void (*copy)(pl_backend *b, pl_array *to, const pl_array *from, int64_t count);
    void (*clear)(pl_backend *b, pl_array *array, int64_t count);
} pl_memory_ops;

/* Numbers for a frame, converted where the arrays are and brought to the host while the backend goes
 * on: a fetch is the memory for one frame at a time. */
typedef struct pl_fetch_ops {
    pl_status (*create)(pl_backend *b, const pl_fetch_form *form, pl_fetch **out);
    void (*destroy)(pl_backend *b, pl_fetch *f);
    /* The arrays, positions [vertices][3] each, as they are now: they may change right after. What the fetch
     * held before is gone. */
    void (*begin)(pl_backend *b, pl_fetch *f, const pl_array *const *arrays);
    /* [arrays][vertices][3] of the last begin, the fetch's memory. NULL: still on their way, which `wait`
     * waits for. */
    const void *(*take)(pl_backend *b, pl_fetch *f, bool wait);
} pl_fetch_ops;

/* What a step is made of around its minimisation; all arrays are positions [vertices][3]. */
typedef struct pl_kinematics_ops {
    /* Prediction: out = x + h (v + h gravity). */
    void (*drift)(pl_backend *b, double h, const double gravity[3], const pl_array *x,
                  const pl_array *v, pl_array *out);
    /* out = base + d v + e (v - v_old); what a weight of 0 stands at is not read and may be NULL. */
    void (*blend)(pl_backend *b, const pl_array *base, double d, const pl_array *v, double e,
                  const pl_array *v_old, pl_array *out);
    /* out = (x_new - x) / h. */
    void (*velocity)(pl_backend *b, double h, const pl_array *x, const pl_array *x_new,
                     pl_array *out);
    /* Held coordinates of x where pins have them at `time`. */
    void (*place_pins)(pl_backend *b, double time, pl_array *x);
    /* The force that a pin exerts, from the stage's gradient at its result, N; 0 along the axes that
     * it does not hold. */
    void (*pin_force)(pl_backend *b, int32_t pin, const pl_array *gradient, double force[3]);
    /* The scene's forces over a step that starts at `time` (loads.h); total: host memory, [loads]. */
    void (*evaluate_loads)(pl_backend *b, double time, const pl_array *x, const pl_array *v,
                           pl_array *load, pl_force *total);
    /* The vertex with the largest |a - b| of a coordinate, which is returned, and NaN counts as less
     * than any; *vertex 0 where none differ. */
    double (*farthest)(pl_backend *b, const pl_array *a, const pl_array *c, int64_t *vertex);
    /* First vertex with a coordinate that is not finite, or -1. */
    int64_t (*find_not_finite)(pl_backend *b, const pl_array *x);
} pl_kinematics_ops;

/* Arithmetic on rows. */
typedef struct pl_rows_ops {
    /* Free vertices of x from rows, but for held coordinates; and back. */
    void (*set_free)(pl_backend *b, const pl_array *rows, pl_array *x);
    void (*get_free)(pl_backend *b, const pl_array *x, pl_array *rows);
    /* a . b */
    double (*dot)(pl_backend *b, const pl_array *a, const pl_array *c);
    /* (a1 - a0) . (b1 - b0) */
    double (*dot_change)(pl_backend *b, const pl_array *a1, const pl_array *a0, const pl_array *b1,
                         const pl_array *b0);
    /* out = sum of coefficient[i] list[i]; out is none of the list. */
    void (*combine)(pl_backend *b, const pl_array *const *list, const double *coefficient,
                    int32_t count, pl_array *out);
    /* out = inverse g, entry by entry; returns g . out. */
    double (*scale)(pl_backend *b, const pl_array *inverse, const pl_array *g, pl_array *out);
    /* out = p / inverse */
    void (*unscale)(pl_backend *b, const pl_array *inverse, const pl_array *p, pl_array *out);
} pl_rows_ops;

/* The stage objective e(x) (stage.h). */
typedef struct pl_objective_ops {
    /* What groups keep constant over a stage: before anything else of it. */
    void (*freeze)(pl_backend *b, const pl_backend_stage *stage);
    /* e(x), with hard constraints taken as satisfied; +inf outside the domain. */
    double (*value)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x);
    /* gradient [vertices][3] of e plus D^T W^2 u of the hard groups, of none with u NULL: what keeps a
     * vertex from being in balance. At a held coordinate it is the force that the pin exerts. Returns its
     * norm over what is free, N. */
    double (*gradient)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *const *u, pl_array *gradient);
    /* sum of A_ii |x_i|^2 over the free vertices, J: machine epsilon times this is what rounding of
     * positions leaves of energies, and of a squared decrement its epsilon squared. */
    double (*magnitude)(pl_backend *b, const pl_array *x);
    /* The first element that makes e(x) infinite, or -1: a tetrahedron, or tets + a triangle. */
    int64_t (*find_outside)(pl_backend *b, const pl_array *x);
    /* The free vertex with the largest gradient [vertices][3]. */
    int64_t (*find_steepest)(pl_backend *b, const pl_array *gradient);
} pl_objective_ops;

/* What frames and metrics tell of a state. */
typedef struct pl_measures_ops {
    pl_measures (*elements)(pl_backend *b, const pl_array *x);
    pl_motion_sums (*motion)(pl_backend *b, const pl_array *x, const pl_array *v);
    /* The force that a group exerts which is an obstacle with an energy, and how many of its terms exert
     * any: `push`. */
    int64_t (*soft_force)(pl_backend *b, int32_t group, const pl_array *x, double force[3]);
    /* How deep the deepest vertex is in each obstacle that is a group, m: `depth`. out: [obstacles]; those of no
     * group stay as they are. */
    void (*depths)(pl_backend *b, double time, const pl_array *x, double *out);
    /* What a dissipative group's forces take away at x, the end of the stage, W: `dissipate`. */
    double (*dissipation)(pl_backend *b, int32_t group, const pl_array *x);
} pl_measures_ops;

/* Descent methods. Groups are taken to have an energy: none is hard. */
typedef struct pl_descent_ops {
    /* Before the first trial, once. */
    pl_status (*prepare)(pl_backend *b);
    /* Objective, gradient and slope in one pass. */
    pl_trial_sums (*trial)(pl_backend *b, const pl_backend_stage *stage, const pl_trial *trial);
    /* Form s and w of the newest pair, where count > 0, and the inner products; returns p . g. */
    double (*pair)(pl_backend *b, const pl_history_pair *pair);
    /* The Jacobi preconditioner (Wang 2016, section 4.1): rows of 1 / P, P = the diagonal of
     * inertia plus that of every term's Hessian at x, where a term's entry below 0 counts as 0,
     * at least PL_JACOBI_LEAST A_ii, N/m. Returns sum inertia m / sum P: the Rayleigh quotient of a
     * translation under inertia and P. */
    double (*jacobi)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                     pl_array *inverse);
    /* The same with P = the diagonal of A, or, if `flat`, its largest entry everywhere. */
    double (*jacobi_constant)(pl_backend *b, const pl_backend_stage *stage, bool flat,
                              pl_array *inverse);
    void (*chebyshev)(pl_backend *b, const pl_chebyshev *step);
} pl_descent_ops;

/* Integrators of more than one stage or step, restitution and friction's power (cpu/cpu_contact.c derives
 * them). Without it: backward Euler and statics alone, and no restitution. */
typedef struct pl_contact_ops {
    /* The force of all obstacles on each vertex at a stage's result x, N; u as for `gradient`, or NULL. */
    void (*forces)(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                   const pl_array *x, pl_array *force);
    /* Set the velocities of vertices in contact. True if one has landed (pl_contact_end). */
    bool (*velocities)(pl_backend *b, const pl_backend_stage *stage, const pl_contact_end *end);
    /* out = what acceleration elements cause at a stage's result, from the objective's gradient there,
     * which holds all that is not the inertia of a held coordinate: no gravity, load or obstacle's
     * force. Stage NULL: the gradient is of elements and obstacles alone, without inertia. */
    void (*inner_acceleration)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                               const pl_array *gradient, const pl_array *contact, pl_array *out);
    /* Held coordinates of v: what the pins move with at `time`, from where they were since `span` ago. */
    void (*pin_velocities)(pl_backend *b, double time, double span, pl_array *v);
    /* The power that friction takes, W, at a stage's result x, where vertices go at v; u as for
     * `gradient`, or NULL. */
    double (*friction)(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                       const pl_array *x, const pl_array *v);
} pl_contact_ops;

/* Constraints by augmented Lagrangians: held groups. Without it: models without such groups alone. */
typedef struct pl_augmented_ops {
    /* Renew the model's multipliers by x, a minimiser under the stage that was frozen last: the next `freeze`
     * reads them. Of the second order where a factor of H near x was made since the last time. */
    void (*renew)(pl_backend *b, const pl_array *x, pl_array *multipliers);
} pl_augmented_ops;

/* Contact between bodies (contact/set.h), of a model with `touching`: the rows of the backend's set are part
 * of the objective from `begin` on. Without it: models without such contact alone. */
typedef struct pl_pairs_ops {
    /* A stage begins at stage->x_start, and is expected to end near x. Statuses as of pl_contact_set_begin. */
    pl_status (*begin)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x);
    /* Multipliers of the rows become the forces at x: the objective is another. See pl_contact_rows_renew. */
    double (*renew)(pl_backend *b, const pl_array *x);
    /* A solve by a model's group `touching` begins, with the rows there are: its u becomes their forces. PL_OK or
     * PL_NO_MEMORY. */
    pl_status (*apart)(pl_backend *b, pl_array *const *u);
    /* See pl_contact_rows_lack. */
    double (*lack)(pl_backend *b, const pl_array *x);
    /* A solve with the rows there are has found x. */
    pl_status (*advance)(pl_backend *b, const pl_array *x, pl_contact_keeping keeping,
                         pl_contact_advance *out);
    /* What the rows do at x, where the last `advance` ended. PL_OK or PL_NO_MEMORY. */
    pl_status (*measure)(pl_backend *b, const pl_array *x, pl_contact_sums *out);
    /* Restitution: velocities v at the answer of a step that began with v_start. See pl_contact_bounce. */
    pl_status (*bounce)(pl_backend *b, const pl_array *v_start, pl_array *v);
    /* The rows that do it, at the same x. PL_OK or PL_NO_MEMORY. */
    pl_status (*points)(pl_backend *b, const pl_array *x, pl_contact_points *out);
    /* The set: its memory is saved and restored with the solver's. */
    pl_contact_set *(*set)(pl_backend *b);
} pl_pairs_ops;

/* Methods that solve with the model's constant matrix A. */
typedef struct pl_matrix_ops {
    /* rows = A^-1 rhs of each coordinate, where there is `factored`; else B rhs with one and the same
     * symmetric positive definite B near A^-1. */
    pl_status (*solve)(pl_backend *b, const pl_array *rhs, pl_array *rows);
    /* Go on with another model, which differs in weights, matrix and factor only, and outlives its use.
     * PL_OK, or PL_NO_MEMORY and nothing has changed; going back to the one it was made for always
     * succeeds. */
    pl_status (*use_model)(pl_backend *b, const pl_model *model);
} pl_matrix_ops;

/* `solve` is exact. A backend with pl_matrix_ops has this table or the next one. */
typedef struct pl_factored_ops {
    /* rows = A_k x_k of each coordinate: x itself where it is held. */
    void (*multiply)(pl_backend *b, const pl_array *rows, pl_array *out);
} pl_factored_ops;

/* There is no factor, and the global step iterates. */
typedef struct pl_iterated_ops {
    /* A rows = rhs to a small share of what was wrong at `from`, with *square = (rows - from) . A (rows -
     * from). Not finite where a number is not. */
    pl_status (*solve_from)(pl_backend *b, const pl_array *rhs, const pl_array *from,
                            pl_array *rows, double *square);
} pl_iterated_ops;

/* Methods that split the objective: local steps by term, global steps with A. */
typedef struct pl_splitting_ops {
    /* z[g] = D_g x for every group. */
    void (*reduce)(pl_backend *b, const pl_array *x, pl_array *const *z);
    pl_local_sums (*local_step)(pl_backend *b, const pl_backend_stage *stage,
                                const pl_local_step *step);
    /* Replace the last local step's contributions by those without momentum. */
    void (*contribute)(pl_backend *b, pl_array *const *u, pl_array *const *z);
    /* rows = inertia M x~ + load - A_fp x_p: what of the right-hand side is constant over a stage; x
     * has what is held at the stage's end, and where a row's coordinate is held, it is that. */
    void (*stage_rows)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *rows);
    /* rows = base + the last local step's contributions, gathered (Narain 2016, eq. 15). */
    void (*gather_global)(pl_backend *b, const pl_array *base, pl_array *rows);
    /* |D^T W^2 (z - z^)| over the free vertices, of the last local step with want_dual (eq. 23). */
    double (*dual_norm)(pl_backend *b);
    /* Sum of -W^2 u over the terms of a hard group: the force it exerts, and how many exert any. */
    int64_t (*hard_force)(pl_backend *b, int32_t group, const pl_array *u, double force[3]);
    /* How concave each term of a group is at z (`concavity` of groups that have it): out
     * [block][PL_BLOCK], in the caller's memory, aligned to 64 bytes. */
    void (*concavity)(pl_backend *b, int32_t group, const pl_array *z, double *out);
    /* Each term's rows of a group's values times its factor [block][PL_BLOCK], the caller's memory. */
    void (*scale_terms)(pl_backend *b, int32_t group, const double *factor, pl_array *values);
} pl_splitting_ops;

/* Anderson's acceleration of ADMM. */
typedef struct pl_anderson_ops {
    /* What the phases need beside their arrays; once. */
    pl_status (*prepare)(pl_backend *b);
    /* r, g, their differences to the iteration before, inner products; returns |W r|. */
    double (*difference)(pl_backend *b, const pl_anderson *a);
    /* u = g - sum gamma_j dg_j - D x, so that the next local step's D x + u is that vector. */
    void (*combine)(pl_backend *b, const pl_anderson *a, const double *gamma);
} pl_anderson_ops;

/* Newton's matrix H, 3 n x 3 n over the free vertices: inertia and every term's Hessian, each made
 * semidefinite where `project` says so. Made by `make` at an x where e is finite, kept until the next. */
typedef struct pl_hessian_ops {
    /* First, once: what is constant over a model. */
    pl_status (*prepare)(pl_backend *b);
    pl_status (*make)(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                      bool project);
    /* Factor H; where it was projected and has no factor as it is, with a little more on its
     * diagonal. PL_FAILED where there is none. */
    pl_status (*factor)(pl_backend *b);
    /* out = H^-1 rows by that factor; out may be rows. */
    pl_status (*solve)(pl_backend *b, const pl_array *rows, pl_array *out);
    /* out = H rows. */
    void (*multiply)(pl_backend *b, const pl_array *rows, pl_array *out);
    /* out = rows times the inverse of the 3 x 3 blocks on H's diagonal. */
    void (*jacobi)(pl_backend *b, const pl_array *rows, pl_array *out);
} pl_hessian_ops;

/* Several accelerated steps at once, where that gains anything. */
typedef struct pl_runs_ops {
    /* `count` steps one after the other from step->x in place (x_new is x; g is not read), each with
     * the stage's gradient where it starts and an omega of its own, and nothing measured between them. */
    void (*chebyshev)(pl_backend *b, const pl_backend_stage *stage, const pl_chebyshev *step,
                      const double *omega, int32_t count);
} pl_runs_ops;

/* A device that works beside the host: it is waited for, and it can fail. */
typedef struct pl_queue_ops {
    /* Have `work` called with `context` before the backend waits for a sum of its device's, or for positions; NULL: no longer.
     * It may call `take` of a fetch without waiting, and no other phase. */
    void (*meanwhile)(pl_backend *b, void (*work)(void *context), void *context);
    /* What went wrong with the device; NULL: nothing. From then on no number of any backend of the process
     * means anything, and none ever will again: the process is to end. *launching: what this one launched was
     * not known to have ended, and so may have caused it. */
    const char *(*fault)(const pl_backend *b, bool *launching);
} pl_queue_ops;

typedef struct pl_backend_ops {
    const char *name;
    bool on_host;   /* arrays are memory that the caller may read; else only download shows them */
    double epsilon; /* of the numbers in arrays */
    double energy_epsilon; /* differences of energies below this of their size are rounding */
    /* Why it cannot hold a model's terms (pl_backend_refuses); NULL: it can. */
    const char *(*refuses)(const pl_model *model);
    /* A backend is made, used and destroyed by one thread at a time; others may use others meanwhile. `beside`,
     * or NULL: one of the same table whose arrays this one is to read and write, in the order in which both are
     * called; it is destroyed after this one. */
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

    /* NULL: the device cannot do it. */
    const pl_contact_ops *contact;
    const pl_augmented_ops *augmented;
    const pl_pairs_ops *pairs;
    const pl_matrix_ops *matrix;
    const pl_factored_ops *factored;
    const pl_iterated_ops *iterated;
    const pl_splitting_ops *splitting; /* with a matrix only */
    const pl_anderson_ops *anderson;   /* with splitting only */
    const pl_hessian_ops *hessian;
    const pl_runs_ops *runs;
    const pl_queue_ops *queue;
    /* Compute with so many of the host's threads from now on. PL_OK, or PL_NO_MEMORY and it has as many as
     * before. NULL: it has no use for them. */
    pl_status (*set_threads)(pl_backend *b, int32_t threads);
} pl_backend_ops;

/* Every backend begins with its table. */
struct pl_backend {
    const pl_backend_ops *ops;
    const pl_model *model;
};

/* The CPU's (cpu/), which is always there. */
extern const pl_backend_ops pl_backend_cpu;

/* The backend for a device, or NULL where there is none. */
const pl_backend_ops *pl_backend_find(pl_device_kind device);

/* The name of a table that is missing though it must be there, or that lacks a slot; NULL: all is complete. */
const char *pl_backend_incomplete(const pl_backend_ops *ops);

/* The reason why a backend cannot run a model with its method, as a clause to follow a colon; NULL where it
 * can. `ops` may be NULL: there is no such backend. */
const char *pl_backend_refuses(const pl_backend_ops *ops, const pl_model *model);

/* Give the device `gpu` its backend: what a plug-in brings, or a test. NULL takes it away. Of the calling thread,
 * and before its first model: sessions of one process, a thread each, compute in the precision of each. */
void pl_backend_register(const pl_backend_ops *ops);

#endif
