/* The bounds of a matrix' spectrum against closed forms. */
#include "engine/linear/spectrum.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* A path of n springs of 1 held at both ends, and masses: the diagonal is 2 + mass, and of D^-1 A the
 * eigenvalues are (mass + 2 - 2 cos(k pi / (n + 1))) / (2 + mass). */
static pl_sparse path(int64_t n, double mass, double scale)
{
    pl_entry *entries = calloc(2 * (size_t)n, sizeof *entries);
    int64_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        double own = i % 2 ? scale : 1; /* D^-1 A has the same eigenvalues as S D^-1 S^-1 S A S */
        double next = i % 2 ? 1 : scale;
        entries[count++] = (pl_entry){i, i, own * own * (2 + mass)};
        if (i + 1 < n)
            entries[count++] = (pl_entry){i + 1, i, -own * next};
    }
    pl_sparse a;
    ck_assert_int_eq(pl_sparse_assemble(n, entries, count, &a), PL_OK);
    free(entries);
    return a;
}

static double least_of_path(double n, double mass)
{
    return (mass + 2 - 2 * cos(3.14159265358979323846 / (n + 1))) / (2 + mass);
}

START_TEST(bounds_are_bounds)
{
    static const struct {
        int64_t n;
        double mass, scale;
    } rows[] = {{3, 0, 1}, {20, 0, 1}, {200, 0.01, 1}, {200, 0, 30}, {3000, 0.001, 1}, {1, 1, 1}};
    pl_sparse a = path(rows[_i].n, rows[_i].mass, rows[_i].scale);
    double least = least_of_path((double)rows[_i].n, rows[_i].mass);
    double most = 2 - least; /* they lie about 1 */
    pl_spectrum found;
    ck_assert_int_eq(pl_spectrum_find(&a, 0, &found), PL_OK);
    ck_assert_double_ge(found.most, most * (1 - 1e-12));
    ck_assert_double_le(found.most, 2.01);
    ck_assert_double_le(found.least, least * (1 + 1e-9));
    ck_assert_double_ge(found.least, 0.4 * least);
    pl_sparse_clear(&a);
}
END_TEST

START_TEST(what_is_known_is_no_less)
{
    pl_sparse a = path(50, 0, 1);
    pl_spectrum found;
    ck_assert_int_eq(pl_spectrum_find(&a, 0.7, &found), PL_OK);
    ck_assert_double_eq(found.least, 0.7);
    pl_sparse_clear(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("spectrum");
    tcase_add_loop_test(t, bounds_are_bounds, 0, 6);
    tcase_add_test(t, what_is_known_is_no_less);
    return run_cases("linear_spectrum", t);
}
