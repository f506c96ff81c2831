/* Multigrid against the factor of the same matrix: errors in the norm of A, numbers of cycles, bits over threads and
 * instruction sets, and matrices that are hard or not positive definite. */
#include "engine/isa.h"
#include "engine/linear/multigrid.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deterministic numbers in [0, 1). */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* A box of `side`^3 vertices in tetrahedra, six a cell, and what they are made of. */
typedef struct box {
    int64_t side;
    double jitter; /* of the vertices, in cells */
    double least;  /* stiffness 10^least .. 10^most, at random; or in layers, alternately */
    double most;
    bool layers;
    double mass;   /* of a vertex; 0: its bottom is held instead */
    bool shuffled; /* rows in random order */
} box;

typedef struct vertices {
    double (*x)[3];
    int32_t *row; /* -1: held */
    int64_t rows;
} vertices;

static vertices place(const box *b)
{
    int64_t s = b->side, n = s * s * s;
    uint64_t seed = 5;
    vertices v = {calloc((size_t)n, sizeof *v.x), calloc((size_t)n, sizeof *v.row), 0};
    for (int64_t i = 0; i < n; i++) {
        const int64_t at[3] = {i / (s * s), i / s % s, i % s};
        for (int k = 0; k < 3; k++)
            v.x[i][k] = (double)at[k] + b->jitter * (draw(&seed) - 0.5);
        v.row[i] = b->mass == 0 && at[2] == 0 ? -1 : (int32_t)v.rows++;
    }
    for (int64_t i = n - 1; b->shuffled && i > 0; i--) {
        int64_t j = (int64_t)(draw(&seed) * (double)(i + 1));
        int32_t row = v.row[i];
        v.row[i] = v.row[j];
        v.row[j] = row;
    }
    return v;
}

/* The stiffness of linear elements, V grad_i . grad_j: grad_(c + 1) is the cross product of two edges over 6 V. */
static int64_t add_tet(const vertices *v, const int64_t corner[4], double stiffness, pl_entry *out)
{
    double e[3][3], g[4][3] = {{0}}, volume = 0;
    int64_t count = 0;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            e[a][k] = v->x[corner[a + 1]][k] - v->x[corner[0]][k];
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++) {
            const double *p = e[(a + 1) % 3], *q = e[(a + 2) % 3];
            g[a + 1][k] = p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3];
            g[0][k] -= g[a + 1][k];
            volume += a == 0 ? e[0][k] * g[1][k] / 6 : 0;
        }
    for (int a = 0; a < 4; a++)
        for (int c = 0; c <= a; c++) {
            const int32_t i = v->row[corner[a]], j = v->row[corner[c]];
            double dot = 0;
            for (int k = 0; k < 3; k++)
                dot += g[a][k] * g[c][k];
            if (i >= 0 && j >= 0)
                out[count++] = (pl_entry){i, j, stiffness * dot / (36 * fabs(volume))};
        }
    return count;
}

static pl_sparse make(const box *b)
{
    static const int PATHS[6][2] = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
    int64_t s = b->side, count = 0, stride[3] = {s * s, s, 1};
    uint64_t seed = 11;
    vertices v = place(b);
    pl_entry *entries = malloc((size_t)(61 * s * s * s) * sizeof *entries);
    ck_assert_ptr_nonnull(entries);
    for (int64_t i = 0; i < s * s * s; i++) {
        if (v.row[i] >= 0)
            entries[count++] = (pl_entry){v.row[i], v.row[i], b->mass};
        if (i / (s * s) + 1 == s || i / s % s + 1 == s || i % s + 1 == s)
            continue;
        for (int t = 0; t < 6; t++) {
            const int64_t one = i + stride[PATHS[t][0]], two = one + stride[PATHS[t][1]];
            const int64_t corner[4] = {i, one, two, i + s * s + s + 1};
            double share = b->layers ? (double)(i % s / 4 % 2) : draw(&seed);
            count += add_tet(&v, corner, pow(10, b->least + share * (b->most - b->least)),
                             entries + count);
        }
    }
    pl_sparse a;
    ck_assert_int_eq(pl_sparse_assemble(v.rows, entries, count, &a), PL_OK);
    free(entries);
    free(v.x);
    free(v.row);
    return a;
}

static double *right_hand_sides(int64_t n)
{
    double *b = malloc(3 * (size_t)n * sizeof *b);
    uint64_t seed = 7;
    for (int64_t i = 0; i < 3 * n; i++)
        b[i] = draw(&seed) - 0.4;
    return b;
}

static double *exact_answer(const pl_sparse *a, const double *b)
{
    pl_factor *f;
    pl_solve_work *w;
    double *x = malloc(3 * (size_t)a->n * sizeof *x);
    ck_assert_int_eq(pl_factor_create(a, &f), PL_OK);
    ck_assert_int_eq(pl_solve_work_create(f, 1, &w), PL_OK);
    ck_assert_int_eq(pl_factor_solve3(f, w, b, x), PL_OK);
    pl_solve_work_destroy(w);
    pl_factor_destroy(f);
    return x;
}

/* x . A y over one column, or all. */
static double product(const pl_sparse *a, const double *x, const double *y, int32_t columns)
{
    int64_t n = columns * a->n;
    double *Ay = malloc((size_t)n * sizeof *Ay), sum = 0;
    pl_sparse_multiply(a, y, Ay, columns);
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * Ay[i];
    free(Ay);
    return sum;
}

/* |x - y| over |y|, in the norm of A. */
static double error_of(const pl_sparse *a, const double *x, const double *y)
{
    double *d = malloc(3 * (size_t)a->n * sizeof *d);
    for (int64_t i = 0; i < 3 * a->n; i++)
        d[i] = x[i] - y[i];
    double error = sqrt(product(a, d, d, 3) / product(a, y, y, 3));
    free(d);
    return error;
}

static pl_multigrid_work *work_of(const pl_multigrid *m, int32_t threads)
{
    pl_multigrid_work *w;
    ck_assert_int_eq(pl_multigrid_work_create(m, threads, &w), PL_OK);
    return w;
}

/* The answer to an error, started from 0. */
static double *solved(const pl_multigrid *m, int32_t threads, int64_t n, double error,
                      const double *b, pl_multigrid_result *result)
{
    pl_multigrid_work *w = work_of(m, threads);
    double *x = calloc(3 * (size_t)n, sizeof *x);
    ck_assert_int_eq(pl_multigrid_solve3(m, w, error, b, x, result), PL_OK);
    pl_multigrid_work_destroy(w);
    return x;
}

/* Boxes of 5,000 to 64,000 vertices: regular and not, in any order of rows; masses that outweigh springs, and none;
 * layers and tetrahedra of 1e3 beside 1e9. */
static const struct {
    box box;
    int32_t few, many; /* cycles to 0.1, and to 1e-6 */
} BOXES[] = {
    {{.side = 17, .mass = 0.1}, 4, 16},
    {{.side = 40, .mass = 0.001}, 4, 16},
    {{.side = 17, .mass = 1000}, 4, 16},
    {{.side = 26}, 4, 16},
    {{.side = 26, .jitter = 0.5, .mass = 0.01}, 4, 18},
    {{.side = 26, .jitter = 0.5, .shuffled = true, .mass = 0.001}, 4, 18},
    {{.side = 20, .jitter = 0.3, .least = 3, .most = 9, .layers = true, .mass = 100}, 4, 25},
    {{.side = 20, .jitter = 0.3, .least = 3, .most = 9, .mass = 100}, 6, 40},
};
enum { BOX_COUNT = sizeof BOXES / sizeof *BOXES };

START_TEST(solves_to_the_error_in_few_cycles)
{
    static const double ERRORS[] = {0.1, 0.01, 1e-6};
    pl_sparse a = make(&BOXES[_i].box);
    pl_multigrid *m;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    const pl_multigrid_facts facts = pl_multigrid_describe(m);
    ck_assert_int_ge(facts.levels, 2);
    ck_assert_double_lt((double)facts.entries, 2.5 * (2 * (double)a.column[a.n] - (double)a.n));
    double *b = right_hand_sides(a.n), *exact = exact_answer(&a, b);
    for (int k = 0; k < 3; k++) {
        pl_multigrid_result result;
        double *x = solved(m, 1, a.n, ERRORS[k], b, &result);
        ck_assert_double_le(error_of(&a, x, exact), 1.5 * ERRORS[k]);
        ck_assert_int_le(result.cycles, k == 2 ? BOXES[_i].many : k == 1 ? 12 : BOXES[_i].few);
        for (int c = 0; c < 3; c++) { /* the squares are those of the answer, by column */
            const double *column = x + c * a.n;
            double square = product(&a, column, column, 1);
            ck_assert_double_eq_tol(result.square[c], square, 1e-9 * square);
        }
        free(x);
    }
    free(b);
    free(exact);
    pl_multigrid_destroy(m);
    pl_sparse_clear(&a);
}
END_TEST

/* B is linear and symmetric, and g . B g is g . A^-1 g to PL_APPLY_ERROR. */
START_TEST(applies_one_fixed_matrix)
{
    pl_sparse a = make(&BOXES[_i].box);
    pl_multigrid *m;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    pl_multigrid_work *w = work_of(m, 1);
    size_t n = (size_t)a.n;
    double *b = right_hand_sides(a.n), *exact = exact_answer(&a, b);
    double *x = malloc(6 * n * sizeof *x), *y = x + 3 * n;
    pl_multigrid_apply3(m, w, b, x);
    double size = 0, off = 0, linear = 0, one_two = 0, two_one = 0;
    for (size_t i = 0; i < n; i++)
        y[i] = b[i] + 2 * b[n + i], y[n + i] = b[n + i], y[2 * n + i] = b[2 * n + i];
    pl_multigrid_apply3(m, w, y, y); /* in place */
    for (size_t i = 0; i < n; i++) {
        linear = fmax(linear, fabs(y[i] - x[i] - 2 * x[n + i]));
        size = fmax(size, fabs(y[i]));
        one_two += b[i] * x[n + i];
        two_one += b[n + i] * x[i];
    }
    ck_assert_double_le(linear, 1e-10 * size);
    ck_assert_double_eq_tol(one_two, two_one, 1e-9 * (fabs(one_two) + fabs(two_one)));
    size = 0;
    for (size_t i = 0; i < 3 * n; i++) {
        off += b[i] * (x[i] - exact[i]);
        size += b[i] * exact[i];
    }
    ck_assert_double_le(fabs(off), PL_APPLY_ERROR * size);
    ck_assert_double_le(error_of(&a, x, exact), PL_APPLY_ERROR);
    free(b);
    free(exact);
    free(x);
    pl_multigrid_work_destroy(w);
    pl_multigrid_destroy(m);
    pl_sparse_clear(&a);
}
END_TEST

/* The answers of a solve and of an apply, [2][3][n]. */
static double *both_answers(const pl_sparse *a, int32_t threads, const double *b)
{
    size_t values = 3 * (size_t)a->n;
    pl_multigrid *m;
    pl_multigrid_result result;
    ck_assert_int_eq(pl_multigrid_create(a, NULL, &m), PL_OK);
    pl_multigrid_work *w = work_of(m, threads);
    double *x = calloc(2 * values, sizeof *x);
    ck_assert_int_eq(pl_multigrid_solve3(m, w, 1e-3, b, x, &result), PL_OK);
    pl_multigrid_apply3(m, w, b, x + values);
    pl_multigrid_work_destroy(w);
    pl_multigrid_destroy(m);
    return x;
}

START_TEST(threads_and_instruction_sets_change_no_bit)
{
    pl_sparse a = make(&(box){.side = 26, .jitter = 0.4, .mass = 0.01});
    size_t bytes = 6 * (size_t)a.n * sizeof(double);
    double *b = right_hand_sides(a.n), *first = both_answers(&a, 1, b);
    for (int32_t threads = 2; threads <= 4; threads++) {
        double *other = both_answers(&a, threads, b);
        ck_assert_mem_eq(other, first, bytes);
        free(other);
    }
    pl_isa most = pl_isa_current();
    for (pl_isa isa = 0; isa <= most; isa++) {
        setenv("PLIANT_ISA", pl_isa_name(isa), 1);
        double *other = both_answers(&a, 1, b);
        ck_assert_mem_eq(other, first, bytes);
        free(other);
    }
    unsetenv("PLIANT_ISA");
    free(first);
    free(b);
    pl_sparse_clear(&a);
}
END_TEST

/* Other weights and masses on the aggregates of the first matrix, also where the pattern differs. */
START_TEST(other_weights_keep_the_aggregates)
{
    pl_sparse a = make(&(box){.side = 20, .mass = 0.01});
    pl_sparse heavier = make(&(box){.side = 20, .jitter = 0.2, .most = 1, .mass = 0.04});
    pl_multigrid *m, *again;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    ck_assert_int_eq(pl_multigrid_create(&heavier, m, &again), PL_OK);
    ck_assert_int_gt(heavier.column[heavier.n], a.column[a.n]);
    ck_assert_int_eq(pl_multigrid_describe(again).levels, pl_multigrid_describe(m).levels);
    pl_multigrid_result result;
    double *b = right_hand_sides(a.n), *exact = exact_answer(&heavier, b);
    double *x = solved(again, 1, a.n, 1e-6, b, &result);
    ck_assert_double_le(error_of(&heavier, x, exact), 1.5e-6);
    ck_assert_int_le(result.cycles, 20);
    free(x);
    free(b);
    free(exact);
    pl_multigrid_destroy(m);
    pl_multigrid_destroy(again);
    pl_sparse_clear(&a);
    pl_sparse_clear(&heavier);
}
END_TEST

/* Rows that nothing couples, as a held coordinate has, keep their right-hand side over their diagonal; two boxes that
 * nothing joins are solved side by side. */
START_TEST(rows_alone_and_pieces)
{
    pl_sparse one = make(&(box){.side = 17, .mass = 0.01});
    int64_t n = 2 * one.n + 100, count = 0;
    pl_entry *entries = malloc((size_t)(2 * one.column[one.n] + 100) * sizeof *entries);
    for (int64_t i = 0; i < 100; i++)
        entries[count++] = (pl_entry){(int32_t)i, (int32_t)i, 1};
    for (int64_t k = 0; k < 2; k++)
        for (int64_t j = 0; j < one.n; j++)
            for (int64_t e = one.column[j]; e < one.column[j + 1]; e++)
                entries[count++] = (pl_entry){(int32_t)(100 + k * one.n + one.row[e]),
                                              (int32_t)(100 + k * one.n + j),
                                              (k ? 1e6 : 1) * one.value[e]};
    pl_sparse a;
    ck_assert_int_eq(pl_sparse_assemble(n, entries, count, &a), PL_OK);
    pl_multigrid *m;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    double *b = right_hand_sides(n), *exact = exact_answer(&a, b);
    pl_multigrid_result result;
    double *x = solved(m, 2, n, 1e-6, b, &result);
    ck_assert_double_le(error_of(&a, x, exact), 1.5e-6);
    ck_assert_int_le(result.cycles, 20);
    free(x);
    free(b);
    free(exact);
    free(entries);
    pl_multigrid_destroy(m);
    pl_sparse_clear(&a);
    pl_sparse_clear(&one);
}
END_TEST

/* The answer as the start stays it; a start near it needs no fewer digits than a far one. */
START_TEST(a_start_counts)
{
    pl_sparse a = make(&(box){.side = 17, .mass = 0.01});
    pl_multigrid *m;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    pl_multigrid_work *w = work_of(m, 1);
    size_t bytes = 3 * (size_t)a.n * sizeof(double);
    double *b = right_hand_sides(a.n), *exact = exact_answer(&a, b), *x = malloc(bytes);
    pl_multigrid_result result;
    memcpy(x, exact, bytes);
    for (int64_t i = 0; i < a.n; i++)
        x[i] += 1e-3 * sin((double)i);
    double first = error_of(&a, x, exact);
    ck_assert_int_eq(pl_multigrid_solve3(m, w, 0.01, b, x, &result), PL_OK);
    ck_assert_double_le(error_of(&a, x, exact), 0.015 * first);
    ck_assert_double_eq_tol(sqrt(result.square[0] / product(&a, exact, exact, 3)), first,
                            0.01 * first);
    memset(b, 0, bytes);
    memset(x, 0, bytes);
    ck_assert_int_eq(pl_multigrid_solve3(m, w, 0.01, b, x, &result), PL_OK);
    ck_assert(result.square[0] == 0 && x[5] == 0);
    b[4] = NAN;
    ck_assert_int_eq(pl_multigrid_solve3(m, w, 0.01, b, x, &result), PL_OK);
    ck_assert(isnan(result.square[0]) && isnan(x[5]));
    free(x);
    free(b);
    free(exact);
    pl_multigrid_work_destroy(w);
    pl_multigrid_destroy(m);
    pl_sparse_clear(&a);
}
END_TEST

/* Matrices that are not positive definite are reported, when levels are made or when a solve finds it. */
START_TEST(what_is_not_definite_is_reported)
{
    pl_sparse a = make(&(box){.side = 17, .mass = 0.01});
    pl_multigrid *m, *other;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    double *diagonal = &a.value[a.column[a.n / 2]], kept = *diagonal;
    *diagonal = 0;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &other), PL_FAILED);
    *diagonal = NAN;
    ck_assert_int_eq(pl_multigrid_create(&a, m, &other), PL_FAILED);
    *diagonal = kept;
    for (int64_t i = 0; i < a.n; i++) /* every mass is less than 0 */
        a.value[a.column[i]] -= 0.2;
    pl_status status = pl_multigrid_create(&a, m, &other);
    if (status == PL_OK) {
        pl_multigrid_work *w = work_of(other, 1);
        pl_multigrid_result result;
        double *b = right_hand_sides(a.n), *x = calloc(3 * (size_t)a.n, sizeof *x);
        status = pl_multigrid_solve3(other, w, 1e-6, b, x, &result);
        free(b);
        free(x);
        pl_multigrid_work_destroy(w);
        pl_multigrid_destroy(other);
    }
    ck_assert_int_eq(status, PL_FAILED);
    pl_multigrid_destroy(m);
    pl_sparse_clear(&a);
}
END_TEST

/* With few rows there is one level, its factor; without rows, nothing. */
START_TEST(small_matrices_are_exact)
{
    pl_sparse a = make(&(box){.side = 6, .mass = 0.01});
    pl_multigrid *m;
    pl_multigrid_result result;
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    double *b = right_hand_sides(a.n), *exact = exact_answer(&a, b);
    double *x = solved(m, 1, a.n, 1e-6, b, &result);
    ck_assert_int_eq(pl_multigrid_describe(m).levels, 1);
    ck_assert_int_eq(result.cycles, 1);
    ck_assert_double_le(error_of(&a, x, exact), 1e-12);
    free(x);
    free(b);
    free(exact);
    pl_multigrid_destroy(m);
    pl_sparse_clear(&a);
    ck_assert_int_eq(pl_sparse_assemble(0, NULL, 0, &a), PL_OK);
    ck_assert_int_eq(pl_multigrid_create(&a, NULL, &m), PL_OK);
    x = solved(m, 1, 0, 0.1, NULL, &result);
    ck_assert(result.square[0] == 0);
    free(x);
    pl_multigrid_destroy(m);
    pl_sparse_clear(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("multigrid");
    tcase_add_loop_test(t, solves_to_the_error_in_few_cycles, 0, BOX_COUNT);
    tcase_add_loop_test(t, applies_one_fixed_matrix, 0, BOX_COUNT);
    tcase_add_test(t, threads_and_instruction_sets_change_no_bit);
    tcase_add_test(t, other_weights_keep_the_aggregates);
    tcase_add_test(t, rows_alone_and_pieces);
    tcase_add_test(t, a_start_counts);
    tcase_add_test(t, what_is_not_definite_is_reported);
    tcase_add_test(t, small_matrices_are_exact);
    return run_cases("linear_multigrid", t);
}
