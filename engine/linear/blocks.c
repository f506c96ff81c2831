#include "engine/linear/blocks.h"

#include "engine/isa.h"

#include <stdlib.h>
#include <string.h>

/* Below this many blocks a product ends before a second thread has gained anything. */
enum { PARTS_FROM = 30000 };

void pl_blocks_clear(pl_blocks *a)
{
    free(a->column);
    free(a->row);
    free(a->value);
    *a = (pl_blocks){0};
}

static const pl_blocks_ops *ops_now(void)
{
    static const pl_blocks_ops *const OPS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_blocks_ops);
    return OPS[pl_isa_current()];
}

/* x, and the sums of each part, [n][4] each. */
int64_t pl_blocks_work(int64_t n)
{
    return 4 * n * (1 + PL_BLOCKS_PARTS);
}

/* The first column of the second part; n: all are in the first. */
static int64_t half_of(const pl_blocks *a)
{
    const int64_t blocks = a->column[a->n];
    int64_t lo = 0, hi = a->n;
    if (blocks < PARTS_FROM)
        return a->n;
    while (lo < hi) {
        const int64_t middle = (lo + hi) / 2;
        if (2 * a->column[middle] < blocks)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

void pl_blocks_multiply(const pl_blocks *a, double *work, int32_t threads, const double *x,
                        double *y)
{
    const pl_blocks_ops *ops = ops_now();
    const int64_t n = a->n, half = half_of(a);
    const int64_t edge[PL_BLOCKS_PARTS + 1] = {0, half, n};
    double *in = work, *sum[PL_BLOCKS_PARTS] = {work + 4 * n, work + 8 * n};
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            in[4 * i + k] = x[k * n + i];
        in[4 * i + 3] = 0;
    }
#pragma omp parallel for num_threads(threads < 2 ? 1 : 2) schedule(static) if (half < n)
    for (int part = 0; part < PL_BLOCKS_PARTS; part++) {
        /* A part adds to no row before its own. */
        memset(sum[part] + 4 * edge[part], 0, (size_t)(4 * (n - edge[part])) * sizeof *in);
        ops->multiply(a, in, sum[part], edge[part], edge[part + 1]);
    }
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < half; i++)
            y[k * n + i] = sum[0][4 * i + k];
        for (int64_t i = half; i < n; i++)
            y[k * n + i] = sum[0][4 * i + k] + sum[1][4 * i + k];
    }
}

pl_status pl_blocks_pattern(const pl_blocks *a, pl_sparse *out)
{
    const int64_t n = a->n, numbers = 9 * a->column[n] - 3 * n;
    *out = (pl_sparse){.n = 3 * n};
    out->column = malloc((size_t)(3 * n + 1) * sizeof *out->column);
    out->row = malloc((size_t)(numbers + 1) * sizeof *out->row);
    out->value = calloc((size_t)numbers + 1, sizeof *out->value);
    if (!out->column || !out->row || !out->value) {
        pl_sparse_clear(out);
        return PL_NO_MEMORY;
    }
    int64_t at = 0;
    for (int64_t j = 0; j < n; j++)
        for (int s = 0; s < 3; s++) {
            out->column[3 * j + s] = at;
            for (int64_t p = a->column[j]; p < a->column[j + 1]; p++)
                for (int r = p == a->column[j] ? s : 0; r < 3; r++)
                    out->row[at++] = 3 * a->row[p] + r;
        }
    out->column[3 * n] = at;
    return PL_OK;
}

void pl_blocks_values(const pl_blocks *a, pl_sparse *out)
{
    double *to = out->value;
    for (int64_t j = 0; j < a->n; j++)
        for (int s = 0; s < 3; s++)
            for (int64_t p = a->column[j]; p < a->column[j + 1]; p++)
                for (int r = p == a->column[j] ? s : 0; r < 3; r++)
                    *to++ = a->value[9 * p + 3 * s + r];
}
