/* Quasi-statics: x(n+1) = argmin U(x) - (M g + f) . x with pins and obstacles where they are at the
 * step's end; the stage's inertia is 0 (model.h), so x~ decides nothing but the initial guess, which
 * is x(n). Velocities are 0. */
#include "engine/integrators/integrator.h"

static void predict(pl_backend *b, int32_t s, double time, const double *x, const double *v,
                    double *x_pred)
{
    b->ops->copy(b, x_pred, x, 3 * b->model->vertices);
}

static void finish(pl_backend *b, int32_t s, const double *x, const double *x_new, double *v)
{
    b->ops->clear(b, v, 3 * b->model->vertices);
}

const pl_integrator pl_quasi_static = {"quasi_static", 1, 1.0, predict, finish};
