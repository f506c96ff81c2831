/* svd32.h - singular values of 3x2 matrices on lanes, F = U diag(s) V^T with s0 >= s1 >= 0, V a rotation of the
 * plane and U two orthonormal columns.
 *
 * One-sided Jacobi: V turns the columns a, b of F until they are orthogonal, by the angle t with tan 2t = 2
 * a.b / (|a|^2 - |b|^2). The half angle is taken from its larger half, so nothing cancels. A second rotation
 * removes the rounding error of the first. s and U are lengths and directions of the turned columns, so a small s1
 * is as accurate as the rounding of s0 allows.
 */
#ifndef PLIANT_ENGINE_KERNELS_SVD32_H
#define PLIANT_ENGINE_KERNELS_SVD32_H

#include "engine/lanes/lanes.h"

/* A column shorter than this times s0 has no direction of its own. */
#define PL_SVD32_SMALL 1e-14

PL_INLINE pl_real pl_dot3(const pl_real a[3], const pl_real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* (a, b) and (p, q), two columns each, turned so that a.b = 0 and |a| >= |b|. */
PL_LARGE void pl_svd32_turn(pl_real a[3], pl_real b[3], pl_real p[2], pl_real q[2])
{
    const pl_real d = pl_dot3(a, a) - pl_dot3(b, b), x = pl_dot3(a, b);
    const pl_real h = pl_sqrt(d * d + pl_set1(4) * x * x);
    const pl_mask any = pl_gt(h, pl_zero()), first = pl_ge(d, pl_zero());
    const pl_real safe = pl_select(any, h, pl_one());
    const pl_real large = pl_sqrt((h + pl_abs(d)) / (safe + safe)); /* of |cos t|, |sin t| */
    const pl_real small = pl_abs(x) / (safe * pl_select(any, large, pl_one()));
    const pl_real c = pl_select(any, pl_select(first, large, small), pl_one());
    const pl_real s = pl_copysign(pl_select(any, pl_select(first, small, large), pl_zero()), x);
    for (int r = 0; r < 3; r++) {
        const pl_real ar = a[r], br = b[r];
        a[r] = c * ar + s * br;
        b[r] = c * br - s * ar;
    }
    for (int r = 0; r < 2; r++) {
        const pl_real pr = p[r], qr = q[r];
        p[r] = c * pr + s * qr;
        q[r] = c * qr - s * pr;
    }
}

/* F, U [r + 3 c], V [r + 2 c]. */
PL_LARGE void pl_svd32(const pl_real F[6], pl_real U[6], pl_real s[2], pl_real V[4])
{
    pl_real a[3], b[3], p[2] = {pl_one(), pl_zero()}, q[2] = {pl_zero(), pl_one()};
    for (int r = 0; r < 3; r++) {
        a[r] = F[r];
        b[r] = F[r + 3];
    }
    pl_svd32_turn(a, b, p, q);
    pl_svd32_turn(a, b, p, q);
    s[0] = pl_sqrt(pl_dot3(a, a));
    s[1] = pl_sqrt(pl_dot3(b, b));
    /* The first direction: any, if F is 0. */
    const pl_mask any = pl_gt(s[0], pl_zero());
    const pl_real s0 = pl_select(any, s[0], pl_one());
    for (int r = 0; r < 3; r++)
        U[r] = pl_select(any, a[r] / s0, r == 0 ? pl_one() : pl_zero());
    /* The second: if b is 0, the axis farthest from U0, made orthogonal to it. */
    const pl_mask thin = pl_le(s[1], pl_set1(PL_SVD32_SMALL) * s[0]);
    const pl_mask x_least = pl_and(pl_le(pl_abs(U[0]), pl_abs(U[1])),
                                   pl_le(pl_abs(U[0]), pl_abs(U[2])));
    const pl_mask y_less = pl_le(pl_abs(U[1]), pl_abs(U[2]));
    const pl_real one = pl_one(), zero = pl_zero();
    const pl_real axis[3] = {pl_select(x_least, one, zero),
                             pl_select(x_least, zero, pl_select(y_less, one, zero)),
                             pl_select(x_least, zero, pl_select(y_less, zero, one))};
    pl_real u[3];
    for (int r = 0; r < 3; r++)
        u[r] = pl_select(thin, axis[r], b[r]);
    const pl_real along = pl_dot3(u, U);
    for (int r = 0; r < 3; r++)
        u[r] -= along * U[r];
    const pl_real length = pl_sqrt(pl_dot3(u, u));
    for (int r = 0; r < 3; r++)
        U[r + 3] = u[r] / length;
    V[0] = p[0];
    V[1] = p[1];
    V[2] = q[0];
    V[3] = q[1];
}

#endif
