/* corotated.h - the corotated linear solid, on lanes.
 *
 *     Psi(F) = mu |F - R|^2 + lambda/2 tr(R^T F - I)^2
 *            = mu sum (s_i - 1)^2 + lambda/2 (s0 + s1 + s2 - 3)^2
 *
 * an energy per rest volume, J/m^3, with mu and lambda in Pa: Hooke's law in the frame of R. With the signed
 * decomposition F = U diag(s) V^T of svd3.h, R = U V^T is the rotation nearest to F, det R = +1, even where F is
 * inverted. Psi is finite for every F. The list of functions is that of neo_hookean.h; F is column-major (mat3.h).
 *
 * Where s1 + s2 = 0 (an element inverted by its own thickness), two rotations are equally near, and Psi has a
 * crease: its value is continuous there, and its gradient is that of the rotation that svd3.h finds.
 */
#ifndef PLIANT_ENGINE_KERNELS_COROTATED_H
#define PLIANT_ENGINE_KERNELS_COROTATED_H

#include "engine/kernels/mat3.h"
#include "engine/kernels/svd3.h"

/* Least divisor s_i + s_j in the Hessian: closer to the crease, the curvature is that at this distance. */
#ifdef PL_SINGLE
#define PL_COROTATED_CREASE 1e-3f
#define PL_COROTATED_HUGE   1e8f
#else
#define PL_COROTATED_CREASE 1e-6
#define PL_COROTATED_HUGE   1e50
#endif

typedef struct pl_corotated {
    pl_real mu, lambda; /* Pa; mu > 0, lambda >= 0 */
} pl_corotated;

PL_INLINE pl_real pl_corotated_stretch_energy(const pl_corotated *m, const pl_real s[3])
{
    const pl_real half = pl_set1((pl_scalar)0.5), one = pl_one();
    const pl_real e0 = s[0] - one, e1 = s[1] - one, e2 = s[2] - one;
    const pl_real trace = e0 + e1 + e2;
    return m->mu * (e0 * e0 + e1 * e1 + e2 * e2) + half * m->lambda * (trace * trace);
}

/* g_i = 2 mu (s_i - 1) + lambda (s0 + s1 + s2 - 3) */
PL_INLINE void pl_corotated_stretch_gradient(const pl_corotated *m, const pl_real s[3],
                                             pl_real g[3])
{
    const pl_real one = pl_one(), mu2 = m->mu + m->mu;
    const pl_real e[3] = {s[0] - one, s[1] - one, s[2] - one};
    const pl_real pull = m->lambda * (e[0] + e[1] + e[2]);
    PL_UNROLL for (int i = 0; i < 3; i++) g[i] = mu2 * e[i] + pull;
}

/* H_ij = 2 mu d_ij + lambda, H[i + 3 j]. */
PL_INLINE void pl_corotated_stretch_hessian(const pl_corotated *m, const pl_real s[3], pl_real H[9])
{
    const pl_real mu2 = m->mu + m->mu;
    PL_UNROLL for (int i = 0; i < 9; i++) H[i] = i % 4 == 0 ? mu2 + m->lambda : m->lambda;
}

PL_INLINE pl_real pl_corotated_energy(const pl_corotated *m, const pl_mat3 *F)
{
    pl_mat3 U, V;
    pl_real s[3];
    pl_svd3(F, &U, s, &V);
    return pl_corotated_stretch_energy(m, s);
}

/* Shared by the derivatives: F = U diag(s) V^T, R = U V^T and e = tr(R^T F) - 3. */
typedef struct pl_corotated_point {
    pl_mat3 U, V, R;
    pl_real s[3], e;
} pl_corotated_point;

PL_INLINE pl_corotated_point pl_corotated_at(const pl_mat3 *F)
{
    pl_corotated_point at;
    const pl_real one = pl_one();
    pl_svd3(F, &at.U, at.s, &at.V);
    at.R = pl_mat3_mul_transpose(&at.U, &at.V);
    at.e = (at.s[0] - one) + (at.s[1] - one) + (at.s[2] - one);
    return at;
}

/* P = dPsi/dF = 2 mu (F - R) + lambda e R, Pa (R does not contribute: Psi's mu term is stationary in
 * it, and tr(R^T F) too).
 */
PL_INLINE void pl_corotated_gradient(const pl_corotated *m, const pl_mat3 *F, pl_mat3 *P)
{
    const pl_corotated_point at = pl_corotated_at(F);
    const pl_real mu2 = m->mu + m->mu, pull = m->lambda * at.e;
    PL_UNROLL for (int i = 0; i < 9; i++) P->m[i] = mu2 * (F->m[i] - at.R.m[i]) + pull * at.R.m[i];
}

/* The energy and P in one. */
PL_INLINE pl_real pl_corotated_energy_gradient(const pl_corotated *m, const pl_mat3 *F, pl_mat3 *P)
{
    const pl_corotated_point at = pl_corotated_at(F);
    const pl_real mu2 = m->mu + m->mu, pull = m->lambda * at.e;
    PL_UNROLL for (int i = 0; i < 9; i++) P->m[i] = mu2 * (F->m[i] - at.R.m[i]) + pull * at.R.m[i];
    return pl_corotated_stretch_energy(m, at.s);
}

/* The derivative of R. With dF = U A V^T, dR = U W V^T where W is skew and, as R^T F stays
 * symmetric, W_ij = (A_ij - A_ji) / (s_i + s_j). So with Q = u_i v_j^T - u_j v_i^T, a pair i < j each,
 *
 *     dR = sum Q (Q : dF) / (s_i + s_j)
 *
 * and in dP = 2 mu dF + lambda R (R : dF) + (lambda e - 2 mu) dR a pair has the factor
 * (lambda e - 2 mu) / (s_i + s_j).
 */
typedef struct pl_corotated_twist {
    pl_mat3 Q;
    pl_real factor;
} pl_corotated_twist;

PL_INLINE pl_corotated_twist pl_corotated_twist_at(const pl_corotated *m,
                                                   const pl_corotated_point *at, int i, int j)
{
    pl_corotated_twist t;
    const pl_real *ui = at->U.m + 3 * i, *uj = at->U.m + 3 * j;
    const pl_real *vi = at->V.m + 3 * i, *vj = at->V.m + 3 * j;
    const pl_real thick = pl_max(at->s[i] + at->s[j], pl_set1((pl_scalar)PL_COROTATED_CREASE));
    PL_UNROLL for (int a = 0; a < 9; a++) t.Q.m[a] = ui[a % 3] * vj[a / 3] - uj[a % 3] * vi[a / 3];
    t.factor = (m->lambda * at->e - (m->mu + m->mu)) / thick;
    return t;
}

/* H = d vec(P) / d vec(F) = 2 mu I + lambda R R^T + sum factor Q Q^T over the three pairs, 9x9 and
 * symmetric, H[i + 9 j], not projected. Exact where s1 + s2 >= PL_COROTATED_CREASE.
 */
PL_INLINE void pl_corotated_hessian(const pl_corotated *m, const pl_mat3 *F, pl_real H[81])
{
    const pl_corotated_point at = pl_corotated_at(F);
    const pl_corotated_twist t[3] = {pl_corotated_twist_at(m, &at, 0, 1),
                                     pl_corotated_twist_at(m, &at, 0, 2),
                                     pl_corotated_twist_at(m, &at, 1, 2)};
    for (int b = 0; b < 9; b++) {
        const pl_real r = m->lambda * at.R.m[b], q0 = t[0].factor * t[0].Q.m[b],
                      q1 = t[1].factor * t[1].Q.m[b], q2 = t[2].factor * t[2].Q.m[b];
        PL_UNROLL for (int a = 0; a < 9; a++)
            H[a + 9 * b] = r * at.R.m[a] + q0 * t[0].Q.m[a] + q1 * t[1].Q.m[a] + q2 * t[2].Q.m[a];
        H[10 * b] += m->mu + m->mu;
    }
}

/* ---- The proximal operator ---- */
/*     prox(F~) = argmin over F of  Psi(F) + k/2 |F - F~|^2     (Narain 2016, eq. 34)
 *
 * Among all F with the same signed singular values, |F - F~| is least where F shares U and V with F~ (von Neumann's
 * trace inequality, for rotations). So it is the minimum over s0 >= s1 >= |s2| of
 *
 *     phi(s) = mu sum (s_i - 1)^2 + lambda/2 (sum s_i - 3)^2 + k/2 |s - s~|^2
 *
 * convex and quadratic: the only minimum is the global one. Without the constraint, with a = 2 mu + k,
 *
 *     s_i = (k s~_i + 2 mu - lambda e) / a,   e = k (sum s~_i - 3) / (a + 3 lambda)
 *
 * which keeps the order of s~ and can violate only s1 + s2 >= 0. This happens if a dilated target makes lambda
 * e > 2 mu, so that turning the element inside out would shorten the sum. Only then does the minimum lie on the
 * crease: d = s1 = -s2 and s0 minimise phi there or, if they violate s0 >= s1, s0 = s1 = -s2 do. */
PL_RARE void pl_corotated_crease_prox(const pl_corotated *m, pl_real k, const pl_real s_tilde[3],
                                      pl_real s[3])
{
    const pl_real mu2 = m->mu + m->mu, a = mu2 + k, three = pl_set1(3);
    const pl_real half = pl_set1((pl_scalar)0.5), lambda3 = three * m->lambda;
    const pl_real thick = s_tilde[1] - s_tilde[2];
    const pl_real first = (mu2 + lambda3 + k * s_tilde[0]) / (a + m->lambda);
    const pl_real d = half * k * thick / a;
    const pl_real all = (mu2 + lambda3 + k * (s_tilde[0] + thick)) / (three * a + m->lambda);
    const pl_mask ordered = pl_ge(first, d);
    s[0] = pl_select(ordered, first, all);
    s[1] = pl_select(ordered, d, all);
    s[2] = -s[1];
}

/* s~ is signed and ordered, s~0 >= s~1 >= |s~2|, and so is s. */
PL_INLINE void pl_corotated_stretch_prox(const pl_corotated *m, pl_real k, const pl_real s_tilde[3],
                                         pl_real s[3])
{
    const pl_real huge = pl_set1((pl_scalar)PL_COROTATED_HUGE), one = pl_one();
    const pl_real mu2 = m->mu + m->mu, a = mu2 + k;
    pl_real t[3], creased[3];
    PL_UNROLL for (int i = 0; i < 3; i++) t[i] = pl_clamp(s_tilde[i], -huge, huge);
    const pl_real trace = (t[0] - one) + (t[1] - one) + (t[2] - one);
    const pl_real e = k * trace / (a + pl_set1(3) * m->lambda);
    const pl_real inverse_a = one / a, push = (mu2 - m->lambda * e) * inverse_a;
    const pl_real keep = k * inverse_a;
    PL_UNROLL for (int i = 0; i < 3; i++) s[i] = keep * t[i] + push;
    const pl_mask crossed = pl_lt(s[1] + s[2], pl_zero());
    if (pl_any(crossed)) {
        pl_corotated_crease_prox(m, k, t, creased);
        PL_UNROLL for (int i = 0; i < 3; i++) s[i] = pl_select(crossed, creased[i], s[i]);
    }
}

/* F from F~, finite for every finite F~. A stretch above PL_COROTATED_HUGE counts as PL_COROTATED_HUGE. */
PL_INLINE void pl_corotated_prox(const pl_corotated *m, pl_real k, const pl_mat3 *F_tilde,
                                 pl_mat3 *F)
{
    pl_mat3 U, V;
    pl_real s_tilde[3], s[3];
    pl_svd3(F_tilde, &U, s_tilde, &V);
    pl_corotated_stretch_prox(m, k, s_tilde, s);
    *F = pl_mat3_compose(&U, s, &V);
}

#endif
