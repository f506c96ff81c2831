/* log_exp.h - natural logarithm and exponential on lanes. Included by lanes.h only.
 *
 * Branch-free, and correct for every input: subnormal, zero, infinite, negative, NaN. Largest
 * errors against long double over all binades: see README.md.
 */
#ifndef PLIANT_ENGINE_LANES_LOG_EXP_H
#define PLIANT_ENGINE_LANES_LOG_EXP_H

#ifdef PL_SINGLE
#define PL_EXPONENT_BIAS     127
#define PL_BITS_ONE          0x3f800000
#define PL_BITS_SQRT_HALF    0x3f3504f3
#define PL_BITS_TWO_MANTISSA 0x4b000000 /* 2^23: ORed with a small integer i, it reads 2^23 + i */
#define PL_LN2_HIGH          0.693145751953125f /* 15 bits: its product with an exponent is exact */
#define PL_LN2_LOW           1.4286068203094172321e-6f
#define PL_EXP_LOW           -104.5f
#define PL_EXP_HIGH          90.0f
#else
#define PL_EXPONENT_BIAS     1023
#define PL_BITS_ONE          0x3ff0000000000000
#define PL_BITS_SQRT_HALF    0x3fe6a09e667f3bcd
#define PL_BITS_TWO_MANTISSA 0x4330000000000000   /* 2^52 */
#define PL_LN2_HIGH          0x1.62e42fee00000p-1 /* 32 bits */
#define PL_LN2_LOW           0x1.a39ef35793c76p-33
#define PL_EXP_LOW           -746.0
#define PL_EXP_HIGH          710.0
#endif

/* A small unsigned integer as a real, exactly. */
PL_INLINE pl_real pl_from_small_int(pl_int a)
{
    const pl_int two_mantissa = pl_set1_int(PL_BITS_TWO_MANTISSA);
    return pl_as_real(a | two_mantissa) - pl_as_real(two_mantissa);
}

/* Horner's rule with the even and the odd powers separate, for a shorter chain. c[0] + c[1] z + .. */
PL_INLINE pl_real pl_log_series(pl_real z)
{
    const pl_real w = z * z;
#ifdef PL_SINGLE
    const pl_real even = pl_set1(0.66666665645039657935f) + w * pl_set1(0.28537301512531650803f);
    const pl_real odd = pl_set1(0.40000335293819955376f) + w * pl_set1(0.23582293245721416978f);
#else
    const pl_real even =
        pl_set1(0.66666666666667344611) +
        w * (pl_set1(0.28571428742475383568) +
             w * (pl_set1(0.18183564867956133694) + w * pl_set1(0.14796105556250245078)));
    const pl_real odd = pl_set1(0.39999999999414317813) +
                        w * (pl_set1(0.22222198563449261691) + w * pl_set1(0.15314035814292225212));
#endif
    return even + z * odd;
}

/* log of a positive normal number, minus `exponent_shift` times log 2.
 *
 *     x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2);  s = f / (2 + f);  z = s^2
 *     log(1 + f) = 2 s + s R,  R = 2/3 z + 2/5 z^2 + ..   (a minimax polynomial in z)
 *                = f - (f^2/2 - s (f^2/2 + R))            (f is exact, the rest is smaller)
 */
PL_INLINE pl_real pl_log_normal(pl_real x, pl_real exponent_shift)
{
    const pl_int bits = pl_as_int(x);
    const pl_int offset = bits + pl_set1_int(PL_BITS_ONE - PL_BITS_SQRT_HALF);
    const pl_int biased = pl_shift_right(offset, PL_MANTISSA_BITS);
    const pl_real e = pl_from_small_int(biased) - (pl_set1(PL_EXPONENT_BIAS) + exponent_shift);
    const pl_int mantissa = bits - pl_shift_left(biased, PL_MANTISSA_BITS) +
                            pl_set1_int(PL_BITS_ONE);
    const pl_real f = pl_as_real(mantissa) - pl_one();
    const pl_real s = f / (pl_set1(2) + f);
    const pl_real z = s * s;
    const pl_real R = z * pl_log_series(z);
    const pl_real half_square = pl_set1((pl_scalar)0.5) * f * f;
    const pl_real low = s * (half_square + R) + e * pl_set1(PL_LN2_LOW);
    return e * pl_set1(PL_LN2_HIGH) - ((half_square - low) - f);
}

/* log x for x positive and not subnormal, infinite or NaN; undefined for any other x. */
PL_INLINE pl_real pl_log_positive(pl_real x)
{
    return pl_log_normal(x, pl_zero());
}

/* log x: -inf at 0, NaN below. */
PL_INLINE pl_real pl_log(pl_real x)
{
    const pl_real inf = pl_set1(PL_SCALAR_INFINITY);
    const pl_mask small = pl_lt(x, pl_set1(PL_SCALAR_MIN));
    const pl_real lift = pl_set1((pl_scalar)((int64_t)1 << (PL_MANTISSA_BITS + 2)));
    const pl_real shift = pl_select(small, pl_set1(PL_MANTISSA_BITS + 2), pl_zero());
    const pl_real normal = pl_log_normal(pl_select(small, x * lift, x), shift);
    const pl_real at_zero = pl_select(pl_eq(x, pl_zero()), -inf, pl_set1(PL_SCALAR_NAN));
    const pl_real finite = pl_select(pl_lt(x, inf), normal, x);
    return pl_select(pl_gt(x, pl_zero()), finite, at_zero);
}

/* (e^r - 1 - r) / r^2 for |r| <= log(2) / 2. */
PL_INLINE pl_real pl_exp_series(pl_real r)
{
    const pl_real w = r * r;
#ifdef PL_SINGLE
    const pl_real even =
        pl_set1(0.50000000957045491768f) +
        w * (pl_set1(0.041666204126187618919f) + w * pl_set1(0.0013950603085746422058f));
    const pl_real odd = pl_set1(0.16666518306154118749f) + w * pl_set1(0.0083689535013379190365f);
#else
    const pl_real even =
        pl_set1(0.50000000000000128568) +
        w * (pl_set1(0.041666666666514324324) +
             w * (pl_set1(0.001388888894733083797) + w * (pl_set1(0.000024801489590956540089) +
                                                          w * pl_set1(2.7631413658788862982e-7))));
    const pl_real odd =
        pl_set1(0.16666666666666699344) +
        w * (pl_set1(0.0083333333333070276871) +
             w * (pl_set1(0.00019841269917766751995) +
                  w * (pl_set1(2.7557215958427779896e-6) + w * pl_set1(2.5117969684469232845e-8))));
#endif
    return even + r * odd;
}

/* e^x = 2^k e^r, with r = x - k log 2 plus its rounding error. The power of two is applied in two halves, so that k
 * may reach below the smallest normal exponent and above the largest.
 */
PL_INLINE pl_real pl_exp(pl_real x)
{
    const pl_real x_in = pl_clamp(x, pl_set1(PL_EXP_LOW), pl_set1(PL_EXP_HIGH));
    /* 1.5 * 2^mantissa: adding it rounds to an integer, which its low bits then hold. */
    const pl_real rounder = pl_set1((pl_scalar)((int64_t)3 << (PL_MANTISSA_BITS - 1)));
    const pl_real rounded = x_in * pl_set1((pl_scalar)1.4426950408889634074) + rounder;
    const pl_int k = pl_as_int(rounded) - pl_as_int(rounder);
    const pl_real k_real = rounded - rounder;
    const pl_real high = x_in - k_real * pl_set1(PL_LN2_HIGH), low = k_real * pl_set1(PL_LN2_LOW);
    const pl_real r = high - low, lost = (high - r) - low;
    const pl_real y = pl_one() + (r + (r * r * pl_exp_series(r) + lost));
    const pl_int bias = pl_set1_int(PL_EXPONENT_BIAS);
    /* The shift has no sign, so halve k + 4096 and subtract 2048. */
    const pl_int half = pl_shift_right(k + pl_set1_int(4096), 1) - pl_set1_int(2048);
    const pl_real first = pl_as_real(pl_shift_left(half + bias, PL_MANTISSA_BITS));
    const pl_real second = pl_as_real(pl_shift_left(k - half + bias, PL_MANTISSA_BITS));
    return pl_select(pl_eq(x, x), y * first * second, x);
}

#endif
