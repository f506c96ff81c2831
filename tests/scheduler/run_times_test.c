/* Run times by kind: the mean of few runs, more weight on later ones of many, forgotten kinds, and rejected values. */
#include "server/schedule/run_times.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

START_TEST(test_means)
{
    char gone[PL_RUN_TIMES_KIND];
    pl_run_times *h = pl_run_times_create(8);
    ck_assert_double_eq(pl_run_times_ratio(h, "a", 1), 0);
    pl_run_times_note(h, "a", 2, gone);
    ck_assert_double_eq_tol(pl_run_times_ratio(h, "a", 1), 2, 1e-12);
    ck_assert_double_eq(pl_run_times_ratio(h, "a", 2), 0);
    pl_run_times_note(h, "a", 8, gone);
    ck_assert_double_eq_tol(pl_run_times_ratio(h, "a", 2), 4, 1e-12); /* twice and half are alike */
    ck_assert_double_eq(pl_run_times_ratio(h, "b", 1), 0);
    for (int i = 0; i < 20; i++)
        pl_run_times_note(h, "a", 0.5, gone);
    /* (1 - 0.2)^17 of the first five is left */
    ck_assert_double_eq_tol(pl_run_times_ratio(h, "a", 1), 0.5, 0.03);
    pl_run_times_destroy(h);
}
END_TEST

START_TEST(test_forgetting)
{
    char gone[PL_RUN_TIMES_KIND];
    pl_run_times *h = pl_run_times_create(2);
    ck_assert_str_eq(pl_run_times_note(h, "a", 2, gone)->kind, "a");
    pl_run_times_put(h, "b", log(3), 7);
    ck_assert_double_eq_tol(pl_run_times_ratio(h, "b", 7), 3, 1e-12);
    pl_run_times_ratio(h, "a", 1);
    ck_assert_int_eq(pl_run_times_note(h, "c", 4, gone)->runs, 1);
    ck_assert_str_eq(gone, "b");
    ck_assert_double_eq(pl_run_times_ratio(h, "b", 1), 0);
    ck_assert_double_eq_tol(pl_run_times_ratio(h, "a", 1), 2, 1e-12);
    pl_run_times_destroy(h);
}
END_TEST

START_TEST(test_not_believed)
{
    char gone[PL_RUN_TIMES_KIND], kind[PL_RUN_TIMES_KIND + 1];
    const double bad[] = {0, -1, NAN, INFINITY};
    pl_run_times *h = pl_run_times_create(2);
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_null(pl_run_times_note(h, "a", bad[i], gone));
    memset(kind, 'k', sizeof kind);
    kind[PL_RUN_TIMES_KIND] = 0;
    ck_assert_ptr_null(pl_run_times_note(h, kind, 1, gone));
    pl_run_times_put(h, "a", NAN, 3);
    pl_run_times_put(h, "a", 100, 3);
    pl_run_times_put(h, "a", 0, 0);
    ck_assert_double_eq(pl_run_times_ratio(h, "a", 0), 0);
    pl_run_times_note(h, "a", 1e300, gone);
    ck_assert_double_le(pl_run_times_ratio(h, "a", 1), 1000);
    pl_run_times_destroy(h);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("run_times");
    tcase_add_test(cases, test_means);
    tcase_add_test(cases, test_forgetting);
    tcase_add_test(cases, test_not_believed);
    return run_cases("run_times", cases);
}
