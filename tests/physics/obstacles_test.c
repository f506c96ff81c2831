/* A body on an obstacle of every shape, fixed and moved, held by friction or not: nothing is
 * entered by more than 1e-4 of the body's size where the solver converges, and what the obstacle
 * exerts is the body's weight. */
#include "engine/obstacles/shape.h"
#include "tests/support/scene_run.h"

#include <check.h>
#include <math.h>

/* The deepest vertex below the surface of obstacle `which`, m. */
static double depth(const pl_run *r, int32_t which)
{
    pl_shape *s;
    ck_assert_int_eq(pl_shape_create(&r->scene.obstacles[which], &s), PL_OK);
    double most = -INFINITY, n[3];
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        most = fmax(most, -pl_shape_distance(s, pl_run_x(r) + 3 * i, n));
    pl_shape_destroy(s);
    return most;
}

static pl_run *drop(int threads, const char *obstacle, double height, const char *more)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 80},"
        " 'solver': {'iterations': 400, 'tolerance': 1e-6, 'on_not_converged': 'continue'},"
        " 'materials': {'m': {'young': 2e5, 'poisson': 0.3, 'density': 500}},"
        " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [3, 3, 3]}},"
        "             'transform': {'translate': [0, %g, 0]}}],"
        " 'obstacles': [{%s, 'friction': 0.6%s}]}",
        height, obstacle, more);
}

static const double WEIGHT = 0.064 * 500 * 9.81;

typedef struct rest {
    const char *obstacle; /* with its top, or its bottom from inside, at y = 0 */
    double slack;         /* how far the force may be from the weight while the body sways */
} rest;
static const rest RESTS[] = {
    {"'plane': {}", 1e-3},
    {"'box': {'center': [0, -0.5, 0], 'size': [0.7, 1, 0.3]}", 1e-2},
    {"'box': {'center': [0, -0.1, 0], 'size': [0.3, 0.2, 0.3], 'rounding': 0.1}", 1e-2},
    {"'box': {'center': [0, -0.001, 0], 'size': [3, 0.002, 3]}", 1e-2}, /* 2 mm thin */
    {"'box': {'center': [0, 1, 0], 'size': [1, 2, 1], 'inside': true}", 1e-2},
    {"'sphere': {'center': [0, -0.5, 0]}", 5e-2},
    {"'sphere': {'center': [0, 0.5, 0], 'inside': true}", 1e-2},
    {"'cylinder': {'center': [0, -0.3, 0], 'axis': [1, 0, 1], 'radius': 0.3}", 5e-2},
    {"'cylinder': {'center': [0, -0.1, 0], 'radius': 0.15, 'height': 0.2}", 1e-2},
    {"'cylinder': {'center': [0, 0.5, 0], 'axis': [0, 0, 1], 'radius': 0.5, 'inside': true}", 1e-2},
    {"'capsule': {'center': [0, -0.4, 0], 'axis': [1, 0, 0.2], 'radius': 0.4, 'height': 1}", 5e-2},
    {"'torus': {'center': [0, -0.05, 0], 'radius': 0.12, 'tube': 0.05}", 1e-2},
};

START_TEST(body_rests_on_every_shape)
{
    pl_run *r = drop(1, RESTS[_i].obstacle, 0.25, "");
    double force[3] = {0}, deepest = 0;
    int64_t contacts = 0, unconverged = 0;
    for (int k = 0; k < 80; k++) {
        pl_run_frames(r, 1);
        if (r->metrics.unconverged == 0)
            deepest = fmax(deepest, depth(r, 0));
        unconverged += r->metrics.unconverged;
        contacts += r->metrics.contacts;
        for (int c = 0; c < 3 && k >= 40; c++)
            force[c] += r->metrics.obstacles[0].newton[c] / 40;
    }
    ck_assert_int_gt(contacts, 0);
    ck_assert_int_lt(unconverged, 5);
    ck_assert_msg(deepest < 1e-4 * 0.4, "%s: entered by %g", RESTS[_i].obstacle, deepest);
    ck_assert_double_eq_tol(force[1], WEIGHT, RESTS[_i].slack * WEIGHT);
    ck_assert_double_eq_tol(hypot(force[0], force[2]), 0, RESTS[_i].slack * WEIGHT);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("obstacles");
    TCase *t = tcase_create("obstacles");
    tcase_set_timeout(t, 180);
    tcase_add_loop_test(t, body_rests_on_every_shape, 0, sizeof RESTS / sizeof *RESTS);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
