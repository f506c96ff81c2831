/* Nothing gains energy: what falls on obstacles with every integrator, restitution and stiffness, hard limits that
 * become tight, and a step that would gain some is one of backward Euler. E - E0 <= 1e-3 (E0 - min E), to
 * rounding of what there is.
 */
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const NAMES[] = {"backward_euler",    "bdf2",    "trapezoidal",
                                    "implicit_midpoint", "tr_bdf2", "sdirk2"};
enum { INTEGRATORS = sizeof NAMES / sizeof *NAMES, LIMITED = 4 };
/* Integrators that support hard limits. */
static const char *const LIMITED_BY[LIMITED] = {"backward_euler", "bdf2", "tr_bdf2", "sdirk2"};

typedef struct energies {
    double first, least, most, scale; /* J */
    int64_t contacts;
} energies;

static energies run(pl_run *r, int frames)
{
    pl_state_measure(r->model, r->state, &r->metrics);
    energies e = {.scale = 0};
    for (int n = 0; n <= frames; n++) {
        if (n > 0)
            pl_run_frames(r, 1);
        const pl_metrics *m = &r->metrics;
        double all = m->kinetic + m->elastic + m->gravity;
        if (n == 0)
            e.first = e.least = e.most = all;
        e.least = fmin(e.least, all);
        e.most = fmax(e.most, all);
        e.scale = fmax(e.scale, m->kinetic + fabs(m->elastic));
        e.contacts += m->contacts;
    }
    return e;
}

static bool gains(const energies *e)
{
    return e->most - e->first > 1e-3 * (e->first - e->least) + 1e-9 * e->scale;
}

/* A tilted box falls by its own size on a plane and on its edge: without the steps of backward Euler BDF2 gains at
 * 1e5 Pa, TR-BDF2 and SDIRK2 at 1e9 with every restitution, the midpoint rule at 1e7. */
START_TEST(landing_makes_none)
{
    static const double E[] = {1e5, 1e7, 1e9}, RESTITUTION[] = {0, 0.7, 1, 0.3};
    int worth = is_long_form() ? 4 : 2;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < worth; j++) {
            double e = RESTITUTION[is_long_form() ? j : (j + k) % 3];
            pl_run *r = pl_run_openf(
                1,
                "{'pliant': 1, 'time': {'step': 0.02, 'steps': 40, 'integrator': '%s'},"
                " 'solver': {'method': 'newton', 'iterations': 60},"
                " 'materials': {'m': {'young': %g, 'poisson': 0.3}},"
                " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.2, 0.2], 'cells': [4, 2, 2]}},"
                "   'transform': {'translate': [0, 0.5, 0], 'rotate': {'axis': [1, 0, 2],"
                "   'degrees': 30}}, 'initial': {'velocity': [0, -1, 0]}}],"
                " 'obstacles': [{'plane': {}, 'friction': 0.3, 'restitution': %g}]}",
                NAMES[_i], E[k], e);
            energies found = run(r, 40);
            ck_assert_int_gt(found.contacts, 3);
            ck_assert_msg(!gains(&found), "%s, E = %g, e = %g: %g J more of %g that were lost",
                          NAMES[_i], E[k], e, found.most - found.first, found.first - found.least);
            pl_run_close(r);
        }
}
END_TEST

/* The audit's cube, which continues without gravity: the energy that it bounces with stays visible. */
START_TEST(bouncing_makes_none)
{
    static const double E[] = {1e6, 1e8};
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2; j++) {
            pl_run *r = pl_run_openf(
                1,
                "{'pliant': 1, 'time': {'step': 0.01, 'steps': 60, 'integrator': '%s'},"
                " 'gravity': [0, 0, 0], 'solver': {'method': 'newton', 'iterations': 60},"
                " 'materials': {'m': {'young': %g, 'poisson': 0.3}},"
                " 'bodies': [{'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [2, 2, 2]}},"
                "   'transform': {'translate': [0, 0.3, 0]}, 'initial': {'velocity': [0, -1,"
                "   0]}}], 'obstacles': [{'plane': {}, 'restitution': %g}]}",
                NAMES[_i], E[k], j == 0 ? 0.7 : 0.3);
            energies found = run(r, 60);
            ck_assert_msg(!gains(&found), "%s, E = %g: %g J more of %g that were lost", NAMES[_i],
                          E[k], found.most - found.first, found.first - found.least);
            pl_run_close(r);
        }
}
END_TEST

/* A rope that falls until it is tight, and a cloth that may stretch by a fiftieth; the quick form takes two scenes of
 * each integrator, two integrators of each scene. */
START_TEST(limits_make_none)
{
    static const char *const SCENES[] = {
        "'solver': {'method': 'admm', 'iterations': 400, 'tolerance': 1e-6}, 'materials': {'m':"
        " {'young': 1e5, 'density': 100, 'thickness': 0.01, 'inextensible': 'rope'}},"
        " 'bodies': [{'mesh': {'rope': {'length': 1, 'segments': 12}}}],"
        " 'pins': [{'select': {'side': '-x'}}]",
        "'solver': {'method': 'auto'}, 'materials': {'m':"
        " {'young': 1e5, 'density': 100, 'thickness': 0.01, 'inextensible': 'rope'}},"
        " 'bodies': [{'mesh': {'rope': {'length': 1, 'segments': 12}}}],"
        " 'pins': [{'select': {'side': '-x'}}]",
        "'solver': {'method': 'auto'}, 'materials': {'m': {'density': 100, 'inextensible': 'rod'}},"
        " 'bodies': [{'mesh': {'rope': {'length': 1, 'segments': 12}}}],"
        " 'pins': [{'select': {'side': '-x'}}]",
        "'solver': {'method': 'admm', 'iterations': 400, 'tolerance': 1e-6}, 'materials': {'m':"
        " {'young': 1e4, 'density': 300, 'thickness': 0.001, 'strain_limit': {'by':"
        " 'singular_values', 'low': 0, 'high': 1.02}}}, 'bodies': [{'mesh': {'cloth': {'size':"
        " [1, 1], 'cells': [6, 6]}}}], 'pins': [{'select': {'side': '-x'}}]"};
    const int frames = is_long_form() ? 100 : 70;
    for (size_t k = 0; k < sizeof SCENES / sizeof *SCENES; k++) {
        if (!is_long_form() && (k + (size_t)_i / 2) % 2 != 0)
            continue;
        pl_run *r = pl_run_openf(
            1, "{'pliant': 1, 'time': {'step': 0.01, 'steps': 100, 'integrator': '%s'}, %s}",
            LIMITED_BY[_i], SCENES[k]);
        energies found = run(r, frames);
        ck_assert_double_gt(found.first - found.least, 1e-3);
        ck_assert_msg(!gains(&found), "%s, scene %zu: %g J more of %g that were lost",
                      LIMITED_BY[_i], k, found.most - found.first, found.first - found.least);
        pl_run_close(r);
    }
}
END_TEST

/* The after-effects of such a step are the same from a saved state, to the bit. */
START_TEST(goes_on_from_a_landing)
{
    static const char scene[] =
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 60, 'integrator': '%s'},"
        " 'materials': {'m': {'young': 1e8, 'poisson': 0.3}}, 'solver': {'method': 'newton'},"
        " 'bodies': [{'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [2, 2, 2]}},"
        "   'transform': {'translate': [0, 0.13, 0], 'rotate': {'axis': [1, 0, 2], 'degrees':"
        "   9}}, 'initial': {'velocity': [0, -1, 0]}}],"
        " 'obstacles': [{'plane': {}, 'restitution': 0.5}]}";
    for (int at = 1; at <= 4; at++) {
        pl_run *r = pl_run_openf(1, scene, NAMES[_i]), *other = pl_run_openf(1, scene, NAMES[_i]);
        pl_run_frames(r, at);
        pl_run_go_on(r, other, 8);
        pl_run_close(r);
        pl_run_close(other);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("energy");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, landing_makes_none, 0, INTEGRATORS);
    tcase_add_loop_test(t, bouncing_makes_none, 0, INTEGRATORS);
    tcase_add_loop_test(t, limits_make_none, 0, LIMITED);
    tcase_add_loop_test(t, goes_on_from_a_landing, 0, INTEGRATORS);
    return run_cases("energy", t);
}
