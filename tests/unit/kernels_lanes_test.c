/* The lane type: selection and comparison with special values, and log and exp against long double
 * over the whole range of double. */
#include "engine/lanes/lanes.h"
#include "tests/support/lanes_random.h"
#include "tests/support/suite.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef pl_real (*function)(pl_real);
typedef long double (*reference)(long double);

static pl_real lanes_log(pl_real x)
{
    return pl_log(x);
}
static pl_real lanes_exp(pl_real x)
{
    return pl_exp(x);
}

static double at(pl_real a, int lane)
{
    return (double)pl_lane(a, lane);
}

static double apply(function f, double x)
{
    return at(f(pl_set1(x)), PL_LANES - 1);
}

/* The distance of got from the exact value in units of the last place of got's binade. */
static double ulps(double got, long double exact)
{
    double size = fmax(fabs(got), DBL_MIN);
    double unit = nextafter(size, INFINITY) - size;
    return (double)fabsl(((long double)got - exact) / unit);
}

static double worst_ulps(function f, reference exact, const double *x, int count)
{
    double worst = 0;
    for (int i = 0; i < count; i += PL_LANES) {
        _Alignas(64) double from[PL_LANES], to[PL_LANES];
        for (int lane = 0; lane < PL_LANES; lane++)
            from[lane] = x[(i + lane) % count];
        pl_store(to, f(pl_load(from)));
        for (int lane = 0; lane < PL_LANES; lane++)
            worst = fmax(worst, ulps(to[lane], exact(from[lane])));
    }
    return worst;
}

enum { COUNT = 1 << 19 };

START_TEST(log_is_right_to_one_ulp_in_all_binades)
{
    double *x = malloc(COUNT * sizeof *x);
    uint64_t state = 1;
    for (int i = 0; i < COUNT; i++) {
        if (i % 3 == 0) /* any positive bits, subnormal numbers included */
            x[i] = ldexp(1 + random_unit(&state), (int)random_between(&state, -1074, 1024));
        else if (i % 3 == 1) /* around 1, where log is small */
            x[i] = 1 + ldexp(random_between(&state, -1, 1), -(int)random_between(&state, 1, 52));
        else
            x[i] = random_between(&state, 0.5, 2);
    }
    double worst = worst_ulps(lanes_log, logl, x, COUNT);
    ck_assert_double_le(worst, 1.0);
    free(x);
}
END_TEST

START_TEST(exp_is_right_to_one_ulp_from_underflow_to_overflow)
{
    double *x = malloc(COUNT * sizeof *x);
    uint64_t state = 2;
    for (int i = 0; i < COUNT; i++) {
        if (i % 2 == 0)
            x[i] = random_between(&state, -744, 709.7);
        else
            x[i] = ldexp(random_between(&state, -1, 1), -(int)random_between(&state, 0, 60));
    }
    double worst = worst_ulps(lanes_exp, expl, x, COUNT);
    ck_assert_double_le(worst, 1.0);
    free(x);
}
END_TEST

START_TEST(special_values_of_log_and_exp)
{
    ck_assert_double_infinite(apply(lanes_log, 0.0));
    ck_assert_double_lt(apply(lanes_log, -0.0), 0);
    ck_assert_double_infinite(apply(lanes_log, -0.0));
    ck_assert_double_nan(apply(lanes_log, -1.0));
    ck_assert_double_nan(apply(lanes_log, -DBL_TRUE_MIN));
    ck_assert_double_nan(apply(lanes_log, -(double)INFINITY));
    ck_assert_double_nan(apply(lanes_log, (double)NAN));
    ck_assert(apply(lanes_log, (double)INFINITY) == (double)INFINITY);
    ck_assert(apply(lanes_log, 1.0) == 0.0);
    ck_assert_double_le(ulps(apply(lanes_log, DBL_TRUE_MIN), logl(DBL_TRUE_MIN)), 1);
    ck_assert_double_le(ulps(apply(lanes_log, DBL_MAX), logl(DBL_MAX)), 1);

    ck_assert(apply(lanes_exp, 0.0) == 1.0);
    ck_assert(apply(lanes_exp, (double)INFINITY) == (double)INFINITY);
    ck_assert(apply(lanes_exp, 709.8) == (double)INFINITY);
    ck_assert(apply(lanes_exp, -(double)INFINITY) == 0.0);
    ck_assert(apply(lanes_exp, -745.2) == 0.0);
    ck_assert(apply(lanes_exp, -745.0) == DBL_TRUE_MIN);
    ck_assert_double_nan(apply(lanes_exp, (double)NAN));
}
END_TEST

START_TEST(selection_and_comparison)
{
    const double special[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, DBL_TRUE_MIN};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++) {
            double a = special[i], b = special[k];
            pl_real A = pl_set1(a), B = pl_set1(b), one = pl_one(), two = pl_set1(2);
            ck_assert_double_eq(at(pl_select(pl_lt(A, B), one, two), 0), a < b ? 1 : 2);
            ck_assert_double_eq(at(pl_select(pl_le(A, B), one, two), 0), a <= b ? 1 : 2);
            ck_assert_double_eq(at(pl_select(pl_gt(A, B), one, two), 0), a > b ? 1 : 2);
            ck_assert_double_eq(at(pl_select(pl_eq(A, B), one, two), 0), a == b ? 1 : 2);
            ck_assert_double_eq(at(pl_select(pl_not(pl_ge(A, B)), one, two), 0), a >= b ? 2 : 1);
            double lesser = at(pl_min(A, B), 0), wanted = a < b ? a : b;
            ck_assert_mem_eq(&lesser, &wanted, sizeof wanted);
            double signed_as = at(pl_copysign(A, B), 0), by_libm = copysign(a, b);
            ck_assert_mem_eq(&signed_as, &by_libm, sizeof by_libm);
        }
}
END_TEST

START_TEST(lanes_are_independent_and_in_order)
{
    _Alignas(64) double x[PL_LANES], y[PL_LANES];
    for (int lane = 0; lane < PL_LANES; lane++)
        x[lane] = lane * lane - 5.0;
    pl_real X = pl_load(x);
    pl_store(y, pl_select(pl_lt(X, pl_zero()), pl_sqrt(-X), pl_sqrt(pl_abs(X)) + pl_set1(100)));
    double sum = 0;
    for (int lane = 0; lane < PL_LANES; lane++) {
        ck_assert_double_eq(y[lane], x[lane] < 0 ? sqrt(-x[lane]) : sqrt(x[lane]) + 100);
        sum += x[lane];
    }
    ck_assert_double_eq((double)pl_sum(X), sum);
    ck_assert(pl_any(pl_lt(X, pl_zero())) && !pl_all(pl_lt(X, pl_zero())));
    ck_assert(!pl_any(pl_gt(X, pl_set1(1e9))) && pl_all(pl_lt(X, pl_set1(1e9))));
    ck_assert(pl_any(pl_eq(X, pl_set1(x[PL_LANES - 1]))));
    ck_assert(pl_all(pl_or(pl_lt(X, pl_zero()), pl_ge(X, pl_zero()))));
    ck_assert(!pl_any(pl_and(pl_lt(X, pl_zero()), pl_ge(X, pl_zero()))));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_lanes");
    TCase *cases = tcase_create("lanes");
    tcase_add_test(cases, log_is_right_to_one_ulp_in_all_binades);
    tcase_add_test(cases, exp_is_right_to_one_ulp_from_underflow_to_overflow);
    tcase_add_test(cases, special_values_of_log_and_exp);
    tcase_add_test(cases, selection_and_comparison);
    tcase_add_test(cases, lanes_are_independent_and_in_order);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
