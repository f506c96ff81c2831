/* Renewals of contact's multipliers within a solve (solvers/descent.c): no work where they change nothing, and the
 * same bits as a whole evaluation where they do. */
#include "engine/backends/backend.h"
#include "engine/model/model.h"
#include "engine/step/state.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A block held at its lower side; 30 m or a gap of 1 mm above it, another that falls. */
static const char SCENE[] =
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 12},"
    " 'solver': {'method': '%s', 'iterations': 2000, 'tolerance': 1e-6},"
    " 'materials': {'m': {'young': 1e5, 'poisson': 0.4}}, 'bodies': ["
    "  {'name': 'low', 'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [3, 3, 3]}},"
    "   'material': 'm'},"
    "  {'name': 'high', 'mesh': {'box': {'size': [0.3, 0.3, 0.3], 'cells': [2, 2, 2]}},"
    "   'material': 'm', 'transform': {'translate': [0.02, %g, 0.01]},"
    "   'initial': {'velocity': [0.1, -1, 0]}}],"
    " 'pins': [{'body': 'low', 'select': {'side': '-y'}}]}";

static const char *const METHODS[] = {"quasi_newton", "auto", "newton", "lbfgs"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS, STEPS = 12 };

/* The backend's own table, and calls of it: evaluations of a given place, those that keep the elements, solves. */
static const pl_backend_ops *own;
static int64_t evaluations, kept, solves, differing, iterations;

static pl_trial_sums counted_trial(pl_backend *b, const pl_backend_stage *stage,
                                   const pl_trial *trial)
{
    evaluations += !trial->d;
    if (!trial->same_x)
        return own->descent->trial(b, stage, trial);
    kept++;
    pl_trial whole = *trial;
    whole.same_x = false;
    const size_t bytes = 3 * (size_t)b->model->vertices * sizeof(double);
    double *gradient = malloc(bytes);
    const pl_trial_sums sums = own->descent->trial(b, stage, trial);
    memcpy(gradient, pl_numbers(trial->gradient), bytes);
    const pl_trial_sums due = own->descent->trial(b, stage, &whole);
    differing += sums.objective != due.objective || sums.norm != due.norm ||
                 sums.decrement != due.decrement ||
                 memcmp(gradient, pl_numbers(trial->gradient), bytes) != 0;
    free(gradient);
    return sums;
}

static pl_status counted_solve(pl_backend *b, const pl_array *rhs, pl_array *rows)
{
    solves++;
    return own->matrix->solve(b, rhs, rows);
}

static void run(const char *method, double height, pl_run **out)
{
    static pl_backend_ops ops;
    static pl_descent_ops descent;
    static pl_matrix_ops matrix;
    pl_run *r = pl_run_openf(1, SCENE, method, height);
    pl_backend *b = r->state->whole.backend;
    own = b->ops;
    ops = *own;
    descent = *own->descent;
    matrix = *own->matrix;
    descent.trial = counted_trial;
    matrix.solve = counted_solve;
    ops.descent = &descent;
    ops.matrix = &matrix;
    b->ops = &ops;
    evaluations = kept = solves = differing = iterations = 0;
    for (int k = 0; k < STEPS; k++) {
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        iterations += r->metrics.iterations;
    }
    *out = r;
}

static void stop(pl_run *r)
{
    r->state->whole.backend->ops = own;
    pl_run_close(r);
}

/* Far apart: one evaluation a step before its iterations, and one solve for each of them and the start. */
START_TEST(nothing_is_renewed_where_nothing_is_near)
{
    pl_run *r;
    run(METHODS[_i], 30, &r);
    ck_assert_int_gt(iterations, STEPS);
    ck_assert_int_eq(kept, 0);
    ck_assert_int_eq(evaluations, STEPS);
    if (strcmp(METHODS[_i], "quasi_newton") == 0)
        ck_assert_int_eq(solves, iterations + STEPS);
    stop(r);
}
END_TEST

START_TEST(elements_are_kept_over_a_renewal)
{
    pl_run *r;
    run(METHODS[_i], 0.4 + 0.001, &r);
    ck_assert_int_gt(r->metrics.contact.pairs, 0);
    ck_assert_int_gt(kept, STEPS);
    ck_assert_int_eq(differing, 0);
    stop(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contact's renewals");
    TCase *t = tcase_create("renewals");
    tcase_add_loop_test(t, nothing_is_renewed_where_nothing_is_near, 0, METHOD_COUNT);
    tcase_add_loop_test(t, elements_are_kept_over_a_renewal, 0, METHOD_COUNT);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
