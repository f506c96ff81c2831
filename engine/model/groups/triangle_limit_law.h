/* triangle_limit_law.h - the law of strain limits of triangles by singular values: the nearest matrix with singular
 * values in [lo, hi] has v's singular vectors and its values clamped (Narain 2016, section 5). */
#include "engine/kernels/svd32.h"
#include "engine/model/groups/limit_range.h"

PL_LARGE void law_prox(const law *m, const pl_real *weight, const pl_real v[6], pl_real z[6])
{
    pl_real U[6], s[2], V[4];
    pl_svd32(v, U, s, V);
    const pl_real s0 = pl_clamp(s[0], m->lo, m->hi), s1 = pl_clamp(s[1], m->lo, m->hi);
    const pl_mask kept = pl_and(pl_eq(s0, s[0]), pl_eq(s1, s[1]));
    for (int j = 0; j < 2; j++)
        for (int r = 0; r < 3; r++)
            z[3 * j + r] = pl_select(kept, v[3 * j + r],
                                     s0 * U[r] * V[j] + s1 * U[r + 3] * V[j + 2]);
}

PL_INLINE pl_real law_stretch(const law *m, const pl_real F[6])
{
    pl_real U[6], s[2], V[4];
    pl_svd32(F, U, s, V);
    return s[0];
}
