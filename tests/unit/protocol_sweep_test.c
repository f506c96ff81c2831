/* Sweeps: points of the samplings against known ones and their definitions, rows of every kind of parameter, the
 * scene of a row, and documents that are wrong, each with its place.
 */
#include "protocol/sweep/sweep.h"

#include "tests/support/suite.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- points ---- */

/* Points 2, 3, 4 and 118 of 21 dimensions, as programs with the same direction numbers print them. */
static const struct {
    int64_t index;
    double x[PL_SOBOL_DIMENSIONS];
} known_points[] = {
    {0, {0}},
    {2, {0.75, 0.25, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75, 0.75, 0.75, 0.75,
         0.75, 0.25, 0.25, 0.75, 0.25, 0.75, 0.25, 0.75, 0.25, 0.25}},
    {3, {0.25, 0.75, 0.75, 0.75, 0.25, 0.25, 0.75, 0.25, 0.25, 0.25, 0.25,
         0.25, 0.75, 0.75, 0.25, 0.75, 0.25, 0.75, 0.25, 0.75, 0.75}},
    {4, {0.375, 0.375, 0.625, 0.875, 0.375, 0.125, 0.375, 0.875, 0.875, 0.625, 0.875,
         0.375, 0.375, 0.625, 0.375, 0.875, 0.375, 0.875, 0.875, 0.125, 0.125}},
    {118, {0.6953125, 0.4765625, 0.9921875, 0.3203125, 0.4140625, 0.5234375, 0.8046875,
           0.3828125, 0.1015625, 0.3515625, 0.6796875, 0.0234375, 0.5703125, 0.1953125,
           0.7890625, 0.2109375, 0.6484375, 0.3984375, 0.8671875, 0.1171875, 0.2265625}},
};

static double *draw(pl_sampling sampling, uint64_t seed, int64_t n, int32_t d)
{
    double *x = malloc((size_t)(n * d) * sizeof *x);
    ck_assert_int_eq(pl_sample_points(sampling, seed, n, d, x), PL_OK);
    for (int64_t i = 0; i < n * d; i++)
        ck_assert(x[i] >= 0 && x[i] < 1);
    return x;
}

START_TEST(sobol_has_the_known_points)
{
    double *x = draw(PL_SAMPLING_SOBOL, 0, 128, PL_SOBOL_DIMENSIONS);
    for (size_t k = 0; k < sizeof known_points / sizeof *known_points; k++)
        for (int j = 0; j < PL_SOBOL_DIMENSIONS; j++)
            ck_assert_double_eq(x[known_points[k].index * PL_SOBOL_DIMENSIONS + j],
                                known_points[k].x[j]);
    free(x);
}
END_TEST

/* Warnock's formula: the square of the L2 star discrepancy. */
static double discrepancy(const double *x, int n, int d)
{
    double first = 0, second = 0;
    for (int i = 0; i < n; i++) {
        double product = 1;
        for (int j = 0; j < d; j++)
            product *= (1 - x[i * d + j] * x[i * d + j]) / 2;
        first += product;
        for (int k = 0; k < n; k++) {
            product = 1;
            for (int j = 0; j < d; j++)
                product *= 1 - fmax(x[i * d + j], x[k * d + j]);
            second += product;
        }
    }
    return pow(3, -d) - 2 * first / n + second / n / n;
}

/* A random point set of n points has (2^-d - 3^-d) / n on average. */
START_TEST(sobol_has_low_discrepancy)
{
    enum { N = 256 };
    for (int d = 1; d <= 5; d++) {
        double random = (pow(2, -d) - pow(3, -d)) / N;
        for (uint64_t seed = 0; seed < 3; seed++) {
            double *x = draw(PL_SAMPLING_SOBOL, seed, N, d);
            ck_assert_double_lt(discrepancy(x, N, d), random / 4);
            free(x);
        }
    }
}
END_TEST

/* 2^k points of each dimension have one in each part of 2^k, shifted or not; n of a Latin hypercube one in each of n. */
START_TEST(each_part_has_one_point)
{
    static const struct {
        pl_sampling sampling;
        uint64_t seed;
        int n;
    } cases[] = {{PL_SAMPLING_SOBOL, 0, 64},
                 {PL_SAMPLING_SOBOL, 7, 64},
                 {PL_SAMPLING_LATIN, 0, 50},
                 {PL_SAMPLING_LATIN, 9, 37}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int n = cases[c].n, d = PL_SOBOL_DIMENSIONS;
        double *x = draw(cases[c].sampling, cases[c].seed, n, d);
        for (int j = 0; j < d; j++) {
            int count[64] = {0};
            for (int i = 0; i < n; i++)
                count[(int)(x[i * d + j] * n)]++;
            for (int i = 0; i < n; i++)
                ck_assert_int_eq(count[i], 1);
        }
        free(x);
    }
}
END_TEST

/* The same seed gives the same points on every machine: these are splitmix64's. Another seed gives others. */
START_TEST(seeds_decide)
{
    for (int sampling = PL_SAMPLING_RANDOM; sampling <= PL_SAMPLING_SOBOL; sampling++) {
        double *a = draw((pl_sampling)sampling, 5, 40, 3),
               *b = draw((pl_sampling)sampling, 5, 40, 3);
        double *c = draw((pl_sampling)sampling, 6, 40, 3);
        ck_assert_mem_eq(a, b, 120 * sizeof *a);
        ck_assert_mem_ne(a, c, 120 * sizeof *a);
        double mean = 0;
        for (int i = 0; i < 120; i++)
            mean += a[i] / 120;
        ck_assert(mean > 0.4 && mean < 0.6);
        free(a);
        free(b);
        free(c);
    }
    double *x = draw(PL_SAMPLING_RANDOM, 1, 2, 2);
    ck_assert_double_eq(x[0], 0.2047994163213568);
    ck_assert_double_eq(x[3], 0.8511431308428687);
    free(x);
    static const int parts[] = {3, 2, 5, 4, 1, 0, 6}; /* Fisher and Yates with the same numbers */
    x = draw(PL_SAMPLING_LATIN, 1, 7, 1);
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq((int)(7 * x[i]), parts[i]);
    free(x);
}
END_TEST

/* ---- rows ---- */

#define SCENE                                                                                      \
    "\"scene\": {\"materials\": {\"m\": {\"young\": 1000, \"a/b\": 2}}, \"gravity\": [0, -9.5, "   \
    "0],"                                                                                          \
    " \"solver\": {\"method\": \"admm\"}}"

static pl_sweep sweep;
static pl_faults faults;

static pl_status decode(const char *rest)
{
    char *text = NULL;
    pl_faults_clear(&faults);
    ck_assert_int_gt(asprintf(&text, "{" SCENE ", %s}", rest), 0);
    pl_status status = pl_sweep_decode(text, strlen(text), &sweep, &faults);
    free(text);
    ck_assert_int_eq(status == PL_OK, faults.total == 0);
    return status;
}

static void accept(const char *rest)
{
    pl_status status = decode(rest);
    ck_assert_msg(
        status == PL_OK, "%s: %s %s %s", rest, faults.count ? faults.items[0].pointer : "",
        faults.count ? faults.items[0].got : "", faults.count ? faults.items[0].expected : "");
}

/* The rows, each value after a blank, rows separated by ';'. */
static void require_rows(const char *expected)
{
    char text[2000] = "";
    for (int64_t i = 0; i < sweep.row_count; i++)
        for (int32_t j = 0; j < sweep.parameter_count; j++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     j   ? " "
                     : i ? "; "
                         : "",
                     pl_sweep_value(&sweep, i, j));
    ck_assert_str_eq(text, expected);
    pl_sweep_clear(&sweep);
}

START_TEST(grids)
{
    accept("\"parameters\": [{\"path\": \"/materials/m/young\", \"values\": [1, 0.1]},"
           " {\"path\": \"/solver/method\", \"values\": [\"a\", null, [0]]}]");
    ck_assert_int_eq(sweep.running, 4);
    ck_assert_str_eq(sweep.parameters[0].name, "materials/m/young");
    require_rows("1 \"a\"; 1 null; 1 [0]; 0.1 \"a\"; 0.1 null; 0.1 [0]");
    accept("\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [0, 0.3], \"count\": 4}]");
    require_rows("0; 0.1; 0.2; 0.3"); /* not 0.30000000000000004 */
    accept("\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [1, 1e4], \"count\": 5,"
           " \"scale\": \"log\"}]");
    require_rows("1; 10; 100; 1000; 10000");
    accept("\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [1, 6], \"count\": 3,"
           " \"integer\": true}]");
    require_rows("1; 4; 6");
    accept("\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [2, 6], \"count\": 1}]");
    require_rows("2");
}
END_TEST

START_TEST(samples)
{
    accept("\"sampling\": \"sobol\", \"samples\": 4, \"parameters\": ["
           "{\"path\": \"/gravity/1\", \"min\": 1, \"max\": 10000, \"scale\": \"log\"},"
           "{\"path\": \"/gravity/0\", \"range\": [-1, 1]},"
           "{\"path\": \"/solver/method\", \"values\": [\"a\", \"b\"]}]");
    require_rows("1 -1 \"a\"; 100 0 \"b\"; 1000 -0.5 \"a\"; 10 0.5 \"b\"");
    for (int k = 1; pl_sampling_names[k]; k++) {
        char text[300];
        snprintf(text, sizeof text,
                 "\"sampling\": \"%s\", \"samples\": 20, \"seed\": 3, \"parameters\": ["
                 "{\"path\": \"/gravity/1\", \"min\": 2, \"max\": 3}]",
                 pl_sampling_names[k]);
        accept(text);
        ck_assert_int_eq(sweep.row_count, 20);
        for (int64_t i = 0; i < 20; i++) {
            double x = pl_sweep_number(&sweep, i, 0);
            ck_assert(x >= 2 && x <= 3);
            ck_assert_int_le(strlen(pl_sweep_value(&sweep, i, 0)), 13); /* 12 digits and a point */
        }
        pl_sweep_clear(&sweep);
    }
}
END_TEST

START_TEST(tables)
{
    accept("\"csv\": \"/materials/m/young,/solver/method\\r\\n1e3,admm\\n2,\\\"x, "
           "\\\"\\\"y\\\"\\\"\\\"\\n\\n3,true\\n\"");
    ck_assert(sweep.listed);
    require_rows("1000 \"admm\"; 2 \"x, \\\"y\\\"\"; 3 true");
}
END_TEST

START_TEST(scenes_of_rows)
{
    size_t length;
    accept(
        "\"parameters\": [{\"path\": \"/materials/m/a~1b\", \"values\": [7]},"
        " {\"path\": \"/gravity/2\", \"values\": [8]}, {\"path\": \"/solver\", \"values\": [9]}]");
    char *text = pl_sweep_scene(&sweep, 0, "abc", &length);
    ck_assert_str_eq(text,
                     "{\"materials\":{\"m\":{\"young\":1000,\"a/b\":7}},\"gravity\":[0,-9.5,8],"
                     "\"solver\":9,\"labels\":{\"sweep\":\"abc\",\"row\":\"0\"}}");
    ck_assert_uint_eq(length, strlen(text));
    free(text);
    text = pl_sweep_scene(&sweep, 0, NULL, &length);
    ck_assert_ptr_null(strstr(text, "labels"));
    free(text);
    pl_sweep_clear(&sweep);
}
END_TEST

START_TEST(results_and_stop)
{
    accept(
        "\"csv\": \"/gravity/0\\n1\", \"running\": 9, \"seed\": 4, \"name\": \"n\", \"results\": ["
        "{\"metric\": \"energy/kinetic\", \"at\": \"max\"}, {\"probe\": \"tip\", \"name\": \"t\"},"
        "{\"expect\": true}, {\"expect\": \"high\"}],"
        "\"stop\": {\"result\": \"t\", \"below\": -2}");
    static const char *const names[] = {"energy/kinetic max", "t", "expect", "expect high"};
    ck_assert_int_eq(sweep.result_count, 4);
    for (int k = 0; k < 4; k++)
        ck_assert_str_eq(sweep.results[k].name, names[k]);
    ck_assert_int_eq(sweep.results[0].at, PL_AT_MAX);
    ck_assert_str_eq(sweep.results[2].expect, "");
    ck_assert_int_eq(sweep.stop.result, 1);
    ck_assert(!sweep.stop.above);
    ck_assert_double_eq(sweep.stop.bound, -2);
    ck_assert_int_eq(sweep.running, 9);
    ck_assert_str_eq(sweep.name, "n");
    pl_sweep_clear(&sweep);
}
END_TEST

/* ---- faults ---- */

#define ONE "\"parameters\": [{\"path\": \"/gravity/1\", \"values\": [1]}]"

static const struct {
    const char *rest, *pointer, *code;
} wrong[] = {
    {"\"parameters\": []", "/parameters", "missing"},
    {"\"parameters\": 3", "/parameters", "missing"},
    {"\"name\": \"x\"", "/parameters", "missing"},
    {"\"parameters\": [4]", "/parameters/0", "wrong_type"},
    {"\"parameters\": [{\"values\": [1]}]", "/parameters/0/path", "missing"},
    {"\"parameters\": [{\"path\": \"/gravity/1\"}]", "/parameters/0", "missing"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"values\": []}]", "/parameters/0/values",
     "wrong_value"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"values\": [1], \"range\": [1, 2]}]",
     "/parameters/0", "wrong_value"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [1]}]", "/parameters/0/range",
     "wrong_type"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [1, 2]}]", "/parameters/0/count",
     "missing"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [2, 1], \"count\": 2}]",
     "/parameters/0", "out_of_range"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [0, 1], \"count\": 2, \"scale\": "
     "\"log\"}]",
     "/parameters/0", "out_of_range"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [0, 1], \"count\": 2, \"scale\": "
     "\"ln\"}]",
     "/parameters/0/scale", "wrong_value"},
    {"\"parameters\": [{\"path\": \"/gravity/3\", \"values\": [1]}]", "/parameters/0/path",
     "no_such_path"},
    {"\"parameters\": [{\"path\": \"/materials/n/young\", \"values\": [1]}]", "/parameters/0/path",
     "no_such_path"},
    {"\"parameters\": [{\"path\": \"gravity\", \"values\": [1]}]", "/parameters/0/path",
     "no_such_path"},
    {"\"parameters\": [{\"path\": \"/gravity/~2\", \"values\": [1]}]", "/parameters/0/path",
     "no_such_path"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"values\": [1]}, {\"path\": \"/gravity/1\","
     " \"values\": [1]}]",
     "/parameters/1/path", "duplicate"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"values\": [1]}, {\"path\": \"/gravity\","
     " \"values\": [[0, 0, 0]]}]",
     "/parameters/1/path", "duplicate"},
    {"\"parameters\": [{\"path\": \"/labels/row\", \"values\": [\"1\"]}]", "/parameters/0/path",
     "duplicate"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"values\": [1], \"velues\": 1}]",
     "/parameters/0/velues", "unknown_key"},
    {"\"parameters\": [{\"path\": \"/gravity/1\", \"range\": [0, 1], \"count\": 200},"
     " {\"path\": \"/gravity/0\", \"range\": [0, 1], \"count\": 51}]",
     "/parameters", "out_of_range"},
    {ONE ", \"samples\": 4", "/samples", "wrong_value"},
    {ONE ", \"sampling\": \"sobol\"", "/samples", "missing"},
    {ONE ", \"sampling\": \"halton\"", "/sampling", "wrong_value"},
    {ONE ", \"running\": 0", "/running", "out_of_range"},
    {ONE ", \"seed\": -1", "/seed", "out_of_range"},
    {ONE ", \"seed\": 1.5", "/seed", "wrong_type"},
    {ONE ", \"rows\": 1", "/rows", "unknown_key"},
    {ONE ", \"csv\": \"/gravity/0\\n1\"", "/csv", "wrong_value"},
    {"\"csv\": 4", "/csv", "wrong_type"},
    {"\"csv\": \"\"", "/csv", "missing"},
    {"\"csv\": \"/gravity/0\\n\"", "/csv", "missing"},
    {"\"csv\": \"/gravity/0\\n\\\"1\"", "/csv", "bad_csv"},
    {"\"csv\": \"/gravity/0,/gravity/1\\n1,2\\n3\"", "/csv/2/1", "missing"},
    {"\"csv\": \"/gravity/0\\n1,2\"", "/csv/1/1", "out_of_range"},
    {"\"csv\": \"/gravity/9\\n1\"", "/csv/0/0", "no_such_path"},
    {ONE ", \"results\": 1", "/results", "wrong_type"},
    {ONE ", \"results\": [{}]", "/results/0", "wrong_value"},
    {ONE ", \"results\": [{\"metric\": \"a\", \"probe\": \"b\"}]", "/results/0", "wrong_value"},
    {ONE ", \"results\": [{\"metric\": \"a\", \"at\": \"end\"}]", "/results/0/at", "wrong_value"},
    {ONE ", \"results\": [{\"metric\": \"a\"}, {\"metric\": \"a\"}]", "/results/1/name",
     "duplicate"},
    {ONE ", \"stop\": {\"result\": \"a\", \"above\": 1}", "/stop/result", "wrong_value"},
    {ONE ", \"results\": [{\"metric\": \"a\"}], \"stop\": {\"result\": \"a\"}", "/stop",
     "wrong_value"},
    {ONE ", \"results\": [{\"metric\": \"a\"}], \"stop\": {\"result\": \"a\", \"above\": \"1\"}",
     "/stop/above", "wrong_type"},
};

START_TEST(wrong_documents_are_located)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(decode(wrong[i].rest) == PL_INVALID, "%s", wrong[i].rest);
        ck_assert_ptr_null(sweep.document);
        bool found = false;
        for (size_t k = 0; k < faults.count; k++)
            found |= strcmp(faults.items[k].pointer, wrong[i].pointer) == 0 &&
                     strcmp(faults.items[k].code, wrong[i].code) == 0;
        ck_assert_msg(found, "%s: %s %s", wrong[i].rest, faults.items[0].pointer,
                      faults.items[0].code);
    }
    static const char *const texts[] = {
        "", "[]", "{", "4", "{\"scene\": 3}", "{\"a\": 1, \"a\": 1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pl_faults_clear(&faults);
        ck_assert_int_eq(pl_sweep_decode(texts[i], strlen(texts[i]), &sweep, &faults), PL_INVALID);
        ck_assert_int_gt(faults.total, 0);
    }
    pl_faults_clear(&faults);
}
END_TEST

START_TEST(faults_of_rows_are_of_parameters)
{
    pl_faults of_row = {0};
    accept("\"parameters\": [{\"path\": \"/materials/m\", \"values\": [1, 2]}]");
    pl_faults_clear(&faults);
    pl_faults_add(&of_row, "/materials/m/young", "out_of_range", "-1", "more", "");
    pl_faults_add(&of_row, "/gravity", "wrong_type", "x", "y", "");
    pl_sweep_locate(&sweep, 0, &of_row, &faults);
    pl_sweep_locate(&sweep, 1, &of_row, &faults);
    ck_assert_uint_eq(faults.total, 2); /* each once */
    ck_assert_str_eq(faults.items[0].pointer, "/parameters/0/young");
    ck_assert_str_eq(faults.items[0].got, "row 0: -1");
    ck_assert_str_eq(faults.items[1].pointer, "/scene/gravity");
    pl_faults_clear(&of_row);
    pl_faults_add(&of_row, "/materials/m/young", "out_of_range", "-2", "more", "");
    pl_sweep_locate(&sweep, 1, &of_row, &faults);
    ck_assert_uint_eq(faults.total, 3); /* another value */
    pl_faults_clear(&of_row);
    pl_faults_clear(&faults);
    pl_sweep_clear(&sweep);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sweep");
    tcase_add_test(cases, sobol_has_the_known_points);
    tcase_add_test(cases, sobol_has_low_discrepancy);
    tcase_add_test(cases, each_part_has_one_point);
    tcase_add_test(cases, seeds_decide);
    tcase_add_test(cases, grids);
    tcase_add_test(cases, samples);
    tcase_add_test(cases, tables);
    tcase_add_test(cases, scenes_of_rows);
    tcase_add_test(cases, results_and_stop);
    tcase_add_test(cases, wrong_documents_are_located);
    tcase_add_test(cases, faults_of_rows_are_of_parameters);
    return run_cases("protocol/sweep", cases);
}
