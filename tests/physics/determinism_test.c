/* The same scene gives the same bits: on any number of threads, and run again. */
#include "tests/support/scene_run.h"

#include <check.h>

static const char SCENE[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 12},"
    " 'solver': {'iterations': 15, 'tolerance': 0},"
    " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [16, 4, 4]}}, 'transform': "
    "{'translate': [0, 0.7, 0]}},"
    "            {'mesh': {'sphere': {'cells': 6}}, 'transform': {'translate': [0, 3, 0]}}],"
    " 'pins': [{'body': 'body-0', 'select': {'side': '-x'},"
    "           'motion': {'axis': [1, 0, 0], 'degrees_per_second': 180}}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.4}]}";

START_TEST(threads_do_not_change_a_bit)
{
    uint64_t hash[5];
    double objective[5];
    const int threads[5] = {1, 2, 3, 4, 1};
    for (int k = 0; k < 5; k++) {
        pl_run *r = pl_run_open(threads[k], SCENE);
        pl_run_frames(r, 12);
        hash[k] = pl_run_hash(r);
        objective[k] = r->metrics.objective;
        pl_run_close(r);
        ck_assert_uint_eq(hash[k], hash[0]);
        ck_assert(objective[k] == objective[0]);
    }
}
END_TEST

/* At 5,000 vertices and more the factor is another one: METIS ordering. */
START_TEST(threads_do_not_change_a_bit_of_a_larger_model)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        pl_run *r = pl_run_open(k + 1, "{'pliant': 1, 'time': {'step': 0.02, 'steps': 2},"
                                       " 'solver': {'iterations': 5, 'tolerance': 0},"
                                       " 'bodies': [{'mesh': {'box': {'cells': [22, 22, 22]}},"
                                       "   'initial': {'angular_velocity': [1, 2, 3]}}]}");
        pl_run_frames(r, 2);
        hash[k] = pl_run_hash(r);
        pl_run_close(r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("determinism");
    TCase *t = tcase_create("determinism");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, threads_do_not_change_a_bit);
    tcase_add_test(t, threads_do_not_change_a_bit_of_a_larger_model);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
