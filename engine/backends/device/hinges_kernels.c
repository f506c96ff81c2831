/* Bends over the edges of a sheet, for devices. */
#include "engine/backends/device/term_kernels.h"

/* The angle of a thread's edge, its gradient, and theta - theta0; with their derivatives by coordinate k, if k is
 * one of the twelve. */
PL_THREAD double open_hinge(const pl_term_arguments *a, int64_t thread, int k,
                            pl_dual gradient[4][3])
{
    const int32_t *corner = a->group.corner + thread / PL_BLOCK * 4 * PL_BLOCK + thread % PL_BLOCK;
    pl_dual x[4][3];
    for (int i = 0; i < 12; i++)
        x[i / 3][i % 3] = pl_dual_of(a->x[3 * (int64_t)corner[i / 3 * PL_BLOCK] + i % 3], i == k);
    return pl_hinge_opened(pl_hinge_angle(x, gradient), a->hinges.angle[thread]);
}

PL_THREAD void put(const pl_term_arguments *a, int64_t thread, const double value[12])
{
    pl_number4 *to = a->contributions + a->group.contribution / 3 +
                     thread / PL_BLOCK * 4 * PL_BLOCK + thread % PL_BLOCK;
    for (int corner = 0; corner < 4; corner++) {
        const double *of = value + 3 * corner;
        const pl_number4 v = {(pl_number)of[0], (pl_number)of[1], (pl_number)of[2], 0};
        to[corner * PL_BLOCK] = v;
    }
}

PL_THREAD void energy_gradient_of(const pl_term_arguments *a, int64_t thread)
{
    pl_dual gradient[4][3];
    double force[12], k = a->hinges.stiffness[thread], d = open_hinge(a, thread, -1, gradient);
    if (a->energy)
        a->energy[thread] = (pl_number)(k * d * d / 2);
    for (int i = 0; i < 12; i++)
        force[i] = k * d * gradient[i / 3][i % 3].v;
    put(a, thread, force);
}

/* k (grad theta^2 + (theta - theta0) d2 theta / dx2) for each coordinate. */
PL_THREAD void hessian_diagonal_of(const pl_term_arguments *a, int64_t thread)
{
    double diagonal[12], k = a->hinges.stiffness[thread];
    for (int i = 0; i < 12; i++) {
        pl_dual gradient[4][3];
        double d = open_hinge(a, thread, i, gradient);
        pl_dual own = gradient[i / 3][i % 3];
        diagonal[i] = k * (own.v * own.v + d * own.d);
    }
    put(a, thread, diagonal);
}

PL_THREAD void measure_of(const pl_term_arguments *a, int64_t thread)
{
    pl_dual gradient[4][3];
    double d = open_hinge(a, thread, -1, gradient);
    a->energy[thread] = (pl_number)(a->hinges.stiffness[thread] * d * d / 2);
    a->stretch_out[thread] = a->inverted_out[thread] = 0;
}

PL_DESCENT_KERNELS(hinges)
PL_TERM_TABLE(hinges, "hinges", 4, 0, false, PL_DESCENT_SLOTS(hinges), NULL, NULL, NULL, NULL, NULL,
              NULL, NULL, PL_NO_CONTACT)
