/* Histograms of durations: a duration equal to a bound is below it; those above all bounds are counted, too. */
#include "server/base/histogram.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>

static const pl_bounds *const all[] = {&pl_bounds_of_requests, &pl_bounds_of_waits};

START_TEST(test_bounds)
{
    const pl_bounds *b = all[_i];
    ck_assert_int_gt(b->count, 0);
    ck_assert_int_le(b->count, PL_BOUNDS_MAX);
    for (int i = 0; i < b->count; i++) {
        ck_assert_double_eq_tol(strtod(b->at[i].seconds, NULL), 1e-6 * (double)b->at[i].us, 1e-9);
        ck_assert(i == 0 || b->at[i].us > b->at[i - 1].us);
    }
}
END_TEST

START_TEST(test_places)
{
    const pl_bounds *b = all[_i];
    for (int i = 0; i < b->count; i++) {
        pl_histogram h = {0};
        pl_histogram_add(&h, b, b->at[i].us);
        pl_histogram_add(&h, b, b->at[i].us + 1);
        ck_assert_int_eq(pl_histogram_count(&h, i), 1);
        ck_assert_int_eq(pl_histogram_count(&h, i + 1), 1);
        ck_assert_int_eq(pl_histogram_sum_us(&h), 2 * b->at[i].us + 1);
    }
}
END_TEST

START_TEST(test_ends)
{
    pl_histogram h = {0};
    pl_histogram_add(&h, all[_i], -5);
    pl_histogram_add(&h, all[_i], 0);
    ck_assert_int_eq(pl_histogram_count(&h, 0), 2);
    ck_assert_int_eq(pl_histogram_sum_us(&h), 0);
    pl_histogram_add(&h, all[_i], INT64_C(1) << 50);
    ck_assert_int_eq(pl_histogram_count(&h, all[_i]->count), 1);
    ck_assert_int_eq(pl_histogram_sum_us(&h), INT64_C(1) << 50);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("histograms");
    tcase_add_loop_test(cases, test_bounds, 0, 2);
    tcase_add_loop_test(cases, test_places, 0, 2);
    tcase_add_loop_test(cases, test_ends, 0, 2);
    return run_cases("base: histograms", cases);
}
