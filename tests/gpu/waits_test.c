/* How often the device's phases wait for it and what they download, counted on the stand-in for CUDA's runtime
 * (standin/standin.h). */
#include "tests/gpu/standin/standin.h"
#include "tests/support/device_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>

/* The cost of measuring a frame, for a box above so many planes. */
static standin_counts measured(int planes)
{
    static const char plane[] = "{'plane': {'offset': -1}}";
    char obstacles[128];
    snprintf(obstacles, sizeof obstacles, "%s%s%s%s%s", plane, planes > 1 ? ", " : "",
             planes > 1 ? plane : "", planes > 2 ? ", " : "", planes > 2 ? plane : "");
    choose(DOUBLE);
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'solver': {'method': 'chebyshev_descent', 'iterations':"
                             "4}, 'obstacles': [%s], 'bodies': [{'mesh': {'box': {'cells':"
                             "[6, 6, 6]}}}]}",
                             obstacles);
    pl_run_frames(r, 1);
    standin_counts before = standin_count(), after;
    pl_state_measure(r->model, r->state, &r->metrics);
    after = standin_count();
    after.bytes_down -= before.bytes_down;
    after.waits -= before.waits;
    after.pageable -= before.pageable;
    pl_run_close(r);
    return after;
}

/* Positions come once, however many obstacles vertices may be in. */
START_TEST(depths_take_one_download)
{
    standin_counts one = measured(1), three = measured(3);
    ck_assert_int_lt(three.bytes_down - one.bytes_down, 3 * 7 * 7 * 7 * 8);
    ck_assert_int_eq(three.waits, one.waits);
    ck_assert_int_eq(three.pageable, 0);
}
END_TEST

/* 200 kB of numbers are one copy into pinned memory, and one wait; 2 MB are two. */
START_TEST(downloads_are_of_many_numbers)
{
    enum { COUNT = 25000 };
    choose(DOUBLE);
    pl_run *r = pl_run_open(1, "{'pliant': 1, 'solver': {'method': 'lbfgs'}, 'bodies': [{'mesh':"
                               "{'box': {'cells': [1, 1, 1]}}}]}");
    pl_backend *b = r->state->whole.backend;
    const pl_memory_ops *memory = b->ops->memory;
    pl_array *array = memory->alloc(b, 10 * COUNT);
    double *numbers = calloc(10 * COUNT, sizeof *numbers);
    numbers[COUNT - 1] = 3;
    memory->upload(b, array, numbers, 10 * COUNT);
    numbers[COUNT - 1] = 0;
    for (int k = 0; k < 2; k++) {
        standin_counts before = standin_count();
        memory->download(b, numbers, array, k == 0 ? COUNT : 10 * COUNT);
        ck_assert_double_eq(numbers[COUNT - 1], 3);
        ck_assert_int_eq(standin_count().waits - before.waits, 1 + k);
        ck_assert_int_eq(standin_count().pageable, before.pageable);
    }
    free(numbers);
    memory->release(b, array);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("waits");
    tcase_add_test(t, depths_take_one_download);
    tcase_add_test(t, downloads_are_of_many_numbers);
    return run_cases("waits", t);
}
