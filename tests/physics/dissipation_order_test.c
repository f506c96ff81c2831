/* Orders of convergence in time of every dissipation function on every kind of element, with `second_order` and
 * without it. A few free elements are let go stretched and turning; nothing about them is symmetric.
 *
 * The reference is Richardson's extrapolation of the corrected runs, (4 x(h/4) - x(h/2)) / 3: runs without the
 * correction are measured against it, too, so both forms have the same limit. With PLIANT_ORDERS in the environment the
 * orders are printed (engine/README.md has the table). */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 6 * 5, LEVELS = 3 };

#define POINTS_3 "'vertices': [[0, 0, 0], [1.1, 0.1, 0], [1.4, 0.9, 0.1]]"
#define POINTS_4 "'vertices': [[0, 0, 0], [1.1, 0.1, 0], [0.2, 0.9, 0.1], [1, 0.9, 0.6]]"
#define SOLID                                                                                      \
    "'vertices': [[0, 0, 0], [1.1, 0.1, 0], [0.2, 0.9, 0.1], [0.1, 0.3, 1], [1, 0.9, 0.8]],"       \
    "   'tets': [[0, 1, 2, 3], [1, 2, 3, 4]]"
#define SHEET  POINTS_4 ", 'triangles': [[0, 1, 2], [2, 1, 3]]"
#define THREAD POINTS_3 ", 'edges': [[0, 1], [1, 2]]"

/* Bends are thick, so that their loss by angles is visible beside that of stretching. */
static const struct element {
    const char *name, *material, *mesh;
    bool bends, fibers;
} ELEMENTS[] = {
    {"tetrahedra", "'model': 'neo_hookean'", SOLID, false, false},
    {"triangles", "'model': 'neo_hookean', 'thickness': 0.1", SHEET, false, false},
    {"edges", "'area': 0.01", THREAD, false, false},
    {"bends of sheets", "'thickness': 2, 'bending': {'stiffness': 300}", SHEET, true, false},
    {"hinges", "'thickness': 2, 'bending': {'model': 'hinge', 'stiffness': 300}", SHEET, true,
     false},
    {"bends of rods", "'area': 0.4, 'bending': {'stiffness': 300}", THREAD, true, false},
    {"fibers", "'model': 'neo_hookean', 'fibers': {'stiffness': 2e4, 'direction': [1, 2, 0]}",
     SOLID, false, true},
};
enum { ELEMENTS_COUNT = sizeof ELEMENTS / sizeof *ELEMENTS };

static const struct function {
    const char *damping;
    int plain; /* its order without the correction; of hinges, whose angle is not linear, always 1 */
} FUNCTIONS[] = {
    {"'model': 'strain_rate', 'viscosity': 100, 'bulk_viscosity': 50", 1},
    {"'model': 'strain_rate', 'viscosity': 100, 'momentum': 'nonrigid'", 1},
    {"'model': 'strain_rate', 'viscosity': 100, 'momentum': 'velocity_gradient'", 1},
    {"'model': 'viscous', 'viscosity': 100", 2},
    {"'model': 'viscous', 'viscosity': 100, 'momentum': 'nonrigid'", 1},
    {"'model': 'viscous', 'viscosity': 100, 'momentum': 'velocity_gradient'", 1},
    {"'model': 'rayleigh', 'beta': 0.02", 1},
    {"'model': 'rayleigh', 'beta': 0.02, 'momentum': 'nonrigid'", 1},
    {"'model': 'rayleigh', 'beta': 0.02, 'momentum': 'velocity_gradient'", 1},
    {"'model': 'rayleigh_lagged', 'beta': 0.02", 1},
    {"'model': 'rayleigh_lagged', 'beta': 0.02, 'momentum': 'nonrigid'", 1},
    {"'model': 'rayleigh_lagged', 'beta': 0.02, 'momentum': 'velocity_gradient'", 1},
    {"'model': 'principal_strain', 'beta': 0.02", 1},
    {"'model': 'power_law', 'coefficient': 100, 'power': 0.5, 'smoothing': 0.5", 1},
    {"'model': 'power_law', 'coefficient': 100, 'power': 1", 1},
    {"'model': 'power_law', 'coefficient': 100, 'power': 2", 1},
    {"'model': 'rate_spline', 'viscosity': 100, 'rate_spline': [[0, 1], [2, 3]]", 1},
    {"'model': 'viscous', 'viscosity': 100, 'strain_spline': [[0.8, 3], [1, 1], [1.3, 3]]", 1},
};
enum { FUNCTIONS_COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };

/* Whether the function has terms of its own there: no correction of momentum in bends, only stiffness in fibres. */
static bool is_there(const struct function *f, const struct element *e)
{
    const bool solid = e == &ELEMENTS[0];
    return (!strstr(f->damping, "principal") || solid) &&
           !(e->bends && strstr(f->damping, "momentum")) &&
           !(e->fibers && !strstr(f->damping, "'rayleigh"));
}

/* Places, and velocities times the duration T, at the end of `steps` steps; how many numbers. */
static int end_of(pl_run *r, double T, double *out)
{
    const int n = 3 * (int)pl_run_vertices(r);
    ck_assert_int_le(2 * n, NUMBERS_MAX);
    pl_run_frames(r, 1);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    for (int i = 0; i < n; i++) {
        out[i] = pl_run_x(r)[i];
        out[n + i] = T * pl_state_velocities(r->state)[i];
    }
    pl_run_close(r);
    return 2 * n;
}

static int end_of_free(const struct element *e, const char *integrator, const char *damping,
                       const char *order, int steps, double *out)
{
    const double T = 0.16;
    return end_of(
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': %.17g, 'steps': %d, 'integrator': '%s'},"
                     " 'gravity': [0, 0, 0], 'output': {'every': %d},"
                     " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-13},"
                     " 'materials': {'m': {'young': 1e4, 'poisson': 0.3, %s,"
                     "   'damping': {%s%s}}},"
                     " 'bodies': [{'mesh': {%s}, 'initial': {'angular_velocity': [2, 1, 3],"
                     "   'shape': {'stretched': [1.2, 0.92, 1.05]}}}]}",
                     T / steps, steps, integrator, steps, e->material, damping, order, e->mesh),
        T, out);
}

/* One free corner that leaves the undeformed shape at 1.5 m/s and passes it again, where two of the tetrahedron's
 * principal stretches change places. */
static int end_of_crossing(const char *order, int steps, double *out)
{
    const double T = 0.6;
    return end_of(
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': %.17g, 'steps': %d, 'integrator': 'tr_bdf2'},"
                     " 'gravity': [0, 0, 0], 'output': {'every': %d},"
                     " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-13},"
                     " 'materials': {'m': {'young': 1e4, 'poisson': 0.3, 'model': 'neo_hookean',"
                     "   'damping': {'model': 'principal_strain', 'beta': 0.02%s}}},"
                     " 'bodies': [{'mesh': {'vertices': [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, "
                     "0]], 'tets': [[0, 3, 1, 2]]}, 'initial': {'velocity': [1.5, 0, 0]}}],"
                     " 'pins': [{'select': {'indices': [0, 1, 2]}},"
                     "   {'select': {'indices': [3]}, 'axes': ['y', 'z']}]}",
                     T / steps, steps, steps, order),
        T, out);
}

static double apart(const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* (4 x(h/2) - x(h)) / 3 of the two finest of the levels. */
static void extrapolate(double x[LEVELS][NUMBERS_MAX], int n, double *best)
{
    for (int i = 0; i < n; i++)
        best[i] = (4 * x[LEVELS - 1][i] - x[LEVELS - 2][i]) / 3;
}

static double order_of(double x[2][NUMBERS_MAX], const double *best, int n)
{
    return log2(apart(x[0], best, n) / apart(x[1], best, n));
}

static void is_of_order(double found, int claimed, const char *what, const char *integrator,
                        const char *damping)
{
    if (getenv("PLIANT_ORDERS"))
        printf("%-16s %-17s %-84s %d %.2f\n", what, integrator, damping, claimed, found);
    ck_assert_msg(fabs(found - claimed) <= 0.1, "%s by %s, %s: %g, not %d", what, integrator,
                  damping, found, claimed);
}

#define SECOND ", 'second_order': true"
#define FIRST  ", 'second_order': false"

/* Every function on every element by TR-BDF2. */
START_TEST(functions_are_of_their_orders)
{
    const struct element *e = &ELEMENTS[_i % ELEMENTS_COUNT];
    const struct function *f = &FUNCTIONS[_i / ELEMENTS_COUNT];
    const bool hinge = strstr(e->material, "'hinge'") != NULL;
    double x[LEVELS][NUMBERS_MAX], y[2][NUMBERS_MAX], best[NUMBERS_MAX];
    int n = 0;
    if (!is_there(f, e))
        return;
    for (int k = 0; k < LEVELS; k++)
        n = end_of_free(e, "tr_bdf2", f->damping, SECOND, 40 << k, x[k]);
    extrapolate(x, n, best);
    is_of_order(order_of(x, best, n), 2, e->name, "tr_bdf2", f->damping);
    for (int k = 0; k < 2; k++)
        n = end_of_free(e, "tr_bdf2", f->damping, FIRST, 80 << k, y[k]);
    is_of_order(order_of(y, best, n), hinge ? 1 : f->plain, e->name, "tr_bdf2", f->damping);
}
END_TEST

static const char *const INTEGRATORS[] = {"trapezoidal", "implicit_midpoint", "bdf2", "sdirk2"};

/* Every function by the other integrators, with what second_order is by default. */
START_TEST(integrators_keep_their_order)
{
    const char *integrator = INTEGRATORS[_i % 4];
    const struct function *f = &FUNCTIONS[_i / 4];
    double x[LEVELS][NUMBERS_MAX], best[NUMBERS_MAX];
    int n = 0;
    for (int k = 0; k < LEVELS; k++)
        n = end_of_free(&ELEMENTS[0], integrator, f->damping, "", 40 << k, x[k]);
    extrapolate(x, n, best);
    is_of_order(order_of(x, best, n), 2, ELEMENTS[0].name, integrator, f->damping);
}
END_TEST

/* Backward Euler's default equals the result without a correction, to the bit. */
START_TEST(backward_euler_is_not_corrected)
{
    double x[3][NUMBERS_MAX];
    static const char *const orders[] = {"", FIRST, SECOND};
    int n = 0;
    for (int k = 0; k < 3; k++)
        n = end_of_free(&ELEMENTS[0], "backward_euler", FUNCTIONS[_i].damping, orders[k], 10, x[k]);
    ck_assert(apart(x[0], x[1], n) == 0);
    ck_assert((apart(x[0], x[2], n) == 0) == (FUNCTIONS[_i].plain == 2));
}
END_TEST

START_TEST(stretches_may_pass_each_other)
{
    double x[LEVELS][NUMBERS_MAX], best[NUMBERS_MAX];
    int n = 0;
    for (int k = 0; k < LEVELS; k++)
        n = end_of_crossing(SECOND, 100 << k, x[k]);
    extrapolate(x, n, best);
    is_of_order(order_of(x, best, n), 2, "crossing", "tr_bdf2", "principal_strain");
}
END_TEST

/* A stiff box that rotates and lands on a corner at 20 ms, far beyond what the step resolves: no function's default
 * creates energy. Corrections with a term below 0 did, up to four times the initial energy. */
START_TEST(impacts_gain_nothing)
{
    static const char *const functions[] = {
        "'model': 'strain_rate', 'viscosity': 3000", "'model': 'rayleigh', 'beta': 0.003",
        "'model': 'power_law', 'coefficient': 1000, 'power': 2"};
    static const char *const integrators[] = {"tr_bdf2", "bdf2"};
    double start = 0;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 40, 'integrator': '%s'},"
        " 'materials': {'m': {'young': 1e5, 'poisson': 0.3, 'damping': {%s}}},"
        " 'bodies': [{'mesh': {'box': {'size': [1, 0.5, 0.5], 'cells': [4, 2, 2]}},"
        "   'initial': {'angular_velocity': [1, 2, 6]}, 'transform': {'translate': [0, 1, 0]}}],"
        " 'obstacles': [{'plane': {'offset': 0}, 'friction': 0.3}]}",
        integrators[_i % 2], functions[_i / 2]);
    for (int k = 0; k < 40; k++) {
        pl_run_frames(r, 1);
        const double sum = r->metrics.kinetic + r->metrics.elastic + r->metrics.gravity;
        start = k ? start : sum;
        ck_assert_msg(sum <= 1.001 * start, "%s, step %d: %g of %g", functions[_i / 2], k, sum,
                      start);
    }
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("dissipation_order");
    tcase_add_loop_test(t, functions_are_of_their_orders, 0, FUNCTIONS_COUNT * ELEMENTS_COUNT);
    tcase_add_loop_test(t, integrators_keep_their_order, 0, FUNCTIONS_COUNT * 4);
    tcase_add_loop_test(t, backward_euler_is_not_corrected, 0, FUNCTIONS_COUNT);
    tcase_add_test(t, stretches_may_pass_each_other);
    tcase_add_loop_test(t, impacts_gain_nothing, 0, 6);
    return run_cases("dissipation_order", t);
}
