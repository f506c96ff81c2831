/* solver.h - the table of a method that minimises the stage objective. A solver owns its work arrays and whatever
 * it carries from step to step; it sees the model, the backend's phases and a stage.
 */
#ifndef PLIANT_ENGINE_SOLVERS_SOLVER_H
#define PLIANT_ENGINE_SOLVERS_SOLVER_H

#include "engine/backends/backend.h"
#include "engine/scene/metrics.h"
#include "engine/solvers/bytes.h"

typedef struct pl_solver pl_solver;

/* Result of a stage's solve. NaN: not computed. */
typedef struct pl_solve_result {
    int64_t iterations;
    int64_t newton_iterations; /* of `iterations`; method auto only */
    bool converged;            /* within the tolerance; false if the iterations ran out */
    bool rough;                /* not converged, but down to the stage's `share` */
    bool stayed;               /* converged at the start: the answer was already x */
    double objective, primal_residual, dual_residual, gradient_norm, decrement;
    double bound;     /* target for the decrement; descent methods only */
    double imbalance; /* pl_balance_is_at_rest: at most 1 if converged; NaN: not measured */
    double ms_local, ms_global, ms_collision;
    const pl_iteration
        *detail; /* with metrics = iteration: rows 0 .. iterations; the solver's memory */
    int64_t detail_count;
    pl_array *const *multipliers; /* u of each group; NULL where the method has none */
} pl_solve_result;

typedef struct pl_solver_ops {
    pl_status (*create)(const pl_model *model, pl_backend *backend, pl_solver **out);
    void (*destroy)(pl_solver *s);
    /* Minimises from x0 (see pl_stage_start) into x (backend positions), in which pinned vertices are in place.
     * `gradient` [vertices][3] receives the gradient at the result. PL_OK, or PL_FAILED with failure's code and
     * message set. */
    pl_status (*solve)(pl_solver *s, const pl_backend_stage *stage, pl_array *x, pl_array *gradient,
                       pl_solve_result *out, pl_failure *failure);
    /* Memory that later solves depend on: a solver that received it through `restore` continues with the same bits.
     * Both NULL if a method remembers nothing. `restore` consumes all of `in`; if `in` does not belong to this
     * model, it returns false and changes nothing. */
    void (*save)(const pl_solver *s, pl_bytes_out *out);
    bool (*restore)(pl_solver *s, pl_bytes_in *in);
} pl_solver_ops;

struct pl_solver {
    const pl_solver_ops *ops;
    pl_array *multipliers; /* of held groups, from stage to stage; NULL if none */
};

const pl_solver_ops *pl_solver_find(pl_method_kind method);

/* Allowed shortfall of gaps at the end of a solve, as a fraction of the distance that contact keeps between
 * surfaces. */
double pl_solver_lack(const pl_backend_stage *stage);

#define PL_DECLARE_SOLVER(kind, name) extern const pl_solver_ops pl_solver_##name;
PL_EACH_METHOD(PL_DECLARE_SOLVER)
#undef PL_DECLARE_SOLVER

#endif
