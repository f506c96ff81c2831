/* Probes of contact between bodies, of metrics that the test makes up. */
#include "server/worker/probes.h"

#include "tests/support/suite.h"

#include <check.h>
#include <math.h>

static const pl_body_force forces[] = {{{0, 1}, {1, -2, 2}}, {{0, 2}, {5, 0, 0}}, {{1, 1}, {0}}};
static const pl_contact_metrics touching = {.on = true,
                                            .pairs = 7,
                                            .gap = 1e-3,
                                            .force_count = 3,
                                            .forces = forces,
                                            .friction_work = 0.25,
                                            .rounds = 2};

/* A probe's value in a frame with this contact. */
static double probe(pl_expectation of, const pl_contact_metrics *contact)
{
    pl_session_scene s = {.scene = {.output = {.probes = &of, .probe_count = 1}}};
    pl_metrics metrics = {.contact = *contact};
    pl_probes p;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_probes_init(&p, &s, NULL, &faults), PL_OK);
    pl_probes_measure(&p, NULL, &metrics);
    double value = metrics.probes[0];
    pl_probes_clear(&p);
    return value;
}

#define BETWEEN(a, b) .quantity = PL_QUANTITY_CONTACT_FORCE, .has_between = true, .between = {a, b}
#define ALONG(axis)   .has_component = true, .component = PL_COMPONENT_##axis

static const struct {
    pl_expectation of;
    double value;
} rows[] = {
    {{.quantity = PL_QUANTITY_CONTACT_PAIRS}, 7},
    {{.quantity = PL_QUANTITY_CONTACT_GAP}, 1e-3},
    {{.quantity = PL_QUANTITY_FRICTION_WORK}, 0.25},
    {{BETWEEN(0, 1)}, 3},
    {{BETWEEN(0, 1), ALONG(Y)}, -2},
    {{BETWEEN(1, 0), ALONG(Y)}, 2},
    {{BETWEEN(2, 0), ALONG(X)}, -5},
    {{BETWEEN(1, 2), ALONG(X)}, 0},
};

START_TEST(contact_is_measured)
{
    ck_assert_double_eq(probe(rows[_i].of, &touching), rows[_i].value);
    const pl_contact_metrics off = {.on = false};
    ck_assert(isnan(probe(rows[_i].of, &off)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker_probes");
    TCase *t = tcase_create("probes");
    tcase_add_loop_test(t, contact_is_measured, 0, sizeof rows / sizeof *rows);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
