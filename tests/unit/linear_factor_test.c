/* Factor and solve: against a dense Cholesky, against the equation itself, and the same bits over
 * threads and instruction sets. */
#include "engine/isa.h"
#include "engine/linear/linear.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    pl_entry *entry;
    int64_t count, room;
} builder;

static void put(builder *b, int64_t row, int64_t column, double value)
{
    if (b->count == b->room) {
        b->room = 2 * b->room + 64;
        b->entry = realloc(b->entry, (size_t)b->room * sizeof *b->entry);
        ck_assert_ptr_nonnull(b->entry);
    }
    b->entry[b->count++] = (pl_entry){(int32_t)row, (int32_t)column, value};
}

/* A spring between two rows, or between one and the ground: keeps a matrix positive definite. */
static void spring(builder *b, int64_t i, int64_t j, double k)
{
    put(b, i, i, k);
    if (j == i)
        return;
    put(b, j, j, k);
    put(b, i > j ? i : j, i > j ? j : i, -k);
}

static pl_sparse finish(builder *b, int64_t n)
{
    pl_sparse a;
    ck_assert_int_eq(pl_sparse_assemble(n, b->entry, b->count, &a), PL_OK);
    free(b->entry);
    *b = (builder){0};
    return a;
}

/* Deterministic numbers in [0, 1). */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Springs between random rows, stiffness over four decades. */
static pl_sparse scattered(int64_t n, double springs_a_row, uint64_t seed)
{
    builder b = {0};
    for (int64_t i = 0; i < n; i++)
        spring(&b, i, i, 0.01 + draw(&seed));
    for (int64_t k = 0; k < (int64_t)(springs_a_row * (double)n); k++)
        spring(&b, (int64_t)(draw(&seed) * (double)n), (int64_t)(draw(&seed) * (double)n),
               pow(10, 4 * draw(&seed) - 2));
    return finish(&b, n);
}

/* A box of nx ny nz vertices, springs along the edges and one diagonal, like a mesh. */
static pl_sparse box(int64_t nx, int64_t ny, int64_t nz)
{
    builder b = {0};
    for (int64_t x = 0; x < nx; x++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t z = 0; z < nz; z++) {
                int64_t i = (x * ny + y) * nz + z;
                spring(&b, i, i, 0.1);
                if (x + 1 < nx)
                    spring(&b, i, i + ny * nz, 1);
                if (y + 1 < ny)
                    spring(&b, i, i + nz, 2);
                if (z + 1 < nz)
                    spring(&b, i, i + 1, 3);
                if (x + 1 < nx && y + 1 < ny && z + 1 < nz)
                    spring(&b, i, i + ny * nz + nz + 1, 0.5);
            }
    return finish(&b, nx * ny * nz);
}

/* `count` boxes that nothing joins: the elimination tree is a forest. */
static pl_sparse boxes(int64_t count, int64_t side)
{
    builder b = {0};
    int64_t n = side * side * side;
    for (int64_t k = 0; k < count; k++) {
        pl_sparse one = box(side, side, side);
        for (int64_t j = 0; j < n; j++)
            for (int64_t e = one.column[j]; e < one.column[j + 1]; e++)
                put(&b, k * n + one.row[e], k * n + j, one.value[e]);
        pl_sparse_clear(&one);
    }
    return finish(&b, count * n);
}

static double *right_hand_sides(int64_t n)
{
    double *b = malloc(3 * (size_t)n * sizeof *b);
    uint64_t seed = 7;
    for (int64_t i = 0; i < 3 * n; i++)
        b[i] = 2 * draw(&seed) - 1;
    return b;
}

static double *solved(const pl_factor *f, int32_t threads, const double *b, int64_t n)
{
    pl_solve_work *work;
    ck_assert_int_eq(pl_solve_work_create(f, threads, &work), PL_OK);
    double *x = malloc(3 * (size_t)n * sizeof *x);
    for (int again = 0; again < 2; again++) /* a workspace may be used again */
        ck_assert_int_eq(pl_factor_solve3(f, work, b, x), PL_OK);
    pl_solve_work_destroy(work);
    return x;
}

/* |A x - b| <= tolerance (|A| |x| + |b|), row by row: the solution of a matrix next to A. */
static void check_equation(const pl_sparse *a, const double *x, const double *b, double tolerance)
{
    size_t values = 3 * (size_t)a->n;
    pl_sparse size = *a;
    double *absolute = malloc((size_t)a->column[a->n] * sizeof *absolute);
    double *x_size = malloc(values * sizeof *x_size);
    double *Ax = malloc(values * sizeof *Ax), *Ax_size = malloc(values * sizeof *Ax_size);
    for (int64_t e = 0; e < a->column[a->n]; e++)
        absolute[e] = fabs(a->value[e]);
    for (size_t i = 0; i < values; i++)
        x_size[i] = fabs(x[i]);
    size.value = absolute;
    pl_sparse_multiply(a, x, Ax, 3);
    pl_sparse_multiply(&size, x_size, Ax_size, 3);
    for (size_t i = 0; i < values; i++)
        ck_assert_double_le(fabs(Ax[i] - b[i]), tolerance * (Ax_size[i] + fabs(b[i])));
    free(absolute), free(x_size), free(Ax), free(Ax_size);
}

/* x of a dense Cholesky factorisation in long double. */
static double *dense_solution(const pl_sparse *a, const double *b)
{
    int64_t n = a->n;
    long double *L = calloc((size_t)(n * n), sizeof *L), *y = malloc((size_t)n * sizeof *y);
    double *x = malloc(3 * (size_t)n * sizeof *x);
    for (int64_t j = 0; j < n; j++)
        for (int64_t e = a->column[j]; e < a->column[j + 1]; e++)
            L[a->row[e] * n + j] = a->value[e];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            long double sum = L[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= L[i * n + k] * L[j * n + k];
            L[i * n + j] = i == j ? sqrtl(sum) : sum / L[j * n + j];
        }
    for (int64_t c = 0; c < 3; c++) {
        for (int64_t i = 0; i < n; i++) {
            y[i] = b[c * n + i];
            for (int64_t k = 0; k < i; k++)
                y[i] -= L[i * n + k] * y[k];
            y[i] /= L[i * n + i];
        }
        for (int64_t i = n - 1; i >= 0; i--) {
            for (int64_t k = i + 1; k < n; k++)
                y[i] -= L[k * n + i] * y[k];
            y[i] /= L[i * n + i];
            x[c * n + i] = (double)y[i];
        }
    }
    free(L), free(y);
    return x;
}

static void check_against_dense(pl_sparse a)
{
    pl_factor *f;
    ck_assert_int_eq(pl_factor_create(&a, &f), PL_OK);
    double *b = right_hand_sides(a.n), *x = solved(f, 1, b, a.n), *exact = dense_solution(&a, b);
    double size = 0;
    for (int64_t i = 0; i < 3 * a.n; i++)
        size = fmax(size, fabs(exact[i]));
    for (int64_t i = 0; i < 3 * a.n; i++)
        ck_assert_double_eq_tol(x[i], exact[i], 1e-11 * size);
    check_equation(&a, x, b, 1e-13);
    free(b), free(x), free(exact);
    pl_factor_destroy(f);
    pl_sparse_clear(&a);
}

START_TEST(small_matrices_are_solved_as_a_dense_one)
{
    const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 17, 40, 200};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_against_dense(scattered(sizes[i], 0, 1));  /* diagonal */
        check_against_dense(scattered(sizes[i], 2, 2));  /* sparse */
        check_against_dense(scattered(sizes[i], 40, 3)); /* nearly full: wide panels */
        check_against_dense(box(sizes[i], 1, 1));        /* a chain */
    }
    check_against_dense(box(7, 6, 5));
    check_against_dense(boxes(5, 3));
}
END_TEST

/* Each kind of ordering and of factor: from 5,000 rows METIS, from 10,000 supernodal. */
static const int64_t SIZES[][3] = {{10, 10, 10}, {43, 7, 7}, {18, 18, 18}, {23, 23, 23}};

static void check_alike(pl_sparse a)
{
    pl_factor *f;
    ck_assert_int_eq(pl_factor_create(&a, &f), PL_OK);
    double *b = right_hand_sides(a.n), *x = solved(f, 1, b, a.n);
    check_equation(&a, x, b, 1e-12);
    for (int32_t threads = 2; threads <= 5; threads++) {
        double *other = solved(f, threads, b, a.n);
        ck_assert_mem_eq(other, x, 3 * (size_t)a.n * sizeof *x);
        free(other);
    }
    pl_isa most = pl_isa_current();
    for (pl_isa isa = 0; isa <= most; isa++) {
        setenv("PLIANT_ISA", pl_isa_name(isa), 1);
        double *other = solved(f, 2, b, a.n);
        ck_assert_mem_eq(other, x, 3 * (size_t)a.n * sizeof *x);
        free(other);
    }
    unsetenv("PLIANT_ISA");
    pl_solve_work *work;
    ck_assert_int_eq(pl_solve_work_create(f, 2, &work), PL_OK);
    ck_assert_int_eq(pl_factor_solve3(f, work, b, b), PL_OK);
    ck_assert_mem_eq(b, x, 3 * (size_t)a.n * sizeof *x);
    pl_solve_work_destroy(work);
    free(b), free(x);
    pl_factor_destroy(f);
    pl_sparse_clear(&a);
}

START_TEST(large_matrices_are_solved_with_the_same_bits)
{
    check_alike(box(SIZES[_i][0], SIZES[_i][1], SIZES[_i][2]));
}
END_TEST

START_TEST(forests_and_scattered_matrices_too)
{
    check_alike(boxes(5, 14)); /* parts with no top */
    check_alike(scattered(3000, 1.2, 4));
    check_alike(scattered(1000, 5, 5));
}
END_TEST

START_TEST(what_is_not_positive_definite_fails)
{
    for (int kind = 0; kind < 4; kind++) {
        builder b = {0};
        const int64_t n = kind == 3 ? 12000 : 30;
        for (int64_t i = 0; i < n; i++) {
            bool odd = i == n / 2;
            put(&b, i, i, !odd ? 2 : kind == 0 ? -1 : kind == 1 ? 0 : 2);
            if (i > 0 && kind != 0)
                put(&b, i, i - 1, kind >= 2 ? -1.5 : -0.5);
        }
        pl_sparse a = finish(&b, n);
        pl_factor *f = (pl_factor *)&a; /* untouched on failure */
        ck_assert_int_eq(pl_factor_create(&a, &f), PL_FAILED);
        ck_assert_ptr_eq(f, &a);
        pl_sparse_clear(&a);
    }
}
END_TEST

/* A pattern factored again with other values: solutions are those of the present matrix, a shift is added to the
 * diagonal, and a matrix without a factor does not affect the next. */
START_TEST(a_pattern_is_factored_again)
{
    pl_sparse small = box(5, 4, 3), a = {.n = 3 * small.n};
    builder b = {0};
    uint64_t seed = 9;
    for (int64_t j = 0; j < small.n; j++) /* each number as a full 3 x 3 block */
        for (int64_t k = small.column[j]; k < small.column[j + 1]; k++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < (small.row[k] == j ? r + 1 : 3); s++)
                    put(&b, 3 * (int64_t)small.row[k] + r, 3 * j + s,
                        small.value[k] * (r == s ? 1 : 0.2 + 0.05 * draw(&seed)));
    a = finish(&b, 3 * small.n);
    pl_refactor *f = NULL;
    ck_assert_int_eq(pl_refactor_create(&a, 3, &f), PL_OK);
    double *x = calloc((size_t)a.n, sizeof *x), *y = calloc((size_t)a.n, sizeof *y);
    double *right = calloc((size_t)a.n, sizeof *right);
    for (int round = 0; round < 4; round++) {
        double shift = round == 2 ? 0.7 : 0;
        if (round == 1)
            for (int64_t k = 0; k < a.column[a.n]; k++)
                a.value[k] *= 3;
        if (round == 3) {
            double kept = a.value[a.column[7]];
            a.value[a.column[7]] = -1;
            ck_assert_int_eq(pl_refactor_make(f, &a, 0), PL_FAILED);
            a.value[a.column[7]] = kept;
        }
        ck_assert_int_eq(pl_refactor_make(f, &a, shift), PL_OK);
        for (int64_t i = 0; i < a.n; i++)
            x[i] = draw(&seed);
        pl_sparse_multiply(&a, x, right, 1);
        for (int64_t i = 0; i < a.n; i++)
            right[i] += shift * x[i];
        ck_assert_int_eq(pl_refactor_solve(f, right, y), PL_OK);
        ck_assert_int_eq(pl_refactor_solve(f, right, right), PL_OK); /* in place */
        for (int64_t i = 0; i < a.n; i++) {
            ck_assert_double_eq_tol(y[i], x[i], 1e-10);
            ck_assert_double_eq(right[i], y[i]);
        }
    }
    free(x), free(y), free(right);
    pl_refactor_destroy(f);
    pl_sparse_clear(&a);
    pl_sparse_clear(&small);
}
END_TEST

static int threads_of_process(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = -2; /* "." and ".." */
    ck_assert_ptr_nonnull(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

/* A supernodal factor wakes no team of threads, and leaves the engine's own as they may be. */
START_TEST(a_factor_takes_one_thread)
{
    const int before = threads_of_process(), levels = omp_get_max_active_levels();
    pl_sparse a = box(23, 23, 23);
    pl_factor *once;
    pl_refactor *again;
    ck_assert_int_eq(pl_factor_create(&a, &once), PL_OK);
    ck_assert_int_eq(threads_of_process(), before);
    ck_assert_int_eq(pl_refactor_create(&a, 1, &again), PL_OK);
    ck_assert_int_eq(pl_refactor_make(again, &a, 0), PL_OK);
    ck_assert_int_eq(threads_of_process(), before);
    ck_assert_int_eq(omp_get_max_active_levels(), levels);
    pl_factor_destroy(once);
    pl_refactor_destroy(again);
    pl_sparse_clear(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("linear_factor");
    TCase *t = tcase_create("factor");
    tcase_add_test(t, small_matrices_are_solved_as_a_dense_one);
    tcase_add_loop_test(t, large_matrices_are_solved_with_the_same_bits, 0,
                        sizeof SIZES / sizeof *SIZES);
    tcase_add_test(t, forests_and_scattered_matrices_too);
    tcase_add_test(t, what_is_not_positive_definite_fails);
    tcase_add_test(t, a_pattern_is_factored_again);
    tcase_add_test(t, a_factor_takes_one_thread);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
