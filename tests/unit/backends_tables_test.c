/* The tables of a device's capabilities: each backend's are complete, and a missing slot or required table is named. */
#include "engine/backends/backend.h"
#include "engine/backends/device/phases.h"
#include "tests/support/suite.h"

#include <check.h>

START_TEST(every_backend_is_complete)
{
    ck_assert_ptr_null(pl_backend_incomplete(&pl_backend_cpu));
    ck_assert_ptr_null(pl_backend_incomplete(&pl_backend_device_f32));
    ck_assert_ptr_null(pl_backend_incomplete(&pl_backend_device_f64));
}
END_TEST

START_TEST(a_table_without_a_slot_is_named)
{
    pl_backend_ops ops = pl_backend_cpu;
    pl_contact_ops contact = *ops.contact;
    contact.friction = NULL;
    ops.contact = &contact;
    ck_assert_str_eq(pl_backend_incomplete(&ops), "contact");
    ops.contact = NULL;
    ck_assert_ptr_null(pl_backend_incomplete(&ops));
}
END_TEST

START_TEST(tables_that_belong_together_are_named)
{
    pl_backend_ops ops = pl_backend_cpu;
    ops.descent = NULL;
    ck_assert_str_eq(pl_backend_incomplete(&ops), "descent");
    ops = pl_backend_cpu;
    ops.matrix = NULL;
    ck_assert_str_eq(pl_backend_incomplete(&ops), "matrix");
    ops = pl_backend_cpu;
    ops.factored = NULL;
    ck_assert_ptr_null(pl_backend_incomplete(&ops)); /* the other one is enough */
    ops.iterated = NULL;
    ck_assert_str_eq(pl_backend_incomplete(&ops), "factored");
    ops = pl_backend_cpu;
    ops.splitting = NULL;
    ck_assert_str_eq(pl_backend_incomplete(&ops), "splitting");
    ops = pl_backend_cpu;
    ops.refuses = NULL;
    ck_assert_str_eq(pl_backend_incomplete(&ops), "the backend itself");
}
END_TEST

static bool refuses(const pl_backend_ops *ops, pl_method_kind method)
{
    pl_model model = {.solver.method = method};
    return pl_backend_refuses(ops, &model) != NULL;
}

START_TEST(a_missing_table_refuses_its_methods)
{
    pl_backend_ops ops = pl_backend_cpu;
    ops.hessian = NULL;
    ck_assert(refuses(&ops, PL_METHOD_NEWTON) && !refuses(&pl_backend_cpu, PL_METHOD_NEWTON));
    ops.sweep = NULL;
    ck_assert(refuses(&ops, PL_METHOD_VERTEX_BLOCK_DESCENT));
    ck_assert(!refuses(&pl_backend_cpu, PL_METHOD_VERTEX_BLOCK_DESCENT));
    ops.anderson = NULL;
    ops.splitting = NULL;
    ck_assert(refuses(&ops, PL_METHOD_ADMM) && !refuses(&pl_backend_cpu, PL_METHOD_ADMM));
    ck_assert(!refuses(&ops, PL_METHOD_QUASI_NEWTON));
    ops.matrix = NULL;
    ops.factored = NULL;
    ops.iterated = NULL;
    ck_assert(refuses(&ops, PL_METHOD_QUASI_NEWTON));
    ck_assert(!refuses(&ops, PL_METHOD_CHEBYSHEV_DESCENT));
    ops.contact = NULL;
    pl_model model = {.solver.method = PL_METHOD_CHEBYSHEV_DESCENT, .restitution = true};
    ck_assert_ptr_nonnull(pl_backend_refuses(&ops, &model));
    ck_assert_ptr_nonnull(pl_backend_refuses(NULL, &model));
    ck_assert_ptr_null(pl_backend_refuses(&pl_backend_cpu, &model));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("tables");
    tcase_add_test(t, every_backend_is_complete);
    tcase_add_test(t, a_table_without_a_slot_is_named);
    tcase_add_test(t, tables_that_belong_together_are_named);
    tcase_add_test(t, a_missing_table_refuses_its_methods);
    return run_cases("tables", t);
}
