/* lanes_vector.h - the lane type as a 64-byte vector. Included by lanes.h only.
 *
 * With AVX-512 each operation is one instruction on the vector. Otherwise a pl_real is taken apart
 * into native pieces of 32 (AVX) or 16 bytes (SSE, NEON), the operation is done by piece, and the
 * compiler keeps the pieces in registers.
 */
#ifndef PLIANT_ENGINE_LANES_LANES_VECTOR_H
#define PLIANT_ENGINE_LANES_LANES_VECTOR_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PL_INLINE static inline __attribute__((always_inline))

#ifdef PL_SINGLE
#define PL_LANES 16
typedef int32_t pl_bits;
typedef uint32_t pl_ubits;
#else
#define PL_LANES 8
typedef int64_t pl_bits;
typedef uint64_t pl_ubits;
#endif

typedef pl_scalar pl_real __attribute__((vector_size(64)));
typedef pl_bits pl_int __attribute__((vector_size(64)));
typedef pl_ubits pl_uint __attribute__((vector_size(64)));

PL_INLINE pl_real pl_set1(pl_scalar a)
{
#ifdef PL_SINGLE
    return (pl_real){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
#else
    return (pl_real){a, a, a, a, a, a, a, a};
#endif
}

PL_INLINE pl_int pl_set1_int(int64_t value)
{
    pl_bits a = (pl_bits)value;
#ifdef PL_SINGLE
    return (pl_int){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
#else
    return (pl_int){a, a, a, a, a, a, a, a};
#endif
}

/* Memory is aligned to 64 bytes and holds PL_LANES numbers. */
PL_INLINE pl_real pl_load(const pl_scalar *from)
{
    return *(const pl_real *)__builtin_assume_aligned(from, 64);
}

PL_INLINE void pl_store(pl_scalar *to, pl_real a)
{
    *(pl_real *)__builtin_assume_aligned(to, 64) = a;
}

PL_INLINE pl_scalar pl_lane(pl_real a, int lane) { return a[lane]; }

PL_INLINE pl_int pl_as_int(pl_real a) { return (pl_int)a; }
PL_INLINE pl_real pl_as_real(pl_int bits) { return (pl_real)bits; }
PL_INLINE pl_int pl_shift_left(pl_int a, int bits) { return (pl_int)((pl_uint)a << bits); }
PL_INLINE pl_int pl_shift_right(pl_int a, int bits) { return (pl_int)((pl_uint)a >> bits); }

#if defined(__AVX512F__) && defined(__AVX512DQ__)

#ifdef PL_SINGLE
typedef __mmask16 pl_mask;
#define PL_ALL_LANES 0xffffu
#define PL_AVX512(op) _mm512_##op##_ps
#define PL_AVX512_MASK(op) _mm512_##op##_ps_mask
#else
typedef __mmask8 pl_mask;
#define PL_ALL_LANES 0xffu
#define PL_AVX512(op) _mm512_##op##_pd
#define PL_AVX512_MASK(op) _mm512_##op##_pd_mask
#endif

PL_INLINE pl_mask pl_lt(pl_real a, pl_real b) { return PL_AVX512_MASK(cmp)(a, b, _CMP_LT_OQ); }
PL_INLINE pl_mask pl_le(pl_real a, pl_real b) { return PL_AVX512_MASK(cmp)(a, b, _CMP_LE_OQ); }
PL_INLINE pl_mask pl_eq(pl_real a, pl_real b) { return PL_AVX512_MASK(cmp)(a, b, _CMP_EQ_OQ); }
PL_INLINE pl_mask pl_and(pl_mask a, pl_mask b) { return (pl_mask)(a & b); }
PL_INLINE pl_mask pl_or(pl_mask a, pl_mask b) { return (pl_mask)(a | b); }
PL_INLINE pl_mask pl_not(pl_mask a) { return (pl_mask)(~a & PL_ALL_LANES); }
PL_INLINE int pl_any(pl_mask a) { return a != 0; }
PL_INLINE int pl_all(pl_mask a) { return a == PL_ALL_LANES; }

PL_INLINE pl_real pl_select(pl_mask mask, pl_real a, pl_real b)
{
    return PL_AVX512(mask_blend)(mask, b, a);
}

PL_INLINE pl_real pl_min(pl_real a, pl_real b) { return PL_AVX512(min)(a, b); }
PL_INLINE pl_real pl_max(pl_real a, pl_real b) { return PL_AVX512(max)(a, b); }
PL_INLINE pl_real pl_sqrt(pl_real a) { return PL_AVX512(sqrt)(a); }

#else

typedef pl_int pl_mask;

#if defined(__AVX__)
#define PL_PIECE_SIZE 32
#else
#define PL_PIECE_SIZE 16
#endif
#define PL_PIECES (64 / PL_PIECE_SIZE)

typedef pl_scalar pl_piece __attribute__((vector_size(PL_PIECE_SIZE)));
typedef pl_bits pl_piece_int __attribute__((vector_size(PL_PIECE_SIZE)));

typedef union pl_pieces {
    pl_real real;
    pl_int bits;
    pl_piece piece[PL_PIECES];
    pl_piece_int piece_bits[PL_PIECES];
} pl_pieces;

#if defined(__AVX__) && defined(PL_SINGLE)
#define PL_PIECE(op) _mm256_##op##_ps
#elif defined(__AVX__)
#define PL_PIECE(op) _mm256_##op##_pd
#elif defined(__x86_64__) && defined(PL_SINGLE)
#define PL_PIECE(op) _mm_##op##_ps
#elif defined(__x86_64__)
#define PL_PIECE(op) _mm_##op##_pd
#endif

#define PL_BY_PIECE(field, expression)                                                             \
    pl_pieces r, x = {.real = a}, y = {.real = b};                                                 \
    _Pragma("GCC unroll 4") for (int i = 0; i < PL_PIECES; i++)                                    \
    {                                                                                              \
        const pl_piece p = x.piece[i], q = y.piece[i];                                             \
        r.field[i] = expression;                                                                   \
    }

PL_INLINE pl_mask pl_lt(pl_real a, pl_real b)
{
    PL_BY_PIECE(piece_bits, p < q)
    return r.bits;
}

PL_INLINE pl_mask pl_le(pl_real a, pl_real b)
{
    PL_BY_PIECE(piece_bits, p <= q)
    return r.bits;
}

PL_INLINE pl_mask pl_eq(pl_real a, pl_real b)
{
    PL_BY_PIECE(piece_bits, p == q)
    return r.bits;
}

PL_INLINE pl_mask pl_and(pl_mask a, pl_mask b) { return a & b; }
PL_INLINE pl_mask pl_or(pl_mask a, pl_mask b) { return a | b; }
PL_INLINE pl_mask pl_not(pl_mask a) { return ~a; }

PL_INLINE int pl_any(pl_mask a)
{
    pl_bits any = 0;
    for (int lane = 0; lane < PL_LANES; lane++)
        any |= a[lane];
    return any != 0;
}

PL_INLINE int pl_all(pl_mask a) { return !pl_any(~a); }

PL_INLINE pl_real pl_select(pl_mask mask, pl_real a, pl_real b)
{
#ifdef __SSE4_1__
    const pl_pieces m = {.bits = mask};
    PL_BY_PIECE(piece, PL_PIECE(blendv)(q, p, m.piece[i]))
    return r.real;
#else
    return (pl_real)((mask & (pl_int)a) | (~mask & (pl_int)b));
#endif
}

#ifdef PL_PIECE
PL_INLINE pl_real pl_min(pl_real a, pl_real b)
{
    PL_BY_PIECE(piece, PL_PIECE(min)(p, q))
    return r.real;
}

PL_INLINE pl_real pl_max(pl_real a, pl_real b)
{
    PL_BY_PIECE(piece, PL_PIECE(max)(p, q))
    return r.real;
}
#else
PL_INLINE pl_real pl_min(pl_real a, pl_real b) { return pl_select(pl_lt(a, b), a, b); }
PL_INLINE pl_real pl_max(pl_real a, pl_real b) { return pl_select(pl_lt(b, a), a, b); }
#endif

PL_INLINE pl_real pl_sqrt(pl_real a)
{
    pl_pieces r, x = {.real = a};
#ifdef PL_PIECE
    _Pragma("GCC unroll 4") for (int i = 0; i < PL_PIECES; i++) r.piece[i] =
        PL_PIECE(sqrt)(x.piece[i]);
#elif defined(PL_SINGLE)
    for (int lane = 0; lane < PL_LANES; lane++)
        r.real[lane] = sqrtf(x.real[lane]);
#else
    for (int lane = 0; lane < PL_LANES; lane++)
        r.real[lane] = sqrt(x.real[lane]);
#endif
    return r.real;
}

#endif

#endif
