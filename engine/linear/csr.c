#include "engine/linear/csr.h"

#include <stdlib.h>
#include <string.h>

pl_status pl_csr_alloc(int64_t rows, int64_t columns, int64_t entries, pl_csr *out)
{
    *out = (pl_csr){.rows = rows, .columns = columns};
    out->start = calloc((size_t)rows + 1, sizeof *out->start);
    out->column = malloc((size_t)(entries + 1) * sizeof *out->column);
    out->value = malloc((size_t)(entries + 1) * sizeof *out->value);
    return out->start && out->column && out->value ? PL_OK : PL_NO_MEMORY;
}

void pl_csr_clear(pl_csr *a)
{
    free(a->start);
    free(a->column);
    free(a->value);
    *a = (pl_csr){0};
}

/* Makes starts of the counts in start[i + 1]. */
static void sum_up(pl_csr *a)
{
    for (int64_t i = 0; i < a->rows; i++)
        a->start[i + 1] += a->start[i];
}

/* Undoes the use of start[i] as the cursor of row i. */
static void rewind_rows(pl_csr *a)
{
    memmove(a->start + 1, a->start, (size_t)a->rows * sizeof *a->start);
    a->start[0] = 0;
}

static void put(pl_csr *a, int64_t row, int64_t column, double value)
{
    int64_t at = a->start[row]++;
    a->column[at] = (int32_t)column;
    a->value[at] = value;
}

pl_status pl_csr_from_lower(const pl_sparse *a, pl_csr *out)
{
    pl_status status = pl_csr_alloc(a->n, a->n, 2 * a->column[a->n], out);
    if (status != PL_OK)
        return status;
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t e = a->column[j]; e < a->column[j + 1]; e++) {
            out->start[j + 1]++;
            out->start[a->row[e] + 1] += a->row[e] != j;
        }
    sum_up(out);
    /* Row i receives its columns below i while earlier columns are read, then its own column's entries. */
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t e = a->column[j]; e < a->column[j + 1]; e++) {
            put(out, j, a->row[e], a->value[e]);
            if (a->row[e] != j)
                put(out, a->row[e], j, a->value[e]);
        }
    rewind_rows(out);
    return PL_OK;
}

pl_status pl_csr_to_lower(const pl_csr *a, pl_sparse *out)
{
    int64_t n = a->rows, count = 0;
    *out = (pl_sparse){.n = n};
    out->column = calloc((size_t)n + 1, sizeof *out->column);
    out->row = malloc((size_t)(a->start[n] + 1) * sizeof *out->row);
    out->value = malloc((size_t)(a->start[n] + 1) * sizeof *out->value);
    if (!out->column || !out->row || !out->value)
        return PL_NO_MEMORY;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t e = a->start[j]; e < a->start[j + 1]; e++) {
            if (a->column[e] < j)
                continue;
            out->row[count] = a->column[e];
            out->value[count++] = a->value[e];
        }
        out->column[j + 1] = count;
    }
    return PL_OK;
}

pl_status pl_csr_transpose(const pl_csr *a, pl_csr *out)
{
    int64_t entries = a->start[a->rows];
    pl_status status = pl_csr_alloc(a->columns, a->rows, entries, out);
    if (status != PL_OK)
        return status;
    for (int64_t e = 0; e < entries; e++)
        out->start[a->column[e] + 1]++;
    sum_up(out);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            put(out, a->column[e], i, a->value[e]);
    rewind_rows(out);
    return PL_OK;
}

pl_status pl_csr_permute(const pl_csr *a, const int32_t *order, pl_csr *out)
{
    int32_t *place = malloc((size_t)(a->rows + 1) * sizeof *place);
    pl_status status = pl_csr_alloc(a->rows, a->columns, a->start[a->rows], out);
    if (!place)
        status = PL_NO_MEMORY;
    for (int64_t k = 0; status == PL_OK && k < a->rows; k++) {
        place[order[k]] = (int32_t)k;
        out->start[k + 1] = a->start[order[k] + 1] - a->start[order[k]];
    }
    if (status == PL_OK)
        sum_up(out);
    /* By columns, so that they ascend within each row. */
    for (int64_t k = 0; status == PL_OK && k < a->rows; k++)
        for (int64_t e = a->start[order[k]]; e < a->start[order[k] + 1]; e++)
            put(out, place[a->column[e]], k, a->value[e]);
    if (status == PL_OK)
        rewind_rows(out);
    free(place);
    return status;
}

double pl_csr_diagonal(const pl_csr *a, int64_t row)
{
    for (int64_t e = a->start[row]; e < a->start[row + 1]; e++)
        if (a->column[e] == row)
            return a->value[e];
    return 0;
}

/* ---- the product ---- */

/* The row of a product being summed: `at` [columns] has the place of each column in the row, or -1. */
typedef struct sums {
    int32_t *at, *column;
    double *value;
    int64_t count;
} sums;

static void add(sums *s, int32_t column, double value)
{
    int32_t at = s->at[column];
    if (at < 0) {
        at = s->at[column] = (int32_t)s->count++;
        s->column[at] = column;
        s->value[at] = 0;
    }
    s->value[at] += value;
}

static void add_row(sums *s, const pl_csr *A, const pl_csr *B, int64_t row)
{
    for (int64_t e = A->start[row]; e < A->start[row + 1]; e++) {
        const int64_t j = A->column[e];
        for (int64_t b = B->start[j]; b < B->start[j + 1]; b++)
            add(s, B->column[b], A->value[e] * B->value[b]);
    }
}

/* Moves a finished row to the end of `out`, which grows. False: out of memory. */
static bool move_row(sums *s, pl_csr *out, int64_t row, int64_t *room)
{
    int64_t at = out->start[row];
    if (at + s->count > *room) {
        *room = 2 * (at + s->count);
        int32_t *column = realloc(out->column, (size_t)*room * sizeof *column);
        out->column = column ? column : out->column;
        double *value = realloc(out->value, (size_t)*room * sizeof *value);
        out->value = value ? value : out->value;
        if (!column || !value)
            return false;
    }
    memcpy(out->column + at, s->column, (size_t)s->count * sizeof *s->column);
    memcpy(out->value + at, s->value, (size_t)s->count * sizeof *s->value);
    for (int64_t k = 0; k < s->count; k++)
        s->at[s->column[k]] = -1;
    out->start[row + 1] = at + s->count;
    s->count = 0;
    return true;
}

/* A B, with the columns of a row in the order in which they are found. */
static pl_status multiply(const pl_csr *A, const pl_csr *B, int64_t room, pl_csr *out)
{
    size_t n = (size_t)B->columns + 1;
    pl_status status = pl_csr_alloc(A->rows, B->columns, room, out);
    sums s = {malloc(n * sizeof *s.at), malloc(n * sizeof *s.column), malloc(n * sizeof *s.value),
              0};
    if (!s.at || !s.column || !s.value)
        status = PL_NO_MEMORY;
    for (int64_t j = 0; status == PL_OK && j < B->columns; j++)
        s.at[j] = -1;
    for (int64_t i = 0; status == PL_OK && i < A->rows; i++) {
        add_row(&s, A, B, i);
        if (!move_row(&s, out, i, &room))
            status = PL_NO_MEMORY;
    }
    free(s.at);
    free(s.column);
    free(s.value);
    return status;
}

/* The product is symmetric to rounding, so its transpose, whose columns ascend, is as good. */
pl_status pl_csr_galerkin(const pl_csr *R, const pl_csr *A, const pl_csr *P, pl_csr *out)
{
    pl_csr AP = {0}, RAP = {0};
    *out = (pl_csr){0};
    pl_status status = multiply(A, P, 8 * A->rows, &AP);
    if (status == PL_OK)
        status = multiply(R, &AP, 32 * R->rows, &RAP);
    pl_csr_clear(&AP);
    if (status == PL_OK)
        status = pl_csr_transpose(&RAP, out);
    pl_csr_clear(&RAP);
    return status;
}
