/* descent.h - the common part of the descent methods with a line search: the loop, its start, its stopping test,
 * its failures. Each method is a rule for the direction.
 *
 *     repeat   p <- B0 g(x),  d <- the rule's direction,  alpha <- line search
 *              x <- x + alpha d
 *
 * B0 is A^-1 of the constant matrix (one solve per iteration), or P^-1 with a diagonal P: Jacobi's, the diagonal of
 * the objective's Hessian, refreshed every `jacobi_refresh` iterations (Wang 2016, section 4.1); diag(A), which is
 * constant; or max A_ii times the identity, with which d = -p is the bare gradient in metres.
 *
 * Stopping: the decrement, an estimate of the remaining step in the norm of its matrix, J^(1/2), relative to that
 * of the initial guess. With the constant matrix it is (g . A^-1 g)^(1/2), from the solve that the iteration makes
 * anyway. Without it, a solve for each test would cost more than the iteration. The decrement is then
 * (sum |g_i|^2 / A_ii)^(1/2), which needs only the diagonal of A and does not depend on P. As A <= corners x
 * diag(A), it is at least half of the other for tetrahedra, but it is no upper bound: an error that is smooth over
 * many elements has a larger decrement by A than by its diagonal, so the same tolerance is less strict. Once the
 * decrement has passed, bodies must also be in balance (balance.h).
 */
#ifndef PLIANT_ENGINE_SOLVERS_DESCENT_H
#define PLIANT_ENGINE_SOLVERS_DESCENT_H

#include "engine/solvers/arrays.h"
#include "engine/solvers/balance.h"
#include "engine/solvers/solver.h"

typedef struct pl_descent pl_descent;

typedef struct pl_descent_rule {
    const char *what; /* name in messages: "quasi-Newton" */
    bool matrix;      /* B0 = A^-1 */
    /* Creates and destroys the rule's own memory, pl_descent.rule; both NULL if it has none. */
    pl_status (*create)(pl_descent *d);
    void (*destroy)(pl_descent *d);
    /* Called before the first iteration of a solve; if NULL, `forget` is called. */
    void (*begin)(pl_descent *d);
    /* Called after the last iteration of a successful solve; may be NULL. */
    void (*end)(pl_descent *d);
    /* Forgets what earlier iterations taught: the next direction is -p, or a multiple of it. */
    void (*forget)(pl_descent *d);
    /* True if only p is known, so that forgetting would lead to the same direction. */
    bool (*bare)(const pl_descent *d);
    /* Computes p = B0 g at x, by pl_descent_apply or otherwise, after a step of alpha along d if `stepped`. g_old
     * and p_old are the values before the step. Sets gp to g . p, NaN if it is not finite. */
    pl_status (*precondition)(pl_descent *d, bool stepped);
    /* Called before `precondition` when P was replaced; NULL if nothing depends on P. */
    void (*refreshed)(pl_descent *d, const pl_array *inverse_old);
    /* Sets d->d to the rows of the direction and d->slope to g . d. */
    void (*direction)(pl_descent *d);
    /* The first alpha to try. */
    double (*first)(const pl_descent *d);
    double curvature; /* constant of Wolfe's second condition, where required */
    bool always_wolfe;
    bool stays; /* if no direction goes down, the solve ends, not converged, instead of failing */
    /* Saves and restores the part of the rule's memory that lasts from solve to solve (solver.h); both NULL if none
     * does. */
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
    int64_t rows, recorded; /* of `detail`; before this solve, if it continues another's answer */
    pl_balance *balance;
    /* The current solve. */
    pl_solve_result *out;
    const pl_backend_stage *stage;
    const pl_array *x; /* positions at which g and p were computed */
    bool no_memory;    /* set by a rule to end the solve */
    double start_ms;
    const pl_array *d; /* rows: the direction */
    double objective, gp, slope;
    double alpha, alpha_old; /* lengths of the last step and the one before; 0: none */
    double gp_old;           /* gp before the last step */
    double slope_old;        /* g . d of the last step, at its beginning */
    double slope_end;        /* g . d of the last step at its end, with the new g */
    double trial_decrement;  /* of the last trial */
    double first, bound;     /* decrement of the initial guess; target for the decrement */
    int64_t most;            /* maximum number of iterations */
    int patience;            /* iterations left to close the gaps */
    double lack;             /* of the last pl_contact_rows_renew of the stage; 0 before */
    int64_t renewed;         /* iteration of the last renewal of contact multipliers */
    double energy_noise, decrement_noise;
};

pl_status pl_descent_create(const pl_solver_ops *ops, const pl_descent_rule *rule,
                            const pl_model *model, pl_backend *backend, pl_solver **out);
void pl_descent_destroy(pl_solver *solver);
pl_status pl_descent_solve(pl_solver *solver, const pl_backend_stage *stage, pl_array *x,
                           pl_array *gradient, pl_solve_result *out, pl_failure *failure);

/* Rules that other rules build on. */
extern const pl_descent_rule pl_quasi_newton_rule, pl_newton_rule;

/* Estimated seconds of one core for a conjugate gradient of Newton's, preconditioned by the constant matrix, and for a
 * factor of H: for decisions by their ratio, in which the machine cancels. */
double pl_newton_gradient_seconds(const pl_model *model);
double pl_newton_factor_seconds(const pl_model *model);
/* True if every step of Newton's method takes a factor: asked for, cheap, or needed by held constraints. */
bool pl_newton_is_direct(const pl_model *model);

/* Save and restore the multipliers of held groups and the rule's lasting memory. */
void pl_descent_save(const pl_solver *solver, pl_bytes_out *out);
bool pl_descent_restore(pl_solver *solver, pl_bytes_in *in);

/* Defines the table of a descent method, pl_solver_NAME, from its rule. */
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

/* line_search.c: a step from x along d->d to x_new. On success, gradient and d->g are those at x_new (d->g_old
 * keeps the previous one), and alpha, objective and norms are set. False: no step goes down, and everything is
 * unchanged. */
bool pl_descent_search(pl_descent *d, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *x_new, pl_array *gradient);

/* Computes rows of 1 / P at x by the model's settings. Returns the result of the backend's `jacobi`. */
double pl_descent_make_inverse(pl_backend *backend, const pl_backend_stage *stage,
                               const pl_array *x, pl_array *inverse);

/* Number of checks for which a descent continues only to close gaps (pl_solver_lack): contact constraints that
 * contradict each other never close them. */
enum { PL_DESCENT_PATIENCE = 10 };

/* Least significant difference of energies: the rounding of positions, or of sums. */
double pl_descent_noise(const pl_backend_ops *ops, double objective, double energy_noise);

/* Failures that every descent method reports in the same way. */
pl_status pl_descent_fail_not_finite(pl_backend *backend, const char *what, const pl_array *where,
                                     pl_failure *failure);
/* The start has no finite objective: names the element that makes it infinite. */
pl_status pl_descent_fail_start(pl_backend *backend, const char *what, const pl_array *x,
                                pl_failure *failure);
pl_status pl_descent_fail_search(pl_backend *backend, const pl_backend_stage *stage,
                                 const pl_array *x, pl_array *gradient, double decrement,
                                 pl_failure *failure);

#endif
