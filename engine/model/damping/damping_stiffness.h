/* damping_stiffness.h - R from an element's own stiffness (damping_frame.h), included by damping_law.h's users.
 * c = beta r, D = F - Fp, and K(F) is the tangent stiffness d2 Psi / dF2.
 *
 *     rayleigh            s = c/2 D . K(F) D                        (Brown 2018, eq. 46)
 *     rayleigh_lagged     the same, with K at the step's start, projected to be semidefinite
 *     ... second_order    both: with K at the expected end of the stage, projected (build_damping.c). The gradient
 *                         is the force c K D, and s is convex. The alternative D . dPsi/dF - Psi(F) + Psi(Fp),
 *                         whose gradient has K(F), created energy from impacts that a step does not resolve
 *     principal_strain    s = c ((sg - sgp) . g(sg) - Psi(sg) + Psi(sgp)), sg the principal stretches and
 *                         g = dPsi/dsg (eq. 53, already a potential: its gradient in sg is
 *                         c K_sg (sg - sgp)); where Psi is convex, its least value, 0, is at sgp. For
 *                         tetrahedra
 *     ... second_order    the same with a corrected sgp; the lagged form of K_sg in elements in which two
 *                         stretches pass each other during the stage (damping_freeze.h)
 *
 * The rest of the gradient of `rayleigh`, c K D + c/2 Psi'''[D, D], and of its Hessian, c (K + 2
 * Psi'''[D] + Psi''''[D, D] / 2), consists of third and fourth derivatives of Psi along D. They are central
 * differences of K, except for a thread, which has them in closed form. `rayleigh` is bounded where it would fall
 * below 0 (rayleigh_bounded). If K(F) of an element is not definite at the step's start, R would drive the element;
 * for that step the element takes the lagged form. Where the energy is undefined (J <= 0), s is infinite.
 */

PL_LARGE void lagged_density(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    stiffness_frame k;
    pl_real Fp[FS], D[FS], c = pl_set1(m->d->beta) * m->rate;
    stiffness_load(m, &k);
    damping_rows(m, PL_FROZEN_FP, FS, Fp);
    for (int e = 0; e < FS; e++)
        D[e] = F[e] - Fp[e];
    stiffness_apply(&k, D, P);
    for (int e = 0; e < FS; e++)
        P[e] *= c;
    *s = pl_set1(0.5) * damping_dot(D, P, FS);
}

PL_LARGE void lagged_curvature(const law *m, pl_real C[FS * FS])
{
    stiffness_frame k;
    stiffness_load(m, &k);
    for (int e = 0; e < FS * FS; e++)
        C[e] = pl_zero();
    stiffness_columns(&k, pl_set1(m->d->beta) * m->rate, C);
}

/* The elements that take the lagged form over the stage. */
PL_INLINE pl_mask lagged_lanes(const law *m)
{
    return pl_gt(damping_row(m, PL_FROZEN_K_LAGGED), pl_zero());
}

/* Replaces s and P in these elements. */
PL_LARGE void lagged_density_where(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    const pl_mask lagged = lagged_lanes(m);
    pl_real other, Q[FS];
    if (!pl_any(lagged))
        return;
    lagged_density(m, F, &other, Q);
    *s = pl_select(lagged, other, *s);
    for (int e = 0; e < FS; e++)
        P[e] = pl_select(lagged, Q[e], P[e]);
}

PL_LARGE void lagged_curvature_where(const law *m, pl_real C[FS * FS])
{
    const pl_mask lagged = lagged_lanes(m);
    pl_real Q[FS * FS];
    if (!pl_any(lagged))
        return;
    lagged_curvature(m, Q);
    for (int e = 0; e < FS * FS; e++)
        C[e] = pl_select(lagged, Q[e], C[e]);
}

#if COLUMNS > 1
/* F + t D / |D|, and the length of D, which may be 0. */
PL_INLINE pl_real stiffness_line(const pl_real F[FS], const pl_real D[FS], double t, pl_real at[FS])
{
    const pl_real size = pl_sqrt(damping_dot(D, D, FS));
    for (int e = 0; e < FS; e++)
        at[e] = F[e] + pl_set1(t) * D[e] / pl_max(size, pl_set1(DAMPING_NOTHING));
    return size;
}

/* KD = K(F) D and Psi'''[D, D]. */
PL_LARGE void stiffness_third(const law *m, const pl_real F[FS], const pl_real D[FS],
                              pl_real KD[FS], pl_real third[FS])
{
    static const double REACH = DAMPING_REACH;
    stiffness_frame k;
    pl_real at[FS], above[FS];
    stiffness_at(m, F, &k);
    stiffness_apply(&k, D, KD);
    stiffness_line(F, D, REACH, at);
    stiffness_at(m, at, &k);
    stiffness_apply(&k, D, above);
    const pl_real size = stiffness_line(F, D, -REACH, at);
    stiffness_at(m, at, &k);
    stiffness_apply(&k, D, third);
    for (int e = 0; e < FS; e++)
        third[e] = size * (above[e] - third[e]) / pl_set1(2 * REACH);
}

/* C += one K + two Psi'''[D] + three Psi''''[D, D]. */
PL_LARGE void stiffness_fourth(const law *m, const pl_real F[FS], const pl_real D[FS], pl_real one,
                               pl_real two, pl_real three, pl_real C[FS * FS])
{
    static const double REACH = DAMPING_REACH_2;
    stiffness_frame k[3];
    pl_real at[FS], size = pl_zero();
    for (int i = 0; i < 3; i++) {
        size = stiffness_line(F, D, (i - 1) * REACH, at);
        stiffness_at(m, at, &k[i]);
    }
#pragma GCC unroll 1
    for (int b = 0; b < FS; b++) {
        pl_real dF[FS], K[3][FS];
        for (int e = 0; e < FS; e++)
            dF[e] = e == b ? pl_one() : pl_zero();
        for (int i = 0; i < 3; i++)
            stiffness_apply(&k[i], dF, K[i]);
        for (int e = 0; e < FS; e++)
            C[FS * b + e] += one * K[1][e] + two * size * (K[2][e] - K[0][e]) / pl_set1(2 * REACH) +
                             three * size * size * (K[2][e] - (K[1][e] + K[1][e]) + K[0][e]) /
                                 pl_set1(REACH * REACH);
    }
}

#else
/* Exact for K = E (I - s0 (I - n n^T) / s): with a = n . D and w = D - a n
 *
 *     d (I - n n^T) / s along D   = -(a (I - n n^T) + w n^T + n w^T) / s^2
 *     ... twice                   = ((2 a^2 - |w|^2) (I - n n^T) + 4 a (w n^T + n w^T) + 2 |w|^2 n n^T - 2 w w^T) / s^3
 */
typedef struct stiffness_turn {
    pl_real n[3], s, young, share, a, w[3], w2;
} stiffness_turn;

PL_LARGE void stiffness_turning(const law *m, const pl_real F[3], const pl_real D[3],
                                stiffness_turn *at)
{
    stiffness_thread(m, F, at->n, &at->s, &at->young, &at->share);
    at->a = damping_dot(at->n, D, 3);
    for (int e = 0; e < 3; e++)
        at->w[e] = D[e] - at->a * at->n[e];
    at->w2 = damping_dot(at->w, at->w, 3);
}

/* KD = K(F) D and Psi'''[D, D]. */
PL_LARGE void stiffness_third(const law *m, const pl_real F[3], const pl_real D[3], pl_real KD[3],
                              pl_real third[3])
{
    stiffness_turn t;
    stiffness_turning(m, F, D, &t);
    const pl_real by = t.young * t.share / t.s;
    for (int e = 0; e < 3; e++) {
        KD[e] = t.young * (t.a * t.n[e] + (pl_one() - t.share) * t.w[e]);
        third[e] = by * (pl_set1(2) * t.a * t.w[e] + t.w2 * t.n[e]);
    }
}

/* C += one K + two Psi'''[D] + three Psi''''[D, D]. */
PL_LARGE void stiffness_fourth(const law *m, const pl_real F[3], const pl_real D[3], pl_real one,
                               pl_real two, pl_real three, pl_real C[9])
{
    stiffness_turn t;
    stiffness_turning(m, F, D, &t);
    const pl_real first = one * t.young, by = t.young * t.share / t.s;
    const pl_real second = two * by, fourth = -three * by / t.s;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const pl_real nn = t.n[i] * t.n[j], ww = t.w[i] * t.w[j];
            const pl_real across = (i == j ? pl_one() : pl_zero()) - nn;
            const pl_real mixed = t.w[i] * t.n[j] + t.n[i] * t.w[j];
            const pl_real two_a2 = pl_set1(2) * t.a * t.a;
            C[i + 3 * j] += first * (nn + (pl_one() - t.share) * across) +
                            second * (t.a * across + mixed) +
                            fourth * ((two_a2 - t.w2) * across + pl_set1(4) * t.a * mixed +
                                      pl_set1(2) * (t.w2 * nn - ww));
        }
}
#endif

/* R depends on q = D . K D. K has no lower bound where an element almost turns inside out, so neither has q, and q
 * is below 0 wherever K is not definite, where R would drive the element. So below 0, q is replaced by
 * q / (1 - q / q0). This has the value and the slope of q at 0 and tends to -q0, a hundredth of the stiffness at
 * the step's start. Returns the first two derivatives at q; 1 and 0 where q is not below 0. */
PL_INLINE pl_real rayleigh_bounded(const law *m, pl_real q, pl_real *slope, pl_real *bend)
{
#if COLUMNS == 3
    pl_real flip[3];
    damping_rows(m, PL_FROZEN_K_FLIP, 3, flip);
    const pl_real stiffness = pl_set1(0.01 / 3) * (flip[0] + flip[1] + flip[2]);
#else /* triangles: stiffness of motion in the plane; threads: of stretch */
    const pl_real stiffness = pl_set1(0.01) *
                              damping_row(m, COLUMNS == 2 ? PL_FROZEN_K_FLIP : PL_FROZEN_K_H);
#endif
    const pl_real q0 = pl_max(stiffness, pl_set1(DAMPING_NOTHING));
    const pl_mask below = pl_lt(q, pl_zero());
    const pl_real t = pl_one() / (pl_one() - pl_select(below, q, pl_zero()) / q0);
    *slope = pl_select(below, t * t, pl_one());
    *bend = pl_select(below, pl_set1(2) / q0 * t * t * t, pl_zero());
    return pl_select(below, q * t, q);
}

PL_LARGE void rayleigh_density(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    pl_real D[FS], Fp[FS], KD[FS], third[FS], half = pl_set1(0.5);
    const pl_real c = pl_set1(m->d->beta) * m->rate;
    damping_rows(m, PL_FROZEN_FP, FS, Fp);
    for (int e = 0; e < FS; e++)
        D[e] = F[e] - Fp[e];
    stiffness_third(m, F, D, KD, third);
    pl_real slope, bend;
    *s = half * c * rayleigh_bounded(m, damping_dot(D, KD, FS), &slope, &bend);
    for (int e = 0; e < FS; e++)
        P[e] = slope * (c * (KD[e] + half * third[e]));
    *s = pl_select(stiffness_outside(m, F), pl_set1(PL_SCALAR_INFINITY), *s);
    lagged_density_where(m, F, s, P);
}

/* Effect of the bound of q on C = c/2 d2q/dF2. */
PL_LARGE void rayleigh_bend(const law *m, const pl_real F[FS], const pl_real D[FS],
                            pl_real C[FS * FS])
{
    const pl_real c = pl_set1(m->d->beta) * m->rate;
    pl_real KD[FS], third[FS], slope, bend;
    stiffness_third(m, F, D, KD, third);
    (void)rayleigh_bounded(m, damping_dot(D, KD, FS), &slope, &bend);
    for (int e = 0; e < FS; e++)
        KD[e] = KD[e] + KD[e] + third[e]; /* dq/dF */
    for (int e = 0; e < FS * FS; e++)
        C[e] = slope * C[e] + pl_set1(0.5) * c * bend * KD[e % FS] * KD[e / FS];
}

PL_LARGE void rayleigh_curvature(const law *m, const pl_real F[FS], pl_real C[FS * FS])
{
    pl_real D[FS], Fp[FS];
    const pl_real c = pl_set1(m->d->beta) * m->rate;
    damping_rows(m, PL_FROZEN_FP, FS, Fp);
    for (int e = 0; e < FS; e++)
        D[e] = F[e] - Fp[e];
    for (int e = 0; e < FS * FS; e++)
        C[e] = pl_zero();
    stiffness_fourth(m, F, D, c, c + c, pl_set1(0.5) * c, C);
    rayleigh_bend(m, F, D, C);
    lagged_curvature_where(m, C);
}

/* ---- principal stretches, of tetrahedra ---- */

#if COLUMNS == 3

/* s of the stretches sg and its derivative, and on request the second derivatives H. */
PL_LARGE void principal_energy(const law *m, const pl_real sg[3], pl_real *s, pl_real g[3],
                               pl_real H[9])
{
    static const double REACH = DAMPING_REACH;
    pl_stretch_curvature c, above, below;
    pl_real from[3], d[3], g0[3], psi, psi0, lift = pl_zero();
    const pl_real k = pl_set1(m->d->beta) * m->rate;
    damping_rows(m, PL_FROZEN_PRINCIPAL, 3, from);
    pl_stretch_energy_gradient(&m->elastic, from, &psi0, g0);
    pl_stretch_energy_gradient(&m->elastic, sg, &psi, g0);
    pl_stretch_curve(&m->elastic, sg, &c);
    for (int i = 0; i < 3; i++) {
        d[i] = sg[i] - from[i];
        lift += d[i] * g0[i];
    }
    const pl_mask known = pl_lt(pl_abs(psi0), pl_set1(PL_SCALAR_INFINITY));
    *s = k * (lift - psi + pl_select(known, psi0, pl_zero()));
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
    lagged_density_where(m, F, s, P);
}

/* H and the quotients of a pair as in stretch_solid.h. The energy has a crease where two stretches meet. */
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
    lagged_curvature_where(m, C);
}
#endif
