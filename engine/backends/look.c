#include "engine/backends/look.h"

#include <math.h>

double pl_look_farthest(int64_t vertices, const double *a, const double *c, int64_t *vertex)
{
    double most = 0;
    *vertex = 0;
    for (int64_t i = 0; i < 3 * vertices; i++) {
        double way = fabs(a[i] - c[i]);
        if (way > most) {
            most = way;
            *vertex = i / 3;
        }
    }
    return most;
}

int64_t pl_look_not_finite(int64_t vertices, const double *x)
{
    for (int64_t i = 0; i < 3 * vertices; i++)
        if (!isfinite(x[i]))
            return i / 3;
    return -1;
}

int64_t pl_look_steepest(const pl_model *m, const double *gradient)
{
    int64_t found = -1;
    double most = -1;
    for (int64_t i = 0; i < m->free_vertices; i++) {
        const double *f = gradient + 3 * (int64_t)m->free_vertex[i];
        double square = 0;
        for (int k = 0; k < 3; k++)
            square += pl_model_holds(m, m->free_vertex[i], k) ? 0 : f[k] * f[k];
        if (square > most) {
            most = square;
            found = m->free_vertex[i];
        }
    }
    return found;
}
