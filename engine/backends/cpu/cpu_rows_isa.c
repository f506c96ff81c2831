#include "engine/backends/cpu/cpu_rows.h"

#include "engine/backends/numbers.h"

#include <stddef.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

/* Eight rows at a time, whatever the processor: the width determines the bits. */
typedef double wide __attribute__((vector_size(64), aligned(8)));
enum { WIDE = 8 };

static wide load(const double *from)
{
    return *(const wide *)from;
}

static double add_lanes(wide v)
{
    double total = 0;
    for (int l = 0; l < WIDE; l++)
        total += v[l];
    return total;
}

/* out = a.c, a.d, b.c, b.d: each in eight chains, their sum, then the remaining rows. */
static void dot_four(const double *a, const double *b, const double *c, const double *d,
                     int64_t count, double out[4])
{
    wide ac = {0}, ad = {0}, bc = {0}, bd = {0};
    int64_t i = 0;
    for (; i + WIDE <= count; i += WIDE) {
        wide x = load(a + i), y = load(b + i), u = load(c + i), v = load(d + i);
        ac += x * u;
        ad += x * v;
        bc += y * u;
        bd += y * v;
    }
    out[0] = add_lanes(ac);
    out[1] = add_lanes(ad);
    out[2] = add_lanes(bc);
    out[3] = add_lanes(bd);
    for (; i < count; i++) {
        out[0] += a[i] * c[i];
        out[1] += a[i] * d[i];
        out[2] += b[i] * c[i];
        out[3] += b[i] * d[i];
    }
}

static double dot(const double *a, const double *c, int64_t count)
{
    wide sum = {0};
    int64_t i = 0;
    for (; i + WIDE <= count; i += WIDE)
        sum += load(a + i) * load(c + i);
    double total = add_lanes(sum);
    for (; i < count; i++)
        total += a[i] * c[i];
    return total;
}

static void pair_rows(const pl_history_pair *pair, int64_t i0, int64_t i1, double *dots)
{
    int64_t count = i1 - i0;
    int32_t newest = pair->count - 1;
    double t[CHUNK];
    const double *g = pl_numbers_read(pair->g) + i0, *p = pl_numbers_read(pair->p) + i0,
                 *g_old = pl_numbers_read(pair->g_old) + i0,
                 *p_old = pl_numbers_read(pair->p_old) + i0;
    double *s = newest < 0 ? NULL : pl_numbers(pair->s[newest]) + i0,
           *w = newest < 0 ? NULL : pl_numbers(pair->w[newest]) + i0;
    for (int64_t i = 0; newest >= 0 && i < count; i++) {
        s[i] *= pair->alpha;
        w[i] = p[i] - p_old[i];
        t[i] = g[i] - g_old[i];
    }
    for (int32_t k = 0; k < pair->count; k++)
        dot_four(pl_numbers_read(pair->s[k]) + i0, pl_numbers_read(pair->w[k]) + i0, g, t, count,
                 dots + 4 * k);
    dots[4 * pair->count] = dot(p, g, count);
}

static void combine_rows(const pl_array *const *list, const double *coefficient, int32_t terms,
                         int64_t i0, int64_t i1, double *out)
{
    for (int64_t i = i0; i < i1; i++)
        out[i] = 0;
    for (int32_t j = 0; j < terms; j += 4) {
        const double *v[4];
        double a[4];
        for (int32_t q = 0; q < 4; q++) {
            v[q] = pl_numbers_read(list[j + q < terms ? j + q : j]);
            a[q] = j + q < terms ? coefficient[j + q] : 0;
        }
        int64_t i = i0;
        for (; i + WIDE <= i1; i += WIDE)
            *(wide *)(out + i) += a[0] * load(v[0] + i) + a[1] * load(v[1] + i) +
                                  a[2] * load(v[2] + i) + a[3] * load(v[3] + i);
        for (; i < i1; i++)
            out[i] += a[0] * v[0][i] + a[1] * v[1][i] + a[2] * v[2][i] + a[3] * v[3][i];
    }
}

static double dot_rows(const double *a, const double *c, int64_t i0, int64_t i1)
{
    return dot(a + i0, c + i0, i1 - i0);
}

static double scale_rows(const double *inverse, const double *g, int64_t i0, int64_t i1,
                         double *out)
{
    for (int64_t i = i0; i < i1; i++)
        out[i] = inverse[i] * g[i];
    return dot(g + i0, out + i0, i1 - i0);
}

const pl_rows_loops JOIN(pl_rows_loops_, PL_ISA) = {pair_rows, combine_rows, dot_rows, scale_rows};
