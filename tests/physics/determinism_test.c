/* The same scene gives the same bits: on any number of threads, run again, and saved and gone on
 * with. */
#include "tests/support/check_metrics.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>

/* Large enough that three threads get work: 3,072 tetrahedra are 192 blocks. */
static const char ADMM[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 12},"
    " 'solver': {'iterations': 15, 'tolerance': 0},"
    " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [32, 4, 4]}}, 'transform': "
    "{'translate': [0, 0.7, 0]}},"
    "            {'mesh': {'sphere': {'cells': 6}}, 'transform': {'translate': [0, 3, 0]}}],"
    " 'pins': [{'body': 'body-0', 'select': {'side': '-x'},"
    "           'motion': {'axis': [1, 0, 0], 'degrees_per_second': 180}}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.4}]}";

static const char DESCENT[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 12},"
    " 'solver': {'method': 'quasi_newton', 'iterations': 10, 'tolerance': 0},"
    " 'materials': {'a': {'model': 'neo_hookean'}, 'b': {'model': 'corotated'},"
    "               'c': {'model': 'arap'}},"
    " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [32, 4, 4]}}, 'material': 'a'},"
    "            {'mesh': {'sphere': {'cells': 6}}, 'material': 'b',"
    "             'initial': {'shape': {'stretched': [1.5, 1, 0.8]}}},"
    "            {'mesh': {'box': {'cells': [6, 6, 6]}}, 'material': 'c',"
    "             'initial': {'angular_velocity': [3, 1, 2]}}],"
    " 'pins': [{'body': 'body-0', 'select': {'side': '-x'},"
    "           'motion': {'axis': [1, 0, 0], 'degrees_per_second': 180}}]}";

/* 12,167 rows: METIS's ordering and the supernodal factor. */
static const char SUPERNODAL[] = "{'pliant': 1, 'time': {'step': 0.02, 'steps': 2},"
                                 " 'solver': {'iterations': 4, 'tolerance': 0},"
                                 " 'bodies': [{'mesh': {'box': {'cells': [22, 22, 22]}},"
                                 "             'initial': {'angular_velocity': [1, 2, 3]}}]}";

/* Two boxes; the upper one falls on the lower: contact between bodies. */
static const char TOUCHING[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 8}, 'contact': {'thickness': 0.01},"
    " 'solver': {'method': 'quasi_newton', 'iterations': 8, 'tolerance': 0},"
    " 'bodies': [{'mesh': {'box': {'cells': [8, 8, 8]}}},"
    "            {'mesh': {'box': {'cells': [8, 8, 8]}}, 'initial': {'velocity': [0, -4, 0]},"
    "             'transform': {'translate': [0.1, 1.03, 0.05]}}],"
    " 'pins': [{'body': 'body-0', 'select': {'side': '-y'}}]}";

static void same_with_changing_threads(const char *scene, int64_t frames)
{
    const int threads[] = {1, 3, 2, 4, 1, 2};
    pl_run *steady = pl_run_open(1, scene), *changing = pl_run_open(1, scene);
    for (int64_t k = 1; k <= frames; k++) {
        pl_run_frames(steady, 1);
        ck_assert_int_eq(pl_state_set_threads(changing->state, threads[k % 6]), PL_OK);
        pl_run_frames(changing, 1);
        ck_assert_msg(pl_run_hash(changing) == pl_run_hash(steady), "frame %d", (int)k);
        pl_check_metrics(&steady->scene, &steady->metrics, &changing->metrics);
    }
    pl_run_close(steady);
    pl_run_close(changing);
}

static void same_on_any_threads(const char *scene, int64_t frames)
{
    const int threads[] = {1, 2, 3, 4, 1};
    pl_run *first = pl_run_open(threads[0], scene);
    pl_run_frames(first, frames);
    for (size_t k = 1; k < sizeof threads / sizeof *threads; k++) {
        pl_run *r = pl_run_open(threads[k], scene);
        pl_run_frames(r, frames);
        ck_assert_msg(pl_run_hash(r) == pl_run_hash(first), "%d threads", threads[k]);
        pl_check_metrics(&r->scene, &first->metrics, &r->metrics);
        pl_run_close(r);
    }
    pl_run_close(first);
}

START_TEST(threads_do_not_change_a_bit)
{
    same_on_any_threads(ADMM, 12);
}
END_TEST

START_TEST(threads_do_not_change_a_bit_by_descent)
{
    same_on_any_threads(DESCENT, 12);
}
END_TEST

START_TEST(threads_that_change_between_frames_do_not_change_a_bit)
{
    same_with_changing_threads(ADMM, 12);
    same_with_changing_threads(DESCENT, 12);
    same_with_changing_threads(TOUCHING, 8);
}
END_TEST

/* One factor serves 1, 2 and 3 threads here; the run that is gone on with makes its own. */
START_TEST(neither_threads_nor_a_restart_change_a_bit_of_a_supernodal_model)
{
    pl_run *r = pl_run_open(2, SUPERNODAL), *fresh = pl_run_open(3, SUPERNODAL);
    ck_assert_int_gt(pl_run_vertices(r), 10000);
    pl_run_frames(r, 1);
    pl_run_go_on(r, fresh, 1);
    pl_check_metrics(&r->scene, &r->metrics, &fresh->metrics);
    pl_run_close(fresh);

    uint64_t hash = pl_run_hash(r);
    pl_state_destroy(r->state);
    ck_assert_int_eq(pl_state_create(r->model, 1, &r->state), PL_OK);
    pl_run_frames(r, 2);
    ck_assert_uint_eq(pl_run_hash(r), hash);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("determinism");
    TCase *t = tcase_create("determinism");
    tcase_add_test(t, threads_do_not_change_a_bit);
    tcase_add_test(t, threads_do_not_change_a_bit_by_descent);
    tcase_add_test(t, threads_that_change_between_frames_do_not_change_a_bit);
    tcase_add_test(t, neither_threads_nor_a_restart_change_a_bit_of_a_supernodal_model);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
