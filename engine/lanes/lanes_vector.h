/* lanes_vector.h - the lane type as a vector of PL_VECTOR_SIZE bytes. Included by lanes.h only.
 *
 * Operations work on native pieces: 64 bytes with AVX-512, 32 with AVX, else 16 (SSE, NEON). GCC splits
 * + - * / into pieces by itself and keeps them in registers, but it would turn comparisons and roots of a vector
 * that is not native into scalar code. Those are therefore written piece by piece here. Several pieces are several
 * independent dependency chains, which hides latency: see README.md.
 */
#ifndef PLIANT_ENGINE_LANES_LANES_VECTOR_H
#define PLIANT_ENGINE_LANES_LANES_VECTOR_H

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define PL_INLINE static inline __attribute__((always_inline))
/* A function of a thousand instructions: compiled once per file, called with pointers. */
#define PL_LARGE static __attribute__((noinline, unused))
/* The same for rarely called functions. */
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

/* ---- operations on one piece ---- */

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
#define PL_PIECE_SQRT(p)   PL_PIECE_OP(sqrt)(p)
#else
/* NEON's own min and max differ from these if an operand is NaN or both are zero. */
#define PL_PIECE_MIN(p, q) PL_PIECE_SELECT(PL_PIECE_LT(p, q), p, q)
#define PL_PIECE_MAX(p, q) PL_PIECE_SELECT(PL_PIECE_LT(q, p), p, q)
#if defined(__aarch64__) && defined(PL_SINGLE)
#define PL_PIECE_SQRT(p) ((pl_piece)vsqrtq_f32((float32x4_t)(p)))
#elif defined(__aarch64__)
#define PL_PIECE_SQRT(p) ((pl_piece)vsqrtq_f64((float64x2_t)(p)))
#endif
#endif

/* ---- Comparisons: false if an operand is NaN ---- */

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

/* a < b ? a : b, so b if one is NaN; pl_max likewise with a > b. */
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
#ifdef PL_PIECE_SQRT
    PL_EACH_PIECE r.piece[i] = PL_PIECE_SQRT(r.piece[i]);
#elif defined(PL_SINGLE)
    for (int lane = 0; lane < PL_LANES; lane++)
        r.real[lane] = sqrtf(r.real[lane]);
#else
    for (int lane = 0; lane < PL_LANES; lane++)
        r.real[lane] = sqrt(r.real[lane]);
#endif
    return r.real;
}

/* Points of three coordinates, one per lane: out[k] lane l = x[3 index[l] + k]. One load fetches a point, which is
 * transposed in registers; going lane by lane through memory took a third of a local step. Only data moves here.
 * The loads are masked: nothing after the last point is read. */
#if PL_PIECE_SIZE == 64 && !defined(PL_SINGLE)
#define PL_POINT(l)     _mm256_maskz_loadu_pd(7, x + 3 * (int64_t)at[l])
#define PL_POINTS(l, m) _mm512_insertf64x4(_mm512_castpd256_pd512(PL_POINT(l)), PL_POINT(m), 1)
PL_INLINE void pl_gather3(const double *x, const int32_t *index, pl_real out[3])
{
    pl_pieces r[3];
    PL_EACH_PIECE
    {
        const int32_t *at = index + i * PL_PIECE_LANES;
        __m512d a = PL_POINTS(0, 2), b = PL_POINTS(1, 3), c = PL_POINTS(4, 6), d = PL_POINTS(5, 7);
        __m512d ab = _mm512_unpacklo_pd(a, b), cd = _mm512_unpacklo_pd(c, d); /* x x z z, twice */
        __m512d y = _mm512_unpackhi_pd(a, b), y2 = _mm512_unpackhi_pd(c, d);
        r[0].piece[i] = _mm512_shuffle_f64x2(ab, cd, 0x88);
        r[1].piece[i] = _mm512_shuffle_f64x2(y, y2, 0x88);
        r[2].piece[i] = _mm512_shuffle_f64x2(ab, cd, 0xdd);
    }
    for (int k = 0; k < 3; k++)
        out[k] = r[k].real;
}
#undef PL_POINT
#undef PL_POINTS
#elif PL_PIECE_SIZE == 32 && !defined(PL_SINGLE)
PL_INLINE void pl_gather3(const double *x, const int32_t *index, pl_real out[3])
{
    const __m256i three = _mm256_setr_epi64x(-1, -1, -1, 0);
    pl_pieces r[3];
    PL_EACH_PIECE
    {
        const int32_t *at = index + i * PL_PIECE_LANES;
        __m256d a = _mm256_maskload_pd(x + 3 * (int64_t)at[0], three);
        __m256d b = _mm256_maskload_pd(x + 3 * (int64_t)at[1], three);
        __m256d c = _mm256_maskload_pd(x + 3 * (int64_t)at[2], three);
        __m256d d = _mm256_maskload_pd(x + 3 * (int64_t)at[3], three);
        __m256d ab = _mm256_unpacklo_pd(a, b), cd = _mm256_unpacklo_pd(c, d); /* x x z z */
        __m256d y = _mm256_unpackhi_pd(a, b), y2 = _mm256_unpackhi_pd(c, d);
        r[0].piece[i] = _mm256_permute2f128_pd(ab, cd, 0x20);
        r[1].piece[i] = _mm256_permute2f128_pd(y, y2, 0x20);
        r[2].piece[i] = _mm256_permute2f128_pd(ab, cd, 0x31);
    }
    for (int k = 0; k < 3; k++)
        out[k] = r[k].real;
}
#else
PL_INLINE void pl_gather3(const pl_scalar *x, const int32_t *index, pl_real out[3])
{
    pl_pieces r[3];
    _Pragma("GCC unroll 16") for (int l = 0; l < PL_LANES; l++)
    {
        const pl_scalar *p = x + 3 * (int64_t)index[l];
        for (int k = 0; k < 3; k++)
            r[k].real[l] = p[k];
    }
    for (int k = 0; k < 3; k++)
        out[k] = r[k].real;
}
#endif

#endif
