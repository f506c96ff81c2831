/* A failed step is retried as two half steps; if these fail too, the state stays at the last good step and the failure
 * says so. */
#include "engine/step/state.h"
#include "tests/support/check_metrics.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A block that slides and settles, with too few iterations for some steps and enough for their
 * halves: multipliers and friction go from whole steps to halves and back. */
static const char SLIDING[] =
    "{'pliant': 1, 'time': {'step': 0.03, 'steps': 16},"
    " 'solver': {'method': 'admm', 'iterations': 28, 'tolerance': %s, 'on_not_converged': 'fail',"
    "            'acceleration': 'nesterov'},"
    " 'materials': {'m': {'young': 5e5}},"
    " 'bodies': [{'mesh': {'box': {'cells': [3, 3, 3]}}, 'initial': {'velocity': [1, -1, 0]},"
    "             'transform': {'translate': [0, 0.52, 0]}}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.3}]}";

/* Pressed by 0.4 m a step with elements of 0.25 m: the pins invert them at the start of a step, and log J is infinite
 * there. Two moves of 0.2 m do not invert them until no room is left. */
static const char PRESSED[] =
    "{'pliant': 1, 'time': {'step': %s, 'steps': 12},"
    " 'solver': {'method': 'quasi_newton', 'iterations': 60, 'tolerance': 1e-8},"
    " 'bodies': [{'mesh': {'box': {'cells': [5, 5, 5]}}, 'transform': {'translate': [5, 0, 0]}},"
    "            {'mesh': {'box': {'cells': [4, 4, 4]}}}],"
    " 'pins': [{'body': 'body-1', 'select': {'side': '-x'}},"
    "          {'body': 'body-1', 'select': {'side': '+x'}, 'motion': {'velocity': [-10, 0, 0]}}]}";

static pl_status next(pl_run *r)
{
    return pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL);
}

START_TEST(halves_where_the_whole_fails_and_goes_on)
{
    pl_run *r = pl_run_openf(1, SLIDING, "3.3e-3");
    int64_t halved = 0, changes = 0, last = 0;
    for (int k = 1; k <= 16; k++) {
        pl_run_frames(r, 1);
        const pl_metrics *m = &r->metrics;
        ck_assert_int_eq(m->frame, k);
        ck_assert_int_eq(m->steps, 1);
        ck_assert_int_eq(m->unconverged, 0);
        /* the whole step's iterations ran out, and the halves made some */
        if (m->halved)
            ck_assert_int_gt(m->iterations, 28 + 2);
        else
            ck_assert_int_le(m->iterations, 28);
        changes += m->halved != last;
        last = m->halved;
        halved += m->halved;
    }
    ck_assert_int_ge(halved, 3);
    ck_assert_int_ge(changes, 2);
    ck_assert_double_eq_tol(pl_state_time(r->state), 16 * 0.03, 1e-15);
    /* It slides on the floor until friction stops it; nothing throws it back. */
    double v = r->metrics.linear[0] / 1000;
    ck_assert_double_lt(v, 1);
    ck_assert_double_gt(v, -0.05);
    pl_run_close(r);
}
END_TEST

/* Solves that fail at will. */
static pl_status (*true_solve)(pl_solver *, const pl_backend_stage *, pl_array *, pl_array *,
                               pl_solve_result *, pl_failure *);
static bool fail_now;

static pl_status solve_or_fail(pl_solver *s, const pl_backend_stage *stage, pl_array *x,
                               pl_array *gradient, pl_solve_result *out, pl_failure *failure)
{
    pl_status status = true_solve(s, stage, x, gradient, out, failure);
    failure->code = fail_now ? PL_FAILURE_LINE_SEARCH : failure->code;
    return fail_now ? PL_FAILED : status;
}

/* Whatever an integrator remembers of the previous step, halves and the steps after them continue correctly: close to
 * the result of whole steps, and without added energy. */
START_TEST(every_integrator_takes_halves)
{
    static const char *const INTEGRATORS[] = {"bdf2", "trapezoidal", "implicit_midpoint", "tr_bdf2",
                                              "sdirk2"};
    pl_run *runs[2];
    for (int k = 0; k < 2; k++)
        runs[k] =
            pl_run_openf(1,
                         "{'pliant': 1, 'time': {'step': 0.01, 'steps': 40, 'integrator': '%s'},"
                         " 'solver': {'method': 'admm', 'iterations': 400, 'tolerance': 1e-6},"
                         " 'contact': {'enabled': false}, 'materials': {'m': {'young': 5e5}},"
                         " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}, 'initial': "
                         "{'velocity': [1, -1, 0]},"
                         "             'transform': {'translate': [0, 0.52, 0]}}],"
                         " 'obstacles': [{'plane': {}, 'friction': 0.3}]}",
                         INTEGRATORS[_i]);
    pl_run *whole = runs[0], *broken = runs[1];
    pl_solver_ops failing = *broken->state->whole.solver->ops;
    true_solve = failing.solve;
    failing.solve = solve_or_fail;
    broken->state->whole.solver->ops = &failing;
    pl_state_measure(whole->model, whole->state, &whole->metrics);
    double before = whole->metrics.kinetic + whole->metrics.gravity, most = before;
    for (int k = 0; k < 40; k++) {
        pl_run_frames(whole, 1);
        fail_now = k % 5 == 3 || k == 4;
        ck_assert_int_eq(next(broken), PL_OK);
        ck_assert_int_eq(broken->metrics.halved, fail_now);
        const pl_metrics *m = &broken->metrics;
        most = fmax(most, m->kinetic + m->elastic + m->gravity);
    }
    fail_now = false;
    ck_assert_double_le(most, before * (1 + 1e-3));
    ck_assert_double_eq_tol(broken->metrics.linear[0], whole->metrics.linear[0], 60);
    for (int64_t i = 0; i < 3 * pl_run_vertices(whole); i++)
        ck_assert_double_eq_tol(pl_run_x(broken)[i], pl_run_x(whole)[i], 0.03);
    pl_run_close(whole);
    pl_run_close(broken);
}
END_TEST

/* Without forces a body flies on evenly, whatever step is halved. */
START_TEST(halves_of_a_flight_are_exact)
{
    static const char *const INTEGRATORS[] = {"bdf2", "trapezoidal", "implicit_midpoint", "tr_bdf2",
                                              "sdirk2"};
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.1, 'steps': 12, 'integrator': '%s'},"
        " 'gravity': [0, 0, 0], 'solver': {'method': 'admm', 'iterations': 100, 'tolerance': 1e-9},"
        " 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}, 'initial': {'velocity': [3, 0, 1]}}]}",
        INTEGRATORS[_i]);
    double x = pl_run_x(r)[0], z = pl_run_x(r)[2];
    pl_solver_ops failing = *r->state->whole.solver->ops;
    true_solve = failing.solve;
    failing.solve = solve_or_fail;
    r->state->whole.solver->ops = &failing;
    for (int k = 1; k <= 12; k++) {
        fail_now = k % 4 == 0 || k == 9;
        ck_assert_int_eq(next(r), PL_OK);
        ck_assert_int_eq(r->metrics.halved, fail_now);
        ck_assert_double_eq_tol(pl_run_x(r)[0], x + 0.3 * k, 1e-9);
        ck_assert_double_eq_tol(pl_run_x(r)[2], z + 0.1 * k, 1e-9);
    }
    fail_now = false;
    pl_run_close(r);
}
END_TEST

/* The next whole step begins with the contact forces at the end of a halved step. */
START_TEST(multipliers_come_back_from_the_halves)
{
    pl_run *r = pl_run_openf(1, SLIDING, "3.3e-3");
    do
        pl_run_frames(r, 1);
    while (!r->metrics.halved);
    ck_assert_int_gt(r->metrics.contacts, 0);
    pl_bytes_out whole = {0}, half = {0};
    r->state->whole.solver->ops->save(r->state->whole.solver, &whole);
    r->state->half.solver->ops->save(r->state->half.solver, &half);
    ck_assert_uint_eq(whole.size, half.size);
    ck_assert_int_eq(memcmp(whole.data, half.data, half.size), 0);
    free(whole.data);
    free(half.data);
    pl_run_close(r);
}
END_TEST

/* A halved step is what two steps of half the length are: backward Euler's with h/2, pins on their
 * way at h/2. The matrix is another path of rounding only, so to convergence and not to the bit. */
START_TEST(two_halves_are_two_steps_of_half_the_length)
{
    pl_run *r = pl_run_openf(1, PRESSED, "0.04"), *fine = pl_run_openf(1, PRESSED, "0.02");
    pl_run_frames(r, 1);
    pl_run_frames(fine, 2);
    ck_assert_int_eq(r->metrics.halved, 1);
    ck_assert_int_eq(fine->metrics.halved, 0);
    const double *v = pl_state_velocities(r->state), *w = pl_state_velocities(fine->state);
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++) {
        ck_assert_double_eq_tol(pl_run_x(r)[i], pl_run_x(fine)[i], 1e-8);
        ck_assert_double_eq_tol(v[i], w[i], 1e-6);
    }
    const double *p = r->metrics.pins[1].newton, *q = fine->metrics.pins[1].newton;
    ck_assert_double_eq_tol(p[0], q[0], 1e-6 * fabs(q[0]));
    ck_assert_double_eq_tol(r->metrics.time, fine->metrics.time, 1e-15);
    pl_run_close(r);
    pl_run_close(fine);
}
END_TEST

/* The element is one of the second body, by that body's count. */
START_TEST(says_that_both_failed_and_where)
{
    pl_run *r = pl_run_openf(1, PRESSED, "0.04");
    int64_t halved = 0;
    while (next(r) == PL_OK)
        halved += r->metrics.halved;
    const pl_failure *f = &r->failure;
    ck_assert_int_ge(halved, 1);
    ck_assert_int_eq(f->code, PL_FAILURE_INVERTED);
    ck_assert_int_eq(f->frame, pl_state_step(r->state));
    ck_assert_int_eq(f->step, f->frame + 1);
    ck_assert_int_eq(f->body, 1);
    ck_assert_int_ge(f->element, 0);
    ck_assert_int_lt(f->element, 4 * 4 * 4 * 6);
    ck_assert_int_eq(f->vertex, -1);
    ck_assert_ptr_nonnull(strstr(f->message, "Two half steps failed too (inverted in the "));
    pl_run_close(r);
}
END_TEST

static void save(const pl_run *r, void **bytes, size_t *size)
{
    ck_assert_int_eq(pl_state_save(r->state, bytes, size), PL_OK);
}

/* Nothing remains of the attempts: the saved state has the same bytes, and trying again fails in the same way. */
START_TEST(a_failure_leaves_the_last_good_step)
{
    pl_run *r = pl_run_openf(2, SLIDING, "1e-5");
    void *before = NULL, *after;
    size_t size = 0, again;
    do {
        free(before);
        save(r, &before, &size);
    } while (next(r) == PL_OK);
    pl_failure first = r->failure;
    ck_assert_int_eq(first.code, PL_FAILURE_NOT_CONVERGED);
    ck_assert_ptr_nonnull(strstr(first.message, "Two half steps failed too (not_converged in the"));
    for (int k = 0; k < 2; k++) {
        save(r, &after, &again);
        ck_assert_uint_eq(again, size);
        ck_assert_int_eq(memcmp(before, after, size), 0);
        free(after);
        ck_assert_int_eq(next(r), PL_FAILED);
        ck_assert_str_eq(r->failure.message, first.message);
        ck_assert_int_eq(r->failure.step, first.step);
    }
    free(before);
    pl_run_close(r);
}
END_TEST

/* Bits are independent of threads and of the starting frame: also from a halved to a whole frame. */
static void same_bits(const char *scene, const char *value, int frames)
{
    pl_run *whole = pl_run_openf(2, scene, value);
    for (int from = 0; from < frames; from++) {
        void *bytes;
        size_t size;
        save(whole, &bytes, &size);
        pl_run_frames(whole, 1);
        pl_run *r = pl_run_openf(1 + 2 * (from % 2), scene, value);
        ck_assert_int_eq(pl_state_restore(r->state, bytes, size), PL_OK);
        pl_run_frames(r, 1);
        ck_assert_msg(pl_run_hash(r) == pl_run_hash(whole), "frame %d", from + 1);
        pl_check_metrics(&r->scene, &whole->metrics, &r->metrics);
        pl_run_close(r);
        free(bytes);
    }
    pl_run *one = pl_run_openf(1, scene, value);
    pl_run_frames(one, frames);
    ck_assert_uint_eq(pl_run_hash(one), pl_run_hash(whole));
    pl_check_metrics(&one->scene, &whole->metrics, &one->metrics);
    pl_run_close(one);
    pl_run_close(whole);
}

START_TEST(halved_steps_have_the_same_bits)
{
    same_bits(SLIDING, "3.3e-3", 16);
    same_bits(PRESSED, "0.04", 2);
}
END_TEST

/* Events in a halved step must not affect a later failure. */
START_TEST(a_step_that_was_saved_is_forgotten)
{
    pl_run *r = pl_run_openf(1, PRESSED, "0.04");
    pl_run_frames(r, 1);
    ck_assert_int_eq(r->metrics.halved, 1);
    ck_assert_int_eq(r->failure.code, PL_FAILURE_NONE);
    ck_assert_int_eq(r->failure.element, -1);
    ck_assert_int_eq(r->failure.body, -1);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("half steps");
    TCase *t = tcase_create("half steps");
    tcase_add_test(t, halves_where_the_whole_fails_and_goes_on);
    tcase_add_test(t, multipliers_come_back_from_the_halves);
    tcase_add_loop_test(t, every_integrator_takes_halves, 0, 5);
    tcase_add_loop_test(t, halves_of_a_flight_are_exact, 0, 5);
    tcase_add_test(t, two_halves_are_two_steps_of_half_the_length);
    tcase_add_test(t, says_that_both_failed_and_where);
    tcase_add_test(t, a_failure_leaves_the_last_good_step);
    tcase_add_test(t, halved_steps_have_the_same_bits);
    tcase_add_test(t, a_step_that_was_saved_is_forgotten);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
