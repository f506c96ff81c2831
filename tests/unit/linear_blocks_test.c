/* Products with matrices of blocks: against their rows one by one, and the same bits over threads and instruction
 * sets. */
#include "engine/linear/blocks.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deterministic numbers in [-1, 1). */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* Each column couples to the next one and to others that follow at growing distances. */
static pl_blocks matrix(int64_t n, int64_t most)
{
    pl_blocks a = {.n = n, .column = calloc((size_t)n + 1, sizeof *a.column)};
    a.row = malloc((size_t)(n * (most + 1)) * sizeof *a.row);
    a.value = calloc((size_t)(9 * n * (most + 1)) + 1, sizeof *a.value);
    uint64_t seed = 3;
    int64_t count = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k <= most && j + k * k < n; k++, count++) {
            double *B = a.value + 9 * count;
            a.row[count] = (int32_t)(j + k * k);
            for (int e = 0; e < 9; e++)
                B[e] = draw(&seed);
            for (int e = 0; k == 0 && e < 9; e++) /* symmetric on the diagonal */
                B[e] = B[e / 3 < e % 3 ? e : e % 3 * 3 + e / 3];
        }
        a.column[j + 1] = count;
    }
    return a;
}

/* y = A x, entry by entry: rows are by coordinate, [3][n]. */
static void multiply_slowly(const pl_blocks *a, const double *x, double *y)
{
    const int64_t n = a->n;
    memset(y, 0, (size_t)(3 * n) * sizeof *y);
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = a->column[j]; p < a->column[j + 1]; p++)
            for (int e = 0; e < 9; e++) {
                const int64_t i = a->row[p], r = e % 3, s = e / 3;
                y[r * n + i] += a->value[9 * p + e] * x[s * n + j];
                if (i != j)
                    y[s * n + j] += a->value[9 * p + e] * x[r * n + i];
            }
}

static const int64_t SIZES[][2] = {{1, 0}, {2, 1}, {7, 3}, {900, 12}, {9000, 6}};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

/* The last size has two parts. */
START_TEST(products_are_those_of_the_rows)
{
    pl_blocks a = matrix(SIZES[_i][0], SIZES[_i][1]);
    const size_t count = 3 * (size_t)a.n;
    double *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
    double *slow = malloc(count * sizeof *slow), *first = NULL;
    double *work = aligned_alloc(64, ((size_t)pl_blocks_work(a.n) * sizeof *work + 63) / 64 * 64);
    static const char *const isas[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    uint64_t seed = 5;
    for (size_t i = 0; i < count; i++)
        x[i] = draw(&seed);
    multiply_slowly(&a, x, slow);
    for (int k = 0; k < 12; k++) {
        setenv("PLIANT_ISA", isas[k % 3], 1);
        memset(work, 0xff, (size_t)pl_blocks_work(a.n) * sizeof *work); /* of NaN */
        memcpy(y, x, count * sizeof *y);
        pl_blocks_multiply(&a, work, 1 + k / 3, y, y); /* in place */
        for (size_t i = 0; i < count; i++)
            ck_assert_double_eq_tol(y[i], slow[i], 1e-13 * (double)(SIZES[_i][1] + 1));
        if (!first) {
            first = malloc(count * sizeof *first);
            memcpy(first, y, count * sizeof *first);
        }
        ck_assert_mem_eq(y, first, count * sizeof *y);
    }
    unsetenv("PLIANT_ISA");
    free(x), free(y), free(slow), free(first), free(work);
    pl_blocks_clear(&a);
}
END_TEST

/* The matrix by single rows multiplies alike, in the order of vertices. */
START_TEST(a_matrix_by_rows_is_the_same)
{
    pl_blocks a = matrix(SIZES[_i][0], SIZES[_i][1]);
    const int64_t n = a.n;
    pl_sparse by_rows;
    ck_assert_int_eq(pl_blocks_pattern(&a, &by_rows), PL_OK);
    ck_assert_int_eq(by_rows.n, 3 * n);
    pl_blocks_values(&a, &by_rows);
    double *x = calloc((size_t)(3 * n), sizeof *x), *slow = malloc((size_t)(3 * n) * sizeof *x);
    double *in = malloc((size_t)(3 * n) * sizeof *x), *out = malloc((size_t)(3 * n) * sizeof *x);
    uint64_t seed = 9;
    for (int64_t i = 0; i < 3 * n; i++)
        in[3 * (i % n) + i / n] = x[i] = draw(&seed);
    multiply_slowly(&a, x, slow);
    pl_sparse_multiply(&by_rows, in, out, 1);
    for (int64_t i = 0; i < 3 * n; i++)
        ck_assert_double_eq_tol(out[3 * (i % n) + i / n], slow[i],
                                1e-13 * (double)(SIZES[_i][1] + 1));
    for (int64_t j = 0; j < 3 * n; j++) { /* lower, ascending, the diagonal first */
        ck_assert_int_eq(by_rows.row[by_rows.column[j]], j);
        for (int64_t e = by_rows.column[j] + 1; e < by_rows.column[j + 1]; e++)
            ck_assert_int_gt(by_rows.row[e], by_rows.row[e - 1]);
    }
    free(x), free(slow), free(in), free(out);
    pl_sparse_clear(&by_rows);
    pl_blocks_clear(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("matrices of blocks");
    TCase *t = tcase_create("matrices of blocks");
    tcase_add_loop_test(t, products_are_those_of_the_rows, 0, SIZE_COUNT);
    tcase_add_loop_test(t, a_matrix_by_rows_is_the_same, 0, SIZE_COUNT);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
