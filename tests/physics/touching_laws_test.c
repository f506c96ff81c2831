/* A block slides over another, across rows of its vertices: what speed it keeps is of its friction alone. */
#include "engine/model/model.h"
#include "tests/support/suite.h"
#include "tests/support/touching_surface.h"

#include <check.h>

/* At 0.6 m/s, over vertices at other positions than its own: two rows of them come out from under it, and two go in. */
static pl_run *sliding(const char *method, double friction)
{
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2}, 'gravity': [0, -9.8, 0],"
        " 'solver': {'method': '%s', 'iterations': 1000, 'tolerance': 1e-4},"
        " 'contact': {'friction': %g}, 'materials': {'m': {'young': 1e6, 'poisson': 0.3}},"
        " 'bodies': [{'name': 'upper', 'mesh': {'box': {'size': [0.3, 0.2, 0.3], "
        "     'cells': [3, 2, 3]}}, 'transform': {'translate': [-0.3, 0.2005, 0.02]},"
        "   'initial': {'velocity': [0.6, 0, 0]}},"
        "  {'name': 'lower', 'mesh': {'box': {'size': [1.2, 0.2, 0.6], 'cells': [8, 1, 4]}}}],"
        " 'pins': [{'body': 'lower', 'select': {'side': '-y'}}]}",
        method, friction);
}

static double mean_speed(const pl_run *r)
{
    const double *v = pl_state_velocities(r->state);
    double sum = 0, mass = 0;
    for (int64_t i = 0; i < r->model->first_vertex[1]; i++) {
        sum += r->model->mass[i] * v[3 * i];
        mass += r->model->mass[i];
    }
    return sum / mass;
}

static const char *const METHODS[] = {"auto", "admm"};

/* v = v0 - mu g t; it lost 3 % of it to each row that came out from under it, without friction too. */
START_TEST(a_block_slides_over_vertices)
{
    const double mu = _i / 2 ? 0.1 : 0;
    pl_run *r = sliding(METHODS[_i % 2], mu);
    touching_surface s = touching_surface_of(r);
    for (int k = 1; k <= 50; k++) {
        pl_run_frames(r, 1);
        ck_assert_int_eq(touching_crossings(&s, r), 0);
        ck_assert_int_gt(r->metrics.contact.pairs, 0);
        ck_assert_double_eq_tol(mean_speed(r), 0.6 - mu * 9.8 * 0.01 * k, 0.01 * 0.6);
    }
    touching_surface_clear(&s);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("touching_laws");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, a_block_slides_over_vertices, 0, 4);
    return run_cases("touching_laws", t);
}
