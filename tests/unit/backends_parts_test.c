/* The two ways to the objective's gradient: contributions written out and gathered, and summed part
 * by part. The same to rounding, and the second the same to the bit with any number of threads. */
#include "engine/backends/backend.h"
#include "engine/model/model.h"
#include "engine/step/state.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Groups of 1 to 5 corners: 1296 tetrahedra of two materials, membranes, bending, an attachment, an
 * obstacle as an energy; some whole parts, most cut short by their group's end. */
static const char SCENE[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1},"
    " 'solver': {'method': 'lbfgs', 'obstacles': 'energy'},"
    " 'materials': {'a': {'young': 1e5}, 'b': {'model': 'corotated', 'young': 2e5},"
    "   'c': {'model': 'arap', 'young': 1e5, 'thickness': 1e-3, 'bending': {}}},"
    " 'bodies': [{'name': 'box', 'mesh': {'box': {'cells': [6, 6, 6]}}, 'material': 'a'},"
    "   {'name': 'small', 'mesh': {'box': {'cells': [2, 3, 2]}}, 'material': 'b'},"
    "   {'name': 'sheet', 'mesh': {'cloth': {'size': [1, 1], 'cells': [9, 7]}}, 'material': 'c'}],"
    " 'attachments': [{'body': 'sheet', 'select': {'indices': [3]}, 'to': 'box',"
    "   'stiffness': 1e4}],"
    " 'pins': [{'body': 'box', 'select': {'side': '-y'}}],"
    " 'obstacles': [{'plane': {'offset': 0.2}}]}";

typedef struct both {
    pl_run *r;
    int64_t n;
    double *x, *direct, *parts, *g;
    pl_trial_sums sums;
} both;

static both evaluate(int32_t threads)
{
    both e = {.r = pl_run_open(threads, SCENE)};
    const pl_model *m = e.r->model;
    pl_backend *b = e.r->state->whole.backend;
    e.n = 3 * m->vertices;
    double **arrays[] = {&e.x, &e.direct, &e.parts, &e.g};
    for (int k = 0; k < 4; k++)
        *arrays[k] = calloc((size_t)e.n, sizeof(double));
    for (int64_t i = 0; i < e.n; i++)
        e.x[i] = m->x0[i] + (pl_model_holds(m, i / 3, (int)(i % 3)) ? 0 : 0.01 * sin(7.0 * i));
    const pl_backend_stage stage = {
        .scalars = {.a = 1, .h = m->h, .inertia = 1 / (m->h * m->h), .time_end = m->h},
        .x_start = pl_host_array(m->x0),
        .x_pred = pl_host_array(m->x0)};
    b->ops->objective->freeze(b, &stage);
    b->ops->objective->gradient(b, &stage, pl_host_array(e.x), NULL, pl_host_array(e.direct));
    pl_trial trial = {
        .x_new = pl_host_array(e.x), .gradient = pl_host_array(e.parts), .g = pl_host_array(e.g)};
    e.sums = b->ops->descent->trial(b, &stage, &trial);
    double objective = b->ops->objective->value(b, &stage, pl_host_array(e.x));
    ck_assert_double_eq_tol(e.sums.objective, objective, 1e-12 * fabs(objective));
    return e;
}

static void release(both *e)
{
    free(e->x);
    free(e->direct);
    free(e->parts);
    free(e->g);
    pl_run_close(e->r);
}

START_TEST(parts_sum_to_the_gradient)
{
    both e = evaluate(1);
    double off = 0, size = 0;
    for (int64_t i = 0; i < e.n; i++) {
        off = fmax(off, fabs(e.parts[i] - e.direct[i]));
        size = fmax(size, fabs(e.direct[i]));
    }
    ck_assert_double_gt(size, 0);
    ck_assert_double_le(off, 1e-13 * size);
    release(&e);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    both one = evaluate(1), more = evaluate(_i);
    size_t bytes = (size_t)one.n * sizeof(double);
    ck_assert_mem_eq(one.parts, more.parts, bytes);
    ck_assert_mem_eq(one.g, more.g, bytes);
    ck_assert(memcmp(&one.sums, &more.sums, sizeof one.sums) == 0);
    release(&one);
    release(&more);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts");
    TCase *t = tcase_create("parts");
    tcase_add_test(t, parts_sum_to_the_gradient);
    tcase_add_loop_test(t, threads_change_no_bit, 2, 5);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
