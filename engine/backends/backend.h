/* backend.h - where the work of a step is done, as a table of phases chosen at run time.
 *
 * The cut between a solver and a backend is the phase: a solver is a list of phases with scalars
 * between them and never touches an array's elements, so that the arrays may live in another
 * memory. Arrays come from `alloc` and are of three kinds: positions [vertices][3]; rows
 * [3][free_vertices], column-major as the factor takes them; and values of a group
 * [block][rows][PL_BLOCK]. Rows that are gradients, steps or directions are zero in a coordinate
 * that a pin holds (model.h); positions are where the pin puts them.
 *
 * A phase that a backend lacks is NULL; `pl_backend_find` is the only way to one, and a backend
 * that is not there says why. Sums are taken in an order that the number of threads does not
 * change.
 */
#ifndef PLIANT_ENGINE_BACKENDS_BACKEND_H
#define PLIANT_ENGINE_BACKENDS_BACKEND_H

#include "engine/backends/histories.h"
#include "engine/scene/metrics.h"
#include "engine/model/model.h"

typedef struct pl_backend pl_backend;

/* The least P of a Jacobi preconditioner, of A_ii: a free quasi-static vertex whose terms are all flat
 * still has one. */
#define PL_JACOBI_LEAST 0.01

typedef enum pl_array_kind { PL_ARRAY_POSITIONS, PL_ARRAY_ROWS } pl_array_kind;

/* One ADMM iteration's local step over all groups; arrays by group, as in pl_admm_local. */
typedef struct pl_local_step {
    const double *x;
    double *const *u, *const *z;
    double *const *u_old, *const *z_old; /* overwritten with the new ones */
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
    const double *x;
    double *const *u, *const *z; /* of the last local step */
    double relaxation;
    double *const *r, *const *r_old; /* out: D x - z; the one before */
    double *const *g;                /* g of the iteration before in, z + u + relaxation r out */
    int32_t count;                   /* differences, oldest first; 0: no iteration before */
    double *const *const *dr, *const *const *dg; /* [count][group] */
    double *dot_dr,
        *dot_r; /* out, [count]: in the norm of W, of the last dr and of r with each dr */
} pl_anderson;

/* One trial of a descent method: what is at x_new = x + alpha d. */
typedef struct pl_trial {
    const double *x; /* positions */
    const double *d; /* rows; NULL: evaluate x_new as it stands, and x is not read */
    double alpha;
    double *x_new;    /* positions; its pinned vertices are in place already */
    double *gradient; /* positions: what `gradient` gives for a model with no hard groups */
    double *g;        /* its free vertices, as rows; 0 where held */
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
    const double *x;       /* positions */
    const double *inverse; /* rows: P^-1 */
    const double *g;       /* rows */
    double alpha, omega;
    double *s;     /* rows: x - x_old in, x_new - x out */
    double *x_new; /* positions; its pinned vertices are in place already; may be x */
} pl_chebyshev;

/* A stage's end, where velocities are known but for what contact does to them. */
typedef struct pl_contact_end {
    double *const *u;        /* multipliers of hard groups, as for `gradient`, or NULL */
    bool all;                /* else obstacles with a restitution alone */
    const double *x;         /* positions that the stage was solved for */
    const double *x_end;     /* positions at its end */
    const double *v_start;   /* velocities at its start */
    double *v;               /* in, out: at its end */
    double *x_back, *v_back; /* in, out: what a later stage takes for the start; or NULL */
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

typedef struct pl_backend_ops {
    const char *name;
    bool on_host;   /* arrays are memory that the caller may read; else only download shows them */
    double epsilon; /* of the numbers in arrays */
    double energy_epsilon; /* differences of energies below this of their size are rounding */
    /* Why it can not hold a model's terms (pl_backend_refuses); the slot NULL: it holds all. */
    const char *(*refuses)(const pl_model *model);
    /* A backend is made, used and destroyed by one thread at a time; others may use others meanwhile. `beside`,
     * or NULL: one of the same table whose arrays this one is to read and write, in the order in which both are
     * called; it is destroyed after this one. */
    pl_status (*create)(const pl_model *model, int32_t threads, pl_backend *beside,
                        pl_backend **out);
    void (*destroy)(pl_backend *b);

    /* Go on with another model, which differs in weights, matrix and factor only, and outlives its use.
     * PL_OK, or PL_NO_MEMORY and nothing has changed; back to the one it was made for it always gets. */
    pl_status (*use_model)(pl_backend *b, const pl_model *model);

    /* Zeroed arrays in the backend's memory, which those made beside it share; NULL when out of memory. upload
     * reads and download writes the caller's. */
    double *(*alloc)(pl_backend *b, int64_t count);
    void (*release)(pl_backend *b, double *array);
    void (*upload)(pl_backend *b, double *to, const double *from, int64_t count);
    void (*download)(pl_backend *b, double *to, const double *from, int64_t count);
    void (*copy)(pl_backend *b, double *to, const double *from, int64_t count);
    void (*clear)(pl_backend *b, double *array, int64_t count);

    /* Numbers for a frame, converted where the arrays are and brought to the host while the backend goes on:
     * a fetch is the memory for one frame at a time. */
    pl_status (*fetch_create)(pl_backend *b, const pl_fetch_form *form, pl_fetch **out);
    void (*fetch_destroy)(pl_backend *b, pl_fetch *f);
    /* The arrays, positions [vertices][3] each, as they are now: they may change right after. What the fetch
     * held before is gone. */
    void (*fetch_begin)(pl_backend *b, pl_fetch *f, const double *const *arrays);
    /* [arrays][vertices][3] of the last begin, the fetch's memory. NULL: still on their way, which `wait`
     * waits for. */
    const void *(*fetch_take)(pl_backend *b, pl_fetch *f, bool wait);
    /* Have `work` called with `context` before the backend waits for a sum of its device's; NULL: no longer.
     * It may call fetch_take without waiting, and no other phase. The slot NULL: it never waits. */
    void (*meanwhile)(pl_backend *b, void (*work)(void *context), void *context);
    /* What went wrong with the device; NULL: nothing. From then on no number of any backend of the process
     * means anything, and none ever will again: the process is to end. *launching: what this one launched was
     * not known to have ended, and so may have caused it. The slot NULL: nothing can go wrong. */
    const char *(*fault)(const pl_backend *b, bool *launching);

    /* What a step is made of around its minimisation; all but the numbers are positions [vertices][3].
     * Prediction: out = x + h (v + h gravity). */
    void (*drift)(pl_backend *b, double h, const double gravity[3], const double *x,
                  const double *v, double *out);
    /* out = base + d v + e (v - v_old); what a weight of 0 stands at is not read and may be NULL. */
    void (*blend)(pl_backend *b, const double *base, double d, const double *v, double e,
                  const double *v_old, double *out);
    /* out = (x_new - x) / h. */
    void (*velocity)(pl_backend *b, double h, const double *x, const double *x_new, double *out);
    /* Held coordinates of x where pins have them at `time`. */
    void (*place_pins)(pl_backend *b, double time, double *x);
    /* The force that a pin exerts, from the stage's gradient at its result, N; 0 along the axes that
     * it does not hold. */
    void (*pin_force)(pl_backend *b, int32_t pin, const double *gradient, double force[3]);
    /* The scene's forces over a step that starts at `time` (loads.h); total: host memory, [loads]. */
    void (*evaluate_loads)(pl_backend *b, double time, const double *x, const double *v,
                           double *load, pl_force *total);
    /* The vertex with the largest |a - b| of a coordinate, which is returned, and NaN counts as less
     * than any; *vertex 0 where none differ. */
    double (*farthest)(pl_backend *b, const double *a, const double *c, int64_t *vertex);

    /* What groups keep constant over a stage: before anything else of it. */
    void (*freeze)(pl_backend *b, const pl_stage *stage);
    /* z[g] = D_g x for every group. */
    void (*reduce)(pl_backend *b, const double *x, double *const *z);
    pl_local_sums (*local_step)(pl_backend *b, const pl_stage *stage, const pl_local_step *step);
    /* rows = inertia M x~ + load - A_fp x_p: what of the right-hand side is constant over a stage; x
     * has what is held at the stage's end, and where a row's coordinate is held, it is that. */
    void (*stage_rows)(pl_backend *b, const pl_stage *stage, const double *x, double *rows);
    /* Replace the last local step's contributions by those without momentum. */
    void (*contribute)(pl_backend *b, double *const *u, double *const *z);
    /* How concave each term of a group is at z (`concavity` of groups that have it): out
     * [block][PL_BLOCK], in the caller's memory, aligned to 64 bytes. */
    void (*concavity)(pl_backend *b, int32_t group, const double *z, double *out);
    /* Each term's rows of a group's values times its factor [block][PL_BLOCK], the caller's memory. */
    void (*scale_terms)(pl_backend *b, int32_t group, const double *factor, double *values);
    /* rows = base + the last local step's contributions, gathered (Narain 2016, eq. 15). */
    void (*gather_global)(pl_backend *b, const double *base, double *rows);
    /* |D^T W^2 (z - z^)| over the free vertices, of the last local step with want_dual (eq. 23).
     */
    double (*dual_norm)(pl_backend *b);
    /* rows = A^-1 rhs of each coordinate, or B rhs with one and the same symmetric positive definite B near
     * A^-1, where there is no factor. */
    pl_status (*solve)(pl_backend *b, const double *rhs, double *rows);
    /* NULL where `solve` is exact. Else: A rows = rhs to a small share of what was wrong at `from`, with
     * *square = (rows - from) . A (rows - from). Not finite where a number is not. */
    pl_status (*solve_from)(pl_backend *b, const double *rhs, const double *from, double *rows,
                            double *square);
    /* rows = A_k x_k of each coordinate: x itself where it is held. */
    void (*multiply)(pl_backend *b, const double *rows, double *out);
    /* Free vertices of x from rows, but for held coordinates; and back. */
    void (*set_free)(pl_backend *b, const double *rows, double *x);
    void (*get_free)(pl_backend *b, const double *x, double *rows);
    /* (a1 - a0) . (b1 - b0) over rows. */
    double (*dot_change)(pl_backend *b, const double *a1, const double *a0, const double *b1,
                         const double *b0);

    /* e(x) of the stage (stage.h), with hard constraints taken as satisfied; +inf outside the
     * domain. */
    double (*objective)(pl_backend *b, const pl_stage *stage, const double *x);
    /* gradient [vertices][3] of the stage objective plus D^T W^2 u of the hard groups, of none with u
     * NULL: what keeps a vertex from being in balance. At a held coordinate it is the force that the pin exerts.
     * Returns its norm over what is free, N. */
    double (*gradient)(pl_backend *b, const pl_stage *stage, const double *x, double *const *u,
                       double *gradient);
    /* Sum of -W^2 u over the terms of a hard group: the force it exerts, and how many exert any. */
    int64_t (*hard_force)(pl_backend *b, int32_t group, const double *u, double force[3]);
    /* The same of a group that is an obstacle with an energy: `push`. */
    int64_t (*soft_force)(pl_backend *b, int32_t group, const double *x, double force[3]);
    /* How deep the deepest vertex is in the obstacle that a group is, m: `depth`. */
    double (*depth)(pl_backend *b, int32_t group, double time, const double *x);
    /* What the integrators of more than one stage or step need besides, and restitution
     * (cpu/cpu_contact.c derives it). NULL, all four: the backend has backward Euler and statics alone,
     * and no restitution.
     * The force of all obstacles on each vertex at a stage's result x, N; u as for `gradient`, or NULL. */
    void (*contact_forces)(pl_backend *b, const pl_stage *stage, double *const *u, const double *x,
                           double *force);
    void (*contact_velocities)(pl_backend *b, const pl_stage *stage, const pl_contact_end *end);
    /* out = what acceleration elements cause at a stage's result, from the objective's gradient there,
     * which holds all that is not the inertia of a held coordinate: no gravity, load or obstacle's
     * force. Stage NULL: the gradient is of elements and obstacles alone, without inertia. */
    void (*inner_acceleration)(pl_backend *b, const pl_stage *stage, const double *x,
                               const double *gradient, const double *contact, double *out);
    /* Held coordinates of v: what the pins move with at `time`, from where they were since `span` ago. */
    void (*pin_velocities)(pl_backend *b, double time, double span, double *v);
    /* The power that friction takes, W, at a stage's result x, where vertices go at v; u as for `gradient`, or
     * NULL. The slot NULL: it is not known. */
    double (*friction)(pl_backend *b, const pl_stage *stage, double *const *u, const double *x,
                       const double *v);
    /* What a dissipative group's forces take away at x, the end of the stage, W: `dissipate`. */
    double (*dissipation)(pl_backend *b, int32_t group, const double *x);
    pl_measures (*measure)(pl_backend *b, const double *x);
    pl_motion_sums (*motion)(pl_backend *b, const double *x, const double *v);
    /* First vertex with a coordinate that is not finite, or -1. */
    int64_t (*find_not_finite)(pl_backend *b, const double *x);

    /* Objective, gradient and slope in one pass. Groups are taken to have an energy: none is hard.
     * `trial_prepare` comes first, once. */
    pl_status (*trial_prepare)(pl_backend *b);
    pl_trial_sums (*trial)(pl_backend *b, const pl_stage *stage, const pl_trial *trial);
    /* Form s and w of the newest pair, where count > 0, and the inner products; returns p . g. */
    double (*pair)(pl_backend *b, const pl_history_pair *pair);
    /* The Jacobi preconditioner (Wang 2016, section 4.1): rows of 1 / P, P = the diagonal of
     * inertia plus that of every term's Hessian at x, where a term's entry below 0 counts as 0,
     * at least PL_JACOBI_LEAST A_ii, N/m. Returns sum inertia m / sum P: the Rayleigh quotient of a
     * translation under inertia and P. */
    double (*jacobi)(pl_backend *b, const pl_stage *stage, const double *x, double *inverse);
    /* out = inverse g, entry by entry, over rows; returns g . out. */
    double (*scale)(pl_backend *b, const double *inverse, const double *g, double *out);
    /* The same with P = the diagonal of A, or, if `flat`, its largest entry everywhere. */
    double (*jacobi_constant)(pl_backend *b, const pl_stage *stage, bool flat, double *inverse);
    /* out = p / inverse over rows. */
    void (*unscale)(pl_backend *b, const double *inverse, const double *p, double *out);
    /* a . b over rows. */
    double (*dot)(pl_backend *b, const double *a, const double *c);
    void (*chebyshev)(pl_backend *b, const pl_chebyshev *step);
    /* `count` such steps one after the other from step->x in place (x_new is x; g is not read), each with
     * the stage's gradient where it starts and an omega of its own, and nothing measured between them.
     * NULL: there is no gain in it. */
    void (*chebyshev_run)(pl_backend *b, const pl_stage *stage, const pl_chebyshev *step,
                          const double *omega, int32_t count);
    /* out = sum of coefficient[i] list[i] over rows; out is none of the list. */
    void (*combine)(pl_backend *b, const double *const *list, const double *coefficient,
                    int32_t count, double *out);
    /* sum of A_ii |x_i|^2 over the free vertices, J: machine epsilon times this is what rounding of
     * positions leaves of energies, and of a squared decrement its epsilon squared. */
    double (*magnitude)(pl_backend *b, const double *x);
    /* The first element that makes e(x) infinite, or -1: a tetrahedron, or tets + a triangle. */
    int64_t (*find_outside)(pl_backend *b, const double *x);
    /* The free vertex with the largest gradient [vertices][3]. */
    int64_t (*find_steepest)(pl_backend *b, const double *gradient);

    /* What anderson's phases need beside their arrays; once. */
    pl_status (*anderson_prepare)(pl_backend *b);
    /* r, g, their differences to the iteration before, inner products; returns |W r|. */
    double (*anderson_difference)(pl_backend *b, const pl_anderson *a);
    /* u = g - sum gamma_j dg_j - D x, so that the next local step's D x + u is that vector. */
    void (*anderson_combine)(pl_backend *b, const pl_anderson *a, const double *gamma);

    /* Newton's matrix H, 3 n x 3 n over the free vertices: inertia and every term's Hessian, each
     * made semidefinite where `project` says so. Made by `hessian_make` at an x where e is finite,
     * kept until the next. `hessian_prepare` comes first, once: what is constant over a model. */
    pl_status (*hessian_prepare)(pl_backend *b);
    void (*hessian_make)(pl_backend *b, const pl_stage *stage, const double *x, bool project);
    /* Factor H; where it was projected and has no factor as it is, with a little more on its
     * diagonal. PL_FAILED where there is none. */
    pl_status (*hessian_factor)(pl_backend *b);
    /* out = H^-1 rows by that factor; out may be rows. */
    pl_status (*hessian_solve)(pl_backend *b, const double *rows, double *out);
    /* out = H rows. */
    void (*hessian_multiply)(pl_backend *b, const double *rows, double *out);
    /* out = rows times the inverse of the 3 x 3 blocks on H's diagonal. */
    void (*hessian_jacobi)(pl_backend *b, const double *rows, double *out);
} pl_backend_ops;

/* Every backend begins with its table. */
struct pl_backend {
    const pl_backend_ops *ops;
    const pl_model *model;
};

/* The backend for a device, or NULL where there is none. */
const pl_backend_ops *pl_backend_find(pl_device_kind device);

/* Why a backend, NULL where there is none, can not run a model with its method; NULL where it can. A clause
 * to follow on a colon. */
const char *pl_backend_refuses(const pl_backend_ops *ops, const pl_model *model);

/* Give the device `gpu` its backend: what a plug-in brings, or a test. NULL takes it away. Of the calling thread,
 * and before its first model: sessions of one process, a thread each, compute in the precision of each. */
void pl_backend_register(const pl_backend_ops *ops);

#endif
