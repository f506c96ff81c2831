/* ADMM as a minimiser: its reports match its work, and its result is a minimum. */
#include "engine/model/model.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static pl_run *twisted(const char *solver, int32_t threads)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.04, 'steps': 5}, 'gravity': [0, 0, 0],"
        " 'solver': {'method': 'admm', %s}, 'output': {'metrics': 'iteration'},"
        " 'materials': {'m': {'young': 1e6, 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}},"
        "   'initial': {'shape': {'twisted': {'turns': 0.5, 'axis': [1, 0, 0]}}}}]}",
        solver);
}

/* Run long, the gradient of the stage objective vanishes: against its size at the initial guess.
 * The gradient itself is checked against finite differences of the energy in unit tests. */
START_TEST(converges_to_a_stationary_point)
{
    pl_run *r = twisted("'iterations': 3000, 'tolerance': 1e-9", 2);
    pl_run_frames(r, 1);
    const pl_metrics *m = &r->metrics;
    ck_assert_int_eq(m->unconverged, 0);
    ck_assert_int_lt(m->iterations, 3000);
    ck_assert_int_eq(m->detail_count, m->iterations + 1);
    ck_assert_double_gt(m->detail[0].gradient_norm, 1);
    ck_assert_double_lt(m->gradient_norm, 1e-7 * m->detail[0].gradient_norm);
    ck_assert_double_lt(m->objective, m->detail[0].objective);
    pl_run_close(r);
}
END_TEST

/* Whatever the weight and relaxation, the minimum is the same one: the objective has no w in it. */
START_TEST(weights_change_the_way_not_the_minimum)
{
    const char *settings[] = {"'iterations': 4000, 'tolerance': 1e-9, 'weight_scale': 1",
                              "'iterations': 4000, 'tolerance': 1e-9, 'weight_scale': 3",
                              "'iterations': 4000, 'tolerance': 1e-9, 'weight_scale': 2, "
                              "'relaxation': 1.5, 'acceleration': 'none'"};
    double objective[3], x[3];
    for (int k = 0; k < 3; k++) {
        pl_run *r = twisted(settings[k], 2);
        pl_run_frames(r, 1);
        objective[k] = r->metrics.objective;
        x[k] = pl_run_x(r)[3 * 40 + 1];
        ck_assert_int_eq(r->metrics.unconverged, 0);
        pl_run_close(r);
    }
    for (int k = 1; k < 3; k++) {
        ck_assert_double_eq_tol(objective[k], objective[0], 1e-10 * objective[0]);
        ck_assert_double_eq_tol(x[k], x[0], 1e-6);
    }
}
END_TEST

/* The last row of the detail equals the frame's record; row 0 is the initial guess; with tolerance 0 the number of
 * iterations is the requested one, and "unconverged" is undefined. */
START_TEST(records_are_of_what_happened)
{
    pl_run *r = twisted("'iterations': 17, 'tolerance': 0", 1);
    pl_metrics zero;
    pl_state_measure(r->model, r->state, &zero);
    ck_assert(isnan(zero.primal_residual) && isnan(zero.objective));
    ck_assert_int_eq(zero.iterations, 0);
    pl_run_frames(r, 1);
    const pl_metrics *m = &r->metrics;
    ck_assert_int_eq(m->iterations, 17);
    ck_assert_int_eq(m->unconverged, -1);
    ck_assert_int_eq(m->detail_count, 18);
    const pl_iteration *last = &m->detail[17];
    ck_assert_double_eq(last->objective, m->objective);
    ck_assert_double_eq(last->primal_residual, m->primal_residual);
    ck_assert_double_eq(last->dual_residual, m->dual_residual);
    ck_assert_double_eq(last->gradient_norm, m->gradient_norm);
    ck_assert_double_eq(last->decrement, m->decrement);
    /* The initial guess is x~ = x(0) here (at rest, no gravity): its objective is the elastic
     * energy. */
    ck_assert_double_eq_tol(m->detail[0].objective, zero.elastic, 1e-12 * zero.elastic);
    for (int64_t k = 1; k < m->detail_count; k++) {
        ck_assert_double_gt(m->detail[k].primal_residual, 0);
        ck_assert_double_gt(m->detail[k].dual_residual, 0);
        ck_assert_double_ge(m->detail[k].ms, m->detail[k - 1].ms);
    }
    pl_run_close(r);
}
END_TEST

/* The decrement reported is |x(k+1) - x(k)| in the norm of A: recompute the last one from two runs
 * that differ by one iteration, which with Anderson's acceleration end otherwise. */
START_TEST(decrement_is_the_step_in_the_norm_of_the_matrix)
{
    pl_run *a = twisted("'iterations': 8, 'tolerance': 0, 'acceleration': 'nesterov'", 1);
    pl_run *b = twisted("'iterations': 9, 'tolerance': 0, 'acceleration': 'nesterov'", 1);
    pl_run_frames(a, 1);
    pl_run_frames(b, 1);
    const pl_sparse *A = &a->model->A;
    double *d = calloc(3 * (size_t)A->n, sizeof *d), *Ad = calloc(3 * (size_t)A->n, sizeof *Ad);
    for (int64_t i = 0; i < A->n; i++)
        for (int c = 0; c < 3; c++)
            d[c * A->n + i] = pl_run_x(b)[3 * i + c] -
                              pl_run_x(a)[3 * i + c]; /* no pins: row = vertex */
    pl_sparse_multiply(A, d, Ad, 3);
    double square = 0;
    for (int64_t i = 0; i < 3 * A->n; i++)
        square += d[i] * Ad[i];
    ck_assert_double_eq_tol(b->metrics.decrement, sqrt(square), 1e-8 * sqrt(square));
    free(d), free(Ad);
    pl_run_close(a);
    pl_run_close(b);
}
END_TEST

/* A tolerance is respected: a looser one needs fewer iterations, and a step that cannot reach it fails only if the
 * scene says so, leaving the last good state. */
START_TEST(tolerance_decides_when_to_stop)
{
    pl_run *loose = twisted("'iterations': 2000, 'tolerance': 1e-2", 1);
    pl_run *tight = twisted("'iterations': 2000, 'tolerance': 1e-6", 1);
    pl_run_frames(loose, 1);
    pl_run_frames(tight, 1);
    ck_assert_int_lt(loose->metrics.iterations, tight->metrics.iterations);
    ck_assert_double_le(loose->metrics.decrement, 1e-2 * loose->metrics.detail[1].decrement);
    ck_assert_double_le(tight->metrics.decrement, 1e-6 * tight->metrics.detail[1].decrement);
    pl_run_close(loose);
    pl_run_close(tight);

    pl_run *goes_on = twisted("'iterations': 3, 'tolerance': 1e-8", 1);
    pl_run_frames(goes_on, 1);
    ck_assert_int_eq(goes_on->metrics.unconverged, 1);
    pl_run_close(goes_on);

    pl_run *fails = twisted("'iterations': 3, 'tolerance': 1e-8, 'on_not_converged': 'fail'", 1);
    uint64_t before = pl_run_hash(fails);
    ck_assert_int_eq(
        pl_frame_step(fails->model, fails->state, &fails->metrics, &fails->failure, NULL, NULL),
        PL_FAILED);
    ck_assert_int_eq(fails->failure.code, PL_FAILURE_NOT_CONVERGED);
    ck_assert_int_eq(fails->failure.step, 1);
    ck_assert_uint_eq(pl_run_hash(fails), before);
    pl_run_close(fails);
}
END_TEST

/* Bodies collapsed to a point, or with random vertices, recover (Narain 2016, figure 3), with quasi-Newton if the
 * energy is finite everywhere (Liu 2017, figure 18). */
START_TEST(recovers_from_collapse_and_chaos)
{
    static const char *const shapes[] = {"'collapsed'", "{'random': {'seed': 3}}"};
    static const char *const ways[][2] = {
        {"admm", "neo_hookean"}, {"quasi_newton", "corotated"}, {"quasi_newton", "arap"}};
    pl_run *r = pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 0.04, 'steps': 60}, 'gravity': [0, 0, 0],"
        " 'solver': {'method': '%s', 'iterations': 60, 'tolerance': 0},"
        " 'materials': {'m': {'model': '%s', 'young': 1e5, 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}}, 'initial': {'shape': %s}}]}",
        ways[_i / 2][0], ways[_i / 2][1], shapes[_i % 2]);
    pl_metrics start;
    pl_state_measure(r->model, r->state, &start);
    ck_assert_int_gt(start.inverted, 50);
    pl_run_frames(r, 60);
    ck_assert_int_eq(r->metrics.inverted, 0);
    ck_assert_double_lt(r->metrics.max_stretch, 1.1);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ADMM");
    TCase *t = tcase_create("ADMM");
    tcase_add_test(t, converges_to_a_stationary_point);
    tcase_add_test(t, weights_change_the_way_not_the_minimum);
    tcase_add_test(t, records_are_of_what_happened);
    tcase_add_test(t, decrement_is_the_step_in_the_norm_of_the_matrix);
    tcase_add_test(t, tolerance_decides_when_to_stop);
    tcase_add_loop_test(t, recovers_from_collapse_and_chaos, 0, 6);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
