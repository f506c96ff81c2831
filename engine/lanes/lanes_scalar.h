/* lanes_scalar.h - the lane type with one lane: a CUDA thread, or PL_SCALAR on a CPU.
 * Included by lanes.h only.
 */
#ifndef PLIANT_ENGINE_LANES_LANES_SCALAR_H
#define PLIANT_ENGINE_LANES_LANES_SCALAR_H

#include <string.h>

#define PL_LANES 1
#ifdef __CUDACC__
#define PL_INLINE static __host__ __device__ __forceinline__
/* PL_CALLS: for kernels so large that calls cost less than compiling each function into every kernel. */
#ifdef PL_CALLS
#define PL_LARGE static __host__ __device__ __noinline__
#else
#define PL_LARGE static __host__ __device__ __forceinline__
#endif
#define PL_RARE static __host__ __device__ __noinline__
#else
#define PL_LARGE  static __attribute__((unused))
#define PL_RARE   static __attribute__((noinline, cold, unused))
#define PL_INLINE static inline __attribute__((always_inline))
#endif

typedef pl_scalar pl_real;
#ifdef PL_SINGLE
typedef uint32_t pl_int;
#else
typedef uint64_t pl_int;
#endif
typedef int pl_mask;

PL_INLINE pl_real pl_set1(pl_scalar a)
{
    return a;
}
PL_INLINE pl_int pl_set1_int(int64_t a)
{
    return (pl_int)a;
}
PL_INLINE pl_real pl_load(const pl_scalar *from)
{
    return *from;
}
PL_INLINE void pl_store(pl_scalar *to, pl_real a)
{
    *to = a;
}
PL_INLINE pl_scalar pl_lane(pl_real a, int lane)
{
    return a;
}

PL_INLINE pl_int pl_as_int(pl_real a)
{
    pl_int bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

PL_INLINE pl_real pl_as_real(pl_int bits)
{
    pl_real a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

PL_INLINE pl_int pl_shift_left(pl_int a, int bits)
{
    return a << bits;
}
PL_INLINE pl_int pl_shift_right(pl_int a, int bits)
{
    return a >> bits;
}

PL_INLINE pl_mask pl_lt(pl_real a, pl_real b)
{
    return a < b;
}
PL_INLINE pl_mask pl_le(pl_real a, pl_real b)
{
    return a <= b;
}
PL_INLINE pl_mask pl_eq(pl_real a, pl_real b)
{
    return a == b;
}
PL_INLINE pl_mask pl_and(pl_mask a, pl_mask b)
{
    return a & b;
}
PL_INLINE pl_mask pl_or(pl_mask a, pl_mask b)
{
    return a | b;
}
PL_INLINE pl_mask pl_not(pl_mask a)
{
    return !a;
}
PL_INLINE int pl_any(pl_mask a)
{
    return a;
}
PL_INLINE int pl_all(pl_mask a)
{
    return a;
}

PL_INLINE pl_real pl_select(pl_mask mask, pl_real a, pl_real b)
{
    return mask ? a : b;
}
PL_INLINE pl_real pl_min(pl_real a, pl_real b)
{
    return a < b ? a : b;
}
PL_INLINE pl_real pl_max(pl_real a, pl_real b)
{
    return a > b ? a : b;
}

#ifdef PL_SINGLE
PL_INLINE pl_real pl_sqrt(pl_real a)
{
    return sqrtf(a);
}
#else
PL_INLINE pl_real pl_sqrt(pl_real a)
{
    return sqrt(a);
}
#endif

PL_INLINE void pl_gather3(const pl_scalar *x, const int32_t *index, pl_real out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = x[3 * (int64_t)index[0] + k];
}

#endif
