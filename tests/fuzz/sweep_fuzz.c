/* A sweep's document: rejected with faults that make a valid problem report, or decoded, twice to the same rows, each
 * with a scene that has the row's values. */
#include "tests/fuzz/fuzz.h"

#include "protocol/sweep/pointer.h"
#include "protocol/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40 }; /* whose scenes are looked at */

static void check_plan(const pl_sweep *s)
{
    FUZZ_REQUIRE(s->row_count >= 1 && s->row_count <= PL_SWEEP_ROWS_MAX, "%lld rows",
                 (long long)s->row_count);
    FUZZ_REQUIRE(s->parameter_count >= 1 && s->parameter_count <= PL_SWEEP_PARAMETERS_MAX,
                 "%d parameters", s->parameter_count);
    FUZZ_REQUIRE(s->running >= 1 && s->running <= PL_SWEEP_RUNNING_MAX, "%lld at once",
                 (long long)s->running);
    FUZZ_REQUIRE(s->result_count <= PL_SWEEP_RESULTS_MAX && s->stop.result < s->result_count,
                 "%d results, stop by %d", s->result_count, s->stop.result);
    for (int32_t k = 0; k < s->result_count; k++) {
        const pl_sweep_result *r = &s->results[k];
        FUZZ_REQUIRE(r->name && !r->metric + !r->probe + !r->expect + !r->misfit == 3,
                     "result %d is not one", k);
        FUZZ_REQUIRE(r->misfit == (s->fit && k == 0), "result %d is a misfit", k);
    }
}

/* A run of three frames has a value at each point, and a misfit of at least 0. */
static void check_fit(const pl_sweep *s)
{
    static const double x[] = {0, 1, 0.5}, y[] = {1, 2, 4};
    const pl_fit *fit = s->fit;
    FUZZ_REQUIRE(s->row_count <= s->row_room && s->row_room == fit->evaluations,
                 "%lld rows of %lld", (long long)s->row_count, (long long)s->row_room);
    FUZZ_REQUIRE(fit->points > s->parameter_count && fit->points <= PL_FIT_POINTS_MAX,
                 "%lld points", (long long)fit->points);
    double *values = malloc((size_t)fit->points * sizeof *values), *at = values;
    for (int32_t k = 0; k < fit->count; k++) {
        pl_fit_values(&fit->series[k], x, y, 3, at);
        for (int64_t i = 0; i < fit->series[k].count; i++)
            FUZZ_REQUIRE(at[i] >= 1 && at[i] <= 4, "a value of %g", at[i]);
        at += fit->series[k].count;
    }
    FUZZ_REQUIRE(at == values + fit->points, "points were counted otherwise");
    FUZZ_REQUIRE(!(pl_fit_misfit(fit, values) < 0), "misfit %g", pl_fit_misfit(fit, values));
    free(values);
}

/* Appends the middle of the intervals as a row. */
static void check_append(pl_sweep *s)
{
    double u[PL_SWEEP_PARAMETERS_MAX];
    for (int32_t j = 0; j < s->parameter_count; j++)
        u[j] = 0.5;
    int64_t rows = s->row_count;
    FUZZ_REQUIRE(pl_sweep_append(s, u) == (rows < s->row_room), "row %lld", (long long)rows);
    for (int32_t j = 0; s->row_count > rows && j < s->parameter_count; j++) {
        double v = pl_sweep_number(s, rows, j), slack = 1e-11;
        const pl_sweep_parameter *p = &s->parameters[j];
        FUZZ_REQUIRE(v >= p->low - slack * fabs(p->low) && v <= p->high + slack * fabs(p->high),
                     "%g is not from %g to %g", v, p->low, p->high);
    }
}

static void check_row(const pl_sweep *s, int64_t row)
{
    size_t length;
    char *text = pl_sweep_scene(s, row, "0123456789abcdef0123456789abcdef", &length), number[24];
    FUZZ_REQUIRE(text && strlen(text) == length, "row %lld has no scene", (long long)row);
    json_t *scene = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    FUZZ_REQUIRE(scene, "row %lld: no JSON: %s", (long long)row, text);
    snprintf(number, sizeof number, "%lld", (long long)row);
    json_t *label = pl_pointer_get(scene, "/labels/row");
    FUZZ_REQUIRE(!json_is_object(json_object_get(scene, "labels")) || /* no scene then */
                     (label && strcmp(json_string_value(label), number) == 0),
                 "row %lld is labelled otherwise: %s", (long long)row, text);
    for (int32_t j = 0; j < s->parameter_count; j++) {
        const char *path = s->parameters[j].path, *value = pl_sweep_value(s, row, j);
        json_t *wanted = json_loads(value, JSON_DECODE_ANY, NULL);
        FUZZ_REQUIRE(wanted && json_equal(wanted, pl_pointer_get(scene, path)),
                     "row %lld has no %s at %s: %s", (long long)row, value, path, text);
        json_decref(wanted);
    }
    json_decref(scene);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_exact(data, size);
    pl_sweep first, second;
    pl_faults faults = {0};
    pl_status status = pl_sweep_decode(text, size, &first, &faults);
    FUZZ_REQUIRE(status == PL_OK || status == PL_INVALID, "status %d of a small document", status);
    FUZZ_REQUIRE((status == PL_OK) == (faults.total == 0), "%zu faults, status %d", faults.total,
                 status);
    if (status == PL_INVALID) {
        fuzz_check_faults(&faults);
    } else {
        check_plan(&first);
        FUZZ_REQUIRE(pl_sweep_decode(text, size, &second, &faults) == PL_OK &&
                         second.row_count == first.row_count &&
                         second.parameter_count == first.parameter_count,
                     "another sweep the second time");
        for (int64_t i = 0; i < first.row_count; i++)
            for (int32_t j = 0; j < first.parameter_count; j++)
                FUZZ_REQUIRE(strcmp(pl_sweep_value(&first, i, j), pl_sweep_value(&second, i, j)) ==
                                 0,
                             "row %lld has another value the second time", (long long)i);
        for (int64_t i = 0; i < first.row_count && i < ROWS; i++)
            check_row(&first, i);
        if (first.fit) {
            check_fit(&first);
            check_append(&first);
        }
        pl_sweep_clear(&second);
        pl_sweep_clear(&first);
    }
    pl_faults_clear(&faults);
    free(text);
    return 0;
}
