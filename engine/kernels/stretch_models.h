/* stretch_models.h - materials as functions of their principal stretches (stretch.h lists the functions). Constants
 * are in the order of the comment above each; all in Pa except exponents.
 */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_MODELS_H
#define PLIANT_ENGINE_KERNELS_STRETCH_MODELS_H

#include "engine/kernels/stretch.h"

/* The two stretches of a pair. */
#define PL_PAIR_I(p) (((p) + 1) % 3)
#define PL_PAIR_J(p) (((p) + 2) % 3)

/* ---- St. Venant and Kirchhoff: mu, lambda ---- */
/*     Psi = mu sum e_i^2 + lambda/2 (sum e_i)^2,   e_i = (s_i^2 - 1) / 2   (Green's strain)
 *
 * Wang 2016, eq. 12 with s0 = lambda / 4, s1 = mu. Finite everywhere, it resists collapse only with finite energy
 * and is also at rest inside out: for strong compression, use `invertible`.
 *     g_i = s_i (2 mu e_i + lambda tr) */
PL_TABLE void pl_stretch_stvk_energy_gradient(const pl_stretch *m, const pl_real s[3], pl_real *psi,
                                              pl_real g[3])
{
    const pl_real half = pl_set1((pl_scalar)0.5), one = pl_one();
    const pl_real mu = pl_stretch_constant(m, 0), lambda = pl_stretch_constant(m, 1);
    pl_real e[3];
    PL_UNROLL for (int i = 0; i < 3; i++) e[i] = half * (s[i] - one) * (s[i] + one);
    const pl_real tr = e[0] + e[1] + e[2];
    *psi = mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + half * lambda * (tr * tr);
    PL_UNROLL for (int i = 0; i < 3; i++) g[i] = s[i] * ((mu + mu) * e[i] + lambda * tr);
}

PL_TABLE void pl_stretch_stvk_curvature(const pl_stretch *m, const pl_real s[3],
                                        pl_stretch_curvature *out)
{
    const pl_real half = pl_set1((pl_scalar)0.5), one = pl_one();
    const pl_real mu = pl_stretch_constant(m, 0), lambda = pl_stretch_constant(m, 1);
    const pl_real tr = half * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - pl_set1(3));
    PL_UNROLL for (int i = 0; i < 9; i++) out->H[i] = lambda * s[i % 3] * s[i / 3];
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real a = s[PL_PAIR_I(i)], b = s[PL_PAIR_J(i)], ab = a * b, squares = a * a + b * b;
        out->H[4 * i] += mu * (pl_set1(3) * s[i] * s[i] - one) + lambda * tr;
        out->flip[i] = mu * (squares + ab - one) + lambda * tr;
        out->twist[i] = mu * (squares - ab - one) + lambda * tr;
    }
}

/* ---- Stable neo-Hookean (Smith, de Goes, Kim 2018, eq. 14): m, l ---- */
/*     Psi = m/2 (I - 3) - m/2 log((I + 1) / 4) - 3/4 m (J - 1) + l/2 (J - 1)^2,   I = sum s_i^2
 *
 * with m = 4/3 mu and l = lambda + 5/6 mu of Lame's constants (its section 3.4). Finite and smooth everywhere, at
 * rest only at s = 1, and never without force where it is collapsed, even to a point. */
PL_TABLE void pl_stretch_stable_neo_hookean_energy_gradient(const pl_stretch *m, const pl_real s[3],
                                                            pl_real *psi, pl_real g[3])
{
    const pl_real half = pl_set1((pl_scalar)0.5), one = pl_one();
    const pl_real mu = pl_stretch_constant(m, 0), lambda = pl_stretch_constant(m, 1);
    const pl_real I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], j = s[0] * s[1] * s[2] - one;
    const pl_real push = pl_set1((pl_scalar)0.75) * mu, quarter = pl_set1((pl_scalar)0.25);
    *psi = half * mu * ((I - pl_set1(3)) - pl_log(quarter * (I + one))) +
           j * (half * lambda * j - push);
    const pl_real along = mu - mu / (I + one), volume = lambda * j - push;
    PL_UNROLL for (int i = 0; i < 3; i++)
        g[i] = along * s[i] + volume * s[PL_PAIR_I(i)] * s[PL_PAIR_J(i)];
}

PL_TABLE void pl_stretch_stable_neo_hookean_curvature(const pl_stretch *m, const pl_real s[3],
                                                      pl_stretch_curvature *out)
{
    const pl_real mu = pl_stretch_constant(m, 0), lambda = pl_stretch_constant(m, 1);
    const pl_real I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], one = pl_one();
    const pl_real inverse = one / (I + one), along = mu - mu * inverse;
    const pl_real bend = (mu + mu) * inverse * inverse;
    const pl_real volume = lambda * (s[0] * s[1] * s[2] - one) - pl_set1((pl_scalar)0.75) * mu;
    const pl_real c[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
    PL_UNROLL for (int i = 0; i < 9; i++)
        out->H[i] = bend * s[i % 3] * s[i / 3] + lambda * c[i % 3] * c[i / 3];
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const int i = PL_PAIR_I(p), j = PL_PAIR_J(p);
        const pl_real across = volume * s[p];
        out->H[4 * p] += along;
        out->H[i + 3 * j] += across;
        out->H[j + 3 * i] += across;
        out->flip[p] = along - across;
        out->twist[p] = along + across;
    }
}

/* ---- Wang's rubbers (Wang 2016, eq. 13-15): s0, s1 [, s2 [, s3]] ---- */
/*     neo_hookean_wang  W = s0 (A - 3) + s1 (J - 1)^2
 *     mooney_rivlin     W = ... + s2 (B - 3)
 *     fung              W = ... + s2 (exp(s3 (A - 3)) - 1)
 *
 * A = J^(-2/3) sum s_i^2,  B = J^(-4/3) sum s_i^2 s_j^2;  +inf for J <= 0. The paper's volume term s1
 * (III^(-1/2) - 1) has the slope -s1 at rest; (J - 1)^2 replaces it, so that the bulk modulus is 2 s1. The shear
 * moduli are 2 s0, 2 (s0 + s2) and 2 (s0 + s2 s3). A and B are independent of a change of volume, so an element may
 * shrink to a point at the finite energy s1: such bodies need `invertible`.
 *
 * With w_i = 1 / s_i, q = J^(-2/3) and f(A) for all that depends on A:
 *     dA/ds_i = 2 q s_i - 2/3 A w_i,   dB/ds_i = 2 q^2 s_i (s_j^2 + s_k^2) - 4/3 B w_i
 *     (dA_i -+ dA_j) / (s_i -+ s_j) = 2 q +- 2/3 A w_i w_j
 *     (dB_i -+ dB_j) / (s_i -+ s_j) = 2 q^2 (s_k^2 -+ s_i s_j) +- 4/3 B w_i w_j */
typedef struct pl_rubber {
    pl_real s1, s2, w[3], J, q, A, B;
    pl_real f, f1, f2; /* f(A) with its derivatives */
} pl_rubber;

enum { PL_RUBBER_PLAIN, PL_RUBBER_MOONEY, PL_RUBBER_FUNG };

PL_INLINE pl_rubber pl_rubber_at(const pl_stretch *m, const pl_real s[3], const int kind)
{
    pl_rubber r;
    const pl_real three = pl_set1(3), s0 = pl_stretch_constant(m, 0);
    const pl_real x = s[0] * s[0], y = s[1] * s[1], z = s[2] * s[2];
    r.s1 = pl_stretch_constant(m, 1);
    r.s2 = kind == PL_RUBBER_PLAIN ? pl_zero() : pl_stretch_constant(m, 2);
    PL_UNROLL for (int i = 0; i < 3; i++) r.w[i] = pl_one() / s[i];
    r.J = s[0] * s[1] * s[2];
    r.q = pl_exp(pl_set1((pl_scalar)(-2.0 / 3)) * pl_log(r.J));
    r.A = r.q * (x + y + z);
    r.B = r.q * r.q * (x * y + y * z + z * x);
    r.f = s0 * (r.A - three);
    r.f1 = s0;
    r.f2 = pl_zero();
    if (kind == PL_RUBBER_FUNG) {
        const pl_real s3 = pl_stretch_constant(m, 3), grown = r.s2 * pl_exp(s3 * (r.A - three));
        r.f += grown - r.s2;
        r.f1 += s3 * grown;
        r.f2 = s3 * s3 * grown;
    }
    return r;
}

PL_INLINE void pl_rubber_energy_gradient(const pl_stretch *m, const pl_real s[3], const int kind,
                                         pl_real *psi, pl_real g[3])
{
    const pl_rubber r = pl_rubber_at(m, s, kind);
    const pl_real j = r.J - pl_one(), two = pl_set1(2), qq = r.q * r.q;
    const pl_real third = pl_set1((pl_scalar)(2.0 / 3));
    const pl_real volume = two * r.s1 * j * r.J;
    pl_real sum = r.f + r.s1 * (j * j);
    if (kind == PL_RUBBER_MOONEY)
        sum += r.s2 * (r.B - pl_set1(3));
    *psi = pl_select(pl_gt(r.J, pl_zero()), sum, pl_set1(PL_SCALAR_INFINITY));
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real a = s[PL_PAIR_I(i)], b = s[PL_PAIR_J(i)];
        g[i] = r.f1 * (two * r.q * s[i] - third * r.A * r.w[i]) + volume * r.w[i];
        if (kind == PL_RUBBER_MOONEY)
            g[i] += r.s2 * (two * qq * s[i] * (a * a + b * b) - two * third * r.B * r.w[i]);
    }
}

/* Second derivatives: A_ij = 4/9 A w_i w_j - 4/3 q (w_i s_j + w_j s_i) + d_ij (2/3 A w_i^2 + 2 q),
 * B_ij likewise with q^2 and sum s_i^2 s_j^2. */
PL_INLINE void pl_rubber_curvature(const pl_stretch *m, const pl_real s[3], const int kind,
                                   pl_stretch_curvature *out)
{
    const pl_rubber r = pl_rubber_at(m, s, kind);
    const pl_real two = pl_set1(2), third = pl_set1((pl_scalar)(2.0 / 3)), third2 = two * third;
    const pl_real one = pl_one(), j = r.J - one, qq = r.q * r.q, q2 = two * r.q;
    pl_real a[3], b[3]; /* dA and dB by the stretches, then d sum s_i^2 s_j^2 */
    pl_real c[3];
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real y = s[PL_PAIR_I(i)], z = s[PL_PAIR_J(i)];
        a[i] = q2 * s[i] - third * r.A * r.w[i];
        b[i] = two * s[i] * (y * y + z * z);
        c[i] = y * z;
    }
    PL_UNROLL for (int e = 0; e < 9; e++)
    {
        const int i = e % 3, k = e / 3;
        const pl_real ww = r.w[i] * r.w[k];
        pl_real A = third * third * r.A * ww - third * q2 * (r.w[i] * s[k] + r.w[k] * s[i]);
        if (i == k)
            A += third * r.A * ww + q2;
        out->H[e] = r.f1 * A + r.f2 * a[i] * a[k] + two * r.s1 * c[i] * c[k];
        if (i != k)
            out->H[e] += two * r.s1 * j * s[3 - i - k];
        if (kind == PL_RUBBER_MOONEY) {
            pl_real B = third2 * third2 * r.B * ww - third2 * qq * (r.w[i] * b[k] + r.w[k] * b[i]);
            B += i == k ? third2 * r.B * ww + qq * b[i] * r.w[i] : pl_set1(4) * qq * s[i] * s[k];
            out->H[e] += r.s2 * B;
        }
    }
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const int i = PL_PAIR_I(p), k = PL_PAIR_J(p);
        const pl_real ww = r.w[i] * r.w[k], A = third * r.A * ww, volume = two * r.s1 * j * s[p];
        out->flip[p] = r.f1 * (q2 + A) - volume;
        out->twist[p] = r.f1 * (q2 - A) + volume;
        if (kind == PL_RUBBER_MOONEY) {
            const pl_real B = third2 * r.B * ww, sk = s[p] * s[p], ss = s[i] * s[k];
            out->flip[p] += r.s2 * (two * qq * (sk - ss) + B);
            out->twist[p] += r.s2 * (two * qq * (sk + ss) - B);
        }
    }
}

#define PL_STRETCH_RUBBER(model, kind)                                                             \
    PL_TABLE void pl_stretch_##model##_energy_gradient(const pl_stretch *m, const pl_real s[3],    \
                                                       pl_real *psi, pl_real g[3])                 \
    {                                                                                              \
        pl_rubber_energy_gradient(m, s, kind, psi, g);                                             \
    }                                                                                              \
    PL_TABLE void pl_stretch_##model##_curvature(const pl_stretch *m, const pl_real s[3],          \
                                                 pl_stretch_curvature *out)                        \
    {                                                                                              \
        pl_rubber_curvature(m, s, kind, out);                                                      \
    }
PL_STRETCH_RUBBER(neo_hookean_wang, PL_RUBBER_PLAIN)
PL_STRETCH_RUBBER(mooney_rivlin, PL_RUBBER_MOONEY)
PL_STRETCH_RUBBER(fung, PL_RUBBER_FUNG)

/* ---- Hencky: mu, lambda ---- */
/*     Psi = mu sum l_i^2 + lambda/2 (sum l_i)^2,   l_i = log s_i   (Hencky 1928; logarithmic strain)
 *
 * +inf for J <= 0. Rigid against collapse, and softer the further it is stretched: a single stretch bears most at
 * s = e and less beyond. With a_i = 2 mu l_i + lambda log J,
 *
 *     g_i = a_i / s_i,    H_ij = lambda / (s_i s_j) + d_ij (2 mu - a_i) / s_i^2
 *     (g_i - g_j) / (s_i - s_j) = (2 mu artanh(t) / t - (a_i + a_j) / 2) / (s_i s_j)
 *
 * with t = (s_i - s_j) / (s_i + s_j), as a_i - a_j = 2 mu log(s_i / s_j) = 4 mu artanh(t). */
PL_INLINE void pl_hencky_at(const pl_stretch *m, const pl_real s[3], pl_real l[3], pl_real a[3])
{
    const pl_real mu = pl_stretch_constant(m, 0), lambda = pl_stretch_constant(m, 1);
    PL_UNROLL for (int i = 0; i < 3; i++) l[i] = pl_log(s[i]);
    const pl_real volume = lambda * (l[0] + l[1] + l[2]);
    PL_UNROLL for (int i = 0; i < 3; i++) a[i] = (mu + mu) * l[i] + volume;
}

PL_TABLE void pl_stretch_hencky_energy_gradient(const pl_stretch *m, const pl_real s[3],
                                                pl_real *psi, pl_real g[3])
{
    const pl_real half = pl_set1((pl_scalar)0.5);
    pl_real l[3], a[3], sum = pl_zero();
    pl_hencky_at(m, s, l, a);
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        sum += half * a[i] * l[i];
        g[i] = a[i] / s[i];
    }
    *psi = pl_select(pl_gt(s[0] * s[1] * s[2], pl_zero()), sum, pl_set1(PL_SCALAR_INFINITY));
}

/* artanh(t) / t = log(x / y) / (2 t) for t = (x - y) / (x + y); by its series for small t, truncated before the
 * term t^12 / 13. */
PL_INLINE pl_real pl_artanh_ratio(pl_real x, pl_real y, pl_real log_x, pl_real log_y)
{
    const pl_real t = (x - y) / (x + y), u = t * t, one = pl_one();
    const pl_mask near = pl_lt(pl_abs(t), pl_set1((pl_scalar)0.05));
    pl_real series = pl_set1((pl_scalar)(1.0 / 11));
    PL_UNROLL for (int k = 9; k >= 1; k -= 2) series = series * u + pl_set1((pl_scalar)(1.0 / k));
    const pl_real twice = pl_select(near, one, t + t);
    return pl_select(near, series, (log_x - log_y) / twice);
}

PL_TABLE void pl_stretch_hencky_curvature(const pl_stretch *m, const pl_real s[3],
                                          pl_stretch_curvature *out)
{
    const pl_real mu = pl_stretch_constant(m, 0), lambda = pl_stretch_constant(m, 1);
    const pl_real half = pl_set1((pl_scalar)0.5), mu2 = mu + mu;
    pl_real l[3], a[3], w[3];
    pl_hencky_at(m, s, l, a);
    PL_UNROLL for (int i = 0; i < 3; i++) w[i] = pl_one() / s[i];
    PL_UNROLL for (int e = 0; e < 9; e++) out->H[e] = lambda * w[e % 3] * w[e / 3];
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const int i = PL_PAIR_I(p), j = PL_PAIR_J(p);
        const pl_real apart = mu2 * pl_artanh_ratio(s[i], s[j], l[i], l[j]);
        out->H[4 * p] += (mu2 - a[p]) * w[p] * w[p];
        out->flip[p] = (apart - half * (a[i] + a[j])) * w[i] * w[j];
        out->twist[p] = (a[i] * s[j] + a[j] * s[i]) * w[i] * w[j] / pl_stretch_thickness(s, p);
    }
}

/* ---- Polynomial (Liu 2017, section 4.1): mu ---- */
/*     Psi = mu sum (s_i - 1)^4
 *
 * Convex in s and without stiffness at rest: not a linear solid at small strain. Its prox is, for each of the three
 * stretches, the root of 4 mu y^3 + k (y - y~) = 0, y = s - 1. Each stretch moves towards 1 by less than its
 * distance, so no two of them pass each other or the crease. */
PL_TABLE void pl_stretch_polynomial_energy_gradient(const pl_stretch *m, const pl_real s[3],
                                                    pl_real *psi, pl_real g[3])
{
    const pl_real mu = pl_stretch_constant(m, 0), four = pl_set1(4);
    pl_real sum = pl_zero();
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real y = s[i] - pl_one(), yy = y * y;
        sum += yy * yy;
        g[i] = four * mu * (yy * y);
    }
    *psi = mu * sum;
}

PL_TABLE void pl_stretch_polynomial_curvature(const pl_stretch *m, const pl_real s[3],
                                              pl_stretch_curvature *out)
{
    const pl_real mu4 = pl_set1(4) * pl_stretch_constant(m, 0), three = pl_set1(3);
    PL_UNROLL for (int i = 0; i < 9; i++) out->H[i] = pl_zero();
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const pl_real y = s[p] - pl_one();
        const pl_real a = s[PL_PAIR_I(p)] - pl_one(), b = s[PL_PAIR_J(p)] - pl_one();
        const pl_real squares = a * a + b * b, ab = a * b;
        out->H[4 * p] = three * mu4 * (y * y);
        out->flip[p] = mu4 * (squares + ab);
        out->twist[p] = mu4 * (a + b) * (squares - ab) / pl_stretch_thickness(s, p);
    }
}

/* y^3 + p y = p |y~| from above, where it is convex: Newton's steps only decrease. The lesser of |y~| and the cube
 * root of p |y~| is at most 1.47 times the root. */
PL_INLINE pl_real pl_polynomial_root(pl_real p, pl_real y)
{
    const pl_real far = pl_abs(y), q = p * far, three = pl_set1(3);
    pl_real at = pl_min(far, pl_exp(pl_log(q) * pl_set1((pl_scalar)(1.0 / 3))));
    PL_UNROLL for (int step = 0; step < 6; step++)
    {
        const pl_real squared = at * at;
        at = (q + (squared + squared) * at) / pl_max(three * squared + p, pl_set1(PL_SCALAR_MIN));
    }
    return pl_copysign(at, y);
}

PL_TABLE void pl_stretch_polynomial_prox(const pl_stretch *m, const pl_real *k,
                                         const pl_real s_tilde[3], pl_real s[3])
{
    const pl_real p = *k / (pl_set1(4) * pl_stretch_constant(m, 0)), huge = pl_set1((pl_scalar)1e9);
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real y = pl_clamp(s_tilde[i], -huge, huge) - pl_one();
        s[i] = pl_one() + pl_polynomial_root(p, y);
    }
}

#endif
