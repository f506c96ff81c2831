#include "engine/backends/cpu/cpu_anderson.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

/* Half a block: the width determines the bits, whatever the processor. */
enum { WIDE = 8, HALVES = PL_BLOCK / WIDE, MOST = PL_ANDERSON_MAX };
typedef double wide __attribute__((vector_size(64)));
typedef float narrow __attribute__((vector_size(32)));

static wide load(const double *from)
{
    return *(const wide *)from;
}

static wide widen(const float *from)
{
    return __builtin_convertvector(*(const narrow *)from, wide);
}

static double add_lanes(wide v)
{
    double total = 0;
    for (int l = 0; l < WIDE; l++)
        total += v[l];
    return total;
}

static void difference(const pl_anderson_part *p, int64_t b0, int64_t b1, double *sums)
{
    wide dot[2 * MOST + 1] = {{0}};
    int32_t m = p->count;
    for (int64_t b = b0; b < b1; b++)
        for (int32_t e = 0; e < p->rows * HALVES; e++) {
            int64_t i = b * p->rows * PL_BLOCK + e * WIDE;
            wide w = load(p->weight + b * PL_BLOCK + e % HALVES * WIDE);
            wide z = load(p->z + i), r = load(p->r + i) - z;
            wide g = z + load(p->u + i) + p->relaxation * r, wr = w * r;
            dot[2 * m] += wr * r;
            if (m > 0) {
                wide dr = r - load(p->r_old + i);
                *(narrow *)(p->dr[m - 1] + i) = __builtin_convertvector(dr, narrow);
                *(narrow *)(p->dg[m - 1] + i) = __builtin_convertvector(g - load(p->g + i), narrow);
                wide wd = w * widen(p->dr[m - 1] + i);
                for (int32_t j = 0; j < m; j++) {
                    wide d = widen(p->dr[j] + i);
                    dot[j] += wd * d;
                    dot[m + j] += wr * d;
                }
            }
            *(wide *)(p->r + i) = r;
            *(wide *)(p->g + i) = g;
        }
    for (int32_t j = 0; j <= 2 * m; j++)
        sums[j] += add_lanes(dot[j]);
}

static void combine(const pl_anderson_part *p, const double *gamma, int64_t b0, int64_t b1)
{
    int64_t step = (int64_t)p->rows * PL_BLOCK;
    for (int64_t i = b0 * step; i < b1 * step; i += WIDE) {
        wide v = load(p->g + i);
        for (int32_t j = 0; j < p->count; j++)
            v -= gamma[j] * widen(p->dg[j] + i);
        *(wide *)(p->u + i) = v - load(p->r + i) - load(p->z + i);
    }
}

const pl_anderson_loops JOIN(pl_anderson_loops_, PL_ISA) = {difference, combine};
