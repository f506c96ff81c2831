/* The kernels have the same bits on every instruction set, for every kind of input. */
#include "engine/isa.h"
#include "tests/support/kernels_hash.h"
#include "tests/support/kernels_probe.h"
#include "tests/support/lanes_random.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 2000, ROWS_IN = 12, ROWS_OUT = 21 };

/* F~ or s~ from near rest to dilated, collapsed and inverted, rows 9-11 a material and k. */
static double *inputs(int lanes)
{
    double *in = aligned_alloc(64, sizeof *in * BLOCKS * ROWS_IN * (size_t)lanes);
    uint64_t state = 31;
    for (int b = 0; b < BLOCKS; b++)
        for (int lane = 0; lane < lanes; lane++) {
            double *e = in + b * ROWS_IN * lanes + lane;
            const double noise = b % 4 == 0 ? 0 : random_scale(&state, 1e-12, 5);
            for (int i = 0; i < 9; i++)
                e[i * lanes] = (i % 4 == 0) + noise * random_between(&state, -1, 1);
            e[9 * lanes] = random_scale(&state, 1, 1e9);
            e[10 * lanes] = e[9 * lanes] * random_scale(&state, 1e-2, 1e3);
            e[11 * lanes] = e[9 * lanes] * random_scale(&state, 0.5, 100);
        }
    return in;
}

/* For log and exp: numbers of all sizes and signs, and the special ones. */
static double *numbers(int lanes)
{
    const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, 0x1p-1074, 0x1.fp-1023, 709.9};
    double *in = aligned_alloc(64, sizeof *in * BLOCKS * (size_t)lanes);
    uint64_t state = 32;
    for (int i = 0; i < BLOCKS * lanes; i++) {
        in[i] = random_scale(&state, 1e-300, 1e300) * (i % 5 == 0 ? -1 : 1);
        if (i % 2 == 0)
            in[i] = random_between(&state, -750, 750);
        if (i < 9)
            in[i] = special[i];
    }
    return in;
}

typedef void (*kernel)(const double *in, double *out, long blocks);

static void check_same(const char *name, kernel a, kernel b, const double *in, int rows, int lanes)
{
    const size_t bytes = sizeof(double) * BLOCKS * (size_t)(rows * lanes);
    double *of_a = aligned_alloc(64, bytes), *of_b = aligned_alloc(64, bytes);
    memset(of_a, 0, bytes);
    memset(of_b, 0, bytes);
    a(in, of_a, BLOCKS);
    b(in, of_b, BLOCKS);
    int64_t different = 0;
    for (size_t i = 0; i < bytes / sizeof *of_a; i++)
        different += memcmp(of_a + i, of_b + i, sizeof *of_a) != 0 &&
                     !(isnan(of_a[i]) && isnan(of_b[i]));
    ck_assert_msg(different == 0, "%s: %lld numbers differ", name, (long long)different);
    free(of_a);
    free(of_b);
}

START_TEST(every_instruction_set_has_the_same_bits)
{
    const pl_kernels_probe *first = pl_kernels_probes();
    const int lanes = first->lanes;
    double *in = inputs(lanes), *x = numbers(lanes);
    for (const pl_kernels_probe *p = first + 1; p->name; p++) {
        ck_assert_int_eq(p->lanes, lanes);
        for (int k = 0; k < PL_PROBE_MATERIALS; k++)
            check_same(p->name, first->prox[k], p->prox[k], in, 9, lanes);
        check_same(p->name, first->svd, p->svd, in, ROWS_OUT, lanes);
        check_same(p->name, first->log_exp, p->log_exp, x, 2, lanes);
    }
    free(in);
    free(x);
}
END_TEST

/* Energy, gradient, Hessian and local step of a group of each material: hashes of every result. */
START_TEST(term_groups_have_the_same_bits)
{
    char *first = NULL;
    const pl_isa most = pl_isa_current();
    for (int isa = 0; isa <= (int)most; isa++) {
        setenv("PLIANT_ISA", pl_isa_name((pl_isa)isa), 1);
        ck_assert_int_eq((int)pl_isa_current(), isa);
        char *text = pl_kernels_hash_text();
        if (first)
            ck_assert_str_eq(text, first);
        else
            first = strdup(text);
        free(text);
    }
    free(first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_isa");
    TCase *cases = tcase_create("isa");
    tcase_add_test(cases, every_instruction_set_has_the_same_bits);
    tcase_add_test(cases, term_groups_have_the_same_bits);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
