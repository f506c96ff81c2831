/* damping_strain.h - R of Green's strain rate (Brown 2018, eq. 41-44), included by damping_law.h's users:
 *
 *     R = 1/2 B : Q B,   B ~ dE/dt
 *
 * For strain_rate, Q B = 2 psi B + phi tr(B) I. For other functions corrected for momentum (6.2, 6.3), Q is frozen
 * in the frame of its stretches. Without a correction, B = sym(F^T (F - Fp)) r, which is eq. 41. With one,
 * B = (E(F) - E(Fp)) r: a function of F^T F alone, so it sees no rotation, whatever its angle, and its forces have
 * no torque.
 *
 * The second-order correction takes that form, too. Its derivative is F Q B, the force, whereas the derivative of
 * the first form also contains (dB/dF - F) Q B. E is quadratic, so the difference between E - Ep and a h dE/dt is
 * known exactly: (a h)^2/2 V^T V, with the known velocity V. Brown's own correction, eq. 26, subtracts a h R(F, V),
 * which is concave and creates energy where a step does not resolve an impact.
 *
 * Q of a quadratic R(F, dF/dt) = 1/2 dF/dt : K dF/dt: in the frame of F = U diag(s) V^T, a velocity is U A V^T. Its
 * nonrigid part consists of A_ii and, for a pair i < j, (A_ij, A_ji) = t (x_i, x_j), where t = s_i A_ij + s_j
 * A_ji = 2 B_ij. By projection x_i = s_i / (s_i^2 + s_j^2), because rigid velocities are (-s_j, s_i) there; by the
 * rate of deformation x_i = 1 / (2 s_i). So R depends only on B_ii = s_i A_ii and B_ij:
 *
 *     2 R = sum H_ij B_ii B_jj / (s_i s_j) + sum over pairs of k t^2,
 *     k = flip (x_i + x_j)^2 / 2 + twist (x_i - x_j)^2 / 2.
 */

/* T = Q B. */
PL_LARGE void strain_stress(const law *m, const pl_real B[SQUARE], pl_real T[SQUARE])
{
    if (m->d->model != PL_DAMPING_STRAIN_RATE) {
        pl_real V[SQUARE], G[6], k[3], b[SQUARE], t[SQUARE];
        damping_rows(m, PL_FROZEN_Q_V, SQUARE, V);
        damping_rows(m, PL_FROZEN_Q_G, FRAME_H, G);
        damping_rows(m, PL_FROZEN_Q_K, FRAME_TWIST, k);
        damping_turn(V, B, false, b);
#if COLUMNS == 3
        t[0] = G[0] * b[0] + G[3] * b[4] + G[4] * b[8];
        t[4] = G[3] * b[0] + G[1] * b[4] + G[5] * b[8];
        t[8] = G[4] * b[0] + G[5] * b[4] + G[2] * b[8];
        for (int p = 0; p < 3; p++) {
            const int i = (p + 1) % 3, j = (p + 2) % 3;
            t[i + 3 * j] = t[j + 3 * i] = pl_set1(2) * k[p] * b[i + 3 * j];
        }
#elif COLUMNS == 2
        t[0] = G[0] * b[0] + G[2] * b[3];
        t[3] = G[2] * b[0] + G[1] * b[3];
        t[1] = t[2] = pl_set1(2) * k[0] * b[2];
#else
        (void)k;
        t[0] = G[0] * b[0];
#endif
        damping_turn(V, t, true, T);
        return;
    }
    pl_real trace = pl_zero();
    for (int i = 0; i < COLUMNS; i++)
        trace += B[i + COLUMNS * i];
    for (int e = 0; e < SQUARE; e++)
        T[e] = pl_set1(2 * m->d->shear) * B[e];
    for (int i = 0; i < COLUMNS; i++)
        T[i + COLUMNS * i] += pl_set1(m->d->bulk) * trace;
}

/* Parts of B and its derivative: dB = r sym(X^T dF), and d(X) = chi dF. */
typedef struct strain_point {
    pl_real X[FS], T[SQUARE], half_work; /* 1/2 B : T */
    double chi;
} strain_point;

PL_LARGE void strain_at(const law *m, const pl_real F[FS], strain_point *at)
{
    pl_real Fp[FS], Y[FS], B[SQUARE];
    const bool invariant = m->d->momentum != PL_MOMENTUM_NONE || m->d->second_order;
    damping_rows(m, PL_FROZEN_FP, FS, Fp);
    for (int e = 0; e < FS; e++) {
        Y[e] = F[e] - Fp[e];
        at->X[e] = invariant ? F[e] : F[e] + Y[e];
    }
    at->chi = invariant ? 1 : 2;
    if (invariant) { /* E - Ep = sym((F + Fp)^T (F - Fp)) / 2 */
        pl_real sum[FS];
        for (int e = 0; e < FS; e++)
            sum[e] = pl_set1(0.5) * (F[e] + Fp[e]);
        damping_sym(sum, Y, B);
    } else {
        damping_sym(F, Y, B);
    }
    for (int e = 0; e < SQUARE; e++)
        B[e] *= m->rate;
    if (invariant && m->d->second_order) {
        /* The difference between E(F - a h dF/dt) and E - a h dE/dt, from the known velocity. */
        pl_real V[FS], W[SQUARE];
        damping_rows(m, PL_FROZEN_V, FS, V);
        damping_sym(V, V, W);
        for (int e = 0; e < SQUARE; e++)
            B[e] += pl_set1(0.5) * W[e] / m->rate;
    }
    strain_stress(m, B, at->T);
    at->half_work = pl_set1(0.5) * damping_dot(B, at->T, SQUARE);
}

PL_LARGE void strain_density(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    strain_point at;
    strain_at(m, F, &at);
    *s = at.half_work / m->rate;
    for (int e = 0; e < FS; e++)
        P[e] = pl_zero();
    damping_add(P, pl_one(), at.X, at.T);
}

/* dP = chi dF T + X Q (r sym(X^T dF)). */
PL_LARGE void strain_curvature(const law *m, const pl_real F[FS], pl_real C[FS * FS])
{
    strain_point at;
    strain_at(m, F, &at);
    pl_real B[SQUARE], T[SQUARE];
#pragma GCC unroll 1
    for (int b = 0; b < FS; b++) {
        pl_real dF[FS], *dP = C + FS * b;
        for (int e = 0; e < FS; e++) {
            dF[e] = e == b ? pl_one() : pl_zero();
            dP[e] = pl_zero();
        }
        damping_add(dP, pl_set1(at.chi), dF, at.T);
        damping_sym(at.X, dF, B);
        strain_stress(m, B, T);
        damping_add(dP, m->rate, at.X, T);
    }
}

/* ---- viscous: R = eta/2 |dF/dt|^2 (Wang 2016, section 6, for a vertex or for neighbours) ---- */

PL_LARGE void viscous_density(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    pl_real Fp[FS], sum = pl_zero();
    const pl_real eta = pl_set1(m->d->shear) * m->rate;
    damping_rows(m, PL_FROZEN_FP, FS, Fp);
    for (int e = 0; e < FS; e++) {
        const pl_real d = F[e] - Fp[e];
        P[e] = eta * d;
        sum += d * d;
    }
    *s = pl_set1(0.5) * eta * sum;
}

PL_INLINE void viscous_curvature(const law *m, pl_real C[FS * FS])
{
    const pl_real eta = pl_set1(m->d->shear) * m->rate;
    for (int e = 0; e < FS * FS; e++)
        C[e] = e % (FS + 1) ? pl_zero() : eta;
}
