/* engine/team_of_one.c: a parallel region of one thread is a call; any other is a team. */
#include "tests/support/suite.h"

#include <check.h>
#include <omp.h>

static int level_inside(int threads, int *team)
{
    int level = -1;
#pragma omp parallel num_threads(threads)
    {
#pragma omp single
        {
            level = omp_get_level();
            *team = omp_get_num_threads();
        }
    }
    return level;
}

START_TEST(one_thread_makes_no_team)
{
    int team = 0;
    ck_assert_int_eq(level_inside(1, &team), 0);
    ck_assert_int_eq(team, 1);
}
END_TEST

START_TEST(two_threads_make_one)
{
    int team = 0;
    ck_assert_int_eq(level_inside(2, &team), 1);
    ck_assert_int_eq(team, 2);
}
END_TEST

/* Called directly, each thread of the outer team would take its own part of the inner loop. */
START_TEST(one_thread_inside_a_team_does_all_of_a_loop)
{
    int done[2] = {0, 0};
#pragma omp parallel num_threads(2)
    {
        int mine = 0;
#pragma omp parallel for num_threads(1) schedule(static) reduction(+ : mine)
        for (int i = 0; i < 100; i++)
            mine++;
        done[omp_get_thread_num()] = mine;
    }
    ck_assert_int_eq(done[0], 100);
    ck_assert_int_eq(done[1], 100);
}
END_TEST

START_TEST(loops_barriers_and_singles_work_without_a_team)
{
    int sum = 0, singles = 0, dynamic = 0;
#pragma omp parallel num_threads(1)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 10; i++)
            sum += i;
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 10; i++)
            dynamic += i;
#pragma omp barrier
#pragma omp single
        singles++;
    }
    ck_assert_int_eq(sum, 45);
    ck_assert_int_eq(dynamic, 45);
    ck_assert_int_eq(singles, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("team_of_one");
    TCase *t = tcase_create("team_of_one");
    tcase_add_test(t, one_thread_makes_no_team);
    tcase_add_test(t, two_threads_make_one);
    tcase_add_test(t, one_thread_inside_a_team_does_all_of_a_loop);
    tcase_add_test(t, loops_barriers_and_singles_work_without_a_team);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
