/* Fits: faulty documents, each fault with its place; a run's values at measured points; the misfit in closed form; and
 * the search with every method, repeated after every run as in the daemon, to known minima.
 */
#include "server/sweeps/fit_search.h"

#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pl_sweep sweep;
static pl_faults faults;

/* A scene with numbers a and b, and a probe; `rest` follows it. */
static pl_status decode(const char *rest)
{
    char text[4000];
    snprintf(text, sizeof text,
             "{\"scene\": {\"a\": 1, \"b\": 2, \"output\": {\"probes\": [{\"name\": \"tip\"},"
             " {\"name\": \"force\"}]}}, %s}",
             rest);
    pl_faults_clear(&faults);
    return pl_sweep_decode(text, strlen(text), &sweep, &faults);
}

static void accept(const char *rest)
{
    ck_assert_msg(decode(rest) == PL_OK, "%s: %s", faults.count ? faults.items[0].pointer : "",
                  faults.count ? faults.items[0].code : "");
}

#define A "\"parameters\": [{\"path\": \"/a\", \"min\": 1, \"max\": 100, \"scale\": \"log\"}]"
#define BOTH                                                                                       \
    "\"parameters\": [{\"path\": \"/a\", \"min\": 1, \"max\": 100, \"scale\": \"log\"},"           \
    " {\"path\": \"/b\", \"min\": -2, \"max\": 3}]"
#define MEASURED "\"measured\": [{\"probe\": \"tip\", \"points\": [[0, 1], [1, 2], [2, 3]]}]"

static const struct {
    const char *rest, *pointer, *code;
} wrong[] = {
    {A ", \"fit\": 3", "/fit", "wrong_type"},
    {A ", \"fit\": {}", "/fit/measured", "missing"},
    {A ", \"fit\": {\"measured\": []}", "/fit/measured", "wrong_value"},
    {A ", \"fit\": {" MEASURED ", \"metod\": 1}", "/fit/metod", "unknown_key"},
    {A ", \"fit\": {" MEASURED ", \"method\": \"newton\"}", "/fit/method", "wrong_value"},
    {A ", \"fit\": {" MEASURED ", \"method\": \"bobyqa\"}", "/fit/method", "wrong_value"},
    {A ", \"fit\": {" MEASURED ", \"evaluations\": 1001}", "/fit/evaluations", "out_of_range"},
    {A ", \"samples\": 20, \"fit\": {" MEASURED ", \"evaluations\": 19}", "/fit/evaluations",
     "out_of_range"},
    {A ", \"fit\": {" MEASURED ", \"tolerance\": 1}", "/fit/tolerance", "out_of_range"},
    {A ", \"sampling\": \"grid\", \"fit\": {" MEASURED "}", "/sampling", "wrong_value"},
    {"\"csv\": \"/a\\n1\", \"fit\": {" MEASURED "}", "/csv", "wrong_value"},
    {"\"parameters\": [{\"path\": \"/c\", \"min\": 1, \"max\": 2}], \"fit\": {" MEASURED "}",
     "/parameters/0/path", "no_such_path"},
    {"\"parameters\": [{\"path\": \"/a\", \"min\": 2, \"max\": 1}], \"fit\": {" MEASURED "}",
     "/parameters/0", "out_of_range"},
    {"\"parameters\": [{\"path\": \"/a\", \"min\": 2, \"max\": 2}], \"fit\": {" MEASURED "}",
     "/parameters/0", "out_of_range"},
    {"\"parameters\": [{\"path\": \"/a\", \"values\": [2, 3]}], \"fit\": {" MEASURED "}",
     "/parameters/0", "wrong_value"},
    {"\"parameters\": [{\"path\": \"/a\", \"min\": 1, \"max\": 9, \"integer\": true}],"
     " \"fit\": {" MEASURED "}",
     "/parameters/0", "wrong_value"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tap\", \"points\": [[0, 1], [1, 2]]}]}",
     "/fit/measured/0/probe", "no_such_probe"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"against\": {\"probe\": \"tap\"},"
       " \"points\": [[0, 1], [1, 2]]}]}",
     "/fit/measured/0/against/probe", "no_such_probe"},
    {A ", \"fit\": {\"measured\": [{\"points\": [[0, 1], [1, 2]]}]}", "/fit/measured/0",
     "wrong_value"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\"}]}", "/fit/measured/0", "missing"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"points\": [[0, 1]]}]}",
     "/fit/measured/0/points", "too_few_points"},
    {BOTH ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"points\": [[0, 1], [1, 2]]}]}",
     "/fit/measured", "too_few_points"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"points\": [[0, 1], [1]]}]}",
     "/fit/measured/0/points/1", "wrong_type"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"points\": [[0, 1], [1, \"2\"]]}]}",
     "/fit/measured/0/points/1", "wrong_type"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"csv\": \"t,y\\n0,1\\n1\"}]}",
     "/fit/measured/0/csv/2/1", "wrong_value"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"csv\": \"t,y\\n0,1\\n1,two\"}]}",
     "/fit/measured/0/csv/2/1", "wrong_value"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"csv\": \"0,1,2\\n1,2,3\"}]}",
     "/fit/measured/0/csv/0/2", "wrong_value"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"csv\": \"t,y\\n0,1\"}]}",
     "/fit/measured/0/csv", "too_few_points"},
    {A ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"weight\": 0,"
       " \"points\": [[0, 1], [1, 2]]}]}",
     "/fit/measured/0/weight", "out_of_range"},
    {A ", \"results\": [{\"metric\": \"frame\", \"name\": \"misfit\"}], \"fit\": {" MEASURED "}",
     "/results/0/name", "duplicate"},
};

START_TEST(wrong_documents_are_located)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(decode(wrong[i].rest) == PL_INVALID, "%s", wrong[i].rest);
        bool found = false;
        for (size_t k = 0; k < faults.count; k++)
            found |= strcmp(faults.items[k].pointer, wrong[i].pointer) == 0 &&
                     strcmp(faults.items[k].code, wrong[i].code) == 0;
        ck_assert_msg(found, "%s: %s %s", wrong[i].rest, faults.items[0].pointer,
                      faults.items[0].code);
    }
    pl_faults_clear(&faults);
}
END_TEST

START_TEST(a_fit_has_its_defaults)
{
    accept(BOTH ", \"fit\": {\"measured\": [{\"probe\": \"tip\", \"csv\": \"t,y\\n0,1\\n1,2\\n\"},"
                " {\"metric\": \"energy/kinetic\", \"against\": {\"probe\": \"force\"},"
                " \"csv\": \"0,5\\n1,5\\n\", \"weight\": 2}]}");
    const pl_fit *fit = sweep.fit;
    ck_assert_int_eq(fit->method, PL_FIT_BOBYQA);
    ck_assert_int_eq(fit->evaluations, 200);
    ck_assert_int_eq(fit->points, 4);
    ck_assert_int_eq(sweep.samples, 12);
    ck_assert_int_eq(sweep.row_count, 12);
    ck_assert_int_eq(sweep.row_room, 200);
    ck_assert_int_eq(sweep.result_count, 1);
    ck_assert_str_eq(sweep.results[0].name, "misfit");
    ck_assert_double_eq(fit->series[0].scale, 0.5);
    ck_assert_double_eq(fit->series[1].scale, 5); /* all values are the same */
    ck_assert_double_eq(fit->series[0].x[1], 1);
    ck_assert_double_eq(fit->series[1].y[0], 5);
    pl_sweep_clear(&sweep);
    accept(A ", \"fit\": {" MEASURED ", \"evaluations\": 4}");
    ck_assert_int_eq(sweep.fit->method, PL_FIT_COBYLA);
    ck_assert_int_eq(sweep.samples, 4);
    pl_sweep_clear(&sweep);
}
END_TEST

/* ---- values ---- */

START_TEST(values_lie_on_the_run)
{
    double x[] = {-1, 0, 0.25, 0.5, 2, 3}, got[6];
    pl_fit_series s = {.x = x, .count = 6};
    const double t[] = {0, 0.5, 2.5}, y[] = {10, 20, 0};
    const double expected[] = {10, 10, 15, 20, 5, 0}; /* the nearest end's value beyond the ends */
    pl_fit_values(&s, t, y, 3, got);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(got[i], expected[i]);
    pl_fit_values(&s, t, y, 0, got);
    ck_assert(isnan(got[0]));
}
END_TEST

/* Stretched to 2 and back to 1, with less force on the way back. */
START_TEST(loading_and_unloading_are_told_apart)
{
    double x[] = {1.25, 1.75, 1.25, 1.75}, got[4];
    pl_fit_series s = {.x = x, .count = 4};
    const double stretch[] = {1, 1.5, 2, 1.5, 1}, force[] = {0, 10, 20, 6, 0};
    const double expected[] = {5, 15, 3, 15}; /* 1.75 lies behind, so the search wraps around */
    pl_fit_values(&s, stretch, force, 5, got);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(got[i], expected[i]);
}
END_TEST

/* sqrt((1 * (1/2) ((2/1)^2 + 0) + 3 * (1/2) ((1/4)^2 + (1/4)^2)) / 4), of residuals 2, 0 and 1, -1. */
START_TEST(the_misfit_is_weighted)
{
    double y[] = {1, 3}, z[] = {0, 8};
    pl_fit_series series[] = {{.y = y, .count = 2, .weight = 1, .scale = 1},
                              {.y = z, .count = 2, .weight = 3, .scale = 4}};
    pl_fit fit = {.series = series, .count = 2, .points = 4};
    double values[] = {3, 3, 1, 7};
    ck_assert_double_eq_tol(pl_fit_misfit(&fit, values), sqrt((2 + 3 * 0.0625) / 4), 1e-15);
    values[2] = NAN;
    ck_assert(isnan(pl_fit_misfit(&fit, values)));
}
END_TEST

/* ---- the search ---- */

/* Distances of a and b from 20 and 0.5 in their intervals; a run at a < 2 fails. */
static double bowl(const double *x)
{
    double u = log(x[0] / 20) / log(100), v = (x[1] - 0.5) / 5;
    return x[0] < 2 ? NAN : sqrt(u * u + 0.3 * u * v + 0.1 * v * v);
}

/* Runs the search to its end, with at most `most` runs. Requests every answer twice. */
static pl_fit_step drive(double (*misfit)(const double *), int64_t most, double best[2])
{
    double *values = malloc((size_t)most * 2 * sizeof *values), least = INFINITY;
    double *misfits = malloc((size_t)most * sizeof *misfits), next[2], again[2];
    pl_fit_step step = PL_FIT_RUN;
    for (int64_t ended = 0; step == PL_FIT_RUN;) {
        ck_assert_int_le(sweep.row_count, most);
        for (; ended < sweep.row_count; ended++) {
            double *x = values + 2 * ended;
            x[0] = pl_sweep_number(&sweep, ended, 0);
            x[1] = pl_sweep_number(&sweep, ended, 1);
            misfits[ended] = misfit(x);
            if (misfits[ended] < least) {
                least = misfits[ended];
                memcpy(best, x, sizeof next);
            }
        }
        pl_fit_runs runs = {ended, values, misfits};
        step = pl_fit_search(&sweep, &runs, next);
        ck_assert_int_eq(pl_fit_search(&sweep, &runs, again), step);
        if (step == PL_FIT_RUN) {
            ck_assert_mem_eq(next, again, sizeof next);
            ck_assert(pl_sweep_append(&sweep, next));
        }
    }
    free(values);
    free(misfits);
    return step;
}

START_TEST(every_method_finds_the_minimum)
{
    for (int m = 0; pl_fit_method_names[m]; m++) {
        char rest[600];
        double best[2] = {0};
        snprintf(rest, sizeof rest,
                 BOTH ", \"seed\": 3, \"fit\": {" MEASURED
                      ", \"method\": \"%s\", \"evaluations\": 300}",
                 pl_fit_method_names[m]);
        accept(rest);
        pl_fit_step step = drive(bowl, 300, best);
        bool global = m == PL_FIT_DIRECT; /* it keeps searching everywhere */
        ck_assert_int_eq(step, global ? PL_FIT_EXHAUSTED : PL_FIT_CONVERGED);
        ck_assert_msg(fabs(best[0] / 20 - 1) < 0.01 && fabs(best[1] - 0.5) < 0.02,
                      "%s: %g %g after %lld", pl_fit_method_names[m], best[0], best[1],
                      (long long)sweep.row_count);
        pl_sweep_clear(&sweep);
    }
}
END_TEST

static double none(const double *x)
{
    (void)x;
    return NAN;
}

START_TEST(it_ends_where_it_has_to)
{
    double best[2];
    accept(BOTH ", \"samples\": 4, \"fit\": {" MEASURED ", \"evaluations\": 9}");
    ck_assert_int_eq(drive(bowl, 9, best), PL_FIT_EXHAUSTED);
    ck_assert_int_eq(sweep.row_count, 9);
    double next[2] = {0.5, 0.5};
    ck_assert(!pl_sweep_append(&sweep, next)); /* no room */
    pl_sweep_clear(&sweep);
    accept(BOTH ", \"samples\": 4, \"fit\": {" MEASURED ", \"evaluations\": 9}");
    ck_assert_int_eq(drive(none, 9, best), PL_FIT_LOST);
    ck_assert_int_eq(sweep.row_count, 4);
    pl_sweep_clear(&sweep);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("fit");
    tcase_add_test(cases, wrong_documents_are_located);
    tcase_add_test(cases, a_fit_has_its_defaults);
    tcase_add_test(cases, values_lie_on_the_run);
    tcase_add_test(cases, loading_and_unloading_are_told_apart);
    tcase_add_test(cases, the_misfit_is_weighted);
    tcase_add_test(cases, every_method_finds_the_minimum);
    tcase_add_test(cases, it_ends_where_it_has_to);
    return run_cases("sweeps/fit", cases);
}
