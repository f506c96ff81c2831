/* Chebyshev's phases: weights, eq. 9's changes, and the tuner on an error that is known. */
#include "engine/solvers/phases.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* omega is 1, then 2 / (2 - rho^2), and converges to 2 / (1 + (1 - rho^2)^(1/2)) (Golub and Van
 * Loan). */
START_TEST(weights_are_chebyshev_s)
{
    const double rho = 0.95;
    double omega = 3;
    omega = pl_phases_omega(rho, omega, 0);
    ck_assert_double_eq(omega, 1);
    omega = pl_phases_omega(rho, omega, 1);
    ck_assert_double_eq_tol(omega, 2 / (2 - rho * rho), 1e-15);
    for (int64_t k = 2; k < 400; k++)
        omega = pl_phases_omega(rho, omega, k);
    ck_assert_double_eq_tol(omega, 2 / (1 + sqrt(1 - rho * rho)), 1e-12);
}
END_TEST

/* For a linear problem with eigenvalues of I - P^-1 H in [-rho, rho], the error of every one is
 * below the bound 2 c^k / (1 + c^(2 k)), c = rho / (1 + (1 - rho^2)^(1/2)). */
START_TEST(errors_of_a_linear_problem_are_below_the_bound)
{
    const double rho = 0.9, c = rho / (1 + sqrt(1 - rho * rho));
    for (int i = -9; i <= 9; i++) {
        double lambda = rho * i / 9, x = 1, s = 0, omega = 1;
        for (int k = 1; k <= 40; k++) {
            omega = pl_phases_omega(rho, omega, k - 1);
            s = -omega * (1 - lambda) * x + (omega - 1) * s;
            x += s;
            double bound = 2 * pow(c, k) / (1 + pow(c, 2 * k));
            ck_assert_double_le(fabs(x), bound * (1 + 1e-9));
        }
    }
}
END_TEST

START_TEST(phases_follow_each_other)
{
    pl_phases p = pl_phases_default(3);
    ck_assert_int_eq(pl_phases_at(&p, 0), 0);
    ck_assert_int_eq(pl_phases_at(&p, 7), 0);
    ck_assert_int_eq(pl_phases_at(&p, 8), 1);
    ck_assert_int_eq(pl_phases_at(&p, 23), 1);
    ck_assert_int_eq(pl_phases_at(&p, 24), 2);
    ck_assert_int_eq(pl_phases_at(&p, 100000), 2);
    ck_assert_double_eq_tol(pl_phases_rho(&p, 2, 0.01), 0.99, 1e-15);
    ck_assert_double_eq_tol(pl_phases_rho(&p, 1, 0.01), 0.97, 1e-15);
    ck_assert_double_eq_tol(pl_phases_rho(&p, 0, 0.01), 0.91, 1e-15);
    ck_assert_double_eq(pl_phases_rho(&p, 0, 0.5), 0);
    ck_assert_double_lt(pl_phases_rho(&p, 2, 0), 1);
}
END_TEST

/* Least where 1 - rho is five times and a seventh of the last one's, and the first phase ends at 40. */
static double known_error(const pl_phases *p, void *calls)
{
    ++*(int *)calls;
    double a = log(p->factor[0] / 5), b = log(p->factor[1] * 7), c = (double)(p->end[0] - 40) / 40;
    return a * a + b * b + c * c;
}

START_TEST(tuner_finds_what_is_best)
{
    int calls = 0;
    pl_phases p = pl_phases_tune(pl_phases_default(2), known_error, &calls, 60);
    ck_assert_double_eq_tol(p.factor[0], 5, 0.4);
    ck_assert_double_eq_tol(p.factor[1], 1.0 / 7, 0.015);
    ck_assert_int_eq(p.end[0], 40);
    ck_assert_int_le(calls, 1 + 60 * 6);
    calls = 0;
    pl_phases_tune(pl_phases_default(2), known_error, &calls, 2);
    ck_assert_int_eq(calls, 1 + 2 * 6 - 2); /* no end below 8 */
}
END_TEST

static double always_infinite(const pl_phases *p, void *unused)
{
    return INFINITY;
}

START_TEST(tuner_ends_where_nothing_helps)
{
    pl_phases start = pl_phases_default(4), p = pl_phases_tune(start, always_infinite, NULL, 60);
    for (int i = 0; i < 4; i++)
        ck_assert(p.factor[i] > 0 && isfinite(p.factor[i]) && p.end[i] > 0);
}
END_TEST

START_TEST(saved_phases_are_restored_or_refused)
{
    pl_phases p = pl_phases_default(3), q = pl_phases_default(3);
    p.factor[1] = 0.123;
    p.end[0] = 16;
    pl_bytes_out out = {0};
    pl_phases_save(&p, &out);
    pl_bytes_in in = {out.data, out.size, false};
    ck_assert(pl_phases_restore(&q, 3, &in) && in.left == 0);
    ck_assert(q.factor[1] == 0.123 && q.end[0] == 16);
    in = (pl_bytes_in){out.data, out.size, false};
    ck_assert(!pl_phases_restore(&q, 2, &in));
    in = (pl_bytes_in){out.data, out.size - 1, false};
    ck_assert(!pl_phases_restore(&q, 3, &in));
    p.end[1] = p.end[0];
    pl_bytes_out bad = {0};
    pl_phases_save(&p, &bad);
    in = (pl_bytes_in){bad.data, bad.size, false};
    ck_assert(!pl_phases_restore(&q, 3, &in));
    free(out.data), free(bad.data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phases");
    TCase *t = tcase_create("phases");
    tcase_add_test(t, weights_are_chebyshev_s);
    tcase_add_test(t, errors_of_a_linear_problem_are_below_the_bound);
    tcase_add_test(t, phases_follow_each_other);
    tcase_add_test(t, tuner_finds_what_is_best);
    tcase_add_test(t, tuner_ends_where_nothing_helps);
    tcase_add_test(t, saved_phases_are_restored_or_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
