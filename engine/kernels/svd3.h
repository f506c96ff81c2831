/* svd3.h - signed singular value decomposition of 3x3 matrices on lanes.
 *
 *     F = U diag(s) V^T,   U and V rotations (det = 1),   s0 >= s1 >= |s2|
 *
 * so that s2 has the sign of det F (Irving 2004: an inverted element is uninverted along its shortest direction).
 * Fixed operation counts, no branches, any finite F.
 *
 * Method, after McAdams 2011 with three changes that bring it to full double precision:
 *
 * 1. F is scaled by an exact power of two, so nothing overflows.
 *
 * 2. V diagonalises S = F^T F by cyclic Jacobi rotations. A rotation has to be orthogonal but need not be exact, so
 * its angle comes from a rational function, and it costs one division and no root. V is accumulated as a
 * quaternion.
 *
 * 3. S determines s1 and s2 only to sqrt(epsilon) s0. So only the longest column b of B = F V is trusted. The part
 * of B orthogonal to b is a 2x2 matrix, decomposed from its own entries.
 */
#ifndef PLIANT_ENGINE_KERNELS_SVD3_H
#define PLIANT_ENGINE_KERNELS_SVD3_H

#include "engine/kernels/mat3.h"

#define PL_SVD3_SWEEPS 4
#ifdef PL_SINGLE
#define PL_SVD3_SMALL   2e-6f /* its sixth power is still a normal number */
#define PL_SVD3_TINY    1e-18f
#define PL_SVD3_LARGEST 1e37f
#else
#define PL_SVD3_SMALL   1e-25
#define PL_SVD3_TINY    1e-150
#define PL_SVD3_LARGEST 1e306
#endif

/* A rotation in a coordinate plane: p' = c p + s q, q' = c q - s p. */
typedef struct pl_givens {
    pl_real c, s;
} pl_givens;

PL_INLINE void pl_givens_apply(const pl_givens *G, pl_real *p, pl_real *q)
{
    const pl_real a = *p, b = *q;
    *p = G->c * a + G->s * b;
    *q = G->c * b - G->s * a;
}

PL_INLINE void pl_givens_apply3(const pl_givens *G, pl_real p[3], pl_real q[3])
{
    PL_UNROLL for (int i = 0; i < 3; i++) pl_givens_apply(G, p + i, q + i);
}

/* The rotation by t, |t| <= 45 degrees, that makes the off-diagonal entry of [a x; x b] nearly zero, where
 * d = a - b: tan 2t = 2 x / d. With a rational function for z = 2 |x / d|,
 *
 *     tan(t/2) = tan(atan(z) / 4) ~ z n / (4 n + 1.25 z^2 (1 + 0.91 z)),  n = 1 + 0.91 z + 0.47 z^2
 *
 * written u / v: c = (v^2 - u^2) / (v^2 + u^2), s = 2 u v / (v^2 + u^2). The remaining entry is at most 0.9 % of
 * the original, and of fifth order in z for small z.
 */
PL_INLINE pl_givens pl_givens_jacobi(pl_real d, pl_real x)
{
    const pl_real h = pl_set1((pl_scalar)0.5) * x, hh = h * h; /* z / 4 */
    const pl_real e = pl_abs(d) + pl_set1(PL_SVD3_SMALL);
    const pl_real y = e + pl_set1((pl_scalar)3.64) * pl_abs(h);
    const pl_real n = e * y + pl_set1((pl_scalar)7.52) * hh;
    const pl_real u = pl_flip_sign(h, d) * n;
    const pl_real v = e * n + pl_set1(5) * hh * y;
    const pl_real uu = u * u, vv = v * v, uv = u * v;
    const pl_real inverse = pl_one() / (vv + uu);
    return (pl_givens){(vv - uu) * inverse, (uv + uv) * inverse};
}

/* The rotation that turns (a, b) into (sqrt(a^2 + b^2), 0); the identity if both are zero. */
PL_INLINE pl_givens pl_givens_zeroing(pl_real a, pl_real b)
{
    const pl_real rho2 = a * a + b * b;
    const pl_mask usable = pl_gt(rho2, pl_set1(PL_SCALAR_MIN));
    const pl_real inverse = pl_one() / pl_sqrt(pl_select(usable, rho2, pl_one()));
    return (pl_givens){pl_select(usable, a * inverse, pl_one()),
                       pl_select(usable, b * inverse, pl_zero())};
}

/* S <- R^T S R for a rotation R in the plane (p, q) of the axes (p, q, k) = (0, 1, 2), (1, 2, 0) or
 * (2, 0, 1), with the unit-free quaternion Q <- Q R = Q (cos(t/2) + sin(t/2) e_k).
 *
 * Times 2 cos(t/2), which is at least 1.84, the second factor is 1 + c + s e_k, so it takes no
 * square root, and Q is made a unit only once, at the end.
 */
PL_INLINE void pl_svd3_rotate(pl_real *S_pp, pl_real *S_qq, pl_real *S_pq, pl_real *S_kp,
                              pl_real *S_kq, pl_real *Q_w, pl_real *Q_p, pl_real *Q_q, pl_real *Q_k)
{
    const pl_real d = *S_pp - *S_qq, x = *S_pq;
    const pl_givens G = pl_givens_jacobi(d, x), H = {pl_one() + G.c, G.s};
    const pl_real along = G.c * (x + x) - G.s * d, change = G.s * along;
    *S_pp = *S_pp + change;
    *S_qq = *S_qq - change;
    *S_pq = G.c * along - x; /* (c^2 - s^2) x - c s d */
    pl_givens_apply(&G, S_kp, S_kq);
    pl_givens_apply(&H, Q_k, Q_w);
    pl_givens_apply(&H, Q_p, Q_q);
}

/* The rotation of a quaternion of any length, w + x e0 + y e1 + z e2. */
PL_INLINE pl_mat3 pl_svd3_quaternion_matrix(pl_real w, pl_real x, pl_real y, pl_real z)
{
    const pl_real ww = w * w, xx = x * x, yy = y * y, zz = z * z;
    const pl_real unit = pl_one() / ((ww + xx) + (yy + zz));
    const pl_real two = unit + unit;
    const pl_real xy = x * y, xz = x * z, yz = y * z, wx = w * x, wy = w * y, wz = w * z;
    return (pl_mat3){{unit * ((ww + xx) - (yy + zz)), two * (xy + wz), two * (xz - wy),
                      two * (xy - wz), unit * ((ww + yy) - (xx + zz)), two * (yz + wx),
                      two * (xz + wy), two * (yz - wx), unit * ((ww + zz) - (xx + yy))}};
}

/* A rotation V for which F V has nearly orthogonal columns. */
PL_INLINE pl_mat3 pl_svd3_right(const pl_mat3 *F)
{
    const pl_mat3 S = pl_mat3_transpose_mul(F, F);
    pl_real S00 = S.m[0], S10 = S.m[1], S20 = S.m[2], S11 = S.m[4], S21 = S.m[5], S22 = S.m[8];
    pl_real w = pl_one(), x = pl_zero(), y = pl_zero(), z = pl_zero();
    PL_UNROLL for (int sweep = 0; sweep < PL_SVD3_SWEEPS; sweep++)
    {
        pl_svd3_rotate(&S00, &S11, &S10, &S20, &S21, &w, &x, &y, &z);
        pl_svd3_rotate(&S11, &S22, &S21, &S10, &S20, &w, &y, &z, &x);
        pl_svd3_rotate(&S22, &S00, &S20, &S21, &S10, &w, &z, &x, &y);
    }
    return pl_svd3_quaternion_matrix(w, x, y, z);
}

/* Where q is the longer, exchanges column p of B and V with column q and reverses one of them. */
PL_INLINE void pl_svd3_order(pl_mat3 *B, pl_mat3 *V, pl_real norm[3], int p, int q)
{
    const pl_mask swap = pl_lt(norm[p], norm[q]);
    PL_UNROLL for (int r = 0; r < 3; r++)
    {
        const pl_real b = B->m[3 * p + r], v = V->m[3 * p + r];
        B->m[3 * p + r] = pl_select(swap, B->m[3 * q + r], b);
        B->m[3 * q + r] = pl_select(swap, -b, B->m[3 * q + r]);
        V->m[3 * p + r] = pl_select(swap, V->m[3 * q + r], v);
        V->m[3 * q + r] = pl_select(swap, -v, V->m[3 * q + r]);
    }
    norm[p] = pl_max(norm[p], norm[q]);
}

PL_INLINE void pl_svd3_longest_first(pl_mat3 *B, pl_mat3 *V)
{
    pl_real norm[3];
    PL_UNROLL for (int c = 0; c < 3; c++) norm[c] = B->m[3 * c] * B->m[3 * c] +
                                                    B->m[3 * c + 1] * B->m[3 * c + 1] +
                                                    B->m[3 * c + 2] * B->m[3 * c + 2];
    pl_svd3_order(B, V, norm, 0, 1);
    pl_svd3_order(B, V, norm, 0, 2);
}

/* A rotation G on the right that makes the columns of A = [a b; c d] orthogonal, the longer one first. With
 * d = p.p - q.q, x = 2 p.q for columns p, q, it is the Jacobi rotation by t where d >= 0, and by 90 degrees - t
 * (with the sign of x) where d < 0. It is exact here: A is not visited again.
 */
PL_INLINE pl_givens pl_svd3_right2(pl_real a, pl_real b, pl_real c, pl_real d)
{
    const pl_real pp = a * a + c * c, qq = b * b + d * d;
    const pl_real diff = pp - qq, x = pl_set1(2) * (a * b + c * d);
    const pl_real h = pl_abs(diff) + pl_sqrt(diff * diff + x * x);
    const pl_mask longer = pl_ge(diff, pl_zero());
    return pl_givens_zeroing(pl_select(longer, h, pl_abs(x)),
                             pl_flip_sign(pl_select(longer, pl_abs(x), h), x));
}

/* The scale of F: a power of two within a factor 2 of its largest entry, and the inverse of it. */
PL_INLINE void pl_svd3_scale(const pl_mat3 *F, pl_real *scale, pl_real *inverse)
{
    pl_real largest = pl_set1(PL_SCALAR_MIN * 16);
    PL_UNROLL for (int i = 0; i < 9; i++) largest = pl_max(pl_abs(F->m[i]), largest);
    largest = pl_min(largest, pl_set1(PL_SVD3_LARGEST));
    const pl_int exponent = pl_as_int(largest) & pl_as_int(pl_set1(PL_SCALAR_INFINITY));
    const int64_t bias2 = (int64_t)(2 * PL_EXPONENT_BIAS) << PL_MANTISSA_BITS;
    *scale = pl_as_real(exponent);
    *inverse = pl_as_real(pl_set1_int(bias2) - exponent);
}

/* U = [u, p, q] from the unit vector u, a rotation (Duff 2017, "Building an orthonormal basis,
 * revisited").
 */
PL_INLINE pl_mat3 pl_svd3_basis(const pl_real u[3])
{
    const pl_real sign = pl_copysign(pl_one(), u[2]);
    const pl_real a = -pl_one() / (sign + u[2]);
    const pl_real b = u[0] * u[1] * a;
    const pl_real signed_a = sign * a;
    return (pl_mat3){{u[0], u[1], u[2], pl_one() + signed_a * (u[0] * u[0]), sign * b,
                      -(sign * u[0]), b, sign + u[1] * u[1] * a, -u[1]}};
}

PL_INLINE pl_real pl_svd3_dot(const pl_real a[3], const pl_real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

PL_LARGE void pl_svd3(const pl_mat3 *F, pl_mat3 *U, pl_real s[3], pl_mat3 *V)
{
    pl_real scale, inverse;
    pl_svd3_scale(F, &scale, &inverse);
    const pl_mat3 A = pl_mat3_scale(inverse, F);
    pl_mat3 W = pl_svd3_right(&A);
    pl_mat3 B = pl_mat3_mul(&A, &W);
    pl_svd3_longest_first(&B, &W);

    const pl_real norm2 = pl_svd3_dot(B.m, B.m);
    const pl_mask zero = pl_lt(norm2, pl_set1(PL_SVD3_TINY));
    const pl_real norm = pl_sqrt(pl_select(zero, pl_one(), norm2));
    const pl_real unit = pl_one() / norm;
    const pl_real u[3] = {pl_select(zero, pl_zero(), B.m[0] * unit),
                          pl_select(zero, pl_zero(), B.m[1] * unit),
                          pl_select(zero, pl_one(), B.m[2] * unit)};
    pl_mat3 Q = pl_svd3_basis(u);

    pl_real a = pl_svd3_dot(Q.m + 3, B.m + 3), b = pl_svd3_dot(Q.m + 3, B.m + 6);
    pl_real c = pl_svd3_dot(Q.m + 6, B.m + 3), d = pl_svd3_dot(Q.m + 6, B.m + 6);
    const pl_givens right = pl_svd3_right2(a, b, c, d);
    pl_givens_apply(&right, &a, &b);
    pl_givens_apply(&right, &c, &d);
    pl_givens_apply3(&right, W.m + 3, W.m + 6);
    const pl_givens left = pl_givens_zeroing(a, c);
    pl_givens_apply3(&left, Q.m + 3, Q.m + 6);

    /* The clamps move a value only by rounding; they make the order exact. */
    const pl_real s0 = pl_select(zero, pl_zero(), norm);
    const pl_real s1 = pl_clamp(left.c * a + left.s * c, pl_zero(), s0);
    s[0] = scale * s0;
    s[1] = scale * s1;
    s[2] = scale * pl_clamp(left.c * d - left.s * b, -s1, s1);
    *U = Q;
    *V = W;
}

#endif
