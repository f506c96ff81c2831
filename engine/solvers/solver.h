/* solver.h - a method that minimises the stage objective, as a table. A solver owns its own work
 * and whatever it carries from step to step; it sees the model, the backend's phases and a stage.
 */
#ifndef PLIANT_ENGINE_SOLVERS_SOLVER_H
#define PLIANT_ENGINE_SOLVERS_SOLVER_H

#include "engine/backends/backend.h"
#include "engine/scene/metrics.h"
#include "engine/solvers/bytes.h"

typedef struct pl_solver pl_solver;

/* What a stage's solve found. NaN: not computed. */
typedef struct pl_solve_result {
    int64_t iterations;
    int64_t newton_iterations; /* of them, of auto */
    bool converged;            /* by the tolerance; false when the iterations ran out */
    bool rough;                /* not converged, but down to the stage's `share` */
    bool stayed;               /* converged where it began: the answer was x already */
    double objective, primal_residual, dual_residual, gradient_norm, decrement;
    double bound;     /* what the decrement had to come down to, of descent methods */
    double imbalance; /* pl_balance_is_at_rest: at most 1 where converged; NaN: not looked at */
    double ms_local, ms_global, ms_collision;
    const pl_iteration
        *detail; /* with metrics = iteration: rows 0 .. iterations; the solver's memory */
    int64_t detail_count;
    pl_array *const *multipliers; /* u of each group; NULL where the method has none */
} pl_solve_result;

typedef struct pl_solver_ops {
    pl_status (*create)(const pl_model *model, pl_backend *backend, pl_solver **out);
    void (*destroy)(pl_solver *s);
    /* Minimise from x0 (see pl_stage_start) into x (backend positions): pinned vertices of x are in
     * place. `gradient` [vertices][3] receives the gradient at the result. PL_OK, or PL_FAILED with
     * failure's code and message set. */
    pl_status (*solve)(pl_solver *s, const pl_backend_stage *stage, pl_array *x, pl_array *gradient,
                       pl_solve_result *out, pl_failure *failure);
    /* What later solves depend on of the earlier ones: a solver that was handed it by `restore`
     * goes on with the same bits. NULL, both, where a method remembers nothing. `restore` takes all
     * of `in`, or answers false and changes nothing where that cannot be of this model. */
    void (*save)(const pl_solver *s, pl_bytes_out *out);
    bool (*restore)(pl_solver *s, pl_bytes_in *in);
} pl_solver_ops;

struct pl_solver {
    const pl_solver_ops *ops;
    pl_array *multipliers; /* of held groups, from stage to stage; NULL: there are none */
};

const pl_solver_ops *pl_solver_find(pl_method_kind method);

/* Of the distance that surfaces of bodies keep: what gaps may lack of it where a solve ends. */
double pl_solver_lack(const pl_backend_stage *stage);

#define PL_DECLARE_SOLVER(kind, name) extern const pl_solver_ops pl_solver_##name;
PL_EACH_METHOD(PL_DECLARE_SOLVER)
#undef PL_DECLARE_SOLVER

#endif
