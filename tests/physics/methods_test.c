/* One objective, many methods: from the same state they all reach the same minimum, Newton's. A new method is a row of
 * METHODS. */
#include "engine/scene/carries.h"
#include "tests/support/case_a.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct method {
    pl_method_kind kind;
    const char *settings; /* enough iterations for 1e-8, at a tolerance that asks for them */
} method;

static const method METHODS[] = {
    {PL_METHOD_ADMM, "'iterations': 3000, 'tolerance': 1e-8"},
    /* Plain ADMM with the default weight goes in circles on spline A. */
    {PL_METHOD_ADMM,
     "'iterations': 3000, 'tolerance': 1e-8, 'acceleration': 'none', 'weight_scale': 3"},
    {PL_METHOD_ADMM, "'iterations': 3000, 'tolerance': 1e-8, 'relaxation': 1"},
    {PL_METHOD_QUASI_NEWTON, "'iterations': 2000, 'tolerance': 1e-7"},
    {PL_METHOD_QUASI_NEWTON, "'iterations': 2000, 'tolerance': 1e-7, 'stiffness': 'fit'"},
    {PL_METHOD_NEWTON, "'iterations': 100, 'tolerance': 1e-9, 'linear': 'pcg'"},
    {PL_METHOD_LBFGS, "'iterations': 3000, 'tolerance': 1e-7"},
    {PL_METHOD_GRADIENT_DESCENT, "'iterations': 10000, 'tolerance': 1e-6"},
    {PL_METHOD_BARZILAI_BORWEIN, "'iterations': 10000, 'tolerance': 1e-6"},
    {PL_METHOD_NONLINEAR_CG, "'iterations': 3000, 'tolerance': 1e-7"},
    {PL_METHOD_CHEBYSHEV_SEMI_ITERATIVE, "'iterations': 2000, 'tolerance': 1e-7"},
    {PL_METHOD_CHEBYSHEV_DESCENT, "'iterations': 5000, 'tolerance': 1e-7"},
    {PL_METHOD_VERTEX_BLOCK_DESCENT, "'iterations': 10000, 'tolerance': 1e-7"},
    {PL_METHOD_PROJECTIVE_DYNAMICS, "'iterations': 5000, 'tolerance': 1e-6"},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

typedef struct material {
    const char *settings;
    unsigned traits;
} material;

/* The first few in every run, the rest with PLIANT_LONG=1. */
static const material MATERIALS[] = {
    {"'model': 'neo_hookean', 'poisson': 0.4", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'corotated', 'poisson': 0.4", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'arap', 'poisson': 0.3", 0},
    {"'model': 'mooney_rivlin', 'poisson': 0.4", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'stvk', 'poisson': 0.3", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'hencky', 'poisson': 0.3", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'stable_neo_hookean', 'poisson': 0.45", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'neo_hookean_wang', 'poisson': 0.4", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'fung', 'poisson': 0.4", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'polynomial', 'poisson': 0.3", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'spline', 'splines': 'A', 'poisson': 0.4", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'spline', 'splines': 'B', 'poisson': 0.4", PL_TRAIT_NOT_DISTANCE},
    {"'model': 'arap', 'fibers': {'stiffness': 1e6, 'direction': [1, 1, 0]}", 0},
};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof *MATERIALS, QUICK_MATERIALS = 4 };

/* Half a turn; with PLIANT_LONG=1 less and over other steps too. */
static const struct {
    double turns, step;
} TWISTS[] = {{0.5, 0.02}, {0.1, 0.02}, {0.3, 0.05}, {0.5, 0.005}};
enum { TWIST_COUNT = sizeof TWISTS / sizeof *TWISTS };

/* A bar, twisted, held at its left, that lets go of the right. */
static pl_run *untwisting(const material *of, int twist, const char *name, const char *settings)
{
    pl_run *r = pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': %g, 'steps': 1}, 'output': {'metrics': 'iteration'},"
        " 'solver': {'method': '%s', %s},"
        " 'materials': {'m': {'young': 1e6, %s}},"
        " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}},"
        "   'initial': {'shape': {'twisted': {'turns': %g, 'axis': [1, 0, 0]}}}}],"
        " 'pins': [{'select': {'side': '-x'}}]}",
        TWISTS[twist].step, name, settings, of->settings, TWISTS[twist].turns);
    pl_run_frames(r, 1);
    return r;
}

START_TEST(all_methods_find_the_minimum)
{
    const material *of = &MATERIALS[_i % MATERIAL_COUNT];
    int twist = _i / MATERIAL_COUNT;
    pl_run *best = untwisting(of, twist, "newton", "'iterations': 100, 'tolerance': 1e-12");
    const pl_metrics *m = &best->metrics;
    ck_assert_int_eq(m->unconverged, 0);
    double start = m->detail[0].objective, minimum = m->objective;
    ck_assert_double_gt(start, 1.0001 * minimum);
    for (int k = 0; k < METHOD_COUNT; k++) {
        if (pl_method_refuses(METHODS[k].kind, of->traits))
            continue;
        const char *name = pl_method_name(METHODS[k].kind);
        pl_run *r = untwisting(of, twist, name, METHODS[k].settings);
        /* All start at the same point, so that their errors have the same scale. */
        ck_assert_double_eq_tol(r->metrics.detail[0].objective, start, 1e-12 * start);
        double error = (r->metrics.objective - minimum) / (start - minimum);
        ck_assert_msg(fabs(error) <= 1e-8 && r->metrics.unconverged == 0,
                      "%s, %s, twist %d, %s: relative error %g after %lld iterations", name,
                      of->settings, twist, METHODS[k].settings, error,
                      (long long)r->metrics.iterations);
        pl_run_close(r);
    }
    pl_run_close(best);
}
END_TEST

/* Case A with default settings: at most this many iterations to relative errors of 1e-2, 1e-3 and 1e-6, for every
 * material. */
static const struct {
    const char *method;
    int64_t most[3];
} DEFAULTS[] = {{"admm", {22, 28, 43}}, {"quasi_newton", {32, 38, 57}}};

START_TEST(defaults_are_fast)
{
    const case_a_material *of = &CASE_A[_i];
    double minimum = case_a_minimum(of);
    for (size_t d = 0; d < sizeof DEFAULTS / sizeof *DEFAULTS; d++) {
        char solver[96];
        snprintf(solver, sizeof solver, "'method': '%s', 'iterations': 60, 'tolerance': 0",
                 DEFAULTS[d].method);
        pl_run *r = case_a_open(of, solver);
        pl_run_frames(r, 1);
        for (int k = 0; k < 3; k++) {
            static const double errors[] = {1e-2, 1e-3, 1e-6};
            int64_t i = case_a_iterations(&r->metrics, minimum, errors[k]);
            ck_assert_msg(i >= 0 && i <= DEFAULTS[d].most[k], "%s, %s: %lld iterations to %g",
                          DEFAULTS[d].method, of->name, (long long)i, errors[k]);
        }
        pl_run_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("methods");
    TCase *t = tcase_create("methods");
    bool whole = is_long_form();
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, all_methods_find_the_minimum, 0,
                        whole ? TWIST_COUNT * MATERIAL_COUNT : QUICK_MATERIALS);
    tcase_add_loop_test(t, defaults_are_fast, 0, whole ? CASE_A_MATERIALS : QUICK_MATERIALS);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
