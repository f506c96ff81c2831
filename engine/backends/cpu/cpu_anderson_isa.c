#include "engine/backends/cpu/cpu_anderson.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

/* The instruction set's own vectors and conversions: GCC 12 converts the precision of vectors by halves or by
 * entries. No bit depends on their width, since every lane of a block has sums of its own. */
#if defined(__AVX512F__)
#include <immintrin.h>
enum { WIDE = 8 };
#define WIDEN(v)   ((wide)_mm512_cvtps_pd((__m256)(v)))
#define TIGHTEN(v) ((narrow)_mm512_cvtpd_ps((__m512d)(v)))
#elif defined(__AVX__)
#include <immintrin.h>
enum { WIDE = 4 };
#define WIDEN(v)   ((wide)_mm256_cvtps_pd((__m128)(v)))
#define TIGHTEN(v) ((narrow)_mm256_cvtpd_ps((__m256d)(v)))
#else
enum { WIDE = 2 };
#define WIDEN(v)   __builtin_convertvector(v, wide)
#define TIGHTEN(v) __builtin_convertvector(v, narrow)
#endif
enum {
    PIECES = PL_BLOCK / WIDE,
    TILE = PIECES < 4 ? PIECES : 4,
    MOST = PL_ANDERSON_MAX,
    ROWS_MAX = 9
};
typedef double wide __attribute__((vector_size(WIDE * sizeof(double))));
typedef float narrow __attribute__((vector_size(WIDE * sizeof(float))));

static wide load(const double *from)
{
    return *(const wide *)from;
}

static wide widen(const float *from)
{
    return WIDEN(*(const narrow *)from);
}

/* ---- the newest residual, its difference and products ---- */

/* Products of the newest residual with each, for a piece of a block that begins at `at`; w: its weights. */
static inline __attribute__((always_inline)) void multiply(const pl_anderson_part *p, int32_t rows,
                                                           wide w, int64_t at, wide *dot)
{
    wide r[ROWS_MAX] = {{0}};
#pragma GCC unroll 9
    for (int32_t e = 0; e < rows; e++)
        r[e] = load(p->r[p->count] + at + e * PL_BLOCK);
    for (int32_t j = 0; j <= p->count; j++) {
        const double *other = p->r[j] + at;
        wide sum = {0};
#pragma GCC unroll 9
        for (int32_t e = 0; e < rows; e++)
            sum += r[e] * load(other + e * PL_BLOCK);
        dot[j * PIECES] += w * sum;
    }
}

/* The newest residual, and dg if it is wanted, of the values of a block that begins at `at`. */
static void subtract(const pl_anderson_part *p, const double *Dx, int64_t at)
{
    double *r = p->r[p->count] + at;
    float *dg = p->dg ? p->dg + at : NULL;
    const double *z = p->z + at;
    for (int32_t e = 0; e < p->rows * PL_BLOCK; e += WIDE) {
        const wide exact = load(Dx + e) - load(z + e);
        *(wide *)(r + e) = exact;
        if (dg) {
            const wide taken = p->taken ? widen(dg + e) : (wide){0};
            *(narrow *)(dg + e) = TIGHTEN(p->relaxation * exact - taken);
        }
    }
}

static void difference(const pl_anderson_part *p, const double *Dx, int64_t b0, int64_t b1,
                       double *sums)
{
    const int32_t step = p->rows * PL_BLOCK;
    wide dot[(MOST + 1) * PIECES] = {{0}};
    for (int64_t b = b0; b < b1; b++, Dx += step) {
        subtract(p, Dx, b * step);
        for (int32_t i = 0; i < PIECES; i++) {
            const wide w = load(p->weight + b * PL_BLOCK + i * WIDE);
            if (p->rows == ROWS_MAX)
                multiply(p, ROWS_MAX, w, b * step + i * WIDE, dot + i);
            else
                multiply(p, p->rows, w, b * step + i * WIDE, dot + i);
        }
    }
    for (int32_t j = 0; j <= p->count; j++)
        for (int32_t l = 0; l < PL_BLOCK; l++)
            sums[j] += dot[j * PIECES + l / WIDE][l % WIDE];
}

/* ---- what is taken from u ---- */

static void mix(const pl_mixing_part *p, int64_t b0, int64_t b1)
{
    const int64_t step = (int64_t)p->rows * PL_BLOCK;
    for (int64_t i = b0 * step; i < b1 * step; i += TILE * WIDE) {
        wide sum[TILE] = {{0}};
        for (int32_t j = 0; j < p->count; j++) {
            const float *dg = p->dg[j] + i;
            const double gamma = p->gamma[j];
#pragma GCC unroll 4
            for (int32_t t = 0; t < TILE; t++)
                sum[t] += gamma * widen(dg + t * WIDE);
        }
#pragma GCC unroll 4
        for (int32_t t = 0; t < TILE; t++) {
            const narrow taken = TIGHTEN(sum[t]);
            *(narrow *)(p->taken + i + t * WIDE) = taken;
            *(wide *)(p->u + i + t * WIDE) -= WIDEN(taken);
        }
    }
}

const pl_anderson_loops JOIN(pl_anderson_loops_, PL_ISA) = {difference, mix};
