/* lanes_vector.h - the lane type as a vector of PL_VECTOR_SIZE bytes. Included by lanes.h only.
 *
 * A vector is worked on in native pieces: 64 bytes with AVX-512, 32 with AVX, else 16 (SSE, NEON).
 * GCC takes + - * / apart into them by itself and keeps the pieces in registers, but would turn
 * comparisons and roots of a vector that is not native into scalar code, so those are written by
 * piece here. Several pieces are several independent chains of dependent instructions, which is
 * what hides their latency: see README.md.
 */
#ifndef PLIANT_ENGINE_LANES_LANES_VECTOR_H
#define PLIANT_ENGINE_LANES_LANES_VECTOR_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PL_INLINE static inline __attribute__((always_inline))
/* A function of a thousand instructions: compiled once a file, called with pointers. */
#define PL_LARGE static __attribute__((noinline, unused))
/* The same for what runs seldom. */
#define PL_RARE static __attribute__((noinline, cold, unused))

#ifndef PL_VECTOR_SIZE
#define PL_VECTOR_SIZE 128
#endif
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define PL_PIECE_SIZE 64
#elif defined(__AVX__)
#define PL_PIECE_SIZE 32
#else
#define PL_PIECE_SIZE 16
#endif
#define PL_PIECES      (PL_VECTOR_SIZE / PL_PIECE_SIZE)
#define PL_PIECE_LANES (PL_PIECE_SIZE / (int)sizeof(pl_scalar))
#define PL_LANES       (PL_VECTOR_SIZE / (int)sizeof(pl_scalar))

#ifdef PL_SINGLE
typedef uint32_t pl_bits;
#define PL_INTRINSIC(width, op) _mm##width##_##op##_ps
#define PL_INTRINSIC_MASK(op)   _mm512_##op##_ps_mask
#else
typedef uint64_t pl_bits;
#define PL_INTRINSIC(width, op) _mm##width##_##op##_pd
#define PL_INTRINSIC_MASK(op)   _mm512_##op##_pd_mask
#endif

typedef pl_scalar pl_real __attribute__((vector_size(PL_VECTOR_SIZE)));
typedef pl_bits pl_int __attribute__((vector_size(PL_VECTOR_SIZE)));
typedef pl_real pl_real_in_memory __attribute__((aligned(64)));

typedef pl_scalar pl_piece __attribute__((vector_size(PL_PIECE_SIZE)));
typedef pl_bits pl_piece_int __attribute__((vector_size(PL_PIECE_SIZE)));

typedef union pl_pieces {
    pl_real real;
    pl_int bits;
    pl_piece piece[PL_PIECES];
    pl_piece_int piece_bits[PL_PIECES];
} pl_pieces;

#define PL_EACH_PIECE _Pragma("GCC unroll 8") for (int i = 0; i < PL_PIECES; i++)

PL_INLINE pl_real pl_set1(pl_scalar a)
{
    pl_piece all;
    _Pragma("GCC unroll 16") for (int lane = 0; lane < PL_PIECE_LANES; lane++) all[lane] = a;
    pl_pieces r;
    PL_EACH_PIECE r.piece[i] = all;
    return r.real;
}

PL_INLINE pl_int pl_set1_int(int64_t a)
{
    pl_piece_int all;
    _Pragma("GCC unroll 16") for (int lane = 0; lane < PL_PIECE_LANES; lane++)
        all[lane] = (pl_bits)a;
    pl_pieces r;
    PL_EACH_PIECE r.piece_bits[i] = all;
    return r.bits;
}

/* Memory is aligned to 64 bytes and holds PL_LANES numbers. */
PL_INLINE pl_real pl_load(const pl_scalar *from)
{
    return *(const pl_real_in_memory *)from;
}
PL_INLINE void pl_store(pl_scalar *to, pl_real a)
{
    *(pl_real_in_memory *)to = a;
}
PL_INLINE pl_scalar pl_lane(pl_real a, int lane)
{
    return a[lane];
}

PL_INLINE pl_int pl_as_int(pl_real a)
{
    return (pl_int)a;
}
PL_INLINE pl_real pl_as_real(pl_int bits)
{
    return (pl_real)bits;
}
PL_INLINE pl_int pl_shift_left(pl_int a, int bits)
{
    return a << bits;
}
PL_INLINE pl_int pl_shift_right(pl_int a, int bits)
{
    return a >> bits;
}

/* --- What an operation is on one piece --- */

#if PL_PIECE_SIZE == 64

#ifdef PL_SINGLE
typedef __mmask16 pl_piece_mask;
#else
typedef __mmask8 pl_piece_mask;
#endif
#define PL_PIECE_LT(p, q)        PL_INTRINSIC_MASK(cmp)(p, q, _CMP_LT_OQ)
#define PL_PIECE_LE(p, q)        PL_INTRINSIC_MASK(cmp)(p, q, _CMP_LE_OQ)
#define PL_PIECE_EQ(p, q)        PL_INTRINSIC_MASK(cmp)(p, q, _CMP_EQ_OQ)
#define PL_PIECE_SELECT(m, p, q) PL_INTRINSIC(512, mask_blend)(m, q, p)
#define PL_PIECE_OP(op)          PL_INTRINSIC(512, op)

#else

typedef pl_piece_int pl_piece_mask;
#define PL_PIECE_LT(p, q) ((p) < (q))
#define PL_PIECE_LE(p, q) ((p) <= (q))
#define PL_PIECE_EQ(p, q) ((p) == (q))
#if PL_PIECE_SIZE == 32
#define PL_PIECE_OP(op) PL_INTRINSIC(256, op)
#elif defined(__x86_64__)
#define PL_PIECE_OP(op) PL_INTRINSIC(, op)
#endif
#ifdef __SSE4_1__
#define PL_PIECE_SELECT(m, p, q) PL_PIECE_OP(blendv)(q, p, (pl_piece)(m))
#else
#define PL_PIECE_SELECT(m, p, q)                                                                   \
    ((pl_piece)(((m) & (pl_piece_int)(p)) | (~(m) & (pl_piece_int)(q))))
#endif

#endif

#ifdef PL_PIECE_OP
#define PL_PIECE_MIN(p, q) PL_PIECE_OP(min)(p, q)
#define PL_PIECE_MAX(p, q) PL_PIECE_OP(max)(p, q)
#else
#define PL_PIECE_MIN(p, q) PL_PIECE_SELECT(PL_PIECE_LT(p, q), p, q)
#define PL_PIECE_MAX(p, q) PL_PIECE_SELECT(PL_PIECE_LT(q, p), p, q)
#endif

/* --- Comparisons: false where an operand is NaN --- */

typedef struct pl_mask {
    pl_piece_mask piece[PL_PIECES];
} pl_mask;

PL_INLINE pl_mask pl_lt(pl_real a, pl_real b)
{
    const pl_pieces p = {.real = a}, q = {.real = b};
    pl_mask r;
    PL_EACH_PIECE r.piece[i] = PL_PIECE_LT(p.piece[i], q.piece[i]);
    return r;
}

PL_INLINE pl_mask pl_le(pl_real a, pl_real b)
{
    const pl_pieces p = {.real = a}, q = {.real = b};
    pl_mask r;
    PL_EACH_PIECE r.piece[i] = PL_PIECE_LE(p.piece[i], q.piece[i]);
    return r;
}

PL_INLINE pl_mask pl_eq(pl_real a, pl_real b)
{
    const pl_pieces p = {.real = a}, q = {.real = b};
    pl_mask r;
    PL_EACH_PIECE r.piece[i] = PL_PIECE_EQ(p.piece[i], q.piece[i]);
    return r;
}

PL_INLINE pl_mask pl_and(pl_mask a, pl_mask b)
{
    PL_EACH_PIECE a.piece[i] = a.piece[i] & b.piece[i];
    return a;
}

PL_INLINE pl_mask pl_or(pl_mask a, pl_mask b)
{
    PL_EACH_PIECE a.piece[i] = a.piece[i] | b.piece[i];
    return a;
}

PL_INLINE pl_mask pl_not(pl_mask a)
{
    PL_EACH_PIECE a.piece[i] = ~a.piece[i];
    return a;
}

PL_INLINE int pl_any(pl_mask a)
{
    pl_piece_mask any = a.piece[0];
    PL_EACH_PIECE any |= a.piece[i];
#if PL_PIECE_SIZE == 64
    return any != 0;
#else
    pl_bits lanes = 0;
    for (int lane = 0; lane < PL_PIECE_LANES; lane++)
        lanes |= any[lane];
    return lanes != 0;
#endif
}

PL_INLINE int pl_all(pl_mask a)
{
    return !pl_any(pl_not(a));
}

/* mask ? a : b, lane by lane. */
PL_INLINE pl_real pl_select(pl_mask mask, pl_real a, pl_real b)
{
    const pl_pieces p = {.real = a}, q = {.real = b};
    pl_pieces r;
    PL_EACH_PIECE r.piece[i] = PL_PIECE_SELECT(mask.piece[i], p.piece[i], q.piece[i]);
    return r.real;
}

/* a < b ? a : b, so b where one is NaN; pl_max likewise with a > b. */
PL_INLINE pl_real pl_min(pl_real a, pl_real b)
{
    const pl_pieces p = {.real = a}, q = {.real = b};
    pl_pieces r;
    PL_EACH_PIECE r.piece[i] = PL_PIECE_MIN(p.piece[i], q.piece[i]);
    return r.real;
}

PL_INLINE pl_real pl_max(pl_real a, pl_real b)
{
    const pl_pieces p = {.real = a}, q = {.real = b};
    pl_pieces r;
    PL_EACH_PIECE r.piece[i] = PL_PIECE_MAX(p.piece[i], q.piece[i]);
    return r.real;
}

PL_INLINE pl_real pl_sqrt(pl_real a)
{
    pl_pieces r = {.real = a};
#ifdef PL_PIECE_OP
    PL_EACH_PIECE r.piece[i] = PL_PIECE_OP(sqrt)(r.piece[i]);
#elif defined(PL_SINGLE)
    for (int lane = 0; lane < PL_LANES; lane++)
        r.real[lane] = sqrtf(r.real[lane]);
#else
    for (int lane = 0; lane < PL_LANES; lane++)
        r.real[lane] = sqrt(r.real[lane]);
#endif
    return r.real;
}

#endif
