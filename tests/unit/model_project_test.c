/* Matrices made semidefinite: against matrices that are put together from their eigenpairs. */
#include "engine/isa.h"
#include "engine/model/groups/project.h"
#include "tests/support/lanes_random.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = PL_PROJECT_MOST };

/* An orthogonal matrix, columns in Q[.][n]: reflections of random vectors. */
static void orthogonal(int n, uint64_t *seed, double *Q)
{
    for (int i = 0; i < n * n; i++)
        Q[i] = i % (n + 1) == 0;
    for (int k = 0; k < n; k++) {
        double v[MOST], norm = 0;
        for (int i = 0; i < n; i++) {
            v[i] = random_between(seed, -1, 1);
            norm += v[i] * v[i];
        }
        for (int j = 0; j < n; j++) {
            double dot = 0;
            for (int i = 0; i < n; i++)
                dot += v[i] * Q[i * n + j];
            for (int i = 0; i < n; i++)
                Q[i * n + j] -= 2 * dot / norm * v[i];
        }
    }
}

/* Q diag(e) Q^T into lane l of a block of lower triangles. */
static void compose(int n, const double *Q, const double *e, double *block, int l)
{
    for (int i = 0, at = 0; i < n; i++)
        for (int j = 0; j <= i; j++, at++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += Q[i * n + k] * e[k] * Q[j * n + k];
            block[at * PL_BLOCK + l] = sum;
        }
}

static const int32_t SIZES[] = {3, 6, 12, 24};
static const char *const ISAS[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};

/* Two blocks: one with eigenvalues of both signs over ten decades, some equal, and a lane of zeros; one that is
 * semidefinite and must stay unchanged. */
START_TEST(negative_eigenvalues_go)
{
    int32_t n = SIZES[_i];
    int64_t entries = n * (n + 1) / 2, numbers = 2 * entries * PL_BLOCK;
    double *H = aligned_alloc(64, (size_t)numbers * sizeof *H);
    double *wanted = aligned_alloc(64, (size_t)numbers * sizeof *wanted);
    double largest[PL_BLOCK] = {0}, Q[MOST * MOST], e[MOST];
    uint64_t seed = 77;
    for (int l = 0; l < PL_BLOCK; l++) {
        orthogonal(n, &seed, Q);
        for (int k = 0; k < n; k++) {
            double sign = random_unit(&seed) < 0.5 ? -1 : 1;
            e[k] = l == 3 ? 0 : k % 3 == 2 ? e[k - 1] : sign * random_scale(&seed, 1e-3, 1e7);
            largest[l] = fmax(largest[l], fabs(e[k]));
        }
        compose(n, Q, e, H, l);
        for (int k = 0; k < n; k++)
            e[k] = fmax(e[k], 0);
        compose(n, Q, e, wanted, l);
        for (int k = 0; k < n; k++) /* a few null directions, as rigid motions are */
            e[k] = k < n / 4 ? 0 : random_scale(&seed, 1, 1e4);
        compose(n, Q, e, H + entries * PL_BLOCK, l);
    }
    memcpy(wanted + entries * PL_BLOCK, H + entries * PL_BLOCK,
           (size_t)entries * PL_BLOCK * sizeof *H);
    pl_project_find()->semidefinite(H, n, 0, 2);
    for (int64_t i = 0; i < entries * PL_BLOCK; i++)
        ck_assert_double_eq_tol(H[i], wanted[i], 1e-300 + 1e-12 * largest[i % PL_BLOCK]);
    ck_assert_mem_eq(H + entries * PL_BLOCK, wanted + entries * PL_BLOCK,
                     (size_t)entries * PL_BLOCK * sizeof *H);
    free(H), free(wanted);
}
END_TEST

START_TEST(instructions_do_not_change_a_bit)
{
    enum { NUMBERS = 78 * PL_BLOCK };
    double *first = NULL;
    for (size_t k = 0; k < sizeof ISAS / sizeof *ISAS; k++) {
        setenv("PLIANT_ISA", ISAS[k], 1);
        uint64_t seed = 5;
        double *H = aligned_alloc(64, NUMBERS * sizeof *H);
        for (int i = 0; i < NUMBERS; i++)
            H[i] = random_between(&seed, -1, 1);
        pl_project_find()->semidefinite(H, 12, 0, 1);
        if (first)
            ck_assert_mem_eq(H, first, NUMBERS * sizeof *H);
        double *other = first ? H : NULL;
        first = first ? first : H;
        free(other);
    }
    free(first);
    unsetenv("PLIANT_ISA");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("project");
    TCase *t = tcase_create("project");
    tcase_add_loop_test(t, negative_eigenvalues_go, 0, sizeof SIZES / sizeof *SIZES);
    tcase_add_test(t, instructions_do_not_change_a_bit);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
