/* The interface between solvers and backends: on memory that the host cannot read (strict_backend.h) every method gives
 * the CPU's bits, leaks no array, and can be saved and restored; and that backend detects misuse. `make check` also
 * runs other programs of this folder on it. */
#include "engine/step/state.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/strict_backend.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

static const char *const METHODS[] = {
    "admm",
    "projective_dynamics",
    "quasi_newton",
    "chebyshev_semi_iterative",
    "chebyshev_descent",
    "gradient_descent",
    "barzilai_borwein",
    "vertex_block_descent",
    "auto",
    "nonlinear_cg",
    "lbfgs",
    "newton",
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* A bar that is held and turned, in wind, with a load: all that a step is made of. */
static pl_run *bar(const char *method, bool strict)
{
    if (strict)
        setenv("PLIANT_TEST_BACKEND", "strict", 1);
    else
        pl_run_on_host();
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 8},"
                        " 'solver': {'method': '%s', 'iterations': 20, 'tolerance': 0,"
                        "            'initial_guess': 'acceleration'},"
                        " 'output': {'metrics': 'iteration'},"
                        " 'materials': {'m': {'model': 'arap'}},"
                        " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [5, 3, 3]}},"
                        "             'material': 'm'}],"
                        " 'pins': [{'select': {'side': '-x'}},"
                        "          {'select': {'side': '+x'}, 'axes': ['x', 'y'],"
                        "           'motion': {'velocity': [0.4, 0.1, 0]}}],"
                        " 'forces': [{'wind': {'velocity': [0, 0, 6]}},"
                        "            {'point': {'force': [0, 3, 0],"
                        "             'select': {'side': '+y'}}}]}",
                        method);
}

START_TEST(same_bits_as_the_cpu)
{
    const char *method = METHODS[_i];
    pl_run *cpu = bar(method, false), *strict = bar(method, true);
    ck_assert_ptr_ne(cpu->state->whole.backend->ops, strict->state->whole.backend->ops);
    for (int k = 0; k < 4; k++) {
        pl_run_frames(cpu, 1);
        pl_run_frames(strict, 1);
        ck_assert_uint_eq(pl_run_hash(cpu), pl_run_hash(strict));
        const pl_metrics *a = &cpu->metrics, *b = &strict->metrics;
        ck_assert(a->objective == b->objective && a->kinetic == b->kinetic);
        ck_assert(a->elastic == b->elastic && a->gradient_norm == b->gradient_norm);
        ck_assert_int_eq(a->detail_count, b->detail_count);
        for (int p = 0; p < 2; p++)
            for (int c = 0; c < 3; c++) {
                ck_assert(a->pins[p].newton[c] == b->pins[p].newton[c]);
                ck_assert(a->forces[p].newton[c] == b->forces[p].newton[c]);
            }
    }
    pl_run_close(cpu);
    pl_run_close(strict);
    ck_assert_int_eq(pl_strict_arrays(), 0);
}
END_TEST

START_TEST(goes_on_from_bytes)
{
    const char *method = METHODS[_i];
    pl_run *first = bar(method, true);
    pl_run *second = bar(method, true);
    pl_run_frames(first, 3);
    pl_run_go_on(first, second, 3);
    pl_run_close(first);
    pl_run_close(second);
}
END_TEST

/* ---- the strict backend itself ---- */

enum { READ, WRITE, HOST_MEMORY, RELEASED, TOO_SMALL, DEVICE_TO_DEVICE, MISUSES };

START_TEST(misuse_ends_the_process)
{
    pl_run *r = bar("lbfgs", true);
    pl_state *s = r->state;
    pl_backend *b = s->whole.backend;
    int64_t n = 3 * r->model->vertices;
    static volatile double sink;
    switch (_i) {
    case READ:
        sink = pl_numbers(s->x)[3];
        break;
    case WRITE:
        pl_numbers(s->x)[3] = sink;
        break;
    case HOST_MEMORY:
        b->ops->memory->copy(b, s->x_new, pl_host_array(pl_run_x(r)), n);
        break;
    case RELEASED:
        b->ops->memory->release(b, s->x_new);
        b->ops->memory->clear(b, s->x_new, n);
        break;
    case TOO_SMALL:
        b->ops->memory->clear(b, s->x_new, n + 1);
        break;
    case DEVICE_TO_DEVICE:
        b->ops->memory->upload(b, s->x_new, pl_numbers(s->x), n);
        break;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backends");
    TCase *same = tcase_create("strict"), *misuse = tcase_create("misuse");
    tcase_add_loop_test(same, same_bits_as_the_cpu, 0, METHOD_COUNT);
    tcase_add_loop_test(same, goes_on_from_bytes, 0, METHOD_COUNT);
    suite_add_tcase(suite, same);
    tcase_add_loop_test_raise_signal(misuse, misuse_ends_the_process, SIGSEGV, READ, HOST_MEMORY);
    tcase_add_loop_test_raise_signal(misuse, misuse_ends_the_process, SIGABRT, HOST_MEMORY,
                                     MISUSES);
    suite_add_tcase(suite, misuse);
    return run_suite(suite);
}
