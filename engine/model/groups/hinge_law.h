/* hinge_law.h - a bend over an edge (hinges.h), for the host and for devices: everything in double, whatever the
 * precision of positions. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_HINGE_LAW_H
#define PLIANT_ENGINE_MODEL_GROUPS_HINGE_LAW_H

#include "engine/everywhere.h"

#include <math.h>

/* `data` of a group of hinges. */
typedef struct pl_hinges {
    double *stiffness; /* [block][L]: k, J; 0 in padding */
    double *angle;     /* [block][L]: theta0 */
    double *shape;     /* [block][4][L]: K of the quadratic bending */
} pl_hinges;

/* A number and its derivative in one direction. The second derivatives of the angle are the derivatives of its
 * gradient, from the same code. */
typedef struct pl_dual {
    double v, d;
} pl_dual;

PL_EVERYWHERE pl_dual pl_dual_of(double v, double d)
{
    pl_dual a = {v, d};
    return a;
}
PL_EVERYWHERE pl_dual pl_dual_add(pl_dual a, pl_dual b)
{
    return pl_dual_of(a.v + b.v, a.d + b.d);
}
PL_EVERYWHERE pl_dual pl_dual_sub(pl_dual a, pl_dual b)
{
    return pl_dual_of(a.v - b.v, a.d - b.d);
}
PL_EVERYWHERE pl_dual pl_dual_mul(pl_dual a, pl_dual b)
{
    return pl_dual_of(a.v * b.v, a.v * b.d + a.d * b.v);
}
PL_EVERYWHERE pl_dual pl_dual_over(pl_dual a, pl_dual b)
{
    double q = a.v / b.v;
    return pl_dual_of(q, (a.d - q * b.d) / b.v);
}
PL_EVERYWHERE pl_dual pl_dual_root(pl_dual a)
{
    double r = sqrt(a.v);
    return pl_dual_of(r, a.d / (2 * r));
}
PL_EVERYWHERE pl_dual pl_dual_dot(const pl_dual a[3], const pl_dual b[3])
{
    return pl_dual_add(pl_dual_add(pl_dual_mul(a[0], b[0]), pl_dual_mul(a[1], b[1])),
                       pl_dual_mul(a[2], b[2]));
}
PL_EVERYWHERE void pl_dual_cross(const pl_dual a[3], const pl_dual b[3], pl_dual out[3])
{
    for (int r = 0; r < 3; r++) {
        int s = (r + 1) % 3, t = (r + 2) % 3;
        out[r] = pl_dual_sub(pl_dual_mul(a[s], b[t]), pl_dual_mul(a[t], b[s]));
    }
}

/* The angle and its gradient. With e = x1 - x0 and the normals n = e x (x2 - x0), m = (x3 - x0) x e of twice the
 * areas, theta = atan2((n x m) . e / |e|, n . m) and
 *
 *     d theta / dx2 = -|e| n / |n|^2,   d theta / dx3 = -|e| m / |m|^2
 *     d theta / dx0 = ((x1 - x2) . e n / |n|^2 + (x1 - x3) . e m / |m|^2) / |e|
 *
 * and the last one, with x2 - x0 and x3 - x0, for x1 (Bridson 2003, appendix A; the four sum to zero). A collapsed
 * triangle has no normal: its derivatives are taken as 0. */
PL_EVERYWHERE double pl_hinge_angle(const pl_dual x[4][3], pl_dual gradient[4][3])
{
    pl_dual e[3], a[3], b[3], c[3], d[3], n[3], m[3], side[3];
    for (int r = 0; r < 3; r++) {
        e[r] = pl_dual_sub(x[1][r], x[0][r]);
        a[r] = pl_dual_sub(x[2][r], x[0][r]);
        b[r] = pl_dual_sub(x[3][r], x[0][r]);
        c[r] = pl_dual_sub(x[1][r], x[2][r]);
        d[r] = pl_dual_sub(x[1][r], x[3][r]);
    }
    pl_dual_cross(e, a, n);
    pl_dual_cross(b, e, m);
    pl_dual_cross(n, m, side);
    pl_dual nn = pl_dual_dot(n, n), mm = pl_dual_dot(m, m), ee = pl_dual_dot(e, e);
    for (int i = 0; i < 12; i++)
        gradient[i / 3][i % 3] = pl_dual_of(0, 0);
    if (!(nn.v > 0 && mm.v > 0 && ee.v > 0))
        return 0;
    pl_dual length = pl_dual_root(ee), by_n = pl_dual_over(length, nn),
            by_m = pl_dual_over(length, mm);
    pl_dual n0 = pl_dual_over(pl_dual_over(pl_dual_dot(c, e), length), nn),
            m0 = pl_dual_over(pl_dual_over(pl_dual_dot(d, e), length), mm);
    pl_dual n1 = pl_dual_over(pl_dual_over(pl_dual_dot(a, e), length), nn),
            m1 = pl_dual_over(pl_dual_over(pl_dual_dot(b, e), length), mm);
    for (int r = 0; r < 3; r++) {
        gradient[0][r] = pl_dual_add(pl_dual_mul(n0, n[r]), pl_dual_mul(m0, m[r]));
        gradient[1][r] = pl_dual_add(pl_dual_mul(n1, n[r]), pl_dual_mul(m1, m[r]));
        gradient[2][r] = pl_dual_sub(pl_dual_of(0, 0), pl_dual_mul(by_n, n[r]));
        gradient[3][r] = pl_dual_sub(pl_dual_of(0, 0), pl_dual_mul(by_m, m[r]));
    }
    return atan2(pl_dual_dot(side, e).v / length.v, pl_dual_dot(n, m).v);
}

/* theta - theta0, reduced to the shorter way round. */
PL_EVERYWHERE double pl_hinge_opened(double theta, double rest)
{
    double d = theta - rest;
    return d > M_PI ? d - 2 * M_PI : d < -M_PI ? d + 2 * M_PI : d;
}

#endif
