#include "engine/linear/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pl_sparse_clear(pl_sparse *a)
{
    free(a->column);
    free(a->row);
    free(a->value);
    *a = (pl_sparse){0};
}

/* Sorts entries into lower-triangle columns, stably: by column, and within it by row. Two counting sorts, least
 * significant key first. */
static pl_status sort_entries(int64_t n, const pl_entry *entries, int64_t count, pl_entry *sorted,
                              int64_t *start)
{
    pl_entry *by_row = malloc((size_t)(count + 1) * sizeof *by_row);
    if (!by_row)
        return PL_NO_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        const pl_entry *from = pass == 0 ? entries : by_row;
        pl_entry *to = pass == 0 ? by_row : sorted;
        memset(start, 0, (size_t)(n + 1) * sizeof *start);
        for (int64_t i = 0; i < count; i++) {
            int32_t lo = from[i].row < from[i].column ? from[i].row : from[i].column;
            int32_t hi = from[i].row < from[i].column ? from[i].column : from[i].row;
            start[(pass == 0 ? hi : lo) + 1]++;
        }
        for (int64_t i = 0; i < n; i++)
            start[i + 1] += start[i];
        for (int64_t i = 0; i < count; i++) {
            int32_t lo = from[i].row < from[i].column ? from[i].row : from[i].column;
            int32_t hi = from[i].row < from[i].column ? from[i].column : from[i].row;
            to[start[pass == 0 ? hi : lo]++] = (pl_entry){hi, lo, from[i].value};
        }
    }
    free(by_row);
    return PL_OK;
}

/* Sums runs of equal (row, column) in place; returns the number of entries that remain. */
static int64_t sum_runs(pl_entry *e, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (kept > 0 && e[kept - 1].row == e[i].row && e[kept - 1].column == e[i].column)
            e[kept - 1].value += e[i].value;
        else
            e[kept++] = e[i];
    }
    return kept;
}

pl_status pl_sparse_assemble(int64_t n, const pl_entry *entries, int64_t count, pl_sparse *out)
{
    *out = (pl_sparse){.n = n};
    pl_status status = PL_NO_MEMORY;
    pl_entry *sorted = malloc((size_t)(count + 1) * sizeof *sorted);
    double *diagonal = calloc((size_t)n + 1, sizeof *diagonal);
    out->column = calloc((size_t)n + 1, sizeof *out->column);
    if (!sorted || !diagonal || !out->column)
        goto done;
    status = sort_entries(n, entries, count, sorted, out->column);
    if (status != PL_OK)
        goto done;

    int64_t kept = sum_runs(sorted, count);
    for (int64_t i = 0; i < kept; i++)
        if (sorted[i].row == sorted[i].column)
            diagonal[sorted[i].row] = sorted[i].value;
    int64_t m = 0;
    for (int64_t i = 0; i < kept; i++) {
        pl_entry e = sorted[i];
        bool negligible = e.row != e.column &&
                          fabs(e.value) <= 1e-12 * sqrt(diagonal[e.row] * diagonal[e.column]);
        if (!negligible)
            sorted[m++] = e;
    }

    status = PL_NO_MEMORY;
    out->row = malloc((size_t)(m + 1) * sizeof *out->row);
    out->value = malloc((size_t)(m + 1) * sizeof *out->value);
    if (!out->row || !out->value)
        goto done;
    memset(out->column, 0, (size_t)(n + 1) * sizeof *out->column);
    for (int64_t i = 0; i < m; i++) {
        out->row[i] = sorted[i].row;
        out->value[i] = sorted[i].value;
        out->column[sorted[i].column + 1]++;
    }
    for (int64_t i = 0; i < n; i++)
        out->column[i + 1] += out->column[i];
    status = PL_OK;
done:
    free(sorted);
    free(diagonal);
    if (status != PL_OK)
        pl_sparse_clear(out);
    return status;
}

void pl_sparse_multiply(const pl_sparse *a, const double *x, double *y, int32_t columns)
{
    for (int32_t c = 0; c < columns; c++) {
        const double *xc = x + c * a->n;
        double *yc = y + c * a->n;
        memset(yc, 0, (size_t)a->n * sizeof *yc);
        for (int64_t j = 0; j < a->n; j++) {
            double sum = 0;
            for (int64_t k = a->column[j]; k < a->column[j + 1]; k++) {
                int32_t i = a->row[k];
                sum += a->value[k] * xc[i];
                if (i != j)
                    yc[i] += a->value[k] * xc[j];
            }
            yc[j] += sum;
        }
    }
}
