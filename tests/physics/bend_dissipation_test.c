/* Dissipation of elements with a single strain - hinges, quadratic bends, rods, fibres, edges - and of membranes by
 * their stiffness, each as an oscillator of one unknown u compared with its closed form:
 *
 *     m u'' + c u' + k u = 0,   w^2 = k / m,   zeta = c / (2 m w) = beta w / 2,   beta = c / k
 */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YOUNG    1e5
#define POISSON  0.3
#define DENSITY  1000.0
#define THICK    0.01
#define AREA     1e-3
#define RIGIDITY 10.0 /* D, N m, of sheets and B, N m^2, of rods */

/* Two triangles that share an edge of 1 m along y, A0 + A1 = 1 m^2, one wing held and the tip of the other 1 m away, free
 * along z: theta = u, k = D. Two edges of 1 m in a line: q = u, k = B. Then what stretches along x by u:
 * one edge, one triangle, and one tetrahedron with a fibre along x. */
#define SHEET                                                                                      \
    "'mesh': {'vertices': [[0, 0, 0], [0, 1, 0], [-1, 0.5, 0], [1, 0.5, 0]],"                      \
    "  'triangles': [[0, 1, 2], [1, 0, 3]]}, 'initial': {'velocity': [0, 0, %g]}}],"               \
    " 'pins': [{'select': {'indices': [0, 1, 2]}},"                                                \
    "   {'select': {'indices': [3]}, 'axes': ['x', 'y']}]}"
#define ROD                                                                                        \
    "'mesh': {'vertices': [[-1, 0, 0], [0, 0, 0], [1, 0, 0]], 'edges': [[0, 1], [1, 2]]},"         \
    "   'initial': {'velocity': [0, %g, 0]}}],"                                                    \
    " 'pins': [{'select': {'indices': [0, 1]}},"                                                   \
    "   {'select': {'indices': [2]}, 'axes': ['x', 'z']}]}"
#define EDGE                                                                                       \
    "'mesh': {'vertices': [[0, 0, 0], [1, 0, 0]], 'edges': [[0, 1]]},"                             \
    "   'initial': {'velocity': [%g, 0, 0]}}],"                                                    \
    " 'pins': [{'select': {'indices': [0]}}, {'select': {'indices': [1]}, 'axes': ['y', 'z']}]}"
#define TRIANGLE                                                                                   \
    "'mesh': {'vertices': [[0, 0, 0], [0, 1, 0], [1, 0, 0]], 'triangles': [[0, 1, 2]]},"           \
    "   'initial': {'velocity': [%g, 0, 0]}}],"                                                    \
    " 'pins': [{'select': {'indices': [0, 1]}},"                                                   \
    "   {'select': {'indices': [2]}, 'axes': ['y', 'z']}]}"
#define TETRAHEDRON                                                                                \
    "'mesh': {'vertices': [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]],"                           \
    "   'tets': [[0, 3, 1, 2]]}, 'initial': {'velocity': [%g, 0, 0]}}],"                           \
    " 'pins': [{'select': {'indices': [0, 1, 2]}},"                                                \
    "   {'select': {'indices': [3]}, 'axes': ['y', 'z']}]}"

#define LAME2   (YOUNG * (1 - POISSON) / ((1 + POISSON) * (1 - 2 * POISSON))) /* lambda + 2 mu */
#define KAPPA   3e5
#define BENDING "'bending': {'model': '%s', 'stiffness': %g}, "

static const struct oscillator {
    const char *body, *bending;
    double m, k;
    double layer;   /* of bends: what D, or B, has for the stiffness through its thickness */
    double surface; /* ... u times this is the strain there */
    double volume;
    bool rod;
} OSCILLATORS[] = {
    {SHEET, "hinge", DENSITY *THICK / 6, RIGIDITY, THICK *THICK *THICK / 12, THICK / 2, THICK,
     false},
    {SHEET, "quadratic", DENSITY *THICK / 6, RIGIDITY, THICK *THICK *THICK / 12, THICK / 2, THICK,
     false},
    {ROD, "quadratic", DENSITY *AREA / 2, RIGIDITY, AREA *AREA / (4 * M_PI), 0, AREA, true},
    {EDGE, NULL, DENSITY *AREA / 2, YOUNG *AREA, 0, 0, 0, false},
    {TRIANGLE, NULL, DENSITY *THICK / 6, YOUNG / (1 - POISSON * POISSON) * THICK / 2, 0, 0, 0,
     false},
    {TETRAHEDRON, NULL, DENSITY / 24, (LAME2 + KAPPA) / 6, 0, 0, 0, false},
};
enum { BENDS = 3, COUNT = sizeof OSCILLATORS / sizeof *OSCILLATORS };

static pl_run *open_one(const struct oscillator *o, const char *integrator, double step,
                        int64_t steps, double young, double rigidity, const char *damping, double v)
{
    char bending[96] = "", body[640];
    if (o->bending)
        snprintf(bending, sizeof bending, BENDING, o->bending, rigidity);
    if (strcmp(o->body, TETRAHEDRON) == 0)
        snprintf(bending, sizeof bending, "'fibers': {'stiffness': %g, 'direction': [1, 0, 0]}, ",
                 KAPPA);
    snprintf(body, sizeof body, o->body, v);
    return pl_run_openf(1,
                        "{'pliant': 1, 'time': {'step': %.17g, 'steps': %lld, 'integrator': '%s'},"
                        " 'gravity': [0, 0, 0],"
                        " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-12},"
                        " 'materials': {'m': {'model': 'corotated', 'young': %g, 'poisson': %g, "
                        "'density': %g, 'thickness': %g, 'area': %g, %s'damping': {%s}}},"
                        " 'bodies': [{%s",
                        step, (long long)steps, integrator, young, POISSON, DENSITY, THICK, AREA,
                        bending, damping, body);
}

/* Damping ratio of a small swing over eight periods, by the trapezoidal rule, which has no damping of its own; any that
 * remains is subtracted. The remaining and the dissipated energy add up to the initial energy. */
static double ratio_of(const struct oscillator *o, const char *damping)
{
    const double w = sqrt(o->k / o->m), period = 2 * M_PI / w;
    const int64_t steps = 800, periods = 8;
    double ends[2];
    for (int damped = 0; damped < 2; damped++) {
        pl_run *r = open_one(o, "trapezoidal", (double)periods * period / (double)steps, steps,
                             YOUNG, RIGIDITY, damped ? damping : "'mass': 1e-12", 1e-5 * w);
        pl_run_frames(r, steps);
        ends[damped] = r->metrics.kinetic + r->metrics.elastic;
        if (damped)
            ck_assert_double_eq_tol(ends[1] + r->metrics.dissipated, ends[0], 5e-3 * ends[0]);
        pl_run_close(r);
    }
    return -log(ends[1] / ends[0]) / (2 * w * (double)periods * period);
}

/* zeta = beta w / 2 whatever has the stiffness. */
START_TEST(rayleigh_is_of_every_stiffness)
{
    static const char *const functions[] = {
        "'model': 'rayleigh', 'beta': %.17g", "'model': 'rayleigh_lagged', 'beta': %.17g",
        "'model': 'rayleigh', 'second_order': true, 'beta': %.17g",
        "'model': 'rayleigh', 'momentum': 'nonrigid', 'beta': %.17g",
        "'model': 'rayleigh', 'momentum': 'velocity_gradient', 'beta': %.17g"};
    const struct oscillator *o = &OSCILLATORS[_i];
    const double zeta = 0.02;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        char text[128];
        snprintf(text, sizeof text, functions[k], 2 * zeta / sqrt(o->k / o->m));
        const double found = ratio_of(o, text);
        ck_assert_msg(fabs(found - zeta) <= 0.02 * zeta, "%d, %s: %g", _i, functions[k], found);
    }
}
END_TEST

/* Functions of the rate see the strain of a layer at its distance from the middle: a uniaxial viscosity eta gives eta
 * t^3 / 12 where Young's modulus gives D, and eta A^2 / (4 pi) where it gives B. For strain_rate eta is 2 psi + phi,
 * for the others 2 coefficient, or 2 viscosity. */
START_TEST(viscosity_goes_through_the_thickness)
{
    static const char *const functions[] = {
        "'model': 'strain_rate', 'viscosity': %.17g, 'bulk_viscosity': %.17g",
        "'model': 'power_law', 'power': 1, 'coefficient': %.17g",
        "'model': 'rate_spline', 'viscosity': %.17g, 'rate_spline': [[0, 1], [1, 1]]"};
    const struct oscillator *o = &OSCILLATORS[_i];
    const double zeta = 0.02, w = sqrt(o->k / o->m), eta = 2 * zeta / w * RIGIDITY / o->layer;
    for (int k = 0; k < 3; k++) {
        char text[160];
        snprintf(text, sizeof text, functions[k], (k == 0 ? 0.4 : 0.5) * eta, 0.2 * eta);
        const double found = ratio_of(o, text);
        ck_assert_msg(fabs(found - zeta) <= 0.02 * zeta, "%d, %s: %g", _i, functions[k], found);
    }
}
END_TEST

/* The mean of (|z| / surface)^(p + 1) over a layer, 1 / (p + 2), or a disc, by a sum. */
static double mean_of(const struct oscillator *o, double p)
{
    enum { N = 20000 };
    double sum = 0, all = 0;
    for (int i = 0; i < N; i++) {
        const double z = (i + 0.5) / N, width = o->rod ? sqrt(1 - z * z) : 1;
        sum += width * pow(z, p + 1);
        all += width;
    }
    return sum / all;
}

/* m dv/dt = -c v^p with c = V coefficient (p + 1) <|strain of u|^(p + 1)>, all but without elasticity:
 * v^(1 - p) = v0^(1 - p) - (1 - p) c t / m. */
START_TEST(powers_of_bends_have_their_closed_forms)
{
    static const double powers[] = {0.5, 2};
    const struct oscillator *o = &OSCILLATORS[_i];
    const double surface = o->rod ? sqrt(AREA / M_PI) : o->surface;
    for (int k = 0; k < 2; k++) {
        const double p = powers[k], v0 = 1e-4, T = 1, c = o->m * pow(v0, 1 - p) * 0.8 / T;
        const double per = o->volume * (p + 1) * mean_of(o, p) * pow(surface, p + 1);
        char text[160];
        snprintf(text, sizeof text,
                 "'model': 'power_law', 'power': %g, 'coefficient': %.17g, 'smoothing': 1e-11", p,
                 c / per);
        pl_run *r = open_one(o, "backward_euler", T / 200, 200, 1e-3, 1e-9, text, v0);
        pl_run_frames(r, 200);
        const double v = sqrt(2 * r->metrics.kinetic / o->m);
        const double left = pow(v0, 1 - p) - (1 - p) * c * T / o->m;
        ck_assert_msg(fabs(v - pow(left, 1 / (1 - p))) <= 0.02 * v, "%d, p = %g: %g", _i, p,
                      v / pow(left, 1 / (1 - p)));
        pl_run_close(r);
    }
}
END_TEST

/* Position and velocity of a hinge's tip after 0.5 s of a swing of three quarters of a radian by TR-BDF2. */
static void swing(const char *more, int64_t steps, double end[2])
{
    char text[128];
    snprintf(text, sizeof text, "'model': 'rayleigh', 'beta': 0.3%s", more);
    pl_run *r = open_one(&OSCILLATORS[0], "tr_bdf2", 0.5 / (double)steps, steps, 1e-3, RIGIDITY,
                         text, 3);
    pl_run_frames(r, steps);
    end[0] = pl_run_x(r)[11];
    end[1] = pl_state_velocities(r->state)[11];
    pl_run_close(r);
}

/* theta(x) - theta(x'), x' = x - a h v, is a h dtheta/dt minus a h/2 v . theta'' v: an angle is accurate to first order
 * in the rate, and to second order after subtracting the known part of that. The reference is Richardson's
 * extrapolation of the corrected form. */
START_TEST(the_correction_of_an_angle_is_of_second_order)
{
    double coarse[2], fine[2], reference[2], order[2];
    swing(", 'second_order': true", 640, coarse);
    swing(", 'second_order': true", 1280, fine);
    for (int i = 0; i < 2; i++)
        reference[i] = (4 * fine[i] - coarse[i]) / 3;
    for (int corrected = 0; corrected < 2; corrected++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            double end[2];
            swing(corrected ? "" : ", 'second_order': false", k ? 320 : 80, end);
            error[k] = fmax(fabs(end[0] - reference[0]), fabs(end[1] - reference[1]));
        }
        order[corrected] = log2(error[0] / error[1]) / 2;
    }
    ck_assert_msg(order[0] < 1.3 && order[1] > 1.8, "orders %g, corrected %g", order[0], order[1]);
}
END_TEST

/* The same strain in all methods: each reaches Newton's step, whichever function damps a cloth that bends over hinges
 * or quadratically, a rod, and a cube with fibres. */
static const char *const BODIES[] = {
    "'bending': {'model': 'hinge', 'stiffness': 0.2}|'cloth': {'size': [1, 1], 'cells': [2, 2]}",
    "'bending': {'stiffness': 0.2}|'cloth': {'size': [1, 1], 'cells': [2, 2]}",
    "'bending': {'stiffness': 0.2}|'vertices': [[0, 0, 0], [0.5, 0.1, 0], [1, 0, 0.1], [1.5, 0, "
    "0]],"
    " 'edges': [[0, 1], [1, 2], [2, 3]]",
    "'fibers': {'stiffness': 2e4, 'direction': [0, 1, 0]}|'box': {'size': [1, 1, 1], 'cells': [1, "
    "1, "
    "1]}",
};
static const char *const FUNCTIONS[] = {
    "'model': 'rayleigh', 'beta': 0.02",
    "'model': 'rayleigh', 'beta': 0.02, 'second_order': true",
    "'model': 'rayleigh_lagged', 'beta': 0.02",
    "'model': 'rayleigh', 'beta': 0.02, 'momentum': 'nonrigid'",
    "'model': 'strain_rate', 'viscosity': 200, 'second_order': true",
    "'model': 'viscous', 'viscosity': 50, 'momentum': 'velocity_gradient'",
    "'model': 'power_law', 'coefficient': 100, 'power': 2, 'strain_spline': [[0.9, 2], [1.1, 1]]",
    "'model': 'rate_spline', 'viscosity': 100, 'rate_spline': [[0, 1], [2, 3]]",
};

START_TEST(methods_come_to_the_same_bend)
{
    static const char *const solvers[] = {"'method': 'newton', 'tolerance': 1e-11",
                                          "'method': 'quasi_newton', 'tolerance': 1e-10",
                                          "'method': 'chebyshev_descent', 'tolerance': 1e-9",
                                          "'method': 'vertex_block_descent', 'tolerance': 1e-9",
                                          "'method': 'admm', 'tolerance': 1e-8"};
    const char *body = BODIES[_i % 4], *function = FUNCTIONS[_i / 4], *mesh = strchr(body, '|') + 1;
    double first[81], dissipated = 0;
    for (int s = 0; s < (_i % 4 == 0 ? 4 : 5); s++) { /* a hinge has no prox */
        pl_run *r = pl_run_openf(1,
                                 "{'pliant': 1, 'time': {'step': 0.02, 'steps': 2}, 'solver': {%s, "
                                 "'iterations': 10000},"
                                 " 'materials': {'m': {'young': 1e5, 'poisson': 0.3, 'area': 1e-2, "
                                 "'thickness': 0.05, %.*s, 'damping': {%s}}},"
                                 " 'bodies': [{'mesh': {%s}, 'initial': {'shape': {'twisted': "
                                 "{'turns': 0.1}}, 'angular_velocity': [0, 0.5, 1]}}],"
                                 " 'pins': [{'select': {'indices': [0]}}]}",
                                 solvers[s], (int)(mesh - 1 - body), body, function, mesh);
        pl_run_frames(r, 2);
        for (int i = 0; i < 3 * pl_run_vertices(r); i++) {
            first[i] = s == 0 ? pl_run_x(r)[i] : first[i];
            ck_assert_msg(fabs(pl_run_x(r)[i] - first[i]) < 2e-8, "%s, %s, %s: %g", body, function,
                          solvers[s], pl_run_x(r)[i] - first[i]);
        }
        ck_assert_msg(r->metrics.unconverged == 0, "%s, %s, %s", body, function, solvers[s]);
        dissipated = s == 0 ? r->metrics.dissipated : dissipated;
        ck_assert_double_gt(dissipated, 0);
        ck_assert_double_eq_tol(r->metrics.dissipated, dissipated, 1e-5 * dissipated);
        pl_run_close(r);
    }
}
END_TEST

/* Undefined combinations are rejected by name and place: eq. 53 is for the three principal strains of a solid. */
START_TEST(principal_strains_are_of_solids)
{
    for (int k = 0; k < COUNT - 1; k++) {
        pl_estimate estimate;
        pl_faults faults = {0};
        pl_run *r = open_one(&OSCILLATORS[k], "backward_euler", 0.01, 1, YOUNG, RIGIDITY,
                             "'model': 'rayleigh', 'beta': 0.01", 0);
        r->scene.materials[0].damping.model = PL_DAMPING_PRINCIPAL_STRAIN;
        ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults),
                         PL_INVALID);
        ck_assert_int_eq(faults.total, 1);
        ck_assert_str_eq(faults.items[0].pointer, "/materials/m/damping/model");
        ck_assert_ptr_nonnull(strstr(faults.items[0].hint, "rayleigh"));
        pl_faults_clear(&faults);
        pl_run_close(r);
    }
}
END_TEST

/* A state that is saved and restored continues with the same bits, with any number of threads. */
START_TEST(bends_go_on)
{
    static const char scene[] =
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 8, 'integrator': 'tr_bdf2'},"
        " 'solver': {'method': 'quasi_newton', 'iterations': 60},"
        " 'materials': {'m': {'young': 1e5, 'bending': {'model': '%s', 'stiffness': 0.2},"
        "   'damping': {'model': 'rayleigh', 'beta': 0.02, 'second_order': true}}},"
        " 'bodies': [{'mesh': {'cloth': {'size': [1, 1], 'cells': [4, 4]}}}],"
        " 'pins': [{'select': {'indices': [0]}}]}";
    const char *model = _i ? "hinge" : "quadratic";
    pl_run *whole = pl_run_openf(2, scene, model), *half = pl_run_openf(1, scene, model);
    pl_run_frames(whole, 4);
    pl_run_go_on(whole, half, 4);
    ck_assert_double_gt(whole->metrics.dissipation[PL_DAMPING_RAYLEIGH], 0);
    pl_run_close(whole);
    pl_run_close(half);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("bend_dissipation");
    tcase_add_loop_test(t, rayleigh_is_of_every_stiffness, 0, COUNT);
    tcase_add_loop_test(t, viscosity_goes_through_the_thickness, 0, BENDS);
    tcase_add_loop_test(t, powers_of_bends_have_their_closed_forms, 0, BENDS);
    tcase_add_loop_test(t, methods_come_to_the_same_bend, 0,
                        4 * sizeof FUNCTIONS / sizeof *FUNCTIONS);
    tcase_add_test(t, the_correction_of_an_angle_is_of_second_order);
    tcase_add_test(t, principal_strains_are_of_solids);
    tcase_add_loop_test(t, bends_go_on, 0, 2);
    return run_cases("bend_dissipation", t);
}
