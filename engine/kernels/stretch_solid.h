/* stretch_solid.h - a material of principal stretches as a material of F, on lanes: the functions that
 * neo_hookean.h lists, for any table of stretch.h. F is column-major (mat3.h). */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_SOLID_H
#define PLIANT_ENGINE_KERNELS_STRETCH_SOLID_H

#include "engine/kernels/stretch_prox.h"
#include "engine/kernels/svd3.h"

/* The energy, and P = dPsi/dF = U diag(g) V^T, Pa. P is undefined where the energy is infinite. */
PL_INLINE pl_real pl_stretch_solid_energy_gradient(const pl_stretch *m, const pl_mat3 *F,
                                                   pl_mat3 *P)
{
    pl_mat3 U, V;
    pl_real s[3], g[3], psi;
    pl_svd3(F, &U, s, &V);
    pl_stretch_energy_gradient(m, s, &psi, g);
    *P = pl_mat3_compose(&U, g, &V);
    return psi;
}

PL_INLINE pl_real pl_stretch_solid_energy(const pl_stretch *m, const pl_mat3 *F)
{
    pl_mat3 U, V;
    pl_real s[3], g[3], psi;
    pl_svd3(F, &U, s, &V);
    pl_stretch_energy_gradient(m, s, &psi, g);
    return psi;
}

PL_INLINE void pl_stretch_solid_gradient(const pl_stretch *m, const pl_mat3 *F, pl_mat3 *P)
{
    (void)pl_stretch_solid_energy_gradient(m, F, P);
}

/* With dF = U A V^T, dP = U B V^T: B_ii = sum H_ij A_jj and, for a pair i < j,
 *
 *     B_ij = flip (A_ij + A_ji) / 2 + twist (A_ij - A_ji) / 2,   B_ji with the sign of twist changed
 *
 * so d vec P / d vec F = sum H_ij d_i d_j^T + sum over pairs of flip n n^T + twist r r^T, where d_i = u_i v_i^T and
 * n, r = (u_i v_j^T +- u_j v_i^T) / root 2. */
typedef struct pl_stretch_frame {
    pl_mat3 d[3], n[3], r[3]; /* n, r without the root, which is included in `flip` and `twist` */
    pl_stretch_curvature c;
} pl_stretch_frame;

PL_LARGE void pl_stretch_frame_at(const pl_stretch *m, const pl_mat3 *F, pl_stretch_frame *at)
{
    const pl_real half = pl_set1((pl_scalar)0.5);
    pl_mat3 U, V;
    pl_real s[3];
    pl_svd3(F, &U, s, &V);
    pl_stretch_curve(m, s, &at->c);
    for (int p = 0; p < 3; p++) {
        const pl_real *ui = U.m + 3 * ((p + 1) % 3), *vi = V.m + 3 * ((p + 1) % 3);
        const pl_real *uj = U.m + 3 * ((p + 2) % 3), *vj = V.m + 3 * ((p + 2) % 3);
        PL_UNROLL for (int a = 0; a < 9; a++)
        {
            const pl_real ij = ui[a % 3] * vj[a / 3], ji = uj[a % 3] * vi[a / 3];
            at->d[p].m[a] = U.m[3 * p + a % 3] * V.m[3 * p + a / 3];
            at->n[p].m[a] = ij + ji;
            at->r[p].m[a] = ij - ji;
        }
        at->c.flip[p] *= half;
        at->c.twist[p] *= half;
    }
}

/* d vec(P) / d vec(F) of the frame, 9x9 and symmetric, H[i + 9 j]. */
PL_LARGE void pl_stretch_frame_hessian(const pl_stretch_frame *at, pl_real H[81])
{
    for (int b = 0; b < 9; b++) {
        pl_real d[3], n[3], r[3];
        PL_UNROLL for (int i = 0; i < 3; i++)
        {
            d[i] = at->c.H[i] * at->d[0].m[b] + at->c.H[i + 3] * at->d[1].m[b] +
                   at->c.H[i + 6] * at->d[2].m[b];
            n[i] = at->c.flip[i] * at->n[i].m[b];
            r[i] = at->c.twist[i] * at->r[i].m[b];
        }
        for (int a = 0; a < 9; a++) {
            pl_real sum = pl_zero();
            PL_UNROLL for (int i = 0; i < 3; i++)
                sum += at->d[i].m[a] * d[i] + at->n[i].m[a] * n[i] + at->r[i].m[a] * r[i];
            H[a + 9 * b] = sum;
        }
    }
}

/* H = d vec(P) / d vec(F), not projected. */
PL_INLINE void pl_stretch_solid_hessian(const pl_stretch *m, const pl_mat3 *F, pl_real H[81])
{
    pl_stretch_frame at;
    pl_stretch_frame_at(m, F, &at);
    pl_stretch_frame_hessian(&at, H);
}

/* Data for second derivatives along given directions: a third of a frame's numbers. */
typedef struct pl_stretch_axes {
    pl_mat3 U, V;
    pl_stretch_curvature c;
} pl_stretch_axes;

PL_INLINE void pl_stretch_axes_at(const pl_stretch *m, const pl_mat3 *F, pl_stretch_axes *at)
{
    pl_real s[3];
    pl_svd3(F, &at->U, s, &at->V);
    pl_stretch_curve(m, s, &at->c);
}

/* out[k] = the second derivative along dF = e_k w^T, which is U (u y^T) V^T with u the row k of U and
 * y = V^T w: sum H_ij (u_i y_i) (u_j y_j) + sum over pairs of (flip (u_i y_j + u_j y_i)^2
 * + twist (u_i y_j - u_j y_i)^2) / 2. */
PL_INLINE void pl_stretch_solid_along(const pl_stretch_axes *at, const pl_real w[3], pl_real out[3])
{
    const pl_real half = pl_set1((pl_scalar)0.5);
    pl_real y[3];
    PL_UNROLL for (int i = 0; i < 3; i++)
        y[i] = at->V.m[3 * i] * w[0] + at->V.m[3 * i + 1] * w[1] + at->V.m[3 * i + 2] * w[2];
    PL_UNROLL for (int k = 0; k < 3; k++)
    {
        const pl_real u[3] = {at->U.m[k], at->U.m[k + 3], at->U.m[k + 6]};
        const pl_real d[3] = {u[0] * y[0], u[1] * y[1], u[2] * y[2]};
        pl_real sum = pl_zero();
        PL_UNROLL for (int p = 0; p < 3; p++)
        {
            const int i = (p + 1) % 3, j = (p + 2) % 3;
            const pl_real ij = u[i] * y[j], ji = u[j] * y[i], n = ij + ji, r = ij - ji;
            sum += d[p] * (at->c.H[p] * d[0] + at->c.H[p + 3] * d[1] + at->c.H[p + 6] * d[2]);
            sum += half * (at->c.flip[p] * n * n + at->c.twist[p] * r * r);
        }
        out[k] = sum;
    }
}

/* Psi and its derivatives along dF = d w^T, by d at 0: out = Psi, the gradient, and the Hessian's lower triangle by
 * rows. With u = U^T d and y = V^T w they are u . (g_i y_i) and u . M u,
 *     M_ii = H_ii y_i^2 + sum over pairs (flip + twist) / 2 y_j^2,   M_ij = (H_ij + (flip - twist) / 2) y_i y_j
 * The derivatives are undefined where Psi is infinite. */
PL_LARGE void pl_stretch_solid_local(const pl_stretch *m, const pl_mat3 *F, const pl_real w[3],
                                     pl_real out[10])
{
    const pl_real half = pl_set1((pl_scalar)0.5);
    pl_mat3 U, V;
    pl_stretch_curvature c;
    pl_real s[3], g[3], y[3], M[9], UM[9];
    pl_svd3(F, &U, s, &V);
    pl_stretch_energy_gradient(m, s, &out[0], g);
    pl_stretch_curve(m, s, &c);
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        y[i] = V.m[3 * i] * w[0] + V.m[3 * i + 1] * w[1] + V.m[3 * i + 2] * w[2];
        g[i] *= y[i];
    }
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const int i = (p + 1) % 3, j = (p + 2) % 3; /* the pair p, and its neighbours */
        M[4 * p] = c.H[4 * p] * y[p] * y[p] + half * ((c.flip[i] + c.twist[i]) * y[j] * y[j] +
                                                      (c.flip[j] + c.twist[j]) * y[i] * y[i]);
        M[i + 3 * j] = M[j + 3 * i] = (c.H[i + 3 * j] + half * (c.flip[p] - c.twist[p])) * y[i] *
                                      y[j];
    }
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        out[1 + i] = U.m[i] * g[0] + U.m[i + 3] * g[1] + U.m[i + 6] * g[2];
        PL_UNROLL for (int j = 0; j < 3; j++) UM[i + 3 * j] =
            U.m[i] * M[3 * j] + U.m[i + 3] * M[3 * j + 1] + U.m[i + 6] * M[3 * j + 2];
    }
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        PL_UNROLL for (int j = 0; j <= i; j++) out[4 + i * (i + 1) / 2 + j] =
            UM[i] * U.m[j] + UM[i + 3] * U.m[j + 3] + UM[i + 6] * U.m[j + 6];
    }
}

/* F from F~ by the singular values alone, finite for every finite F~. */
PL_INLINE void pl_stretch_solid_prox(const pl_stretch *m, pl_real k, const pl_mat3 *F_tilde,
                                     pl_mat3 *F)
{
    pl_mat3 U, V;
    pl_real s_tilde[3], s[3];
    pl_svd3(F_tilde, &U, s_tilde, &V);
    pl_stretch_prox(m, k, s_tilde, s);
    *F = pl_mat3_compose(&U, s, &V);
}

#endif
