/* damping_freeze.h - the data that a stage of the law of dissipation freezes when it begins, included after
 * damping_prox.h and terms_template.h. */

PL_INLINE void freeze_row(pl_number *frozen, int row, pl_real value)
{
    pl_store(frozen + row * PL_BLOCK, value);
}

PL_INLINE void freeze_rows(pl_number *frozen, int row, int count, const pl_real *values)
{
    for (int e = 0; e < count; e++)
        freeze_row(frozen, row + e, values[e]);
}

/* The largest multiplier of the principal stretches at F (Brown 2018, eq. 57); for a bend, of its two faces. */
PL_LARGE pl_real freeze_scale(const pl_damping *d, pl_real strain, const pl_real F[FS])
{
    pl_real U[FS], s[COLUMNS], V[SQUARE], most = pl_zero();
    if (d->strain.count == 0)
        return pl_one();
    damping_decompose(F, U, s, V);
#if COLUMNS == 1
    if (d->bends) /* one face stretches as much as the other is compressed */
        return pl_max(damping_spline(&d->strain, pl_one() + strain * s[0], NULL, NULL),
                      damping_spline(&d->strain, pl_one() - strain * s[0], NULL, NULL));
#endif
    for (int i = 0; i < COLUMNS; i++)
        most = pl_max(most, damping_spline(&d->strain, s[i], NULL, NULL));
    return most;
}

/* Relative to the size of K: smaller negative values are rounding. (At rest, K has eigenvalues of 0, those of
 * rotations.) And the share of a stage's motion that separates equal stretches. */
#ifdef PL_SINGLE
#define FREEZE_INDEFINITE 1e-4
#define FREEZE_UNTIE      1e-3
#else
#define FREEZE_INDEFINITE 1e-12
#define FREEZE_UNTIE      1e-9
#endif

/* K at F, projected; returns the lanes in which it was not semidefinite. For viscous damping, K is the identity. */
PL_LARGE pl_mask freeze_stiffness(const law *m, const pl_real F[FS], stiffness_frame *k)
{
    if (m->d->model == PL_DAMPING_VISCOUS) {
        pl_real s[3];
        damping_decompose(F, k->U, s, k->V);
        for (int e = 0; e < FRAME_H; e++)
            k->H[e] = e < COLUMNS ? pl_one() : pl_zero();
        for (int p = 0; p < FRAME_FLIP; p++)
            k->flip[p] = k->twist[p] = pl_one();
        return pl_lt(pl_one(), pl_zero());
    }
    stiffness_at(m, F, k);
    pl_real least = freeze_project(k->H), size = pl_zero();
    for (int e = 0; e < COLUMNS; e++)
        size += pl_abs(k->H[e]);
    for (int p = 0; p < FRAME_FLIP; p++) {
        size += pl_abs(k->flip[p]);
        least = pl_min(least, k->flip[p]);
        k->flip[p] = pl_max(k->flip[p], pl_zero());
    }
    for (int p = 0; p < FRAME_TWIST; p++) {
        size += pl_abs(k->twist[p]);
        least = pl_min(least, k->twist[p]);
        k->twist[p] = pl_max(k->twist[p], pl_zero());
    }
    return pl_lt(least, pl_set1(-FREEZE_INDEFINITE) * size);
}

/* K, and the elements that take its quadratic form. */
PL_INLINE void freeze_lagged(const stiffness_frame *k, pl_mask lagged, pl_number *frozen)
{
    freeze_rows(frozen, PL_FROZEN_K_U, FRAME_U, k->U);
    freeze_rows(frozen, PL_FROZEN_K_V, SQUARE, k->V);
    freeze_rows(frozen, PL_FROZEN_K_H, FRAME_H, k->H);
    freeze_rows(frozen, PL_FROZEN_K_FLIP, FRAME_FLIP, k->flip);
    freeze_rows(frozen, PL_FROZEN_K_TWIST, FRAME_TWIST, k->twist);
    freeze_row(frozen, PL_FROZEN_K_LAGGED, pl_select(lagged, pl_one(), pl_zero()));
}

/* F in the frame of its stretches, with `dS` of V in that frame. */
PL_LARGE void freeze_frame(const pl_real F[FS], const pl_real V[FS], stretch_point *at,
                           pl_real dS[SQUARE])
{
    pl_real W[FS];
    for (int e = 0; e < FS; e++)
        W[e] = pl_zero();
    damping_decompose(F, at->U, at->s, at->V);
    damping_add(W, pl_one(), V, at->V);
    stretch_rate(at, W, dS);
}

/* S += by V diag(s) V^T. */
PL_INLINE void freeze_add(const stretch_point *at, double by, pl_real S[SQUARE])
{
    pl_real diagonal[SQUARE], turned[SQUARE];
    for (int e = 0; e < SQUARE; e++)
        diagonal[e] = e % (COLUMNS + 1) ? pl_zero() : at->s[e / (COLUMNS + 1)];
    damping_turn(at->V, diagonal, true, turned);
    for (int e = 0; e < SQUARE; e++)
        S[e] += pl_set1(by) * turned[e];
}

/* S of Fp, for a stage of length a h = `within`.
 *
 * The rate of S is taken as r (S(F) - S(Fp)), where r (F - Fp) is the rate of F. S is not linear, so this has an
 * error of first order, a h/2 d2S[V, V]. The second-order correction subtracts the error from Sp, evaluated with
 * the known velocity V at F, the expected end of the stage:
 *
 *     Sp = S(Fp) + S(F) - a h dS(F)[V] - S(F - a h V)
 *
 * The correction is bounded by 2 a h |V| wherever stretches meet or vanish, and is 0 without motion. */
PL_LARGE void freeze_stretch(const law *m, pl_real within, const pl_real Fp[FS],
                             const pl_real V[FS], const pl_real F[FS], pl_number *frozen)
{
    stretch_point at;
    pl_real S[SQUARE], dS[SQUARE], turned[SQUARE], from[FS];
    for (int e = 0; e < SQUARE; e++)
        S[e] = pl_zero();
    freeze_frame(Fp, V, &at, dS);
    freeze_add(&at, 1, S);
    if (m->d->second_order) {
        for (int e = 0; e < FS; e++)
            from[e] = F[e] - within * V[e];
        freeze_frame(from, V, &at, dS);
        freeze_add(&at, -1, S);
        freeze_frame(F, V, &at, dS);
        freeze_add(&at, 1, S);
        damping_turn(at.V, dS, true, turned);
        for (int e = 0; e < SQUARE; e++)
            S[e] -= within * turned[e];
    }
    freeze_rows(frozen, PL_FROZEN_S, SQUARE, S);
}

#if COLUMNS == 3
/* The same for principal stretches, with K of them at F, projected. Stretches come sorted by size, so differences
 * mix up those that pass each other. Where two are about to meet within a h of the stage's end, R takes the lagged
 * form in the directions of F, which continue through the crossing. Where they are equal, as in an undeformed
 * start, a small share of the motion determines their directions. */
PL_LARGE void freeze_principal(const law *m, pl_real within, const pl_real Fp[9],
                               const pl_real V[9], const pl_real F[9], pl_number *frozen)
{
    stretch_point at, end;
    stiffness_frame k;
    pl_mask meet = pl_lt(pl_one(), pl_zero());
    pl_real dS[9], sg[3], near[9], from[9];
    freeze_frame(Fp, V, &at, dS);
    for (int i = 0; i < 3; i++)
        sg[i] = at.s[i];
    for (int e = 0; e < 9; e++) {
        near[e] = F[e] + pl_set1(FREEZE_UNTIE) * within * V[e];
        from[e] = near[e] - within * V[e];
    }
    stiffness_at(m, near, &k);
    (void)freeze_project(k.H);
    for (int p = 0; p < 3; p++)
        k.flip[p] = k.twist[p] = pl_zero();
    if (m->d->second_order) {
        freeze_frame(from, V, &at, dS);
        freeze_frame(near, V, &end, dS);
        for (int i = 0; i < 3; i++)
            sg[i] += end.s[i] - within * dS[4 * i] - at.s[i];
        for (int p = 0; p < 3; p++) {
            const int i = (p + 1) % 3, j = (p + 2) % 3;
            meet = pl_or(
                meet, pl_lt(pl_abs(end.s[i] - end.s[j]), within * pl_abs(dS[4 * i] - dS[4 * j])));
        }
    }
    freeze_rows(frozen, PL_FROZEN_PRINCIPAL, 3, sg);
    freeze_lagged(&k, meet, frozen);
}
#endif

/* Q of damping_strain.h, with the factor of R. */
PL_LARGE void freeze_strain(const law *m, const pl_real F[FS], pl_number *frozen)
{
    const pl_real by = pl_set1(m->d->model == PL_DAMPING_VISCOUS ? m->d->shear : m->d->beta);
    const pl_real half = pl_set1(0.5), least = pl_set1(0.05);
    stiffness_frame k;
    pl_real s[3], G[FRAME_H];
    damping_decompose(F, k.U, s, k.V);
    (void)freeze_stiffness(m, F, &k);
    for (int i = 0; i < COLUMNS; i++)
        s[i] = pl_copysign(pl_max(pl_abs(s[i]), least), s[i]);
    for (int e = 0; e < FRAME_H; e++) {
        const int i = e < COLUMNS ? e : e - COLUMNS == 2 ? 1 : 0;
        const int j = e < COLUMNS ? e : e - COLUMNS == 0 ? 1 : 2;
        G[e] = by * k.H[e] / (s[i] * s[j]);
    }
    freeze_rows(frozen, PL_FROZEN_Q_V, SQUARE, k.V);
    freeze_rows(frozen, PL_FROZEN_Q_G, FRAME_H, G);
    for (int p = 0; p < FRAME_TWIST; p++) { /* triangles: their only pair */
        const bool project = m->d->momentum == PL_MOMENTUM_NONRIGID;
        const int i = COLUMNS == 3 ? (p + 1) % 3 : 0, j = COLUMNS == 3 ? (p + 2) % 3 : 1;
        const pl_real a = s[i], b = s[j], both = a * a + b * b;
        const pl_real x = project ? a / both : half / a, y = project ? b / both : half / b;
        freeze_row(frozen, PL_FROZEN_Q_K + p,
                   by * half * (k.flip[p] * (x + y) * (x + y) + k.twist[p] * (x - y) * (x - y)));
    }
}

/* The function's own rows: Fp of the stage, V of its velocities, F where coefficients are taken. */
PL_LARGE void freeze_own(const law *m, pl_real within, const pl_real Fp[FS], const pl_real V[FS],
                         const pl_real F[FS], pl_number *frozen)
{
    if (pl_damping_is_strain(m->d)) {
        if (m->d->model != PL_DAMPING_STRAIN_RATE)
            freeze_strain(m, F, frozen);
        return;
    }
    if (m->d->model == PL_DAMPING_RAYLEIGH || m->d->model == PL_DAMPING_RAYLEIGH_LAGGED) {
        stiffness_frame k;
        const pl_mask changed = freeze_stiffness(m, F, &k);
        freeze_lagged(&k, changed, frozen);
        return;
    }
#if COLUMNS == 3
    if (m->d->model == PL_DAMPING_PRINCIPAL_STRAIN) {
        freeze_principal(m, within, Fp, V, F, frozen);
        return;
    }
#endif
    if (m->d->model != PL_DAMPING_VISCOUS && m->d->model != PL_DAMPING_STRAIN_RATE)
        freeze_stretch(m, within, Fp, V, F, frozen);
}

/* All rows of block `b`: Fp of the stage, V of its velocities, F where coefficients are taken. */
PL_LARGE void freeze_block(const pl_terms *t, int64_t b, const pl_stage *stage,
                           const pl_real Fp[FS], const pl_real V[FS], const pl_real F[FS])
{
    pl_number *frozen = t->frozen + b * t->frozen_rows * PL_BLOCK;
    const double within = stage->scalars.a * stage->scalars.h;
    freeze_row(frozen, PL_FROZEN_RATE, pl_set1(1 / within));
    freeze_rows(frozen, PL_FROZEN_FP, FS, Fp);
    freeze_rows(frozen, PL_FROZEN_V, FS, V);
    law m = law_load(t, b);
    freeze_row(frozen, PL_FROZEN_SCALE, freeze_scale(t->damping, m.strain, F));
    m = law_load(t, b);
    freeze_own(&m, pl_set1(within), Fp, V, F, frozen);
}

PL_TERM void damping_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    const pl_terms *t = pl_terms_of(g);
    const pl_real ahead = pl_set1(stage->scalars.span);
    for (int64_t b = b0; b < b1; b++) {
        pl_real Fp[FS], F[FS], V[FS];
        apply(g, b, stage->xp, Fp);
        apply(g, b, stage->x_start, F);
        for (int e = 0; e < FS; e++)
            V[e] = pl_zero();
        if (t->damping->second_order) {
            apply(g, b, stage->v_start, V);
            for (int e = 0; e < FS; e++)
                F[e] += ahead * V[e];
        }
        freeze_block(t, b, stage, Fp, V, F);
    }
}

PL_TERM void damping_dissipate(const pl_group *g, const pl_number *x, pl_number *power, int64_t b0,
                               int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real q[ROWS];
        const law m = law_load(pl_terms_of(g), b);
        apply(g, b, x, q);
        PL_PUT_SUM(power, b, law_power(&m, q));
    }
}
