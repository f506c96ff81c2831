/* stretch_spline.h - Valanis and Landel's energies with spline functions, on lanes.
 *
 *     Psi = m (sum a(s_i) + sum b(s_i s_j) + c(s0 s1 s2))       (Liu 2017, eq. 9; Xu 2015)
 *
 * a, b, c are cubic splines; m, the only constant, scales the element's stiffness. The splines lie in `shared`,
 * PL_SPLINE_NUMBERS numbers each, Pa:
 *
 *     count, f(1), f'(1), f''(-inf), then (x_k, e_k) for k < count
 *     f''(x) = f''(-inf) + sum e_k (x - x_k)+
 *
 * the truncated powers of a spline whose second derivative is constant beyond its knots, with f(1) and f'(1) less
 * the values of the powers there. All lanes make one pass over the knots, without searching. Psi is creased,
 * because stretches are signed: see stretch.h.
 */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_SPLINE_H
#define PLIANT_ENGINE_KERNELS_STRETCH_SPLINE_H

#include "engine/kernels/stretch.h"

typedef struct pl_spline_value {
    pl_real f, f1, f2; /* with first and second derivative */
} pl_spline_value;

PL_INLINE pl_spline_value pl_spline_at(const pl_scalar *spline, pl_real x)
{
    const pl_real half = pl_set1((pl_scalar)0.5), third = pl_set1((pl_scalar)(1.0 / 3));
    const pl_real y = x - pl_one(), slope = pl_set1(spline[2]), bend = pl_set1(spline[3]);
    pl_spline_value v = {pl_set1(spline[1]) + y * (slope + half * bend * y), slope + bend * y,
                         bend};
    const int count = (int)spline[0];
    for (int k = 0; k < count; k++) {
        const pl_real past = pl_max(x - pl_set1(spline[4 + 2 * k]), pl_zero());
        const pl_real e = pl_set1(spline[5 + 2 * k]) * past, square = half * e * past;
        v.f2 += e;
        v.f1 += square;
        v.f += third * square * past;
    }
    return v;
}

/* (f'(x) - f'(y)) / (x - y). If both are past a knot, the quotient of the power is their sum; if one is, it is at
 * most that one. */
PL_INLINE pl_real pl_spline_quotient(const pl_scalar *spline, pl_real x, pl_real y)
{
    const pl_real half = pl_set1((pl_scalar)0.5), gap = pl_abs(x - y);
    pl_real sum = pl_set1(spline[3]);
    const int count = (int)spline[0];
    for (int k = 0; k < count; k++) {
        const pl_real knot = pl_set1(spline[4 + 2 * k]), e = pl_set1(spline[5 + 2 * k]);
        const pl_real p = pl_max(x - knot, pl_zero()), q = pl_max(y - knot, pl_zero());
        const pl_mask both = pl_or(pl_gt(pl_min(p, q), pl_zero()), pl_le(gap, pl_zero()));
        const pl_real part = pl_max(p, q) / pl_select(both, pl_one(), gap);
        sum += half * e * (p + q) * pl_select(both, pl_one(), part);
    }
    return sum;
}

PL_TABLE void pl_stretch_spline_energy_gradient(const pl_stretch *m, const pl_real s[3],
                                                pl_real *psi, pl_real g[3])
{
    const pl_scalar *a = m->shared, *b = a + PL_SPLINE_NUMBERS, *c = b + PL_SPLINE_NUMBERS;
    const pl_real scale = pl_stretch_constant(m, 0);
    const pl_spline_value volume = pl_spline_at(c, s[0] * s[1] * s[2]);
    pl_real sum = volume.f;
    for (int p = 0; p < 3; p++)
        g[p] = volume.f1 * (s[(p + 1) % 3] * s[(p + 2) % 3]);
    for (int p = 0; p < 3; p++) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        const pl_spline_value along = pl_spline_at(a, s[p]), area = pl_spline_at(b, s[i] * s[j]);
        sum += along.f + area.f;
        g[p] += along.f1;
        g[i] += s[j] * area.f1;
        g[j] += s[i] * area.f1;
    }
    *psi = scale * sum;
    for (int p = 0; p < 3; p++)
        g[p] *= scale;
}

/* flip  = [a'](s_i, s_j) - b'(s_i s_j) + s_k^2 [b'](s_i s_k, s_j s_k) - s_k c'
 * twist = (a'(s_i) + a'(s_j) + s_k (b'(s_i s_k) + b'(s_j s_k))) / (s_i + s_j) + b'(s_i s_j) + s_k c' */
PL_TABLE void pl_stretch_spline_curvature(const pl_stretch *m, const pl_real s[3],
                                          pl_stretch_curvature *out)
{
    const pl_scalar *a = m->shared, *b = a + PL_SPLINE_NUMBERS, *c = b + PL_SPLINE_NUMBERS;
    const pl_real scale = pl_stretch_constant(m, 0);
    const pl_spline_value volume = pl_spline_at(c, s[0] * s[1] * s[2]);
    pl_spline_value along[3], area[3];
    pl_real across[3];
    for (int p = 0; p < 3; p++) {
        across[p] = s[(p + 1) % 3] * s[(p + 2) % 3];
        along[p] = pl_spline_at(a, s[p]);
        area[p] = pl_spline_at(b, across[p]);
    }
    for (int p = 0; p < 3; p++) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        const pl_real si = s[i], sj = s[j], sk = s[p], push = sk * volume.f1;
        const pl_real mixed = area[p].f1 + across[p] * area[p].f2 + push +
                              volume.f2 * across[i] * across[j];
        out->H[4 * p] = along[p].f2 + si * si * area[j].f2 + sj * sj * area[i].f2 +
                        volume.f2 * across[p] * across[p];
        out->H[i + 3 * j] = out->H[j + 3 * i] = mixed;
        out->flip[p] = pl_spline_quotient(a, si, sj) - area[p].f1 +
                       sk * sk * pl_spline_quotient(b, si * sk, sj * sk) - push;
        out->twist[p] = (along[i].f1 + along[j].f1 + sk * (area[i].f1 + area[j].f1)) /
                            pl_stretch_thickness(s, p) +
                        area[p].f1 + push;
    }
    for (int i = 0; i < 9; i++)
        out->H[i] *= scale;
    for (int p = 0; p < 3; p++) {
        out->flip[p] *= scale;
        out->twist[p] *= scale;
    }
}

#endif
