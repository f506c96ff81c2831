/* Backward Euler: x(n+1) = argmin 1/(2 h^2) |x - x~|^2_M + U(x), x~ = x(n) + h v(n) + h^2 g, and
 * v(n+1) = (x(n+1) - x(n)) / h (Narain 2016, eq. 4-5; Brown 2018, eq. 19 with a = 1). */
#include "engine/integrators/integrator.h"

static void predict(pl_backend *b, int32_t s, double time, const double *x, const double *v,
                    double *x_pred)
{
    b->ops->drift(b, b->model->h, b->model->gravity, x, v, x_pred);
}

static void finish(pl_backend *b, int32_t s, const double *x, const double *x_new, double *v)
{
    b->ops->velocity(b, b->model->h, x, x_new, v);
}

const pl_integrator pl_backward_euler = {"backward_euler", 1, 1.0, predict, finish};
