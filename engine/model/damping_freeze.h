/* damping_freeze.h - what a stage of the law of dissipation begins with, included after damping_prox.h
 * and terms_template.h. */

PL_INLINE void freeze_row(pl_number *frozen, int row, pl_real value)
{
    pl_store(frozen + row * PL_BLOCK, value);
}

PL_INLINE void freeze_rows(pl_number *frozen, int row, int count, const pl_real *values)
{
    for (int e = 0; e < count; e++)
        freeze_row(frozen, row + e, values[e]);
}

/* The largest multiplier of the principal stretches at F (Brown 2018, eq. 57). */
PL_LARGE pl_real freeze_scale(const pl_damping *d, const pl_real F[FS])
{
    pl_real U[FS], s[COLUMNS], V[SQUARE], most = pl_zero();
    if (d->strain.count == 0)
        return pl_one();
    damping_decompose(F, U, s, V);
    for (int i = 0; i < COLUMNS; i++)
        most = pl_max(most, damping_spline(&d->strain, s[i], NULL, NULL));
    return most;
}

/* S of Fp, or its principal stretches. */
PL_LARGE void freeze_stretch(const pl_damping *d, const pl_real Fp[FS], pl_number *frozen)
{
    pl_real U[FS], s[COLUMNS], V[SQUARE], diagonal[SQUARE], S[SQUARE];
    damping_decompose(Fp, U, s, V);
    if (d->model == PL_DAMPING_PRINCIPAL_STRAIN) {
        freeze_rows(frozen, PL_FROZEN_S, COLUMNS, s);
        return;
    }
    for (int e = 0; e < SQUARE; e++)
        diagonal[e] = e % (COLUMNS + 1) ? pl_zero() : s[e / (COLUMNS + 1)];
    damping_turn(V, diagonal, true, S);
    freeze_rows(frozen, PL_FROZEN_S, SQUARE, S);
}

#if COLUMNS == 3
/* H [00 11 22 01 02 12] without its negative eigenvalues, by Jacobi's rotations; the least of them. */
PL_LARGE pl_real freeze_project(pl_real H[6])
{
    pl_real A[9] = {H[0], H[3], H[4], H[3], H[1], H[5], H[4], H[5], H[2]}, V[9];
    pl_real least = pl_set1(PL_SCALAR_INFINITY);
    for (int e = 0; e < 9; e++)
        V[e] = e % 4 ? pl_zero() : pl_one();
    for (int turn = 0; turn < 15; turn++) {
        const int i = turn % 3, j = (turn + 1) % 3;
        const pl_real d = pl_set1(0.5) * (A[4 * i] - A[4 * j]), x = A[i + 3 * j];
        const pl_real h = pl_abs(d) + pl_sqrt(d * d + x * x);
        const pl_mask any = pl_gt(h, pl_zero());
        const pl_real t = pl_select(any, pl_flip_sign(x, d) / pl_select(any, h, pl_one()),
                                    pl_zero());
        const pl_real c = pl_one() / pl_sqrt(pl_one() + t * t), s = t * c;
        for (int r = 0; r < 3; r++) {
            const pl_real p = A[r + 3 * i], q = A[r + 3 * j], v = V[r + 3 * i], w = V[r + 3 * j];
            A[r + 3 * i] = c * p + s * q;
            A[r + 3 * j] = c * q - s * p;
            V[r + 3 * i] = c * v + s * w;
            V[r + 3 * j] = c * w - s * v;
        }
        for (int r = 0; r < 3; r++) {
            const pl_real p = A[i + 3 * r], q = A[j + 3 * r];
            A[i + 3 * r] = c * p + s * q;
            A[j + 3 * r] = c * q - s * p;
        }
    }
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int e = 0; e < 6; e++) {
        H[e] = pl_zero();
        for (int k = 0; k < 3; k++)
            H[e] += pl_max(A[4 * k], pl_zero()) * V[at[e][0] + 3 * k] * V[at[e][1] + 3 * k];
    }
    for (int k = 0; k < 3; k++)
        least = pl_min(least, A[4 * k]);
    return least;
}

/* K at F, projected; which lanes it changed. Of viscous damping K is the identity. */
PL_LARGE pl_mask freeze_stiffness(const law *m, const pl_real F[9], stiffness_frame *k)
{
    if (m->d->model == PL_DAMPING_VISCOUS) {
        pl_real s[3];
        damping_decompose(F, k->U, s, k->V);
        for (int e = 0; e < 6; e++)
            k->H[e] = e < 3 ? pl_one() : pl_zero();
        for (int p = 0; p < 3; p++)
            k->flip[p] = k->twist[p] = pl_one();
        return pl_lt(pl_one(), pl_zero());
    }
    stiffness_at(m, F, k);
    pl_real least = freeze_project(k->H);
    for (int p = 0; p < 3; p++) {
        least = pl_min(least, pl_min(k->flip[p], k->twist[p]));
        k->flip[p] = pl_max(k->flip[p], pl_zero());
        k->twist[p] = pl_max(k->twist[p], pl_zero());
    }
    return pl_lt(least, pl_zero());
}

/* Q of damping_strain.h, with what R is proportional to. */
PL_LARGE void freeze_strain(const law *m, const pl_real F[9], pl_number *frozen)
{
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const pl_real by = pl_set1(m->d->model == PL_DAMPING_VISCOUS ? m->d->shear : m->d->beta);
    const pl_real half = pl_set1(0.5), least = pl_set1(0.05);
    const bool project = m->d->momentum == PL_MOMENTUM_NONRIGID;
    stiffness_frame k;
    pl_real s[3], G[6], pairs[3];
    damping_decompose(F, k.U, s, k.V);
    (void)freeze_stiffness(m, F, &k);
    for (int i = 0; i < 3; i++)
        s[i] = pl_copysign(pl_max(pl_abs(s[i]), least), s[i]);
    for (int e = 0; e < 6; e++)
        G[e] = by * k.H[e] / (s[at[e][0]] * s[at[e][1]]);
    for (int p = 0; p < 3; p++) {
        const pl_real a = s[(p + 1) % 3], b = s[(p + 2) % 3], both = a * a + b * b;
        const pl_real x = project ? a / both : half / a, y = project ? b / both : half / b;
        pairs[p] = by * half * (k.flip[p] * (x + y) * (x + y) + k.twist[p] * (x - y) * (x - y));
    }
    freeze_rows(frozen, PL_FROZEN_Q_V, 9, k.V);
    freeze_rows(frozen, PL_FROZEN_Q_G, 6, G);
    freeze_rows(frozen, PL_FROZEN_Q_K, 3, pairs);
}
#endif

/* The rows of a function's own: Fp is of the stage, F where coefficients are taken. */
PL_LARGE void freeze_own(const law *m, const pl_real Fp[FS], const pl_real F[FS], pl_number *frozen)
{
#if COLUMNS == 3
    if (pl_damping_is_strain(m->d)) {
        if (m->d->model != PL_DAMPING_STRAIN_RATE)
            freeze_strain(m, F, frozen);
        return;
    }
    if (m->d->model == PL_DAMPING_RAYLEIGH || m->d->model == PL_DAMPING_RAYLEIGH_LAGGED) {
        stiffness_frame k;
        const pl_mask changed = freeze_stiffness(m, F, &k);
        freeze_rows(frozen, PL_FROZEN_K_U, 9, k.U);
        freeze_rows(frozen, PL_FROZEN_K_V, 9, k.V);
        freeze_rows(frozen, PL_FROZEN_K_H, 6, k.H);
        freeze_rows(frozen, PL_FROZEN_K_FLIP, 3, k.flip);
        freeze_rows(frozen, PL_FROZEN_K_TWIST, 3, k.twist);
        freeze_row(frozen, PL_FROZEN_K_LAGGED, pl_select(changed, pl_one(), pl_zero()));
        return;
    }
#endif
    if (m->d->model != PL_DAMPING_VISCOUS && m->d->model != PL_DAMPING_STRAIN_RATE)
        freeze_stretch(m->d, Fp, frozen);
}

PL_TERM void damping_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    const pl_terms *t = pl_terms_of(g);
    const pl_damping *d = t->damping;
    const pl_real ahead = pl_set1(stage->span);
    const pl_real rate = pl_set1(1 / (stage->a * stage->h));
    for (int64_t b = b0; b < b1; b++) {
        pl_number *frozen = t->frozen + b * t->frozen_rows * PL_BLOCK;
        pl_real Fp[FS], F[FS], V[FS];
        freeze_row(frozen, PL_FROZEN_RATE, rate);
        apply(g, b, (const pl_number *)stage->xp, Fp); /* on a device they are numbers */
        apply(g, b, (const pl_number *)stage->x_start, F);
        for (int e = 0; e < FS; e++)
            V[e] = pl_zero();
        if (d->second_order) {
            apply(g, b, (const pl_number *)stage->v_start, V);
            for (int e = 0; e < FS; e++)
                F[e] += ahead * V[e];
        }
        freeze_rows(frozen, PL_FROZEN_FP, FS, Fp);
        freeze_rows(frozen, PL_FROZEN_V, FS, V);
        freeze_row(frozen, PL_FROZEN_SCALE, freeze_scale(d, F));
        const law m = law_load(t, b);
        freeze_own(&m, Fp, F, frozen);
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
