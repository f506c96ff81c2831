/* damping_stiffness.h - R by a material's own stiffness, of tetrahedra, included by damping_law.h's users.
 * c = beta r, D = F - Fp, and K(F) is the tangent stiffness d2 Psi / dF2 (stretch_solid.h).
 *
 *     rayleigh            s = c/2 D . K(F) D                        (Brown 2018, eq. 46)
 *     ... second_order    s = c (D . dPsi/dF - Psi(F) + Psi(Fp)), whose gradient is c K(F) D to the letter: what
 *                         eq. 26 takes off to its order, and bounded below where the first one is not
 *     rayleigh_lagged     the same with K where the step begins, projected to be semidefinite
 *     principal_strain    s = c ((sg - sgp) . g(sg) - Psi(sg) + Psi(sgp)), sg the principal stretches and
 *                         g = dPsi/dsg (eq. 53, which is a potential already: its gradient in sg is
 *                         c K_sg (sg - sgp)); its least value, 0, is at sgp where Psi is convex
 *
 * Third and fourth derivatives of Psi along D, which make up the rest of the first one's gradient,
 * c K D + c/2 Psi'''[D, D], and Hessian, c (K + 2 Psi'''[D] + Psi''''[D, D] / 2), are central differences of
 * K. The first one is bounded where it would fall below 0 (rayleigh_bounded). An element whose K(F) is not
 * definite where the step begins would be driven by R: over that step it has the lagged form. Where the energy has no value (J <= 0) s is infinite.
 */

/* K D of the frozen, projected K, or its 9 x 9 matrix. */
typedef struct stiffness_frame {
    pl_real U[9], V[9], H[6], flip[3], twist[3];
} stiffness_frame;

PL_INLINE void stiffness_load(const law *m, stiffness_frame *k)
{
    damping_rows(m, PL_FROZEN_K_U, 9, k->U);
    damping_rows(m, PL_FROZEN_K_V, 9, k->V);
    damping_rows(m, PL_FROZEN_K_H, 6, k->H);
    damping_rows(m, PL_FROZEN_K_FLIP, 3, k->flip);
    damping_rows(m, PL_FROZEN_K_TWIST, 3, k->twist);
}

PL_LARGE void stiffness_apply(const stiffness_frame *k, const pl_real D[9], pl_real KD[9])
{
    const pl_real half = pl_set1(0.5);
    pl_mat3 U, V, dF, A, B;
    for (int e = 0; e < 9; e++) {
        U.m[e] = k->U[e];
        V.m[e] = k->V[e];
        dF.m[e] = D[e];
    }
    A = pl_mat3_mul(&dF, &V);
    A = pl_mat3_transpose_mul(&U, &A);
    B.m[0] = k->H[0] * A.m[0] + k->H[3] * A.m[4] + k->H[4] * A.m[8];
    B.m[4] = k->H[3] * A.m[0] + k->H[1] * A.m[4] + k->H[5] * A.m[8];
    B.m[8] = k->H[4] * A.m[0] + k->H[5] * A.m[4] + k->H[2] * A.m[8];
    for (int p = 0; p < 3; p++) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        const pl_real even = half * k->flip[p] * (A.m[i + 3 * j] + A.m[j + 3 * i]);
        const pl_real odd = half * k->twist[p] * (A.m[i + 3 * j] - A.m[j + 3 * i]);
        B.m[i + 3 * j] = even + odd;
        B.m[j + 3 * i] = even - odd;
    }
    B = pl_mat3_mul_transpose(&B, &V);
    B = pl_mat3_mul(&U, &B);
    for (int e = 0; e < 9; e++)
        KD[e] = B.m[e];
}

/* C += c K. */
PL_LARGE void stiffness_columns(const stiffness_frame *k, pl_real c, pl_real C[81])
{
#pragma GCC unroll 1
    for (int b = 0; b < 9; b++) {
        pl_real dF[9], K[9];
        for (int e = 0; e < 9; e++)
            dF[e] = e == b ? c : pl_zero();
        stiffness_apply(k, dF, K);
        for (int e = 0; e < 9; e++)
            C[9 * b + e] += K[e];
    }
}

PL_LARGE void lagged_density(const law *m, const pl_real F[9], pl_real *s, pl_real P[9])
{
    stiffness_frame k;
    pl_real Fp[9], D[9], c = pl_set1(m->d->beta) * m->rate;
    stiffness_load(m, &k);
    damping_rows(m, PL_FROZEN_FP, 9, Fp);
    for (int e = 0; e < 9; e++)
        D[e] = F[e] - Fp[e];
    stiffness_apply(&k, D, P);
    for (int e = 0; e < 9; e++)
        P[e] *= c;
    *s = pl_set1(0.5) * damping_dot(D, P, 9);
}

PL_LARGE void lagged_curvature(const law *m, pl_real C[81])
{
    stiffness_frame k;
    stiffness_load(m, &k);
    for (int e = 0; e < 81; e++)
        C[e] = pl_zero();
    stiffness_columns(&k, pl_set1(m->d->beta) * m->rate, C);
}

/* Psi(F), with P = dPsi/dF. */
PL_LARGE pl_real solid_density(const law *m, const pl_real F[9], pl_real P[9])
{
    pl_real s[3], g[3], psi;
    pl_mat3 U, V, stress;
    damping_decompose(F, U.m, s, V.m);
    pl_stretch_energy_gradient(&m->elastic, s, &psi, g);
    stress = pl_mat3_compose(&U, g, &V);
    for (int e = 0; e < 9; e++)
        P[e] = stress.m[e];
    return psi;
}

/* The true K at F. */
PL_LARGE void stiffness_at(const law *m, const pl_real F[9], stiffness_frame *k)
{
    pl_stretch_curvature c;
    pl_real s[3];
    damping_decompose(F, k->U, s, k->V);
    for (int i = 0; i < 3; i++) /* K of what has no energy decides nothing, but must be a number */
        s[i] = m->elastic.ops->domain == PL_STRETCH_POSITIVE
                   ? pl_max(s[i], pl_set1(PL_STRETCH_LEAST / 10))
                   : s[i];
    pl_stretch_curve(&m->elastic, s, &c);
    const pl_real H[6] = {c.H[0], c.H[4], c.H[8], c.H[1], c.H[2], c.H[5]};
    for (int e = 0; e < 6; e++)
        k->H[e] = H[e];
    for (int p = 0; p < 3; p++) {
        k->flip[p] = c.flip[p];
        k->twist[p] = c.twist[p];
    }
}

/* F + t D / |D| with the length of D, which may be 0. */
PL_INLINE pl_real stiffness_line(const pl_real F[9], const pl_real D[9], double t, pl_real at[9])
{
    const pl_real size = pl_sqrt(damping_dot(D, D, 9));
    for (int e = 0; e < 9; e++)
        at[e] = F[e] + pl_set1(t) * D[e] / pl_max(size, pl_set1(DAMPING_NOTHING));
    return size;
}

/* KD = K(F) D and Psi'''[D, D]. */
PL_LARGE void stiffness_third(const law *m, const pl_real F[9], const pl_real D[9], pl_real KD[9],
                              pl_real third[9])
{
    static const double REACH = DAMPING_REACH;
    stiffness_frame k;
    pl_real at[9], above[9];
    stiffness_at(m, F, &k);
    stiffness_apply(&k, D, KD);
    stiffness_line(F, D, REACH, at);
    stiffness_at(m, at, &k);
    stiffness_apply(&k, D, above);
    const pl_real size = stiffness_line(F, D, -REACH, at);
    stiffness_at(m, at, &k);
    stiffness_apply(&k, D, third);
    for (int e = 0; e < 9; e++)
        third[e] = size * (above[e] - third[e]) / pl_set1(2 * REACH);
}

/* C += one K + two Psi'''[D] + three Psi''''[D, D]. */
PL_LARGE void stiffness_fourth(const law *m, const pl_real F[9], const pl_real D[9], pl_real one,
                               pl_real two, pl_real three, pl_real C[81])
{
    static const double REACH = DAMPING_REACH_2;
    stiffness_frame k[3];
    pl_real at[9], size = pl_zero();
    for (int i = 0; i < 3; i++) {
        size = stiffness_line(F, D, (i - 1) * REACH, at);
        stiffness_at(m, at, &k[i]);
    }
#pragma GCC unroll 1
    for (int b = 0; b < 9; b++) {
        pl_real dF[9], K[3][9];
        for (int e = 0; e < 9; e++)
            dF[e] = e == b ? pl_one() : pl_zero();
        for (int i = 0; i < 3; i++)
            stiffness_apply(&k[i], dF, K[i]);
        for (int e = 0; e < 9; e++)
            C[9 * b + e] += one * K[1][e] + two * size * (K[2][e] - K[0][e]) / pl_set1(2 * REACH) +
                            three * size * size * (K[2][e] - (K[1][e] + K[1][e]) + K[0][e]) /
                                pl_set1(REACH * REACH);
    }
}

/* R is of q = D . K D, which has no lower bound where an element all but turns inside out, K having none, and
 * is below 0, so that R would drive, wherever K is not definite: below 0 q is taken as q / (1 - q / q0), which
 * has the value and the slope of q at 0 and ends at -q0, a hundredth of the stiffness where the step begins.
 * The first two derivatives at q; 1 and 0 where q is not below 0. */
PL_INLINE pl_real rayleigh_bounded(const law *m, pl_real q, pl_real *slope, pl_real *bend)
{
    pl_real flip[3];
    damping_rows(m, PL_FROZEN_K_FLIP, 3, flip);
    const pl_real q0 = pl_max(pl_set1(0.01 / 3) * (flip[0] + flip[1] + flip[2]),
                              pl_set1(DAMPING_NOTHING));
    const pl_mask below = pl_lt(q, pl_zero());
    const pl_real t = pl_one() / (pl_one() - pl_select(below, q, pl_zero()) / q0);
    *slope = pl_select(below, t * t, pl_one());
    *bend = pl_select(below, pl_set1(2) / q0 * t * t * t, pl_zero());
    return pl_select(below, q * t, q);
}

/* Whether F is where the energy has values. */
PL_INLINE pl_mask stiffness_outside(const law *m, const pl_real F[9])
{
    pl_real U[9], s[3], V[9];
    damping_decompose(F, U, s, V);
    const bool positive = m->elastic.ops->domain == PL_STRETCH_POSITIVE;
    return pl_le(s[2], pl_set1(positive ? PL_STRETCH_LEAST : -PL_SCALAR_INFINITY));
}

PL_LARGE void rayleigh_density(const law *m, const pl_real F[9], pl_real *s, pl_real P[9])
{
    pl_real D[9], Fp[9], KD[9], third[9], half = pl_set1(0.5);
    const pl_real c = pl_set1(m->d->beta) * m->rate;
    damping_rows(m, PL_FROZEN_FP, 9, Fp);
    for (int e = 0; e < 9; e++)
        D[e] = F[e] - Fp[e];
    stiffness_third(m, F, D, KD, third);
    pl_real slope, bend;
    *s = half * c * rayleigh_bounded(m, damping_dot(D, KD, 9), &slope, &bend);
    for (int e = 0; e < 9; e++)
        P[e] = slope * (c * (KD[e] + half * third[e]));
    if (m->d->second_order) {
        pl_real stress[9], other[9];
        const pl_real psi = solid_density(m, F, stress);
        const pl_real from = solid_density(m, Fp, other);
        const pl_mask known = pl_lt(from, pl_set1(PL_SCALAR_INFINITY));
        *s = c * (damping_dot(D, stress, 9) - psi + pl_select(known, from, pl_zero()));
        for (int e = 0; e < 9; e++)
            P[e] = c * KD[e];
    }
    const pl_mask lagged = pl_gt(damping_row(m, PL_FROZEN_K_LAGGED), pl_zero());
    *s = pl_select(stiffness_outside(m, F), pl_set1(PL_SCALAR_INFINITY), *s);
    if (pl_any(lagged)) {
        pl_real other, Q[9];
        lagged_density(m, F, &other, Q);
        *s = pl_select(lagged, other, *s);
        for (int e = 0; e < 9; e++)
            P[e] = pl_select(lagged, Q[e], P[e]);
    }
}

/* What bounding q makes of C = c/2 d2q/dF2. */
PL_LARGE void rayleigh_bend(const law *m, const pl_real F[9], const pl_real D[9], pl_real C[81])
{
    const pl_real c = pl_set1(m->d->beta) * m->rate;
    pl_real KD[9], third[9], slope, bend;
    stiffness_third(m, F, D, KD, third);
    (void)rayleigh_bounded(m, damping_dot(D, KD, 9), &slope, &bend);
    for (int e = 0; e < 9; e++)
        KD[e] = KD[e] + KD[e] + third[e]; /* dq/dF */
    for (int e = 0; e < 81; e++)
        C[e] = slope * C[e] + pl_set1(0.5) * c * bend * KD[e % 9] * KD[e / 9];
}

PL_LARGE void rayleigh_curvature(const law *m, const pl_real F[9], pl_real C[81])
{
    pl_real D[9], Fp[9];
    const pl_real c = pl_set1(m->d->beta) * m->rate;
    damping_rows(m, PL_FROZEN_FP, 9, Fp);
    for (int e = 0; e < 9; e++)
        D[e] = F[e] - Fp[e];
    for (int e = 0; e < 81; e++)
        C[e] = pl_zero();
    if (m->d->second_order)
        stiffness_fourth(m, F, D, c, c, pl_zero(), C);
    else
        stiffness_fourth(m, F, D, c, c + c, pl_set1(0.5) * c, C);
    if (!m->d->second_order)
        rayleigh_bend(m, F, D, C);
    const pl_mask lagged = pl_gt(damping_row(m, PL_FROZEN_K_LAGGED), pl_zero());
    if (pl_any(lagged)) {
        pl_real Q[81];
        lagged_curvature(m, Q);
        for (int e = 0; e < 81; e++)
            C[e] = pl_select(lagged, Q[e], C[e]);
    }
}

/* ---- principal stretches */

/* s of the stretches sg, and its derivative; that of the second derivatives H where wanted. */
PL_LARGE void principal_energy(const law *m, const pl_real sg[3], pl_real *s, pl_real g[3],
                               pl_real H[9])
{
    static const double REACH = DAMPING_REACH;
    pl_stretch_curvature c, above, below;
    pl_real from[3], d[3], g0[3], psi, psi0, lift = pl_zero();
    const pl_real k = pl_set1(m->d->beta) * m->rate;
    damping_rows(m, PL_FROZEN_S, 3, from);
    pl_stretch_energy_gradient(&m->elastic, from, &psi0, g0);
    pl_stretch_energy_gradient(&m->elastic, sg, &psi, g0);
    pl_stretch_curve(&m->elastic, sg, &c);
    for (int i = 0; i < 3; i++) {
        d[i] = sg[i] - from[i];
        lift += d[i] * g0[i];
    }
    *s = k * (lift - psi + psi0);
    *s = pl_select(pl_lt(pl_abs(psi), pl_set1(PL_SCALAR_INFINITY)), *s,
                   pl_set1(PL_SCALAR_INFINITY));
    for (int i = 0; i < 3; i++)
        g[i] = k * (c.H[i] * d[0] + c.H[i + 3] * d[1] + c.H[i + 6] * d[2]);
    if (!H)
        return;
    const pl_real size = pl_sqrt(damping_dot(d, d, 3));
    pl_real up[3], down[3];
    for (int i = 0; i < 3; i++) {
        const pl_real step = pl_set1(REACH) * d[i] / pl_max(size, pl_set1(DAMPING_NOTHING));
        up[i] = sg[i] + step;
        down[i] = sg[i] - step;
    }
    pl_stretch_curve(&m->elastic, up, &above);
    pl_stretch_curve(&m->elastic, down, &below);
    for (int e = 0; e < 9; e++)
        H[e] = k * (c.H[e] + size * (above.H[e] - below.H[e]) / pl_set1(2 * REACH));
}

PL_LARGE void principal_density(const law *m, const pl_real F[9], pl_real *s, pl_real P[9])
{
    pl_real U[9], sg[3], V[9], g[3];
    damping_decompose(F, U, sg, V);
    principal_energy(m, sg, s, g, NULL);
    for (int e = 0; e < 9; e++) {
        P[e] = pl_zero();
        for (int i = 0; i < 3; i++)
            P[e] += U[3 * i + e % 3] * g[i] * V[3 * i + e / 3];
    }
}

/* H and the quotients of a pair as in stretch_solid.h; where two stretches meet the energy has a crease. */
PL_LARGE void principal_frame(const law *m, const pl_real sg[3], stiffness_frame *k)
{
    pl_real g[3], s, H[9];
    principal_energy(m, sg, &s, g, H);
    const pl_real six[6] = {H[0], H[4], H[8], H[1], H[2], H[5]};
    for (int e = 0; e < 6; e++)
        k->H[e] = six[e];
    for (int p = 0; p < 3; p++) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        const pl_real apart = sg[i] - sg[j];
        const pl_real off = pl_copysign(pl_max(pl_abs(apart), pl_set1(PL_STRETCH_CREASE)), apart);
        k->flip[p] = (g[i] - g[j]) / off;
        k->twist[p] = (g[i] + g[j]) / pl_max(sg[i] + sg[j], pl_set1(PL_STRETCH_CREASE));
    }
}

PL_LARGE void principal_curvature(const law *m, const pl_real F[9], pl_real C[81])
{
    stiffness_frame k;
    pl_real sg[3];
    damping_decompose(F, k.U, sg, k.V);
    principal_frame(m, sg, &k);
    for (int e = 0; e < 81; e++)
        C[e] = pl_zero();
    stiffness_columns(&k, pl_one(), C);
}
