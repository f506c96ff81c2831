/* Random piles of blocks, balls, sheets and ropes: nothing crosses in any frame, by brute force in
 * quadruple precision, and nothing that touches makes energy. Two piles; PLIANT_LONG=1: twelve larger ones. */
#include "tests/support/contact_scene.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"
#include "tests/support/touching_surface.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t seed;

static double draw(void)
{
    return contact_draw(&seed);
}

static const struct {
    const char *mesh, *material;
} KINDS[] = {{"{'box': {'size': [0.3, 0.2, 0.25], 'cells': [2, 2, 2]}}", "m"},
             {"{'sphere': {'radius': 0.16, 'cells': 3}}", "m"},
             {"{'cloth': {'size': [0.5, 0.5], 'cells': [6, 6]}}", "c"},
             {"{'rope': {'length': 0.6, 'segments': 10}}", "r"}};

/* Bodies of random kinds, turned anyhow, that fall onto each other one after the other, and onto a floor. */
static pl_run *pile(int count)
{
    char bodies[4096] = "";
    for (int i = 0; i < count; i++) {
        const int kind = (int)(2 + 2 * draw());
        snprintf(
            bodies + strlen(bodies), sizeof bodies - strlen(bodies),
            "%s{'mesh': %s, 'material': '%s', 'transform': {'rotate': {'axis': [%g, %g, %g],"
            " 'degrees': %g}, 'translate': [%g, %g, %g]}, 'initial': {'velocity': [%g, %g, %g]}}",
            i ? ", " : "", KINDS[kind].mesh, KINDS[kind].material, draw(), draw(), 1 + 0.5 * draw(),
            180 * draw(), 0.12 * draw(), 0.38 + 0.73 * i, 0.12 * draw(), 0.5 * draw(), -1 - 2.0 * i,
            0.5 * draw());
    }
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2}, 'contact': {'friction': 0.4},"
        " 'solver': {'iterations': 300, 'tolerance': 1e-3},"
        " 'materials': {'m': {'young': 2e5}, 'c': {'young': 1e5, 'density': 300,"
        "   'thickness': 0.004, 'bending': {'model': 'hinge'}},"
        "   'r': {'young': 1e7, 'area': 2e-4, 'bending': {}}},"
        " 'bodies': [%s], 'obstacles': [{'plane': {}, 'friction': 0.5, 'margin': 0.01}]}",
        bodies);
}

static double energy(const pl_run *r)
{
    return r->metrics.kinetic + r->metrics.elastic + r->metrics.gravity;
}

START_TEST(nothing_crosses_in_a_pile)
{
    const int frames = is_long_form() ? 60 : 40;
    seed = 2 * (uint64_t)_i + 2;
    pl_run *r = pile(is_long_form() ? 6 + _i % 3 : 4);
    touching_surface s = touching_surface_of(r);
    double start = INFINITY;
    int touched = 0;
    for (int k = 0; k < frames; k++) {
        pl_run_frames(r, 1);
        ck_assert_msg(touching_crossings(&s, r) == 0, "pile %d, frame %d", _i, k);
        ck_assert(!(r->metrics.contact.gap <= 0));
        touched += r->metrics.contact.pairs > 0;
        start = fmin(start, k == 0 ? energy(r) : start);
        ck_assert_double_le(energy(r), start + 1e-3 * fabs(start));
    }
    ck_assert_int_gt(touched, 5);
    touching_surface_clear(&s);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("piles");
    tcase_set_timeout(t, 1800);
    tcase_add_loop_test(t, nothing_crosses_in_a_pile, 0, is_long_form() ? 12 : 2);
    return run_cases("touching_piles", t);
}
