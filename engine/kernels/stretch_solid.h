/* stretch_solid.h - a material of principal stretches as one of F, on lanes: the functions that
 * neo_hookean.h lists, for any table of stretch.h. F is column-major (mat3.h). */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_SOLID_H
#define PLIANT_ENGINE_KERNELS_STRETCH_SOLID_H

#include "engine/kernels/stretch_prox.h"
#include "engine/kernels/svd3.h"

/* The energy; P = dPsi/dF = U diag(g) V^T, Pa. Without meaning where the energy is infinite. */
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

/* With dF = U A V^T, dP = U B V^T: B_ii = sum H_ij A_jj, and of a pair i < j
 *
 *     B_ij = flip (A_ij + A_ji) / 2 + twist (A_ij - A_ji) / 2,   B_ji with the sign of twist changed
 *
 * so d vec P / d vec F = sum H_ij d_i d_j^T + sum over pairs of flip n n^T + twist r r^T, where
 * d_i = u_i v_i^T and n, r = (u_i v_j^T +- u_j v_i^T) / root 2. */
typedef struct pl_stretch_frame {
    pl_mat3 d[3], n[3], r[3]; /* n, r without the root, which `flip` and `twist` have taken in */
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

/* H = d vec(P) / d vec(F), 9x9 and symmetric, H[i + 9 j], not projected. */
PL_LARGE void pl_stretch_solid_hessian(const pl_stretch *m, const pl_mat3 *F, pl_real H[81])
{
    pl_stretch_frame at;
    pl_stretch_frame_at(m, F, &at);
    for (int b = 0; b < 9; b++) {
        pl_real d[3], n[3], r[3];
        PL_UNROLL for (int i = 0; i < 3; i++)
        {
            d[i] = at.c.H[i] * at.d[0].m[b] + at.c.H[i + 3] * at.d[1].m[b] +
                   at.c.H[i + 6] * at.d[2].m[b];
            n[i] = at.c.flip[i] * at.n[i].m[b];
            r[i] = at.c.twist[i] * at.r[i].m[b];
        }
        for (int a = 0; a < 9; a++) {
            pl_real sum = pl_zero();
            PL_UNROLL for (int i = 0; i < 3; i++)
                sum += at.d[i].m[a] * d[i] + at.n[i].m[a] * n[i] + at.r[i].m[a] * r[i];
            H[a + 9 * b] = sum;
        }
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
