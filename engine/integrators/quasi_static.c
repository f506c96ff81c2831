/* Quasi-statics: x(n+1) = argmin U(x) - (M g + f) . x with pins and obstacles where they are at the
 * step's end; the stage's inertia is 0 (model.h), so x~ decides nothing but the initial guess, which
 * is x(n). Velocities are 0. */
#include "engine/integrators/integrator.h"

#include <string.h>

static void predict(const pl_model *m, int32_t s, double time, const double *x, const double *v,
                    double *x_pred)
{
    memcpy(x_pred, x, 3 * (size_t)m->vertices * sizeof *x_pred);
}

static void finish(const pl_model *m, int32_t s, const double *x, const double *x_new, double *v)
{
    memset(v, 0, 3 * (size_t)m->vertices * sizeof *v);
}

const pl_integrator pl_quasi_static = {"quasi_static", 1, 1.0, predict, finish};
