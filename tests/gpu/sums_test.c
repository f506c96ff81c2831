/* Sums on the device, of every kind, on the stand-in for CUDA's runtime: of so many numbers that they are made in
 * parts, and of counts around the end of a part. The numbers are integers, whose sums are exact in any order. */
#include "engine/backends/device/device_backend.h"
#include "tests/support/device_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>

enum { PART = PL_SUM_PART, MANY = 2 * PART + 12345 };

static pl_run *run;
static pl_device *device;
static pl_array *there[2];
static double *here[2];

static void open_device(void)
{
    choose(DOUBLE);
    run = pl_run_open(1, "{'pliant': 1, 'solver': {'method': 'lbfgs'}, 'bodies': [{'mesh':"
                         "{'box': {'cells': [1, 1, 1]}}}]}");
    pl_backend *b = run->state->whole.backend;
    device = pl_device_of(b);
    for (int k = 0; k < 2; k++) {
        here[k] = calloc(MANY, sizeof *here[k]);
        for (int64_t i = 0; i < MANY; i++)
            here[k][i] = (double)(i * (7 + 4 * k) % 1009 - 300);
        there[k] = b->ops->memory->alloc(b, MANY);
        b->ops->memory->upload(b, there[k], here[k], MANY);
    }
}

static void close_device(void)
{
    for (int k = 0; k < 2; k++) {
        device->base.ops->memory->release(&device->base, there[k]);
        free(here[k]);
    }
    pl_run_close(run);
}

/* The sum's a is the first array, as b0; its b is the second, as a0. */
static double expected(pl_sum_kind kind, int64_t count)
{
    double total = 0;
    for (int64_t i = 0; i < count; i++) {
        double a = here[0][i], b = here[1][i];
        total = kind == PL_SUM_LARGEST      ? fmax(total, a)
                : kind == PL_SUM_DOT        ? total + a * b
                : kind == PL_SUM_CHANGE_DOT ? total + (a - b) * (b - a)
                : kind == PL_SUM_DOT_CHANGE ? total + a * (b - a)
                : kind == PL_SUM_THIRD      ? total + here[0][3 * i]
                                            : total + a;
    }
    return total;
}

static pl_summing sum_of(pl_sum_kind kind, int64_t count)
{
    const pl_number *a = pl_device_numbers(there[0]), *b = pl_device_numbers(there[1]);
    return (pl_summing){kind, count, a, b, b, a};
}

START_TEST(counts_around_parts)
{
    static const int64_t COUNTS[] = {0,        1,    512,      513,      8191, 8193,
                                     PART - 1, PART, PART + 1, 2 * PART, MANY};
    for (size_t n = 0; n < sizeof COUNTS / sizeof *COUNTS; n++)
        for (pl_sum_kind kind = PL_SUM_DOUBLES; kind < PL_SUM_MAGNITUDE; kind++) {
            int64_t count = kind == PL_SUM_THIRD ? COUNTS[n] / 3 : COUNTS[n];
            pl_summing sum = sum_of(kind, count);
            double out = NAN;
            pl_device_add_up_f64(device, &sum, 1, &out);
            ck_assert_msg(out == expected(kind, count), "kind %d of %lld: %.17g, not %.17g", kind,
                          (long long)count, out, expected(kind, count));
        }
}
END_TEST

/* The greatest number is found in whichever part it is. */
START_TEST(the_largest_of_any_part)
{
    static const int64_t PLACES[] = {PART - 1, PART, 2 * PART + 12344};
    pl_backend *b = &device->base;
    for (size_t n = 0; n < sizeof PLACES / sizeof *PLACES; n++) {
        here[0][PLACES[n]] = (double)(1000 + n);
        b->ops->memory->upload(b, there[0], here[0], MANY);
        pl_summing sum = sum_of(PL_SUM_LARGEST, MANY);
        double out = NAN;
        pl_device_add_up_f64(device, &sum, 1, &out);
        ck_assert_double_eq(out, (double)(1000 + n));
    }
}
END_TEST

/* The parts of one sum are made by two launches. */
START_TEST(more_parts_than_a_launch_makes)
{
    enum { SUMS = PL_SUMS_MAX / 2 + 2 };
    pl_summing sums[SUMS];
    double out[SUMS];
    for (int k = 0; k < SUMS; k++)
        sums[k] = sum_of(PL_SUM_NUMBERS, k == 0 ? 1000 : PART + k);
    pl_device_add_up_f64(device, sums, SUMS, out);
    for (int k = 0; k < SUMS; k++)
        ck_assert_double_eq(out[k], expected(PL_SUM_NUMBERS, sums[k].count));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sums");
    tcase_add_checked_fixture(t, open_device, close_device);
    tcase_add_test(t, counts_around_parts);
    tcase_add_test(t, the_largest_of_any_part);
    tcase_add_test(t, more_parts_than_a_launch_makes);
    return run_cases("sums", t);
}
