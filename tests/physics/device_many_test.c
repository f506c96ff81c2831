/* Many sessions in one process on the backend for devices, its kernels run on the host: each has the same bits as
 * alone, whether their steps take turns or run on threads at the same time, and whether they launch together or not;
 * numerical failures stay with their session; and all report a fault of the device, with the session that was
 * launching. */
#include "engine/backends/device/device_backend.h"
#include "engine/backends/device/joint.h"
#include "engine/step/state.h"
#include "engine/backends/device/device.h"
#include "tests/support/device_run.h"
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 4 };

/* Recorded launches and plain ones, descent and splitting, what moves, bodies that touch, both precisions. */
static const struct {
    precision precision;
    const char *scene;
} SCENES[] = {
    {SINGLE, "'solver': {'method': 'chebyshev_descent', 'iterations': 40}, 'obstacles': [{'plane':"
             "{'offset': -0.6}, 'motion': {'velocity': [0, 0.3, 0]}}], 'bodies': [{'mesh': {'box':"
             "{'cells': [3, 2, 2]}}}]"},
    {DOUBLE, "'solver': {'method': 'chebyshev_descent', 'iterations': 40}, 'bodies': [{'mesh':"
             "{'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}}], 'pins': [{'select': {'side':"
             "'-x'}, 'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]"},
    {DOUBLE, "'solver': {'method': 'lbfgs', 'iterations': 12}, 'bodies': [{'mesh': {'box':"
             "{'cells': [2, 3, 2]}}}], 'pins': [{'select': {'side': '-x'}}]"},
    {SINGLE, "'solver': {'method': 'projective_dynamics', 'iterations': 8}, 'materials': {'m':"
             "{'model': 'arap'}}, 'bodies': [{'material': 'm', 'mesh': {'box': {'cells':"
             "[2, 2, 2]}}}], 'pins': [{'select': {'side': '-x'}}]"},
    {DOUBLE,
     "'solver': {'method': 'admm', 'iterations': 8}, 'materials': {'m': {'model':"
     "'neo_hookean'}}, 'bodies': [{'material': 'm', 'mesh': {'box': {'cells': [2, 2, 3]}}}],"
     "'pins': [{'select': {'side': '-x'}}]"},
    {DOUBLE, "'solver': {'method': 'gradient_descent', 'iterations': 12}, 'materials': {'m':"
             "{'thickness': 0.01}}, 'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1],"
             "'cells': [6, 6]}}}], 'pins': [{'select': {'side': '-x'}}]"},
    {SINGLE, "'solver': {'method': 'chebyshev_descent', 'iterations': 64}, 'bodies': [{'mesh':"
             "{'box': {'size': [1, 3, 1], 'cells': [2, 6, 2]}}}], 'pins': [{'select': {'side':"
             "'-y'}}]"},
    {DOUBLE, "'solver': {'method': 'quasi_newton', 'iterations': 8}, 'bodies': [{'mesh': {'box':"
             "{'cells': [3, 2, 3]}}}], 'pins': [{'select': {'side': '-x'}}]"},
    {SINGLE, "'solver': {'method': 'lbfgs', 'iterations': 200}, 'gravity': [0, 0, 0], 'bodies': ["
             "{'mesh': {'box': {'cells': [2, 2, 2]}}}, {'mesh': {'box': {'cells': [2, 2, 2]}},"
             "'transform': {'translate': [1.03, 0.1, 0.1]}, 'initial': {'velocity': [-2, 0, 0]}}]"},
    {SINGLE, "'solver': {'method': 'admm', 'iterations': 200}, 'gravity': [0, 0, 0], 'materials':"
             "{'m': {'model': 'arap'}}, 'bodies': [{'material': 'm', 'mesh': {'box': {'cells':"
             "[2, 2, 2]}}}, {'material': 'm', 'mesh': {'box': {'cells': [2, 2, 2]}}, 'transform':"
             "{'translate': [1.03, 0.1, 0.1]}, 'initial': {'velocity': [-2, 0, 0]}}]"},
};
enum { MANY = sizeof SCENES / sizeof *SCENES, BROKEN = 2 };

/* How a test's sessions are run. Sessions that share are all single precision, and so are the separate ones that they
 * are compared with. */
enum { ON_THREADS = 1, SHARING = 2, WAYS = 4 };
static bool all_single;

static pl_run *open_one(int which)
{
    choose(all_single ? SINGLE : SCENES[which].precision);
    return pl_run_openf(1, "{'pliant': 1, 'time': {'step': 0.02, 'steps': 100}, %s}",
                        SCENES[which].scene);
}

/* A session's result; check's functions are not used, because they do not support threads. */
typedef struct session {
    pl_run *run;
    pl_status status; /* of the last frame */
    uint64_t hash[FRAMES];
    pthread_barrier_t *begin;
} session;

static void advance(session *s, int frame)
{
    s->status = pl_frame_step(s->run->model, s->run->state, &s->run->metrics, &s->run->failure,
                              NULL, NULL);
    s->hash[frame] = s->status == PL_OK ? pl_run_hash(s->run) : 0;
}

static void *run_all(void *context)
{
    session *s = context;
    pthread_barrier_wait(s->begin);
    for (int k = 0; k < FRAMES; k++)
        advance(s, k);
    return NULL;
}

static void run_on_threads(session *all)
{
    pthread_t threads[MANY];
    pthread_barrier_t begin;
    pthread_barrier_init(&begin, NULL, MANY);
    for (int i = 0; i < MANY; i++) {
        all[i].begin = &begin;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_all, &all[i]), 0);
    }
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&begin);
}

static void run_in_turn(session *all)
{
    for (int k = 0; k < FRAMES; k++)
        for (int i = 0; i < MANY; i++)
            advance(&all[i], k);
}

static void open_all(session *all, int way)
{
    pl_device_share(way & SHARING);
    for (int i = 0; i < MANY; i++)
        all[i].run = open_one(i);
}

static void run_all_of(session *all, int way)
{
    (way & ON_THREADS ? run_on_threads : run_in_turn)(all);
}

static void close_all(session *all)
{
    for (int i = 0; i < MANY; i++)
        pl_run_close(all[i].run);
}

static void each_alone(session *all)
{
    for (int i = 0; i < MANY; i++) {
        all[i].run = open_one(i);
        for (int k = 0; k < FRAMES; k++)
            advance(&all[i], k);
        ck_assert_int_eq(all[i].status, PL_OK);
        pl_run_close(all[i].run);
    }
}

static void hold_bits(const session *alone, const session *together, int but)
{
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < FRAMES && i != but; k++)
            ck_assert_msg(alone[i].hash[k] == together[i].hash[k], "session %d, frame %d", i, k);
}

/* _i: the way that they are run. */
START_TEST(each_has_the_bits_that_it_has_alone)
{
    session alone[MANY] = {0}, together[MANY] = {0};
    all_single = _i & SHARING;
    each_alone(alone);
    open_all(together, _i);
    run_all_of(together, _i);
    hold_bits(alone, together, -1);
    close_all(together);
    pl_shared_launches counts = pl_device_shared();
    ck_assert_int_eq(counts.made > 0, (_i & SHARING) != 0);
    if (_i == SHARING) /* one waits at a time */
        ck_assert_int_eq(counts.made, counts.asked);
}
END_TEST

/* Eight of one kind of scene, on threads that wait for each other for three seconds: most launches are one for all of
 * them. Once the first has ended, the others wait in vain one time. */
START_TEST(launches_of_like_sessions_are_made_together)
{
    session all[MANY] = {0};
    all_single = true;
    pl_device_share(true);
    for (int i = 0; i < MANY; i++)
        all[i].run = open_one(6);
    pl_joint_set_patience(3000);
    pl_shared_launches before = pl_device_shared();
    run_on_threads(all);
    pl_shared_launches after = pl_device_shared();
    int64_t asked = after.asked - before.asked, made = after.made - before.made;
    ck_assert_int_gt(asked, MANY * 4 * 64 * 2); /* two launches an iteration at the least */
    ck_assert_msg(made * MANY / 2 < asked, "%lld of %lld", (long long)made, (long long)asked);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(all[i].status, PL_OK);
        ck_assert_uint_eq(all[i].hash[FRAMES - 1], all[0].hash[FRAMES - 1]);
    }
    pl_joint_set_patience(0);
    close_all(all);
}
END_TEST

/* A shared queue executes in order, including requests too large for its list or beyond its capacity. */
START_TEST(a_list_keeps_its_order)
{
    enum { LARGE = 5000, MANY_COPIES = 1500, WIDTH = 8 };
    char out[LARGE] = {0}, small[WIDTH + 1] = "12345678", large[LARGE];
    memset(large, 'L', sizeof large);
    pl_device_share(true);
    pl_device_queue *q = pl_device_queue_create(true);
    char *a = pl_device_alloc(q, LARGE), *b = pl_device_alloc(q, LARGE),
         *c = pl_device_alloc(q, (MANY_COPIES + 1) * WIDTH);
    ck_assert_ptr_nonnull(c);
    /* A copy before a large upload has the earlier values. */
    pl_device_put(q, a, small, WIDTH);
    pl_device_copy(q, b, a, LARGE);
    pl_device_put(q, a, large, LARGE);
    pl_device_get(q, out, b, WIDTH + 1);
    ck_assert_str_eq(out, "12345678");
    /* A large download has the results of earlier launches. */
    pl_device_copy(q, b, a, LARGE);
    pl_device_get(q, out, b, LARGE);
    ck_assert_mem_eq(out, large, LARGE);
    /* A small upload may be used again at once. */
    pl_device_put(q, a, small, WIDTH);
    small[0] = 'x';
    pl_device_copy(q, c, a, WIDTH);
    /* Each copies the previous one's result. */
    for (int k = 0; k < MANY_COPIES; k++)
        pl_device_copy(q, c + (k + 1) * WIDTH, c + k * WIDTH, WIDTH);
    pl_device_clear(q, c, WIDTH);
    pl_device_get(q, out, c + MANY_COPIES * WIDTH, WIDTH);
    ck_assert_mem_eq(out, "12345678", WIDTH);
    pl_device_get(q, out, c, WIDTH);
    ck_assert_mem_eq(out, "\0\0\0\0\0\0\0\0", WIDTH);
    ck_assert_int_gt(pl_device_shared().rounds, 5);
    pl_device_release(q, a);
    pl_device_release(q, b);
    pl_device_release(q, c);
    pl_device_queue_destroy(q);
}
END_TEST

static pl_status (*true_solve)(pl_solver *, const pl_backend_stage *, pl_array *, pl_array *,
                               pl_solve_result *, pl_failure *);

static pl_status solve_and_fail(pl_solver *s, const pl_backend_stage *stage, pl_array *x,
                                pl_array *gradient, pl_solve_result *out, pl_failure *failure)
{
    true_solve(s, stage, x, gradient, out, failure);
    failure->code = PL_FAILURE_LINE_SEARCH;
    return PL_FAILED;
}

/* Half steps work on the whole one's arrays, in its precision, whatever sessions were opened since. */
START_TEST(half_steps_are_of_their_session)
{
    uint64_t hash[2];
    for (int other = 0; other < 2; other++) {
        pl_run *r = open_one(1), *later = other ? open_one(0) : NULL;
        pl_solver_ops failing = *r->state->whole.solver->ops;
        true_solve = failing.solve;
        failing.solve = solve_and_fail;
        r->state->whole.solver->ops = &failing;
        pl_run_frames(r, 2);
        ck_assert_int_eq(r->metrics.halved, 1);
        ck_assert_ptr_eq(r->state->half.backend->ops, r->state->whole.backend->ops);
        hash[other] = pl_run_hash(r);
        pl_run_close(r);
        if (later)
            pl_run_close(later);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

static void break_one(pl_run *run)
{
    int64_t n = 3 * pl_run_vertices(run);
    double *v = calloc((size_t)n, sizeof *v);
    v[n - 1] = NAN;
    pl_state_enter(run->state, 0, run->model->x0, v);
    free(v);
}

START_TEST(what_is_not_a_number_stays_where_it_is)
{
    session alone[MANY] = {0}, together[MANY] = {0};
    all_single = _i & SHARING;
    each_alone(alone);
    open_all(together, _i);
    break_one(together[BROKEN].run);
    run_all_of(together, _i);
    ck_assert_int_eq(together[BROKEN].status, PL_FAILED);
    hold_bits(alone, together, BROKEN);
    for (int i = 0; i < MANY; i++) {
        bool launching;
        ck_assert_ptr_null(pl_state_fault(together[i].run->state, &launching));
        ck_assert(!launching);
    }
    close_all(together);
}
END_TEST

/* In turns: all others have checked their launches, and one has not. */
START_TEST(a_fault_is_told_by_all_and_names_who_was_launching)
{
    enum { UNSEEN = 5 };
    session all[MANY] = {0};
    open_all(all, 0);
    run_in_turn(all);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(all[i].status, PL_OK);
    pl_backend *unseen = all[UNSEEN].run->state->whole.backend;
    unseen->ops->memory->clear(unseen, all[UNSEEN].run->state->gradient, 3);
    pl_device_fail_after(pl_device_of(all[BROKEN].run->state->whole.backend)->queue, 30);
    advance(&all[BROKEN], 0);
    ck_assert_int_eq(all[BROKEN].status, PL_FAILED);
    const char *text = pl_device_fault();
    ck_assert_ptr_nonnull(strstr(text, "a test makes it fail"));
    advance(&all[0], 0); /* too late to have caused it */
    ck_assert_int_eq(all[0].status, PL_FAILED);
    for (int i = 0; i < MANY; i++) {
        bool launching;
        ck_assert_str_eq(pl_state_fault(all[i].run->state, &launching), text);
        ck_assert_msg(launching == (i == BROKEN || i == UNSEEN), "session %d", i);
        /* Values that were never computed are NaN. */
        if (i != UNSEEN)
            pl_state_moved(all[i].run->state);
        ck_assert(i == UNSEEN || isnan(pl_run_x(all[i].run)[0]));
    }
    pl_state *late;
    ck_assert_int_eq(pl_state_create(all[0].run->model, 1, &late), PL_NO_MEMORY);
    close_all(all);
}
END_TEST

START_TEST(a_fault_among_threads_is_told_by_all)
{
    session all[MANY] = {0};
    all_single = _i;
    open_all(all, _i ? SHARING : 0);
    pl_device_fail_after(pl_device_of(all[BROKEN].run->state->whole.backend)->queue, 30);
    run_on_threads(all);
    ck_assert_int_eq(all[BROKEN].status, PL_FAILED);
    for (int i = 0; i < MANY; i++) {
        bool launching;
        ck_assert_ptr_nonnull(pl_state_fault(all[i].run->state, &launching));
        ck_assert(launching || i != BROKEN);
    }
    close_all(all);
}
END_TEST

/* A frame in flight when the device fails does not arrive with another frame's numbers. */
START_TEST(a_frame_that_a_fault_kept_is_no_number)
{
    pl_run *r = open_one(0);
    pl_run_frames(r, 2);
    choose(SCENES[0].precision);
    pl_device_hold_transfers(true);
    ck_assert_int_eq(pl_state_fetch(r->state, true, false), PL_OK);
    pl_device_fail_after(pl_device_of(r->state->whole.backend)->queue, 0);
    ck_assert_int_eq(pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL),
                     PL_FAILED);
    const float *x = pl_state_fetched(r->state, true);
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
        ck_assert(isnan(x[i]));
    pl_run_close(r);
}
END_TEST

int main(void)
{
    /* To close its memory after each launch takes longer than all else. */
    if (!is_long_form())
        pl_device_leave_open();
    TCase *t = tcase_create("many");
    tcase_add_loop_test(t, each_has_the_bits_that_it_has_alone, 0, WAYS);
    tcase_add_test(t, launches_of_like_sessions_are_made_together);
    tcase_add_test(t, a_list_keeps_its_order);
    tcase_add_test(t, half_steps_are_of_their_session);
    tcase_add_loop_test(t, what_is_not_a_number_stays_where_it_is, 0, WAYS);
    tcase_add_test(t, a_fault_is_told_by_all_and_names_who_was_launching);
    tcase_add_loop_test(t, a_fault_among_threads_is_told_by_all, 0, 2);
    tcase_add_test(t, a_frame_that_a_fault_kept_is_no_number);
    return run_cases("device_many", t);
}
