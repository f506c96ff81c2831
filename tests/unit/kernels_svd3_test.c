/* The signed singular value decomposition: F = U diag(s) V^T with U and V rotations and
 * s0 >= s1 >= |s2|, for random, singular, clustered, inverted, graded, huge and tiny matrices. */
#include "engine/kernels/svd3.h"
#include "tests/support/lanes_random.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4000 };

typedef struct matrices {
    _Alignas(64) double m[9][PL_LANES];
} matrices;

static pl_mat3 load(const matrices *A)
{
    pl_mat3 F;
    for (int i = 0; i < 9; i++)
        F.m[i] = pl_load(A->m[i]);
    return F;
}

static double largest_of(const matrices *A, int lane)
{
    double largest = 0;
    for (int i = 0; i < 9; i++)
        largest = fmax(largest, fabs(A->m[i][lane]));
    return largest;
}

/* |Q^T Q - I| and |det Q - 1|. */
static double distance_from_rotation(const pl_mat3 *Q, int lane)
{
    const pl_mat3 product = pl_mat3_transpose_mul(Q, Q);
    double worst = fabs(pl_lane(pl_mat3_det(Q), lane) - 1);
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(pl_lane(product.m[i], lane) - (i % 4 == 0)));
    return worst;
}

static void check_block(const matrices *A)
{
    const pl_mat3 F = load(A);
    pl_mat3 U, V;
    pl_real s[3];
    pl_svd3(&F, &U, s, &V);
    const pl_mat3 again = pl_mat3_compose(&U, s, &V);
    for (int lane = 0; lane < PL_LANES; lane++) {
        const double scale = largest_of(A, lane);
        ck_assert(pl_lane(s[0], lane) >= pl_lane(s[1], lane));
        ck_assert(pl_lane(s[1], lane) >= fabs(pl_lane(s[2], lane)));
        ck_assert_double_le(distance_from_rotation(&U, lane), 5e-15);
        ck_assert_double_le(distance_from_rotation(&V, lane), 5e-15);
        for (int i = 0; i < 9; i++)
            ck_assert_double_le(fabs(pl_lane(again.m[i], lane) - A->m[i][lane]), 5e-15 * scale);
    }
}

/* Each kind makes its own difficulty out of a matrix of random entries in [-1, 1]. */
static void shape(double A[9], int kind, uint64_t *state)
{
    const double small = random_scale(state, 1e-16, 1), smaller = random_scale(state, 1e-16, 1);
    for (int i = 0; i < 9; i++)
        A[i] = random_between(state, -1, 1);
    for (int i = 0; i < 9; i++) {
        const double scale = random_scale(state, 1e-10, 1e10);
        if (kind == 1) /* near the identity: three equal singular values */
            A[i] = (i % 4 == 0) + small * A[i];
        else if (kind == 2) /* small integers: often singular, with equal values */
            A[i] = rint(1.5 * A[i]);
        else if (kind == 3) /* entries of all sizes */
            A[i] *= scale;
        else if (kind == 4) /* near a diagonal of -2 .. 2 */
            A[i] = (i % 4 == 0 ? rint(2.5 * A[i]) : 0) + small * A[i];
        else if (kind == 5 && i >= 3) /* columns nearly parallel */
            A[i] = A[i - 3] + (i < 6 ? small : smaller) * A[i];
        else if (kind == 6 && i >= 3) /* graded columns */
            A[i] *= i < 6 ? small : smaller;
        else if (kind == 7 && i >= 6) /* rank two */
            A[i] = A[i - 6] - A[i - 3];
    }
}

START_TEST(random_and_difficult_matrices)
{
    uint64_t state = 11;
    for (int b = 0; b < BLOCKS; b++) {
        matrices A;
        for (int lane = 0; lane < PL_LANES; lane++) {
            double m[9];
            shape(m, (b + lane) % 8, &state);
            for (int i = 0; i < 9; i++)
                A.m[i][lane] = m[i];
        }
        check_block(&A);
    }
}
END_TEST

START_TEST(any_magnitude)
{
    uint64_t state = 12;
    for (int exponent = -300; exponent <= 300; exponent += 4) {
        matrices A;
        for (int i = 0; i < 9; i++)
            for (int lane = 0; lane < PL_LANES; lane++)
                A.m[i][lane] = random_between(&state, -1, 1) * pow(10, exponent);
        check_block(&A);
    }
}
END_TEST

START_TEST(zero_and_rank_one)
{
    matrices A;
    memset(&A, 0, sizeof A);
    for (int lane = 1; lane < PL_LANES; lane++)
        for (int i = 0; i < 9; i++) /* lane 0 stays zero */
            A.m[i][lane] = (lane - 3) * (i / 3 + 1.0) * (i % 3 - 1.0);
    check_block(&A);
    const pl_mat3 F = load(&A);
    pl_mat3 U, V;
    pl_real s[3];
    pl_svd3(&F, &U, s, &V);
    ck_assert_double_eq(pl_lane(s[0], 0), 0);
    ck_assert_double_eq_tol(pl_lane(s[0], 1), 2 * sqrt(14.0 * 2), 1e-14);
    ck_assert_double_eq_tol(pl_lane(s[1], 1), 0, 1e-14);
}
END_TEST

/* F = R diag(s) Q^T with s known, s2 of either sign. */
START_TEST(known_values_and_the_sign_of_the_last)
{
    const double values[][3] = {{3, 2, 1},   {3, 2, -1},    {1, 1, 1},        {1, 1, -1},
                                {2, 2, 0.5}, {2, 0.5, 0.5}, {5, 1e-9, -1e-9}, {1, 1e-8, 1e-12}};
    uint64_t state = 13;
    for (int round = 0; round < 200; round++)
        for (int k = 0; k < 8; k++) {
            matrices A;
            for (int i = 0; i < 9; i++)
                for (int lane = 0; lane < PL_LANES; lane++)
                    A.m[i][lane] = random_between(&state, -1, 1);
            const pl_mat3 random = load(&A);
            pl_mat3 R, Q, U, V;
            pl_real s[3], known[3];
            pl_svd3(&random, &R, s, &Q);
            for (int i = 0; i < 3; i++)
                known[i] = pl_set1(values[k][i]);
            const pl_mat3 F = pl_mat3_compose(&R, known, &Q);
            pl_svd3(&F, &U, s, &V);
            for (int i = 0; i < 3; i++)
                ck_assert_double_eq_tol(pl_lane(s[i], 0), values[k][i], 4e-15 * values[k][0]);
        }
}
END_TEST

START_TEST(matrix_operations)
{
    uint64_t state = 14;
    matrices a, b;
    for (int i = 0; i < 9; i++)
        for (int lane = 0; lane < PL_LANES; lane++) {
            a.m[i][lane] = random_between(&state, -1, 1) + 2 * (i % 4 == 0);
            b.m[i][lane] = random_between(&state, -1, 1);
        }
    const pl_mat3 A = load(&a), B = load(&b);
    const pl_mat3 At = pl_mat3_transpose(&A), inverse = pl_mat3_inverse(&A);
    const pl_mat3 C = pl_mat3_cofactor(&A), one = pl_mat3_mul(&A, &inverse);
    const pl_mat3 AtB = pl_mat3_transpose_mul(&A, &B), AtB2 = pl_mat3_mul(&At, &B);
    const pl_mat3 ABt = pl_mat3_mul_transpose(&A, &B), AtC = pl_mat3_transpose_mul(&A, &C);
    const double det = pl_lane(pl_mat3_det(&A), 0);
    for (int i = 0; i < 9; i++) {
        double dot = 0;
        for (int k = 0; k < 3; k++)
            dot += a.m[i % 3 + 3 * k][0] * b.m[i / 3 + 3 * k][0];
        ck_assert_double_eq_tol(pl_lane(ABt.m[i], 0), dot, 1e-15);
        ck_assert_double_eq_tol(pl_lane(AtB.m[i], 0), pl_lane(AtB2.m[i], 0), 1e-15);
        ck_assert_double_eq_tol(pl_lane(one.m[i], 0), i % 4 == 0, 1e-14);
        ck_assert_double_eq_tol(pl_lane(AtC.m[i], 0), i % 4 == 0 ? det : 0, 1e-14);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_svd3");
    TCase *cases = tcase_create("svd3");
    tcase_add_test(cases, random_and_difficult_matrices);
    tcase_add_test(cases, any_magnitude);
    tcase_add_test(cases, zero_and_rank_one);
    tcase_add_test(cases, known_values_and_the_sign_of_the_last);
    tcase_add_test(cases, matrix_operations);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
