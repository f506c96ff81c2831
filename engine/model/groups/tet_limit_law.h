/* tet_limit_law.h - the law of strain limits of tetrahedra by singular values. With the signed decomposition
 * (svd3.h), the nearest matrix with positive determinant and singular values in [lo, hi] has v's rotations and its
 * signed values, clamped: an inverted element is turned back.
 */
#include "engine/kernels/svd3.h"
#include "engine/model/groups/limit_range.h"

PL_LARGE void decompose(const pl_real q[9], pl_mat3 *U, pl_real s[3], pl_mat3 *V)
{
    pl_mat3 F;
    for (int e = 0; e < 9; e++)
        F.m[e] = q[e];
    pl_svd3(&F, U, s, V);
}

PL_LARGE void law_prox(const law *m, const pl_real *weight, const pl_real v[9], pl_real z[9])
{
    pl_mat3 U, V;
    pl_real s[3], c[3];
    decompose(v, &U, s, &V);
    pl_mask kept = pl_eq(s[0], s[0]);
    for (int i = 0; i < 3; i++) {
        c[i] = pl_clamp(s[i], m->lo, m->hi);
        kept = pl_and(kept, pl_eq(c[i], s[i]));
        for (int r = 0; r < 3; r++)
            U.m[r + 3 * i] *= c[i];
    }
    const pl_mat3 Z = pl_mat3_mul_transpose(&U, &V);
    for (int e = 0; e < 9; e++)
        z[e] = pl_select(kept, v[e], Z.m[e]);
}

PL_INLINE pl_real law_stretch(const law *m, const pl_real q[9])
{
    pl_mat3 U, V;
    pl_real s[3];
    decompose(q, &U, s, &V);
    return s[0];
}
