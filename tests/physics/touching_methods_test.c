/* Contact between bodies under every method: a step of a stack and of a crumpled cloth from one state, against
 * Newton's answer; and scenes that once stalled, or that only some methods are asked for: a light sheet on a heavy
 * block, and friction in statics. PLIANT_LONG=1: the slow methods, too. */
#include "tests/support/long_form.h"
#include "tests/support/suite.h"
#include "tests/support/touching_surface.h"

#include "engine/model/model.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

/* ---- one step from one state ---- */

#define TIME "{'pliant': 1, 'time': {'step': 0.02, 'duration': 10}, 'solver': {%s}, "
#define CUBE                                                                                       \
    "'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}}, 'transform': {'translate': "
#define FIRST "{'name': 'first', " CUBE

/* Five cubes, each turned aside from the one below, that begin 5 mm apart. */
static const char STACK[] = TIME
    "'materials': {'m': {'model': 'arap', 'young': 1e6}}, 'bodies': [" FIRST "[0, 0.2, 0]}},"
    " {" CUBE "[0.02, 0.605, 0.01]}}, {" CUBE "[0, 1.01, 0.02]}},"
    " {" CUBE "[0.02, 1.415, 0.03]}}, {" CUBE "[0, 1.82, 0.04]}}],"
    " 'pins': [{'body': 'first', 'select': {'side': '-y'}}]}";

/* A sheet that falls on its edge crumples on a block. */
static const char SHEET[] = TIME
    "'materials': {'c': {'model': 'arap', 'young': 1e5, 'density': 300, 'thickness': 0.004}},"
    " 'bodies': [{'mesh': {'cloth': {'size': [0.4, 0.8], 'cells': [4, 8]}},"
    "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 8},"
    "     'translate': [0, 0.45, 0]}},"
    "  {'name': 'table', 'mesh': {'box': {'size': [1.2, 0.1, 1.2], 'cells': [2, 1, 2]}},"
    "   'transform': {'translate': [0, -0.05, 0]}}],"
    " 'pins': [{'body': 'table', 'select': 'all'}]}";

/* Distances to Newton's answer, m. Newton, ADMM and projective dynamics agree on the cloth to 2e-6. Which pairs become
 * rows depends on the iterates there: the other methods end in that answer, or in another 1e-4 away, a fortieth of its
 * thickness. */
typedef struct method {
    const char *name;
    bool slow;
    double stack, sheet;
} method;
static const method METHODS[] = {{"auto", false, 1e-6, 2e-4},
                                 {"admm", false, 1e-6, 5e-6},
                                 {"projective_dynamics", false, 1e-6, 5e-6},
                                 {"quasi_newton", false, 1e-6, 2e-4},
                                 {"lbfgs", false, 1e-6, 2e-4},
                                 {"nonlinear_cg", true, 1e-6, 2e-4},
                                 {"gradient_descent", true, 1e-5, 1e-3},
                                 {"barzilai_borwein", true, 1e-6, 2e-4},
                                 {"vertex_block_descent", true, 1e-6, 2e-4}};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

static pl_run *with_method(const char *scene, const char *name, const char *tolerance)
{
    char solver[128];
    snprintf(solver, sizeof solver, "'method': '%s', 'iterations': 5000, 'tolerance': %s", name,
             tolerance);
    return pl_run_openf(1, scene, solver);
}

/* The step of `name` that follows the state of `from`. */
static pl_run *step_of(const char *scene, const char *name, const pl_run *from)
{
    pl_run *r = with_method(scene, name, "1e-7");
    ck_assert_int_eq(pl_state_follow(r->state, from->state), PL_OK);
    pl_run_frames(r, 1);
    return r;
}

static double distance(const pl_run *a, const pl_run *b)
{
    double most = 0;
    for (int64_t i = 0; i < 3 * pl_run_vertices(a); i++)
        most = fmax(most, fabs(pl_run_x(a)[i] - pl_run_x(b)[i]));
    return most;
}

START_TEST(methods_agree)
{
    const bool cloth = _i == 1;
    const char *scene = cloth ? SHEET : STACK;
    pl_run *start = with_method(scene, "newton", "1e-5");
    pl_run_frames(start, cloth ? 12 : 8);
    ck_assert_int_gt(start->metrics.contact.pairs, cloth ? 30 : 100);
    pl_run *best = step_of(scene, "newton", start);
    ck_assert_int_eq(best->metrics.unconverged, 0);
    for (int k = 0; k < METHOD_COUNT; k++) {
        const method *m = &METHODS[k];
        if (m->slow && !is_long_form())
            continue;
        pl_run *r = step_of(scene, m->name, start);
        ck_assert_msg(m->slow || r->metrics.unconverged == 0, "%s", m->name);
        const double off = distance(r, best), most = cloth ? m->sheet : m->stack;
        ck_assert_msg(off <= most, "%s: %g m", m->name, off);
        pl_run_close(r);
    }
    pl_run_close(best);
    pl_run_close(start);
}
END_TEST

/* ---- mass ratios ---- */

/* A sheet of 0.2 kg/m^2 on a soft block that is 5333 times as heavy: every step converges, and the block carries the
 * sheet's weight. ADMM supports no hinges. */
static const struct {
    const char *method, *bending;
} LIGHT[] = {{"'auto'", "'bending': {'model': 'hinge'}, "},
             {"'newton', 'iterations': 1000", "'bending': {'model': 'hinge'}, "},
             {"'admm', 'iterations': 1000", ""}};

START_TEST(a_light_sheet_on_a_heavy_block)
{
    const int cells = is_long_form() ? 8 : 5;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.02, 'duration': 10},"
        " 'solver': {'method': %s, 'tolerance': 1e-3}, 'materials': {"
        "   'm': {'young': 1e5, 'damping': {'model': 'viscous', 'viscosity': 2000}},"
        "   'c': {'young': 1e6, 'density': 200, 'thickness': 0.001, %s"
        "     'damping': {'model': 'viscous', 'viscosity': 500}}},"
        " 'bodies': [{'name': 'block', 'material': 'm',"
        "   'mesh': {'box': {'size': [0.8, 0.6, 0.8], 'cells': [4, 3, 4]}}},"
        "  {'material': 'c', 'mesh': {'cloth': {'size': [0.6, 0.6], 'cells': [%d, %d]}},"
        "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 90},"
        "     'translate': [0, 0.32, 0]}}],"
        " 'pins': [{'body': 'block', 'select': {'side': '-y'}}]}",
        LIGHT[_i].method, LIGHT[_i].bending, cells, cells);
    const double weight = 0.36 * 0.2 * g;
    const int frames = is_long_form() ? 60 : 22, settled = 19;
    double sum = 0;
    for (int k = 1; k <= frames; k++) {
        pl_run_frames(r, 1);
        ck_assert_msg(r->metrics.unconverged == 0, "frame %d", k);
        sum += k > settled ? touching_force(r, 0, 1, 1) : 0;
    }
    ck_assert_double_eq_tol(sum / (frames - settled), weight, 0.01 * weight);
    pl_run_close(r);
}
END_TEST

/* ---- friction in statics ---- */

/* A block is pressed on another that is held, and drawn sideways by 1 cm a step: it sticks, and then slides with
 * Coulomb's force. The work of friction is that force by the way. */
START_TEST(statics_rub)
{
    static const char *const methods[] = {"newton", "admm", "auto"};
    const double mu = 0.3;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 1, 'steps': 8, 'integrator': 'quasi_static'},"
        " 'gravity': [0, 0, 0], 'contact': {'friction': %g},"
        " 'solver': {'method': '%s', 'iterations': 5000, 'tolerance': 1e-6},"
        " 'materials': {'m': {'young': 1e6, 'poisson': 0}}, 'bodies': ["
        "  {'name': 'a', 'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}}},"
        "  {'name': 'b', 'mesh': {'box': {'size': [0.4, 0.2, 0.2], 'cells': [3, 2, 2]}},"
        "   'transform': {'translate': [0.45, 0, 0]}}],"
        " 'pins': [{'body': 'a', 'select': 'all'}, {'body': 'b', 'select': {'side': '+x'},"
        "   'motion': {'interpolation': 'linear', 'keyframes': [{'time': 0},"
        "     {'time': 1, 'translate': [-0.07, 0, 0]}, {'time': 8, 'translate': [-0.07, 0.07, 0]}]"
        "}}]}",
        mu, methods[_i]);
    double rubbed = 0;
    for (int k = 1; k <= 8; k++) {
        pl_run_frames(r, 1);
        const double press = touching_force(r, 0, 1, 0), rub = -touching_force(r, 0, 1, 1);
        const double work = r->metrics.contact.friction_work - rubbed;
        rubbed += work;
        ck_assert_int_eq(r->metrics.unconverged, 0);
        ck_assert_double_gt(press, 2000);
        ck_assert_double_eq_tol(r->metrics.pins[1].newton[1], rub, 1e-4 * press);
        if (k == 1)
            ck_assert_double_eq_tol(rub, 0, 1e-4 * press);
        else if (k <= 3) { /* it sticks */
            ck_assert_double_lt(rub, 0.8 * mu * press);
            ck_assert_double_le(fabs(work), 1e-3 * rub * 0.01);
        } else if (k >= 6) {
            ck_assert_double_eq_tol(rub, mu * press, 0.002 * mu * press);
            ck_assert_double_eq_tol(work, mu * press * 0.01, 0.01 * mu * press * 0.01);
        }
    }
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("touching_methods");
    tcase_set_timeout(t, 900);
    tcase_add_loop_test(t, methods_agree, 0, 2);
    tcase_add_loop_test(t, a_light_sheet_on_a_heavy_block, 0, sizeof LIGHT / sizeof *LIGHT);
    tcase_add_loop_test(t, statics_rub, 0, 3);
    return run_cases("touching_methods", t);
}
