/* damping_stretch.h - R of the rate of the stretch tensor S of F = R S (Brown 2018, section 5.2 and appendix B),
 * included by damping_law.h's users:
 *
 *     R = phi(x),  x = |S - Sp| r,  phi' = psi(x) x
 *     power law     psi = beta (p + 1) (x^2 + e^2)^((p - 1) / 2)      (eq. 75; e > 0 for p < 1 only)
 *     rate spline   psi = 2 eta m(x)                                  (section 5.2.2)
 *
 * Derivatives. In the frame of F = U diag(s) V^T, with W = dF V and A = U^T W, S^2 = F^T F gives
 *
 *     dS_ij = (s_i A_ij + s_j A_ji) / (s_i + s_j),   d2S_ij = 2 (W^T W - dS dS)_ij / (s_i + s_j)
 *
 * so with G = ds/dS = psi r (S - Sp) and Y_ij = 2 G_ij / (s_i + s_j), the stress is s_i Y_ij there, and the Hessian
 * is L^T (dG/dS - sym(Y .)) L + W Y, with L the map from A to dS.
 *
 * Prox (appendix B), in two alternating steps, neither of which increases the objective. For a given R, S lies
 * between Sp and T = sym(R^T F~), and |S - Sp| = t is the root of psi(r t) r t + k (t - |T - Sp|) in [0, |T - Sp|];
 * the root is unique for every phi whose slope increases. For a given S, R is the rotation of the polar
 * decomposition of F~ S.
 *
 * For a bend (`bends`, one column), F itself is the strain and is 0 at rest, so x = |F - Fp| r, and the prox is
 * that root along F~ - Fp.
 */

/* phi, psi and psi' / x at x = sqrt(x2). */
PL_LARGE void stretch_radial(const law *m, pl_real x2, pl_real *phi, pl_real *psi, pl_real *bend)
{
    const pl_damping *d = m->d;
    if (d->model == PL_DAMPING_RATE_SPLINE) {
        const pl_real x = pl_sqrt(x2), twice = pl_set1(2 * d->shear);
        pl_real slope, area;
        *psi = twice * damping_spline(&d->rate, x, &slope, &area);
        *phi = twice * area;
        *bend = twice * slope / pl_max(x, pl_set1(1e-12));
        return;
    }
    const double p = d->power, e = p < 1 ? d->smoothing : 0;
    const pl_real base = pl_max(x2 + pl_set1(e * e), pl_set1(1e-24));
    const pl_real root = p == 1 ? pl_one() : pl_exp(pl_set1((p - 1) / 2) * pl_log(base));
    *psi = pl_set1(d->coefficient * (p + 1)) * root;
    *phi = pl_set1(d->coefficient) * (root * base - pl_set1(e > 0 ? pow(e, p + 1) : 0));
    *bend = pl_set1(p - 1) * *psi / base;
}

#if COLUMNS == 1
/* D = F - Fp, and phi, psi and bend there. */
PL_LARGE void bend_at(const law *m, const pl_real F[3], pl_real D[3], pl_real *phi, pl_real *psi,
                      pl_real *bend)
{
    damping_rows(m, PL_FROZEN_FP, 3, D);
    for (int e = 0; e < 3; e++)
        D[e] = F[e] - D[e];
    stretch_radial(m, damping_dot(D, D, 3) * m->rate * m->rate, phi, psi, bend);
}
#endif

typedef struct stretch_point {
    pl_real U[FS], s[COLUMNS], V[SQUARE], D[SQUARE]; /* D: S - Sp in the frame */
    pl_real phi, psi, bend;
} stretch_point;

PL_LARGE void stretch_at(const law *m, const pl_real F[FS], stretch_point *at)
{
    pl_real Sp[SQUARE];
    damping_rows(m, PL_FROZEN_S, SQUARE, Sp);
    damping_decompose(F, at->U, at->s, at->V);
    damping_turn(at->V, Sp, false, at->D);
    for (int e = 0; e < SQUARE; e++)
        at->D[e] = (e % (COLUMNS + 1) ? pl_zero() : at->s[e / (COLUMNS + 1)]) - at->D[e];
    const pl_real size = damping_dot(at->D, at->D, SQUARE) * m->rate * m->rate;
    stretch_radial(m, size, &at->phi, &at->psi, &at->bend);
}

PL_INLINE pl_real stretch_thickness(const stretch_point *at, int i, int j)
{
    return pl_max(at->s[i] + at->s[j], pl_set1(PL_STRETCH_CREASE));
}

/* dS = L A in the frame, for W = dF V. */
PL_INLINE void stretch_rate(const stretch_point *at, const pl_real W[FS], pl_real dS[SQUARE])
{
    pl_real A[SQUARE];
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++)
            A[i + COLUMNS * j] = damping_dot(at->U + 3 * i, W + 3 * j, 3);
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++)
            dS[i + COLUMNS * j] = (at->s[i] * A[i + COLUMNS * j] + at->s[j] * A[j + COLUMNS * i]) /
                                  stretch_thickness(at, i, j);
}

/* L^T M, in the frame. */
PL_INLINE void stretch_pull(const stretch_point *at, const pl_real M[SQUARE], pl_real out[SQUARE])
{
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++)
            out[i + COLUMNS * j] = pl_set1(2) * at->s[i] * M[i + COLUMNS * j] /
                                   stretch_thickness(at, i, j);
}

/* P += X B V^T. */
PL_INLINE void stretch_compose(const pl_real X[FS], const pl_real B[SQUARE],
                               const pl_real V[SQUARE], pl_real P[FS])
{
    pl_real XB[FS], turned[SQUARE];
    for (int e = 0; e < FS; e++)
        XB[e] = pl_zero();
    damping_add(XB, pl_one(), X, B);
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++)
            turned[i + COLUMNS * j] = V[j + COLUMNS * i];
    damping_add(P, pl_one(), XB, turned);
}

PL_LARGE void stretch_density(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    stretch_point at;
    pl_real G[SQUARE], Q[SQUARE];
#if COLUMNS == 1
    if (m->d->bends) {
        pl_real phi, psi, bend;
        bend_at(m, F, P, &phi, &psi, &bend);
        *s = phi / m->rate;
        for (int e = 0; e < 3; e++)
            P[e] *= psi * m->rate;
        return;
    }
#endif
    stretch_at(m, F, &at);
    *s = at.phi / m->rate;
    for (int e = 0; e < SQUARE; e++)
        G[e] = at.psi * m->rate * at.D[e];
    stretch_pull(&at, G, Q);
    for (int e = 0; e < FS; e++)
        P[e] = pl_zero();
    stretch_compose(at.U, Q, at.V, P);
}

/* M = (dG/dS) dS - sym(Y dS). */
PL_LARGE void stretch_change(const law *m, const stretch_point *at, const pl_real Y[SQUARE],
                             const pl_real dS[SQUARE], pl_real M[SQUARE])
{
    const pl_real along = at->bend * m->rate * m->rate * damping_dot(at->D, dS, SQUARE);
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            pl_real sum = pl_zero();
            for (int k = 0; k < COLUMNS; k++)
                sum += Y[i + COLUMNS * k] * dS[k + COLUMNS * j] +
                       Y[j + COLUMNS * k] * dS[k + COLUMNS * i];
            const int e = i + COLUMNS * j;
            M[e] = m->rate * (at->psi * dS[e] + along * at->D[e]) - pl_set1(0.5) * sum;
        }
}

PL_LARGE void stretch_curvature(const law *m, const pl_real F[FS], pl_real C[FS * FS])
{
    stretch_point at;
    pl_real Y[SQUARE];
#if COLUMNS == 1
    if (m->d->bends) {
        pl_real D[3], phi, psi, bend;
        bend_at(m, F, D, &phi, &psi, &bend);
        for (int e = 0; e < 9; e++)
            C[e] = m->rate *
                   ((e % 4 ? pl_zero() : psi) + bend * m->rate * m->rate * D[e % 3] * D[e / 3]);
        return;
    }
#endif
    stretch_at(m, F, &at);
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++)
            Y[i + COLUMNS * j] = pl_set1(2) * at.psi * m->rate * at.D[i + COLUMNS * j] /
                                 stretch_thickness(&at, i, j);
#pragma GCC unroll 1
    for (int b = 0; b < FS; b++) {
        pl_real W[FS], dS[SQUARE], M[SQUARE], Q[SQUARE], *dP = C + FS * b;
        for (int e = 0; e < FS; e++) { /* dF V for dF = 1 in row b % 3 and column b / 3 */
            W[e] = e % 3 == b % 3 ? at.V[b / 3 + COLUMNS * (e / 3)] : pl_zero();
            dP[e] = pl_zero();
        }
        stretch_rate(&at, W, dS);
        stretch_change(m, &at, Y, dS, M);
        stretch_pull(&at, M, Q);
        stretch_compose(at.U, Q, at.V, dP);
        stretch_compose(W, Y, at.V, dP);
    }
}

/* The root t in [0, L] of psi(r t) r t + k (t - L): Newton's method within a bracket. */
PL_LARGE pl_real stretch_root(const law *m, pl_real k, pl_real L)
{
    enum { STEPS = 80 };
    pl_real low = pl_zero(), high = L, t = L;
    pl_mask settled = pl_le(L, pl_zero());
    for (int step = 0; step < STEPS && !pl_all(settled); step++) {
        pl_real phi, psi, bend;
        const pl_real x = m->rate * t;
        stretch_radial(m, x * x, &phi, &psi, &bend);
        const pl_real h = psi * x + k * (t - L);
        const pl_real slope = m->rate * (psi + bend * x * x) + k;
        const pl_mask above = pl_gt(h, pl_zero());
        high = pl_select(above, t, high);
        low = pl_select(above, low, t);
        pl_real next = t - h / slope;
        const pl_mask inside = pl_and(pl_ge(next, low), pl_le(next, high));
        next = pl_select(inside, next, pl_set1(0.5) * (low + high));
        const pl_mask still = pl_le(pl_abs(next - t), pl_set1(DAMPING_STILL) * L);
        t = pl_select(settled, t, next);
        settled = pl_or(settled, still);
    }
    return t;
}

/* Z = R S, with R the rotation of the polar decomposition of v S. */
PL_INLINE void stretch_rotate(const pl_real v[FS], const pl_real S[SQUARE], pl_real R[FS],
                              pl_real Z[FS])
{
    pl_real M[FS], U[FS], s[COLUMNS], V[SQUARE], one[SQUARE];
    for (int e = 0; e < FS; e++)
        M[e] = R[e] = Z[e] = pl_zero();
    for (int e = 0; e < SQUARE; e++)
        one[e] = e % (COLUMNS + 1) ? pl_zero() : pl_one();
    damping_add(M, pl_one(), v, S);
    damping_decompose(M, U, s, V);
    stretch_compose(U, one, V, R);
    damping_add(Z, pl_one(), R, S);
}

PL_LARGE void stretch_prox(const law *m, pl_real k, const pl_real v[FS], pl_real z[FS])
{
    enum { TURNS = 60 };
    pl_real R[FS], S[SQUARE], Sp[SQUARE], one[SQUARE], next[FS];
    pl_mask settled = pl_gt(pl_zero(), pl_zero());
#if COLUMNS == 1
    if (m->d->bends) {
        pl_real Fp[3], D[3];
        damping_rows(m, PL_FROZEN_FP, 3, Fp);
        for (int e = 0; e < 3; e++)
            D[e] = v[e] - Fp[e];
        const pl_real L = pl_sqrt(damping_dot(D, D, 3));
        const pl_real share = stretch_root(m, k, L) / pl_max(L, pl_set1(DAMPING_NOTHING));
        for (int e = 0; e < 3; e++)
            z[e] = Fp[e] + share * D[e];
        return;
    }
#endif
    damping_rows(m, PL_FROZEN_S, SQUARE, Sp);
    for (int e = 0; e < SQUARE; e++)
        one[e] = e % (COLUMNS + 1) ? pl_zero() : pl_one();
    stretch_rotate(v, one, R, z);
    for (int turn = 0; turn < TURNS && !pl_all(settled); turn++) {
        pl_real T[SQUARE], moved = pl_zero(), size = pl_one();
        damping_sym(R, v, T);
        for (int e = 0; e < SQUARE; e++)
            T[e] -= Sp[e];
        const pl_real L = pl_sqrt(damping_dot(T, T, SQUARE));
        const pl_real share = stretch_root(m, k, L) / pl_max(L, pl_set1(DAMPING_NOTHING));
        for (int e = 0; e < SQUARE; e++)
            S[e] = Sp[e] + share * T[e];
        pl_real turned[FS];
        stretch_rotate(v, S, turned, next);
        for (int e = 0; e < FS; e++) {
            moved = pl_max(moved, pl_abs(next[e] - z[e]));
            size = pl_max(size, pl_abs(z[e]));
            R[e] = pl_select(settled, R[e], turned[e]);
            z[e] = pl_select(settled, z[e], next[e]);
        }
        settled = pl_or(settled, pl_le(moved, pl_set1(2 * DAMPING_STILL) * size));
    }
}
