/* Numerical failures name the step, the body, its vertex or element and what to do, and leave the
 * state finite at the last good step. */
#include "engine/step/state.h"
#include "tests/support/scene_run.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char SCENE[] =
    "{'pliant': 1, 'time': {'step': 0.03, 'steps': 9}, 'output': {'every': 2},"
    " 'solver': {'method': '%s', 'iterations': 20}, 'materials': {'m': {'model': '%s'}},"
    " 'bodies': [{'mesh': {'box': {'cells': [%d, 2, 2]}},"
    "             'initial': {'angular_velocity': [1, 0, 0]}},"
    "            {'mesh': {'box': {'cells': [3, 3, 3]}},"
    "             'initial': {'angular_velocity': [0, 1, 0]}}]}";

static const char *const METHODS[] = {
    "admm",
    "quasi_newton",
    "newton",
    "lbfgs",
    "gradient_descent",
    "barzilai_borwein",
    "vertex_block_descent",
    "nonlinear_cg",
    "chebyshev_semi_iterative",
    "chebyshev_descent",
    "projective_dynamics", /* the last: its energies are finite everywhere */
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

static const char *model_of(const char *method)
{
    return strcmp(method, "projective_dynamics") == 0 ? "arap" : "neo_hookean";
}

/* Something that no scene can ask for: a number out of range in the state of a run. */
static void spoil(pl_run *r, int64_t vertex, double value)
{
    int64_t count = 3 * pl_run_vertices(r);
    double *v = pl_run_download(r, r->state->v, count);
    v[3 * vertex + 1] = value;
    pl_state_put(r->state, pl_run_x(r), v, v);
    free(v);
}

static void fails_at(pl_run *r, int32_t body, int64_t vertex, int64_t frame)
{
    ck_assert_int_eq(pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL),
                     PL_FAILED);
    const pl_failure *f = &r->failure;
    ck_assert_int_eq(f->code, PL_FAILURE_NOT_FINITE);
    ck_assert_int_eq(f->body, body);
    ck_assert_int_eq(f->vertex, vertex);
    ck_assert_int_eq(f->element, -1);
    ck_assert_int_eq(f->frame, frame);
    ck_assert_int_eq(f->step, 2 * frame + 1);
    ck_assert_ptr_nonnull(strstr(f->message, "not finite"));
    ck_assert_ptr_nonnull(
        strstr(f->message, "Two half steps failed too (not_finite in the first)"));
    ck_assert_ptr_nonnull(strstr(f->advice, "time.step"));
    ck_assert_int_eq(pl_state_step(r->state), 2 * frame);
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
        ck_assert(isfinite(pl_run_x(r)[i]));
}

/* NaN, infinite, and so large that only squares overflow, in either body. A solve spreads NaN over the body: the vertex
 * named is the origin. */
START_TEST(not_finite_names_the_vertex)
{
    static const double values[] = {NAN, INFINITY, -DBL_MAX, 1e200};
    const char *method = METHODS[_i / 4];
    double value = values[_i % 4];
    for (int32_t body = 0; body < 2; body++) {
        pl_run *r = pl_run_openf(1, SCENE, method, model_of(method), 4);
        pl_run_frames(r, 2);
        spoil(r, pl_model_first_vertex(r->model, body) + 10, value);
        fails_at(r, body, 10, 2);
        pl_run_close(r);
    }
}
END_TEST

/* The supernodal factor merges columns, of two bodies too: the vertex is still the right one. */
START_TEST(not_finite_names_the_vertex_of_a_large_model)
{
    pl_run *r = pl_run_openf(1, SCENE, METHODS[_i], "neo_hookean", 1200);
    ck_assert_int_gt(pl_run_vertices(r), 10000);
    spoil(r, pl_model_first_vertex(r->model, 1) + 33, NAN);
    fails_at(r, 1, 33, 0);
    pl_run_close(r);
}
END_TEST

/* A body that is a point has no finite log J: descent reports its first element, ADMM continues. */
START_TEST(inverted_start_is_named_by_descent)
{
    static const char scene[] =
        "{'pliant': 1, 'time': {'step': 0.03, 'steps': 2},"
        " 'solver': {'method': '%s', 'iterations': 20},"
        " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}},"
        "            {'mesh': {'box': {'cells': [2, 2, 2]}}, 'initial': {'shape': 'collapsed'}}]}";
    pl_run *r = pl_run_openf(1, scene, METHODS[_i]);
    ck_assert_int_eq(pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL),
                     PL_FAILED);
    ck_assert_int_eq(r->failure.code, PL_FAILURE_INVERTED);
    ck_assert_int_eq(r->failure.body, 1);
    ck_assert_int_eq(r->failure.element, 0);
    ck_assert_int_eq(r->failure.vertex, -1);
    ck_assert_int_eq(r->failure.step, 1);
    ck_assert_int_eq(r->failure.frame, 0);
    ck_assert_ptr_nonnull(strstr(r->failure.advice, "admm"));
    pl_run_close(r);
    r = pl_run_openf(1, scene, "admm");
    pl_run_frames(r, 2);
    ck_assert_int_eq(r->metrics.halved, 0);
    pl_run_close(r);
}
END_TEST

/* The same for a sheet that is a point: its first triangle, which in a body with tetrahedra comes after them. */
START_TEST(collapsed_sheet_is_named_by_descent)
{
    static const char scene[] = "{'pliant': 1, 'time': {'step': 0.03, 'steps': 2},"
                                " 'solver': {'method': '%s', 'iterations': 20},"
                                " 'bodies': [{'mesh': {'cloth': {'cells': [2, 2]}}}, {'mesh': %s,"
                                "             'initial': {'shape': %s}}]}";
    static const char mixed[] = "{'vertices': [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 2, 0],"
                                " 'tets': [[0, 1, 2, 3]], 'triangles': [[1, 4, 2], [1, 3, 4]]}";
    static const char *const bodies[3][2] = {
        {"{'cloth': {'cells': [3, 2]}}", "'collapsed'"},
        {"{'cloth': {'cells': [3, 2]}}", "{'stretched': [0, 1, 1]}"},
        {mixed, "'rest'"}};
    for (int k = 0; k < 3; k++) {
        pl_run *r = pl_run_openf(1, scene, METHODS[_i], bodies[k][0], bodies[k][1]);
        if (k == 2) /* vertex 4 into the line through 1 and 2 */
            for (int c = 0; c < 2; c++)
                r->model->x0[3 * (pl_model_first_vertex(r->model, 1) + 4) + c] = 0.5;
        if (k == 2)
            pl_state_enter(r->state, 0, r->model->x0, r->model->v0);
        ck_assert_int_eq(pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL),
                         PL_FAILED);
        ck_assert_int_eq(r->failure.code, PL_FAILURE_INVERTED);
        ck_assert_int_eq(r->failure.body, 1);
        ck_assert_int_eq(r->failure.element, k == 2 ? 1 : 0);
        ck_assert_int_eq(r->failure.vertex, -1);
        pl_run_close(r);
    }
}
END_TEST

/* A step that is not solved fails if the scene says so, under every method, and names the place of the largest
 * gradient; by default it is only counted. */
START_TEST(not_converged_names_the_vertex)
{
    for (int k = 0; k < 2; k++) {
        pl_run *r =
            pl_run_openf(1,
                         "{'pliant': 1, 'time': {'step': 0.03, 'steps': 3},"
                         " 'solver': {'method': '%s', 'iterations': 2, 'tolerance': 1e-12,"
                         "            'on_not_converged': '%s'},"
                         " 'materials': {'m': {'model': '%s'}},"
                         " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}},"
                         "            {'mesh': {'box': {'cells': [4, 2, 2]}},"
                         "             'initial': {'shape': {'stretched': [1.3, 0.9, 1]}}}]}",
                         METHODS[_i], k ? "fail" : "continue", model_of(METHODS[_i]));
        pl_status status = pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL);
        const pl_failure *f = &r->failure;
        ck_assert_int_eq(status, k ? PL_FAILED : PL_OK);
        ck_assert(k || r->metrics.unconverged == 1);
        ck_assert(!k || f->code == PL_FAILURE_NOT_CONVERGED);
        ck_assert(!k || (f->step == 1 && f->frame == 0 && f->body == 1 && f->element == -1));
        ck_assert(!k || (f->vertex >= 0 && f->vertex < 45));
        ck_assert(!k || strstr(f->advice, "solver.iterations"));
        pl_run_close(r);
    }
}
END_TEST

/* A failing run: a bar's end is driven through the other one. Every method ends it in the first step that it cannot
 * solve, with the place and advice, and the state is the last good one. */
START_TEST(a_run_that_diverges_fails)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.03, 'steps': 30},"
        " 'solver': {'method': '%s', 'iterations': 40, 'tolerance': 1e-6,"
        "            'on_not_converged': 'fail'},"
        " 'materials': {'m': {'model': '%s', 'poisson': 0.3}},"
        " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}},"
        "            {'name': 'bar', 'mesh': {'box': {'size': [2, 1, 1], 'cells': [8, 4, 4]}}}],"
        " 'pins': [{'body': 'bar', 'select': {'side': '-x'}},"
        "          {'body': 'bar', 'select': {'side': '+x'},"
        "           'motion': {'velocity': [-12, 0, 0]}}]}",
        METHODS[_i], model_of(METHODS[_i]));
    int64_t frames = 0;
    pl_status status = PL_OK;
    while (frames < 30 && status == PL_OK) {
        status = pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL);
        frames += status == PL_OK;
    }
    const pl_failure *f = &r->failure;
    ck_assert_int_eq(status, PL_FAILED);
    ck_assert_msg(f->body == 1 && (f->element >= 0 || f->vertex >= 0), "%s: %s", METHODS[_i],
                  f->message);
    ck_assert_int_eq(f->step, frames + 1);
    ck_assert_int_eq(pl_state_step(r->state), frames);
    ck_assert(strlen(f->advice) > 20 && strlen(f->message) > 20);
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
        ck_assert(isfinite(pl_run_x(r)[i]));
    pl_run_close(r);
}
END_TEST

/* Moduli at the ends of their range are no failure. */
START_TEST(extreme_moduli_stay_finite)
{
    static const char *const young[] = {"1e-3", "1e15"};
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.03, 'steps': 4},"
        " 'solver': {'method': '%s', 'iterations': 20}, 'materials': {'m': {'young': %s,"
        "   'model': '%s'}},"
        " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}},"
        "             'initial': {'angular_velocity': [1, 2, 3]}}]}",
        METHODS[_i / 2], young[_i % 2], model_of(METHODS[_i / 2]));
    pl_run_frames(r, 4);
    ck_assert(isfinite(r->metrics.elastic) && isfinite(r->metrics.kinetic));
    pl_run_close(r);
}
END_TEST

/* Pins drive a block through another one that pins hold: no round can prevent it. What is to be changed is said, with
 * the distance that the two keep. */
START_TEST(an_intersection_says_what_to_change)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 100}, 'contact': {%s},"
        " 'bodies': [{'name': 'free', 'mesh': {'box': {'size': [0.1, 0.1, 0.1],"
        "    'cells': [1, 1, 1]}}, 'transform': {'translate': [0, 9, 0]}},"
        "  {'name': 'moved', 'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [1, 1, 1]}}},"
        "  {'name': 'held', 'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [1, 1, 1]}},"
        "    'transform': {'translate': [0.3, 0.02, 0.01]}}],"
        " 'pins': [{'body': 'held', 'select': 'all'}, {'body': 'moved', 'select': 'all',"
        "    'motion': {'velocity': [1, 0, 0]}}]}",
        _i == 0 ? "'thickness': 0.004" : "'thickness': 0.004, 'check': false");
    pl_status status = PL_OK;
    for (int k = 0; k < 30 && status == PL_OK; k++)
        status = pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL);
    ck_assert_int_eq(status, _i == 0 ? PL_FAILED : PL_OK);
    if (_i == 0) {
        const pl_failure *f = &r->failure;
        ck_assert_int_eq(f->code, PL_FAILURE_INTERSECTION);
        ck_assert(f->body == 1 || f->body == 2);
        ck_assert_msg(strstr(f->message, "/bodies/1") && strstr(f->message, "/bodies/2"), "%s",
                      f->message);
        ck_assert_msg(strstr(f->advice, "a smaller time.step") &&
                          strstr(f->advice, "a contact.thickness of 0.008 m (now 0.004 m)") &&
                          strstr(f->advice, "\"contact\": {\"check\": false}."),
                      "%s", f->advice);
    }
    pl_run_close(r);
}
END_TEST

/* A sheet that begins inside a ball is pushed out through itself: in one step nearly every part of it comes near every
 * other. The search ends, and the failure says why. */
START_TEST(a_move_that_is_too_long_to_follow_is_named)
{
    pl_run *r = pl_run_openf(
        2, "{'pliant': 1, 'time': {'step': 0.01, 'steps': 100},"
           " 'materials': {'c': {'young': 1e5, 'density': 300, 'thickness': 0.001}},"
           " 'bodies': [{'mesh': {'cloth': {'size': [1, 1], 'cells': [60, 60]}}, 'transform':"
           "   {'rotate': {'axis': [1, 0.5, 0.2], 'degrees': 50}}}],"
           " 'obstacles': [{'sphere': {'center': [0, 0, 0.05], 'radius': 3}}]}");
    const pl_failure *f = &r->failure;
    ck_assert_int_eq(pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL),
                     PL_FAILED);
    ck_assert_int_eq(f->code, PL_FAILURE_INTERSECTION);
    ck_assert_int_eq(f->body, 0);
    ck_assert_int_ge(f->vertex, 0);
    ck_assert_msg(strstr(f->message, "of /bodies/0 moves ") && strstr(f->message, "too many"), "%s",
                  f->message);
    ck_assert_msg(strstr(f->advice, "begin inside an obstacle"), "%s", f->advice);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("failures");
    TCase *t = tcase_create("failures");
    tcase_add_loop_test(t, not_finite_names_the_vertex, 0, 4 * METHOD_COUNT);
    tcase_add_loop_test(t, not_finite_names_the_vertex_of_a_large_model, 0,
                        2 /* Newton's factor of it is dear */);
    tcase_add_loop_test(t, inverted_start_is_named_by_descent, 1, METHOD_COUNT - 1);
    tcase_add_loop_test(t, collapsed_sheet_is_named_by_descent, 1, METHOD_COUNT - 1);
    tcase_add_loop_test(t, not_converged_names_the_vertex, 0, METHOD_COUNT);
    tcase_add_loop_test(t, a_run_that_diverges_fails, 0, METHOD_COUNT);
    tcase_add_loop_test(t, extreme_moduli_stay_finite, 0, 2 * METHOD_COUNT);
    tcase_add_loop_test(t, an_intersection_says_what_to_change, 0, 2);
    if (is_long_form())
        tcase_add_test(t, a_move_that_is_too_long_to_follow_is_named);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
