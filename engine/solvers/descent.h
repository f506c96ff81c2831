/* descent.h - what the descent methods with a line search share: the loop, its start, its stopping
 * test, its failures. A method is a rule for the direction.
 *
 *     repeat   p <- B0 g(x),  d <- the rule's direction,  alpha <- line search
 *              x <- x + alpha d
 *
 * B0 is A^-1, the constant matrix's (one solve an iteration), or P^-1 with a diagonal P: Jacobi's,
 * diag of the objective's Hessian, refreshed every `jacobi_refresh` iterations (Wang 2016, section
 * 4.1); diag(A), which stays; or max A_ii times the identity, with which d = -p is the bare gradient
 * in metres.
 *
 * Stopping: the decrement, an estimate of the step that is left in the norm of its matrix, J^(1/2),
 * against that of the initial guess. With the constant matrix it is (g . A^-1 g)^(1/2), of the solve
 * that the iteration makes anyway. Without, a solve a test would be dearer than the iteration, and
 * it is (sum |g_i|^2 / A_ii)^(1/2), which needs the diagonal of A only and is the same number
 * whatever P is. As A <= corners x diag(A), it is at least half of the other for tetrahedra; but it
 * is no upper bound: an error that is smooth over many elements has a larger decrement by A than by
 * its diagonal, so that the same tolerance asks for less.
 * And where the decrement has passed, bodies must be in balance (balance.h).
 */
#ifndef PLIANT_ENGINE_SOLVERS_DESCENT_H
#define PLIANT_ENGINE_SOLVERS_DESCENT_H

#include "engine/solvers/arrays.h"
#include "engine/solvers/balance.h"
#include "engine/solvers/solver.h"

typedef struct pl_descent pl_descent;

typedef struct pl_descent_rule {
    const char *what; /* of messages: "quasi-Newton" */
    bool matrix;      /* B0 = A^-1 */
    /* The rule's own memory, pl_descent.rule; NULL, both, where it has none. */
    pl_status (*create)(pl_descent *d);
    void (*destroy)(pl_descent *d);
    /* Before the first iteration of a solve; NULL: `forget` is called. */
    void (*begin)(pl_descent *d);
    /* After the last iteration of one that did not fail; or NULL. */
    void (*end)(pl_descent *d);
    /* Forget what earlier iterations taught: the next direction is -p, or a multiple of it. */
    void (*forget)(pl_descent *d);
    /* Whether nothing is known but p, so that forgetting would lead to the same direction. */
    bool (*bare)(const pl_descent *d);
    /* p = B0 g at x, by pl_descent_apply or otherwise, after a step of alpha along d, if `stepped`.
     * g_old and p_old are those before it. Leaves g . p in gp, NaN where it is not finite. */
    pl_status (*precondition)(pl_descent *d, bool stepped);
    /* Before `precondition`, P was replaced: NULL where nothing hangs on it. */
    void (*refreshed)(pl_descent *d, const pl_array *inverse_old);
    /* The direction: sets d->d to rows and d->slope to g . d. */
    void (*direction)(pl_descent *d);
    /* The first alpha to try. */
    double (*first)(const pl_descent *d);
    double curvature; /* of Wolfe's second condition, where that is asked for */
    bool always_wolfe;
    bool stays; /* where no direction goes down it ends there, not converged, and does not fail */
    /* What the rule's own memory carries from solve to solve (solver.h); NULL, both: nothing. */
    void (*save)(const pl_descent *d, pl_bytes_out *out);
    bool (*restore)(pl_descent *d, pl_bytes_in *in);
} pl_descent_rule;

struct pl_descent {
    pl_solver base;
    const pl_descent_rule *law;
    void *rule; /* the rule's memory */
    const pl_model *model;
    pl_backend *backend;
    pl_array *x_new;                 /* positions */
    pl_array *g, *g_old, *p, *p_old; /* rows */
    pl_array *inverse, *inverse_old; /* rows of 1 / P; NULL with the constant matrix */
    pl_iteration *detail;            /* [iterations + 1], or NULL */
    int64_t rows, recorded; /* of it; before this solve, which goes on from another's answer */
    pl_balance *balance;
    /* The solve under way. */
    pl_solve_result *out;
    const pl_backend_stage *stage;
    const pl_array *x; /* positions, where g and p are of */
    bool no_memory;    /* a rule's way to end the solve */
    double start_ms;
    const pl_array *d; /* rows: the direction */
    double objective, gp, slope;
    double alpha, alpha_old; /* the last step's length, and the one's before; 0: none */
    double gp_old;           /* gp before the last step */
    double slope_old;        /* of the last step, at its beginning */
    double slope_end;        /* and at its end: g . d with the g there */
    double trial_decrement;  /* of the last trial */
    double first, bound;     /* the initial guess's decrement; what it has to come down to */
    int64_t most;            /* iterations */
    int patience;            /* iterations left to go on for what gaps lack */
    double lack;             /* pl_contact_rows_renew's last, of the stage; 0 before */
    int64_t renewed;         /* the iteration at which multipliers of contact last were */
    double energy_noise, decrement_noise;
};

pl_status pl_descent_create(const pl_solver_ops *ops, const pl_descent_rule *rule,
                            const pl_model *model, pl_backend *backend, pl_solver **out);
void pl_descent_destroy(pl_solver *solver);
pl_status pl_descent_solve(pl_solver *solver, const pl_backend_stage *stage, pl_array *x,
                           pl_array *gradient, pl_solve_result *out, pl_failure *failure);

/* Rules that other rules go by. */
extern const pl_descent_rule pl_quasi_newton_rule, pl_newton_rule;

/* The multipliers of held groups, and what the rule carries. */
void pl_descent_save(const pl_solver *solver, pl_bytes_out *out);
bool pl_descent_restore(pl_solver *solver, pl_bytes_in *in);

/* The table of a descent method: pl_solver_NAME by the rule. */
#define PL_DESCENT_SOLVER(name, rule)                                                              \
    static pl_status name##_create(const pl_model *model, pl_backend *backend, pl_solver **out)    \
    {                                                                                              \
        return pl_descent_create(&pl_solver_##name, &(rule), model, backend, out);                 \
    }                                                                                              \
    const pl_solver_ops pl_solver_##name = {                                                       \
        .create = name##_create,                                                                   \
        .destroy = pl_descent_destroy,                                                             \
        .solve = pl_descent_solve,                                                                 \
        .save = pl_descent_save,                                                                   \
        .restore = pl_descent_restore,                                                             \
    }

/* p = B0 g and gp = g . p: the `precondition` of a rule that needs no more. */
pl_status pl_descent_apply(pl_descent *d, bool stepped);
double pl_descent_first_is_one(const pl_descent *d);

/* line_search.c: a step from x along d->d to x_new, with gradient and d->g there (d->g_old keeps the
 * old one), and alpha, objective and norms set. False: none goes down, and all is as it was. */
bool pl_descent_search(pl_descent *d, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *x_new, pl_array *gradient);

/* Rows of 1 / P at x by the model's settings. Returns what the backend's `jacobi` does. */
double pl_descent_make_inverse(pl_backend *backend, const pl_backend_stage *stage,
                               const pl_array *x, pl_array *inverse);

/* A descent goes on for what gaps lack alone (pl_solver_lack) for so many looks: where constraints of contact
 * contradict each other it never comes to it. */
enum { PL_DESCENT_PATIENCE = 10 };

/* What a difference of energies must exceed to mean something: of rounded positions, or of sums. */
double pl_descent_noise(const pl_backend_ops *ops, double objective, double energy_noise);

/* Failures that every descent method tells alike. */
pl_status pl_descent_fail_not_finite(pl_backend *backend, const char *what, const pl_array *where,
                                     pl_failure *failure);
/* Where the start has no finite objective: names the element that makes it infinite. */
pl_status pl_descent_fail_start(pl_backend *backend, const char *what, const pl_array *x,
                                pl_failure *failure);
pl_status pl_descent_fail_search(pl_backend *backend, const pl_backend_stage *stage,
                                 const pl_array *x, pl_array *gradient, double decrement,
                                 pl_failure *failure);

#endif
