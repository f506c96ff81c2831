/* Memory that runs out anywhere in the detection of contacts is a status, and nothing is lost: the n-th
 * allocation fails, or all from the n-th on, for every n. */
#include "engine/contact/pairs.h"
#include "engine/contact/sweep.h"
#include "tests/support/suite.h"
#include "tests/unit/failing_memory.h"

#include <check.h>
#include <string.h>

/* A square of two triangles, and a rope above it that falls through. */
static const double X0[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0.3, -1, 0.05, 0.3, 2, 0.05};
static const int32_t BODY[] = {0, 0, 0, 0, 1, 1}, TRIANGLE[] = {0, 1, 2, 1, 3, 2},
                     SEGMENT[] = {4, 5};

/* *found is set where all went well. */
static pl_status detect(int64_t found[2])
{
    const pl_contact_source source = {6, BODY, 2, TRIANGLE, 1, SEGMENT, NULL};
    const pl_contact_rules rules = {.reach = 0.1};
    const pl_ccd_limits limits = {.least = 1e-6, .slack = 1e-6, .iterations = 100};
    pl_contact_surface *surface;
    pl_contact_trees *trees = NULL;
    pl_contact_pairs pairs = {0};
    pl_contact_impacts impacts = {0};
    double x1[18];
    memcpy(x1, X0, sizeof x1);
    x1[14] = x1[17] = -1;
    pl_status status = pl_contact_surface_create(&source, &surface);
    if (status == PL_OK)
        status = pl_contact_trees_create(surface, &trees);
    if (status == PL_OK)
        status = pl_contact_trees_update(trees, X0, X0, 0.1, 1);
    if (status == PL_OK)
        status = pl_contact_pairs_find(trees, X0, &rules, 1, &pairs);
    if (status == PL_OK)
        status = pl_contact_sweep(trees, X0, x1, &limits, NULL, 1, &impacts);
    found[0] = pairs.count;
    found[1] = impacts.count;
    pl_contact_impacts_clear(&impacts);
    pl_contact_pairs_clear(&pairs);
    pl_contact_trees_destroy(trees);
    pl_contact_surface_destroy(surface);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    int64_t right[2], found[2];
    ck_assert_int_eq(detect(right), PL_OK); /* one-time allocations happen here */
    calls = 0;
    pl_status whole = detect(right);
    const long total = calls;
    ck_assert_int_eq(whole, PL_OK);
    ck_assert_int_gt(total, 40);
    ck_assert(right[0] > 0 && right[1] > 0);
    for (int on = 0; on < 2; on++)
        for (long n = 0; n < total; n++) {
            long before = live;
            calls = 0;
            first = n;
            last = on ? LONG_MAX : n;
            pl_status status = detect(found);
            first = last = LONG_MAX;
            ck_assert_msg(live == before, "allocation %ld of %ld: %ld blocks are lost", n, total,
                          live - before);
            ck_assert_msg(status == PL_NO_MEMORY, "allocation %ld of %ld: status %d", n, total,
                          (int)status);
        }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("memory");
    tcase_add_test(t, memory_may_run_out_anywhere);
    return run_cases("contact_memory", t);
}
