/* damping_frame.h - the energy Psi of an element with its tangent stiffness K(F) = d2 Psi / dF2, by the number of
 * columns of F, included by damping_law.h's users:
 *
 *     3, tetrahedra            the material (stretch_solid.h)
 *     2, triangles             the material in plane stress (plane_stress.h)
 *     1, edges, fibres, bends  E/2 (|F| - s0)^2, with E and s0 in place of the material's constants; s0 = 0 is
 *                              an angle as a vector, with K = E I
 *
 * K is kept in the frame of F = U diag(s) V^T: H for the stretches; `flip` and `twist`, by pairs of stretches, for
 * motion within that frame. Stiffness against rotation out of a triangle's plane or across an edge follows them in
 * `flip`.
 */
enum {
    FRAME_U = COLUMNS == 1 ? 3 : 9, /* triangles: completed by the normal */
    FRAME_H = COLUMNS * (COLUMNS + 1) / 2,
    FRAME_FLIP = COLUMNS == 1 ? 1 : 3,
    FRAME_TWIST = COLUMNS == 3 ? 3 : COLUMNS - 1,
};
typedef struct stiffness_frame {
    pl_real U[9], V[SQUARE], H[6], flip[3], twist[3];
} stiffness_frame;

/* From the frozen rows of a stage. */
PL_INLINE void stiffness_load(const law *m, stiffness_frame *k)
{
    damping_rows(m, PL_FROZEN_K_U, FRAME_U, k->U);
    damping_rows(m, PL_FROZEN_K_V, SQUARE, k->V);
    damping_rows(m, PL_FROZEN_K_H, FRAME_H, k->H);
    damping_rows(m, PL_FROZEN_K_FLIP, FRAME_FLIP, k->flip);
    damping_rows(m, PL_FROZEN_K_TWIST, FRAME_TWIST, k->twist);
}

#if COLUMNS > 1
/* True if the energy is defined at F. */
PL_INLINE pl_mask stiffness_outside(const law *m, const pl_real F[FS])
{
    pl_real U[FS], s[COLUMNS], V[SQUARE];
    damping_decompose(F, U, s, V);
    const bool positive = m->elastic.ops->domain == PL_STRETCH_POSITIVE;
    return pl_le(s[COLUMNS - 1], pl_set1(positive ? PL_STRETCH_LEAST : -PL_SCALAR_INFINITY));
}

/* K of an undefined energy decides nothing, but must be a number. */
PL_INLINE void stiffness_inside(const law *m, pl_real s[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        s[i] = m->elastic.ops->domain == PL_STRETCH_POSITIVE
                   ? pl_max(s[i], pl_set1(PL_STRETCH_LEAST / 10))
                   : s[i];
}
#endif

#if COLUMNS == 3
PL_LARGE void stiffness_apply(const stiffness_frame *k, const pl_real D[FS], pl_real KD[FS])
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

/* Psi(F) and P = dPsi/dF. */
PL_LARGE pl_real elastic_density(const law *m, const pl_real F[9], pl_real P[9])
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
    stiffness_inside(m, s);
    pl_stretch_curve(&m->elastic, s, &c);
    const pl_real H[6] = {c.H[0], c.H[4], c.H[8], c.H[1], c.H[2], c.H[5]};
    for (int e = 0; e < 6; e++)
        k->H[e] = H[e];
    for (int p = 0; p < 3; p++) {
        k->flip[p] = c.flip[p];
        k->twist[p] = c.twist[p];
    }
}

/* Removes the negative eigenvalues of H [00 11 22 01 02 12] by Jacobi's rotations; returns the least eigenvalue. */
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

#elif COLUMNS == 2
PL_LARGE void stiffness_apply(const stiffness_frame *k, const pl_real D[FS], pl_real KD[FS])
{
    const pl_real half = pl_set1(0.5);
    pl_real A[6], B[6]; /* U^T D V, U^T KD V */
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) {
            const pl_real *u = k->U + 3 * i;
            A[i + 3 * j] = damping_dot(u, D, 3) * k->V[2 * j] +
                           damping_dot(u, D + 3, 3) * k->V[1 + 2 * j];
        }
    const pl_real even = half * k->flip[0] * (A[3] + A[1]),
                  odd = half * k->twist[0] * (A[3] - A[1]);
    B[0] = k->H[0] * A[0] + k->H[2] * A[4];
    B[4] = k->H[2] * A[0] + k->H[1] * A[4];
    B[3] = even + odd;
    B[1] = even - odd;
    B[2] = k->flip[1] * A[2];
    B[5] = k->flip[2] * A[5];
    for (int c = 0; c < 2; c++)
        for (int r = 0; r < 3; r++) {
            KD[3 * c + r] = pl_zero();
            for (int i = 0; i < 3; i++)
                KD[3 * c + r] += k->U[3 * i + r] * (B[i] * k->V[c] + B[i + 3] * k->V[c + 2]);
        }
}

/* The true K at F. */
PL_LARGE void stiffness_at(const law *m, const pl_real F[6], stiffness_frame *k)
{
    plane_curvature c;
    pl_real s[3];
    damping_decompose(F, k->U, s, k->V);
    plane_normal(k->U);
    stiffness_inside(m, s);
    s[2] = across_start(&m->elastic, s);
    solve_across(&m->elastic, s);
    plane_curve(&m->elastic, s, &c);
    for (int e = 0; e < 3; e++)
        k->H[e] = c.H[e];
    k->flip[0] = c.flip;
    k->twist[0] = c.twist;
    k->flip[1] = c.out[0];
    k->flip[2] = c.out[1];
}

/* Removes the negative eigenvalues of H [00 11 01]; returns the least. */
PL_LARGE pl_real freeze_project(pl_real H[3])
{
    const pl_real mean = pl_set1(0.5) * (H[0] + H[1]), d = pl_set1(0.5) * (H[0] - H[1]);
    const pl_real far = pl_sqrt(d * d + H[2] * H[2]);
    const pl_real most = pl_max(mean + far, pl_zero()), low = mean - far;
    const pl_real least = pl_max(low, pl_zero());
    /* most P + least (1 - P), P = (H - low) / (most - low); any P will do for a multiple of the identity */
    const pl_mask even = pl_le(far, pl_zero());
    const pl_real share = (most - least) / pl_select(even, pl_one(), far + far);
    const pl_real lift = pl_select(even, pl_zero(), share);
    H[0] = least + lift * (H[0] - low);
    H[1] = least + lift * (H[1] - low);
    H[2] = lift * H[2];
    return low;
}
#else
PL_INLINE void thread_constants(const law *m, pl_real *young, pl_real *rest)
{
    *young = pl_load(m->elastic.constants);
    *rest = pl_load(m->elastic.constants + PL_ROW);
}

PL_LARGE void stiffness_apply(const stiffness_frame *k, const pl_real D[FS], pl_real KD[FS])
{
    const pl_real along = (k->H[0] - k->flip[0]) * damping_dot(k->U, D, 3);
    for (int e = 0; e < 3; e++)
        KD[e] = k->flip[0] * D[e] + along * k->U[e];
}

/* The length s of F, its direction, E, and s0 / s, with s at least a thousandth of s0. */
PL_LARGE void stiffness_thread(const law *m, const pl_real F[3], pl_real n[3], pl_real *s,
                               pl_real *young, pl_real *share)
{
    pl_real one[1], rest;
    thread_constants(m, young, &rest);
    damping_decompose(F, n, s, one);
    *s = pl_max(*s, pl_max(pl_set1(1e-3) * rest, pl_set1(DAMPING_NOTHING)));
    *share = rest / *s;
}

/* The true K at F. */
PL_LARGE void stiffness_at(const law *m, const pl_real F[3], stiffness_frame *k)
{
    pl_real s, share;
    stiffness_thread(m, F, k->U, &s, &k->H[0], &share);
    k->V[0] = pl_one();
    k->flip[0] = k->H[0] * (pl_one() - share);
}

/* True if the energy is defined at F. */
PL_INLINE pl_mask stiffness_outside(const law *m, const pl_real F[3])
{
    (void)m;
    (void)F;
    return pl_lt(pl_one(), pl_zero());
}

/* No eigenvalue is below 0. */
PL_INLINE pl_real freeze_project(pl_real H[1])
{
    return H[0];
}
#endif

/* C += c K. */
PL_LARGE void stiffness_columns(const stiffness_frame *k, pl_real c, pl_real C[FS * FS])
{
#pragma GCC unroll 1
    for (int b = 0; b < FS; b++) {
        pl_real dF[FS], K[FS];
        for (int e = 0; e < FS; e++)
            dF[e] = e == b ? c : pl_zero();
        stiffness_apply(k, dF, K);
        for (int e = 0; e < FS; e++)
            C[FS * b + e] += K[e];
    }
}
