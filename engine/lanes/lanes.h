/* lanes.h - one real number type for the mathematics of an element.
 *
 * A pl_real is PL_LANES numbers, one for each element of a block, on a CPU, and one number on a GPU or with
 * PL_SCALAR. A kernel written on it contains no loop over elements and no branch on data: both sides of a condition
 * are computed and pl_select takes the one that applies.
 *
 *     type      lanes                    is
 *     pl_real   8 double, 16 single      GCC/clang vector, so + - * / and unary - work
 *     pl_int    as pl_real               unsigned integers of the same size, for bit work
 *     pl_mask   as pl_real               result of a comparison; combine with pl_and, pl_or, pl_not
 *
 * PL_SINGLE selects single precision; PL_VECTOR_SIZE (bytes, 128 by default) determines the lane count, which does
 * not depend on the instruction set. Every operation is exactly rounded IEEE arithmetic or exact bit work, so an
 * element has the same bits on x86-64-v2, v3 and v4 when compiled with -ffp-contract=off. There are no reciprocal
 * estimates.
 */
#ifndef PLIANT_ENGINE_LANES_LANES_H
#define PLIANT_ENGINE_LANES_LANES_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#ifdef PL_SINGLE
typedef float pl_scalar;
#define PL_MANTISSA_BITS  23
#define PL_SCALAR_MIN     FLT_MIN
#define PL_SCALAR_EPSILON FLT_EPSILON
#else
typedef double pl_scalar;
#define PL_MANTISSA_BITS  52
#define PL_SCALAR_MIN     DBL_MIN
#define PL_SCALAR_EPSILON DBL_EPSILON
#endif
#define PL_SCALAR_INFINITY ((pl_scalar)INFINITY)
#define PL_SCALAR_NAN      ((pl_scalar)NAN)

#if defined(__CUDACC__)
#include "engine/lanes/lanes_scalar.h"
#elif defined(PL_SCALAR)
#include "engine/lanes/lanes_scalar.h"
#else
#include "engine/lanes/lanes_vector.h"
#endif

/* Distance between the rows of a block of elements: a vector, or the value given to a device's thread. */
#ifndef PL_ROW
#define PL_ROW PL_LANES
#endif

/* The following is written in terms of the operations above and is the same for every representation. */

PL_INLINE pl_mask pl_gt(pl_real a, pl_real b)
{
    return pl_lt(b, a);
}
PL_INLINE pl_mask pl_ge(pl_real a, pl_real b)
{
    return pl_le(b, a);
}

PL_INLINE pl_real pl_zero(void)
{
    return pl_set1(0);
}
PL_INLINE pl_real pl_one(void)
{
    return pl_set1(1);
}

/* Only the sign bit of each lane: +0 or -0. */
PL_INLINE pl_real pl_sign_bit(pl_real a)
{
    return pl_as_real(pl_as_int(a) & pl_as_int(pl_set1((pl_scalar)-0.0)));
}

PL_INLINE pl_real pl_abs(pl_real a)
{
    return pl_as_real(pl_as_int(a) & ~pl_as_int(pl_set1((pl_scalar)-0.0)));
}

/* Flips the sign of a where `sign` (only its sign bit counts) is negative. */
PL_INLINE pl_real pl_flip_sign(pl_real a, pl_real sign)
{
    return pl_as_real(pl_as_int(a) ^ pl_as_int(pl_sign_bit(sign)));
}

PL_INLINE pl_real pl_copysign(pl_real magnitude, pl_real sign)
{
    return pl_as_real(pl_as_int(pl_abs(magnitude)) | pl_as_int(pl_sign_bit(sign)));
}

PL_INLINE pl_real pl_clamp(pl_real a, pl_real low, pl_real high)
{
    return pl_min(pl_max(a, low), high);
}

/* Sum of the lanes, from the first to the last. */
PL_INLINE pl_scalar pl_sum(pl_real a)
{
    pl_scalar sum = 0;
    for (int lane = 0; lane < PL_LANES; lane++)
        sum += pl_lane(a, lane);
    return sum;
}

#include "engine/lanes/log_exp.h"

#endif
