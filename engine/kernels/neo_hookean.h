/* neo_hookean.h - the compressible neo-Hookean solid with a logarithmic volume term, on lanes.
 *
 *     Psi(F) = mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2,   J = det F
 *
 * an energy per rest volume, J/m^3, with mu and lambda in Pa. For small strain it is the linear solid with those
 * Lame constants. Psi = +inf for J <= 0. F is column-major (mat3.h).
 *
 * Every material is a struct of lane parameters with these functions. `stretch` is the form in the principal
 * stretches s[3], which is all that an isotropic material has to define:
 *     _energy(m, F)  _gradient(m, F, P)  _energy_gradient(m, F, P)  _hessian(m, F, H)
 *     _prox(m, k, F_tilde, F)
 *     _stretch_energy(m, s)  _stretch_gradient(m, s, g)  _stretch_hessian(m, s, H)
 *     _stretch_prox(m, k, s_tilde, s)
 */
#ifndef PLIANT_ENGINE_KERNELS_NEO_HOOKEAN_H
#define PLIANT_ENGINE_KERNELS_NEO_HOOKEAN_H

#include "engine/kernels/mat3.h"
#include "engine/kernels/svd3.h"

#ifdef PL_SINGLE
#define PL_PROX_HUGE 1e8f
#define PL_PROX_TINY 1e-20f
#else
#define PL_PROX_HUGE 1e50
#define PL_PROX_TINY 1e-60
#endif

typedef struct pl_neo_hookean {
    pl_real mu, lambda; /* Pa; mu > 0, lambda >= 0 */
} pl_neo_hookean;

/* Psi from |F|^2 and J; +inf where J <= 0 or J is NaN. */
PL_INLINE pl_real pl_neo_hookean_invariant_energy(const pl_neo_hookean *m, pl_real norm2, pl_real J)
{
    const pl_real half = pl_set1((pl_scalar)0.5);
    const pl_mask inside = pl_gt(J, pl_zero());
    const pl_real log_J = pl_log(pl_select(inside, J, pl_one()));
    const pl_real psi = half * m->mu * (norm2 - pl_set1(3)) +
                        log_J * (half * m->lambda * log_J - m->mu);
    return pl_select(inside, psi, pl_set1(PL_SCALAR_INFINITY));
}

PL_INLINE pl_real pl_neo_hookean_energy(const pl_neo_hookean *m, const pl_mat3 *F)
{
    return pl_neo_hookean_invariant_energy(m, pl_mat3_norm_squared(F), pl_mat3_det(F));
}

/* Shared by the derivatives: G = F^-T and c = mu - lambda log J. NaN where J <= 0. */
typedef struct pl_neo_hookean_point {
    pl_mat3 G;
    pl_real c;
} pl_neo_hookean_point;

PL_INLINE pl_neo_hookean_point pl_neo_hookean_at(const pl_neo_hookean *m, const pl_mat3 *F)
{
    pl_neo_hookean_point at;
    const pl_mat3 C = pl_mat3_cofactor(F);
    const pl_real J = F->m[0] * C.m[0] + F->m[1] * C.m[1] + F->m[2] * C.m[2];
    const pl_mask inside = pl_gt(J, pl_zero());
    const pl_real inverse = pl_select(inside, pl_one() / J, pl_set1(PL_SCALAR_NAN));
    at.G = pl_mat3_scale(inverse, &C);
    at.c = m->mu - m->lambda * pl_log(J);
    return at;
}

/* P = dPsi/dF = mu F - (mu - lambda log J) F^-T, Pa. NaN where J <= 0. */
PL_INLINE void pl_neo_hookean_gradient(const pl_neo_hookean *m, const pl_mat3 *F, pl_mat3 *P)
{
    const pl_neo_hookean_point at = pl_neo_hookean_at(m, F);
    PL_UNROLL for (int i = 0; i < 9; i++) P->m[i] = m->mu * F->m[i] - at.c * at.G.m[i];
}

/* The energy and P in one. P is undefined where J <= 0. */
PL_INLINE pl_real pl_neo_hookean_energy_gradient(const pl_neo_hookean *m, const pl_mat3 *F,
                                                 pl_mat3 *P)
{
    const pl_real half = pl_set1((pl_scalar)0.5);
    const pl_mat3 C = pl_mat3_cofactor(F);
    const pl_real J = F->m[0] * C.m[0] + F->m[1] * C.m[1] + F->m[2] * C.m[2];
    const pl_mask inside = pl_gt(J, pl_zero());
    const pl_real safe = pl_select(inside, J, pl_one()), log_J = pl_log(safe);
    const pl_real c = (m->mu - m->lambda * log_J) / safe;
    PL_UNROLL for (int i = 0; i < 9; i++) P->m[i] = m->mu * F->m[i] - c * C.m[i];
    const pl_real psi = half * m->mu * (pl_mat3_norm_squared(F) - pl_set1(3)) +
                        log_J * (half * m->lambda * log_J - m->mu);
    return pl_select(inside, psi, pl_set1(PL_SCALAR_INFINITY));
}

/* H = d vec(P) / d vec(F), 9x9 and symmetric, H[i + 9 j], not projected. NaN where J <= 0.
 *
 *     d F^-T_ij / dF_kl = - F^-T_il F^-T_kj   so with G = F^-T, c = mu - lambda log J
 *     H_ij,kl = mu d_ik d_jl + lambda G_ij G_kl + c G_il G_kj
 */
PL_INLINE void pl_neo_hookean_hessian(const pl_neo_hookean *m, const pl_mat3 *F, pl_real H[81])
{
    const pl_neo_hookean_point at = pl_neo_hookean_at(m, F);
    const pl_real *G = at.G.m;
    for (int b = 0; b < 9; b++) {
        const pl_real lambda_G = m->lambda * G[b];
        PL_UNROLL for (int a = 0; a < 9; a++)
        {
            const int i = a % 3, j = a / 3, k = b % 3, l = b / 3;
            H[a + 9 * b] = lambda_G * G[a] + at.c * (G[i + 3 * l] * G[k + 3 * j]);
        }
        H[b + 9 * b] += m->mu;
    }
}

PL_INLINE pl_real pl_neo_hookean_stretch_energy(const pl_neo_hookean *m, const pl_real s[3])
{
    const pl_real norm2 = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    return pl_neo_hookean_invariant_energy(m, norm2, s[0] * s[1] * s[2]);
}

/* g_i = mu s_i - c / s_i, c = mu - lambda log J. NaN where J <= 0. */
PL_INLINE void pl_neo_hookean_stretch_gradient(const pl_neo_hookean *m, const pl_real s[3],
                                               pl_real g[3])
{
    const pl_real c = m->mu - m->lambda * pl_log(s[0] * s[1] * s[2]);
    PL_UNROLL for (int i = 0; i < 3; i++) g[i] = m->mu * s[i] - c / s[i];
}

/* H_ij = d_ij (mu + c / s_i^2) + lambda / (s_i s_j), H[i + 3 j]. NaN where J <= 0. */
PL_INLINE void pl_neo_hookean_stretch_hessian(const pl_neo_hookean *m, const pl_real s[3],
                                              pl_real H[9])
{
    const pl_real c = m->mu - m->lambda * pl_log(s[0] * s[1] * s[2]);
    pl_real w[3];
    PL_UNROLL for (int i = 0; i < 3; i++) w[i] = pl_one() / s[i];
    PL_UNROLL for (int i = 0; i < 9; i++) H[i] = m->lambda * w[i % 3] * w[i / 3];
    PL_UNROLL for (int i = 0; i < 3; i++) H[4 * i] += m->mu + c * w[i] * w[i];
}

/* ---- The proximal operator ---- */
/*     prox(s~) = argmin over s > 0 of  Psi(s) + k/2 |s - s~|^2     (Narain 2016, eq. 34)
 *
 * Divide by a = mu + k and write alpha = mu / a, Lambda = lambda / a, b_i = k s~_i / a. The point is stationary
 * where, with L = log(s0 s1 s2) and one number P for all three stretches,
 *
 *     s_i^2 - b_i s_i + P = 0,     P = Lambda L - alpha.                                     (*)
 *
 * So the three unknowns reduce to one. Take the smallest stretch, t = s2, as the unknown: P = t (b2 - t). As
 * b0 >= b1 >= |b2| (svd3.h), s0 and s1 are the larger roots of (*),
 *
 *     s_i = (b_i + r_i) / 2,   r_i = sqrt(b_i^2 - 4 P) = sqrt(x^2 + b_i^2 - b2^2),   x = 2 t - b2
 *
 * real for every t > 0 and free of cancellation. (A minimum can have one stretch on the smaller root of (*), and
 * that stretch is then t: exchanging it with another would lower the objective.) It remains to solve
 *
 *     H(t) = alpha + P - Lambda L = 0,   H -> +inf as t -> 0,   H -> -inf as t -> inf,
 *
 * which always has a root; H decreases through it where the point is a minimum. With u = log t, q = t x,
 * g_i = 1 / (s_i r_i) and w = g_0 + g_1,
 *
 *     dP/du = -q,  dq/du = q + 2 t^2,  dL/du = 1 + q w,  dw/du = -q sum g_i^3 s_i (2 r_i + b_i)
 *     N = -dH/du = Lambda + q (1 + Lambda w)
 *
 * For x > 0, H decreases monotonically. If b0 b1 b2 <= 2, then L <= 0 and so H > 0 wherever x <= 0, and the only
 * root has x > 0: a fixed number of Halley steps from a good start finds it. Otherwise the target is dilated, to at
 * least twice the volume. Because (log J)^2 is not convex there, two minima may exist: one with x > 0, and one that
 * keeps the volume by flattening the element. Blocks with such an element continue, and find and compare both
 * minima; they are rare, and the other elements of the block keep their bits. */
#define PL_NEO_HOOKEAN_STEPS       3
#define PL_NEO_HOOKEAN_EXTRA_STEPS 12

typedef struct pl_neo_hookean_target {
    pl_real alpha, Lambda, b0, b1, b2;
    pl_real e0, e1; /* b_i^2 - b2^2 */
} pl_neo_hookean_target;

/* A point t, the values of H and N there, and the Halley step rise / run in log t. */
typedef struct pl_neo_hookean_root {
    pl_real t, H, N, rise, run;
} pl_neo_hookean_root;

PL_INLINE pl_neo_hookean_target pl_neo_hookean_target_at(const pl_neo_hookean *m, pl_real k,
                                                         const pl_real s_tilde[3])
{
    pl_neo_hookean_target g;
    const pl_real inverse_a = pl_one() / (m->mu + k), huge = pl_set1((pl_scalar)PL_PROX_HUGE);
    const pl_real pull = k * inverse_a;
    g.alpha = m->mu * inverse_a;
    g.Lambda = m->lambda * inverse_a;
    g.b0 = pl_min(pull * s_tilde[0], huge);
    g.b1 = pl_min(pull * s_tilde[1], huge);
    g.b2 = pl_clamp(pull * s_tilde[2], -huge, huge);
    g.e0 = (g.b0 - g.b2) * (g.b0 + g.b2);
    g.e1 = (g.b1 - g.b2) * (g.b1 + g.b2);
    return g;
}

/* The positive root of z^2 + B z = C for C > 0. */
PL_INLINE pl_real pl_positive_root(pl_real B, pl_real C)
{
    const pl_real D = pl_abs(B) + pl_sqrt(B * B + pl_set1(4) * C);
    return pl_select(pl_gt(B, pl_zero()), (C + C) / D, pl_set1((pl_scalar)0.5) * D);
}

PL_INLINE void pl_neo_hookean_stretches(const pl_neo_hookean_target *g, pl_real t, pl_real s[3])
{
    const pl_real half = pl_set1((pl_scalar)0.5), x = t + t - g->b2, xx = x * x;
    s[0] = half * (g->b0 + pl_sqrt(xx + g->e0));
    s[1] = half * (g->b1 + pl_sqrt(xx + g->e1));
    s[2] = t;
}

/* With s0 and s1 fixed at their values for lambda = 0, and log y ~ y - 1 about y = s0 s1 t = 1, H = 0 is quadratic
 * in t: t^2 + (Lambda s0 s1 - b2) t = alpha + Lambda. Exact for lambda = 0, and close to J = 1 for lambda -> inf.
 * The root has x > 0. Near x = 0 the curvature of H is large; a start with x >= 0.4 b2 keeps away from there.
 */
PL_INLINE pl_real pl_neo_hookean_start(const pl_neo_hookean_target *g)
{
    const pl_real half = pl_set1((pl_scalar)0.5), alpha4 = pl_set1(4) * g->alpha;
    const pl_real s0 = half * (g->b0 + pl_sqrt(g->b0 * g->b0 + alpha4));
    const pl_real s1 = half * (g->b1 + pl_sqrt(g->b1 * g->b1 + alpha4));
    const pl_real t = pl_positive_root(g->Lambda * s0 * s1 - g->b2, g->alpha + g->Lambda);
    return pl_max(t, pl_set1((pl_scalar)0.7) * g->b2);
}

PL_INLINE pl_neo_hookean_root pl_neo_hookean_evaluate(const pl_neo_hookean_target *g, pl_real t)
{
    const pl_real half = pl_set1((pl_scalar)0.5), tiny = pl_set1((pl_scalar)PL_PROX_TINY);
    const pl_real tt = t + t, x = tt - g->b2, q = t * x, xx = x * x + tiny;
    const pl_real r0 = pl_sqrt(xx + g->e0), r1 = pl_sqrt(xx + g->e1);
    const pl_real s0 = half * (g->b0 + r0), s1 = half * (g->b1 + r1);
    const pl_real n0 = s0 * r0, n1 = s1 * r1;
    const pl_real inverse = pl_one() / (n0 * n1);
    const pl_real g0 = inverse * n1, g1 = inverse * n0;
    const pl_real bend = g0 * g0 * g0 * s0 * (r0 + r0 + g->b0) +
                         g1 * g1 * g1 * s1 * (r1 + r1 + g->b1); /* dw/du = -q bend */
    const pl_real stiff = pl_one() + g->Lambda * (g0 + g1);
    const pl_real L = pl_log_positive(t * s0 * s1);
    pl_neo_hookean_root at;
    at.t = t;
    at.H = (g->alpha + t * (g->b2 - t)) - g->Lambda * L;
    at.N = g->Lambda + q * stiff;
    const pl_real N_u = (q + t * tt) * stiff - g->Lambda * (q * q) * bend;
    const pl_real HN = at.H * at.N, NN = at.N * at.N;
    at.rise = HN + HN;
    at.run = pl_max(NN + NN + at.H * N_u, NN);
    return at;
}

/* t e^d to second order, t (2 + d) / (2 - d), for a step d = rise / run cut to at most 1.6. */
PL_INLINE pl_real pl_neo_hookean_advance(const pl_neo_hookean_root *at)
{
    const pl_real most = pl_set1((pl_scalar)1.6) * at->run, twice = at->run + at->run;
    const pl_real rise = pl_clamp(at->rise, -most, most);
    return at->t * (twice + rise) / (twice - rise);
}

PL_INLINE pl_mask pl_neo_hookean_is_settled(const pl_neo_hookean_root *at, pl_scalar tolerance)
{
    return pl_lt(pl_abs(at->rise), pl_set1(tolerance) * at->run);
}

/* Halley steps that stay between low, where H > 0, and high, where H < 0: a step that leaves this bracket is
 * replaced by the geometric mean.
 */
PL_RARE pl_neo_hookean_root pl_neo_hookean_bracketed(const pl_neo_hookean_target *g, pl_real t,
                                                     pl_real low, pl_real high)
{
    pl_neo_hookean_root at = {t, t, t, t, t};
    for (int step = 0; step < PL_NEO_HOOKEAN_EXTRA_STEPS; step++) {
        at = pl_neo_hookean_evaluate(g, t);
        const pl_mask below = pl_gt(at.H, pl_zero());
        low = pl_select(below, t, low);
        high = pl_select(below, high, t);
        const pl_real next = pl_neo_hookean_advance(&at);
        /* Rounding may push a settled step out of the bracket. */
        const pl_mask inside = pl_or(pl_and(pl_ge(next, low), pl_le(next, high)),
                                     pl_neo_hookean_is_settled(&at, (pl_scalar)1e-6));
        t = pl_select(inside, next, pl_sqrt(low) * pl_sqrt(high));
    }
    at.t = t;
    return at;
}

/* (1/a) (Psi + k/2 |s - s~|^2), less a constant. */
PL_INLINE pl_real pl_neo_hookean_objective(const pl_neo_hookean_target *g, pl_real t)
{
    const pl_real half = pl_set1((pl_scalar)0.5);
    pl_real s[3];
    pl_neo_hookean_stretches(g, t, s);
    const pl_real L = pl_log(s[0] * s[1] * s[2]);
    return s[0] * (half * s[0] - g->b0) + s[1] * (half * s[1] - g->b1) +
           s[2] * (half * s[2] - g->b2) + L * (half * g->Lambda * L - g->alpha);
}

PL_INLINE pl_mask pl_neo_hookean_is_minimum(const pl_neo_hookean_root *at)
{
    const pl_mask settled = pl_neo_hookean_is_settled(at, (pl_scalar)1e-4);
    return pl_and(settled, pl_gt(at->N, pl_zero()));
}

/* The lowest minimum of an element whose target is dilated, b0 b1 b2 > 2. Let m = b2 / 2, where x = 0. If H(m) > 0,
 * there is a thick minimum with x > 0, and possibly a thin one with x < 0. Otherwise there is at least one with
 * x < 0, and hardly ever a second: one search then starts from each end. At the lower end, t = 1 / (b0 b1), L <= 0
 * and so H > 0.
 */
PL_RARE pl_real pl_neo_hookean_dilated(const pl_neo_hookean_target *g)
{
    const pl_real m = pl_set1((pl_scalar)0.5) * g->b2;
    const pl_real first = pl_one() / (g->b0 * g->b1), last = pl_set1(2) * pl_max(g->b2, pl_one());
    const pl_neo_hookean_root at = pl_neo_hookean_evaluate(g, m);
    const pl_mask has_thick = pl_gt(at.H, pl_zero());
    const pl_real near_m = pl_set1((pl_scalar)0.999) * m;
    const pl_neo_hookean_root thin = pl_neo_hookean_bracketed(g, first, first, m);
    const pl_neo_hookean_root thick =
        pl_neo_hookean_bracketed(g, pl_select(has_thick, g->b2, near_m),
                                 pl_select(has_thick, m, first), pl_select(has_thick, last, m));
    const pl_mask lower = pl_lt(pl_neo_hookean_objective(g, thin.t),
                                pl_neo_hookean_objective(g, thick.t));
    const pl_mask only = pl_not(pl_or(has_thick, pl_neo_hookean_is_minimum(&thick)));
    const pl_mask better = pl_and(pl_neo_hookean_is_minimum(&thin), lower);
    return pl_select(pl_or(only, better), thin.t, thick.t);
}

/* Further steps from t for an element that has not settled, with a bracket that holds its root. */
PL_RARE pl_real pl_neo_hookean_settle(const pl_neo_hookean_target *g, pl_real t)
{
    const pl_real low = pl_max(pl_set1((pl_scalar)0.5) * g->b2, pl_set1((pl_scalar)PL_PROX_TINY));
    return pl_neo_hookean_bracketed(g, t, low, pl_set1((pl_scalar)(1 / PL_PROX_TINY))).t;
}

/* s~ is signed and ordered, s~0 >= s~1 >= |s~2|; the resulting s is positive and in the same order. */
PL_LARGE void pl_neo_hookean_stretch_prox(const pl_neo_hookean *m, pl_real k,
                                          const pl_real s_tilde[3], pl_real s[3])
{
    const pl_neo_hookean_target g = pl_neo_hookean_target_at(m, k, s_tilde);
    pl_real t = pl_neo_hookean_start(&g);
    pl_neo_hookean_root at = {t, t, t, t, t};
    PL_UNROLL for (int step = 0; step < PL_NEO_HOOKEAN_STEPS; step++)
    {
        at = pl_neo_hookean_evaluate(&g, t);
        t = pl_neo_hookean_advance(&at);
    }
    const pl_mask dilated = pl_gt(g.b0 * g.b1 * g.b2, pl_set1(2));
    const pl_mask settled = pl_or(dilated, pl_neo_hookean_is_settled(&at, (pl_scalar)1e-3));
    if (!pl_all(settled))
        t = pl_select(settled, t, pl_neo_hookean_settle(&g, t));
    if (pl_any(dilated))
        t = pl_select(dilated, pl_neo_hookean_dilated(&g), t);
    pl_neo_hookean_stretches(&g, t, s);
}

/* F from F~ by the singular values alone, positive and finite for every finite F~. A target of more than
 * PL_PROX_HUGE times its size counts as PL_PROX_HUGE.
 */
PL_INLINE void pl_neo_hookean_prox(const pl_neo_hookean *m, pl_real k, const pl_mat3 *F_tilde,
                                   pl_mat3 *F)
{
    pl_mat3 U, V;
    pl_real s_tilde[3], s[3];
    pl_svd3(F_tilde, &U, s_tilde, &V);
    pl_neo_hookean_stretch_prox(m, k, s_tilde, s);
    *F = pl_mat3_compose(&U, s, &V);
}

#endif
