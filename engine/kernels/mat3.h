/* mat3.h - 3x3 matrices on lanes.
 *
 * Column-major, as vec(F) stacks the columns of F (Narain 2016, section 4.2): entry (r, c) of A is
 * A.m[r + 3 c]. No function here divides by zero or branches; inputs may be the outputs.
 */
#ifndef PLIANT_ENGINE_KERNELS_MAT3_H
#define PLIANT_ENGINE_KERNELS_MAT3_H

#include "engine/lanes/lanes.h"

typedef struct pl_mat3 {
    pl_real m[9];
} pl_mat3;

#ifdef __CUDACC__
#define PL_UNROLL _Pragma("unroll")
#else
#define PL_UNROLL _Pragma("GCC unroll 9")
#endif

PL_INLINE pl_mat3 pl_mat3_identity(void)
{
    pl_mat3 A;
    PL_UNROLL for (int i = 0; i < 9; i++) A.m[i] = i % 4 == 0 ? pl_one() : pl_zero();
    return A;
}

PL_INLINE pl_mat3 pl_mat3_scale(pl_real a, const pl_mat3 *A)
{
    pl_mat3 B;
    PL_UNROLL for (int i = 0; i < 9; i++) B.m[i] = a * A->m[i];
    return B;
}

/* A B */
PL_INLINE pl_mat3 pl_mat3_mul(const pl_mat3 *A, const pl_mat3 *B)
{
    pl_mat3 C;
    PL_UNROLL for (int i = 0; i < 9; i++)
    {
        const pl_real *a = A->m + i % 3, *b = B->m + i / 3 * 3;
        C.m[i] = a[0] * b[0] + a[3] * b[1] + a[6] * b[2];
    }
    return C;
}

/* A^T B */
PL_INLINE pl_mat3 pl_mat3_transpose_mul(const pl_mat3 *A, const pl_mat3 *B)
{
    pl_mat3 C;
    PL_UNROLL for (int i = 0; i < 9; i++)
    {
        const pl_real *a = A->m + i % 3 * 3, *b = B->m + i / 3 * 3;
        C.m[i] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
    return C;
}

/* A B^T */
PL_INLINE pl_mat3 pl_mat3_mul_transpose(const pl_mat3 *A, const pl_mat3 *B)
{
    pl_mat3 C;
    PL_UNROLL for (int i = 0; i < 9; i++)
    {
        const pl_real *a = A->m + i % 3, *b = B->m + i / 3;
        C.m[i] = a[0] * b[0] + a[3] * b[3] + a[6] * b[6];
    }
    return C;
}

/* A diag(s) B^T: composes a matrix from its singular value decomposition. */
PL_INLINE pl_mat3 pl_mat3_compose(const pl_mat3 *A, const pl_real s[3], const pl_mat3 *B)
{
    pl_mat3 scaled;
    PL_UNROLL for (int i = 0; i < 9; i++) scaled.m[i] = A->m[i] * s[i / 3];
    return pl_mat3_mul_transpose(&scaled, B);
}

/* sum of A_rc B_rc */
PL_INLINE pl_real pl_mat3_dot(const pl_mat3 *A, const pl_mat3 *B)
{
    pl_real columns[3];
    PL_UNROLL for (int c = 0; c < 9; c += 3)
        columns[c / 3] = A->m[c] * B->m[c] + A->m[c + 1] * B->m[c + 1] + A->m[c + 2] * B->m[c + 2];
    return columns[0] + columns[1] + columns[2];
}

/* |A|^2, Frobenius */
PL_INLINE pl_real pl_mat3_norm_squared(const pl_mat3 *A)
{
    return pl_mat3_dot(A, A);
}

PL_INLINE void pl_cross3(const pl_real a[3], const pl_real b[3], pl_real c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* cof A = det(A) A^-T = d det(A) / dA. Its columns are the cross products of those of A. */
PL_INLINE pl_mat3 pl_mat3_cofactor(const pl_mat3 *A)
{
    pl_mat3 C;
    pl_cross3(A->m + 3, A->m + 6, C.m);
    pl_cross3(A->m + 6, A->m, C.m + 3);
    pl_cross3(A->m, A->m + 3, C.m + 6);
    return C;
}

PL_INLINE pl_real pl_mat3_det(const pl_mat3 *A)
{
    pl_real c[3];
    pl_cross3(A->m + 3, A->m + 6, c);
    return A->m[0] * c[0] + A->m[1] * c[1] + A->m[2] * c[2];
}

PL_INLINE pl_mat3 pl_mat3_transpose(const pl_mat3 *A)
{
    pl_mat3 B;
    PL_UNROLL for (int i = 0; i < 9; i++) B.m[i] = A->m[i % 3 * 3 + i / 3];
    return B;
}

/* A^-1 = (cof A)^T / det A; infinite or NaN where det A = 0. */
PL_INLINE pl_mat3 pl_mat3_inverse(const pl_mat3 *A)
{
    const pl_mat3 C = pl_mat3_cofactor(A);
    const pl_real det = A->m[0] * C.m[0] + A->m[1] * C.m[1] + A->m[2] * C.m[2];
    const pl_mat3 T = pl_mat3_transpose(&C);
    return pl_mat3_scale(pl_one() / det, &T);
}

#endif
