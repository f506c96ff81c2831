/* Backward Euler: x(n+1) = argmin 1/(2 h^2) |x - x~|^2_M + U(x), x~ = x(n) + h v(n) + h^2 g, and
 * v(n+1) = (x(n+1) - x(n)) / h (Narain 2016, eq. 4-5; Brown 2018, eq. 19 with a = 1). */
#include "engine/integrators/integrator.h"

static void predict(const pl_model *m, int32_t s, double time, const double *x, const double *v,
                    double *x_pred)
{
    double h = m->h;
    for (int64_t i = 0; i < 3 * m->vertices; i++)
        x_pred[i] = x[i] + h * (v[i] + h * m->gravity[i % 3]);
}

static void finish(const pl_model *m, int32_t s, const double *x, const double *x_new, double *v)
{
    for (int64_t i = 0; i < 3 * m->vertices; i++)
        v[i] = (x_new[i] - x[i]) / m->h;
}

const pl_integrator pl_backward_euler = {"backward_euler", 1, 1.0, predict, finish};
