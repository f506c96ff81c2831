/* state.h - all that changes while a model runs; private to the engine's own files. */
#ifndef PLIANT_ENGINE_STATE_H
#define PLIANT_ENGINE_STATE_H

#include "engine/integrators/integrator.h"
#include "engine/pliant.h"
#include "engine/solvers/solver.h"

struct pl_state {
    const pl_model *model;
    const pl_integrator *integrator;
    pl_backend *backend;
    pl_solver *solver;
    /* The state at the last good step: this is what is saved. */
    int64_t step;
    double *x, *v;         /* [vertices][3] */
    pl_solve_result solve; /* of the last step; its pointers are the solver's, and not saved */
    pl_force *pins, *obstacles;
    int64_t contacts;
    /* The step under way. */
    double *x_new, *x_pred, *gradient; /* [vertices][3] */
};

#endif
