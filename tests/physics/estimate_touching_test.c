/* The estimate for a scene with contact between bodies, compared with actual use (by hand, see below) and with the same
 * scene without contact. */
#include "engine/contact/points.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BALL(y)                                                                                    \
    "{'mesh': {'sphere': {'radius': 0.15, 'cells': 6}}, 'material': 'm', 'transform':"             \
    " {'translate': [0, " y ", 0]}}"
#define SHEET "{'mesh': {'cloth': {'size': [0.4, 0.8], 'cells': [20, 40]}}, 'material': 'c'}"
enum { SHEET_TRIANGLES = 2 * 20 * 40, SHEET_VERTICES = 21 * 41 };

static pl_estimate estimate(const char *bodies, const char *more)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 9}, 'materials': {'m': {'young': 2e5},"
        " 'c': {'young': 1e5, 'density': 300, 'thickness': 0.002, 'bending': {'model': 'hinge'}}}, "
        "'bodies': [%s]%s}",
        bodies, more);
    pl_estimate out;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &out, NULL, &faults), PL_OK);
    pl_faults_clear(&faults);
    pl_run_close(r);
    return out;
}

#define OFF ", 'contact': {'enabled': false}"

/* Trees, tables and pairs of a sheet that lies on itself: 4.6 MB were measured of 6,400 triangles with lbfgs. With
 * auto Newton's factor is larger, too: the worker took 41.7 MB for this sheet. */
START_TEST(memory)
{
    static const char *const methods[] = {"lbfgs", "auto"};
    char more[64], off[128];
    snprintf(more, sizeof more, ", 'solver': {'method': '%s'}", methods[_i]);
    snprintf(off, sizeof off, "%s" OFF, more);
    const pl_estimate with = estimate(SHEET, more), without = estimate(SHEET, off);
    const double own = with.memory_bytes - without.memory_bytes;
    const double least = 4.6e6 / 6400 * SHEET_TRIANGLES;
    if (_i == 0)
        ck_assert(own > least && own < 2 * least);
    else
        ck_assert(own > 4 * least && with.memory_bytes > 41.7e6 &&
                  with.memory_bytes < 1.5 * 41.7e6);
}
END_TEST

START_TEST(time)
{
    const char *two = BALL("0") ", " BALL("0.4");
    const pl_estimate with = estimate(two, ""), without = estimate(two, OFF),
                      alone = estimate(BALL("0"), ""), ignored = estimate(BALL("0"), OFF);
    /* 14 iterations a frame without contact and 49 with were measured where balls fall on each other. */
    ck_assert_double_gt(with.seconds_per_frame, 1.4 * without.seconds_per_frame);
    ck_assert_double_lt(with.seconds_per_frame, 2 * without.seconds_per_frame);
    /* A single solid is looked at, and rarely touches itself. */
    ck_assert_double_gt(alone.seconds_per_frame, ignored.seconds_per_frame);
    ck_assert_double_lt(alone.seconds_per_frame, 1.25 * ignored.seconds_per_frame);
}
END_TEST

/* Points of contact count where they are stored: at most as many as a frame may have. */
START_TEST(bytes)
{
    const char *ask = ", 'output': {'fields': ['position', 'contacts']}";
    const char *twice = ", 'output': {'fields': ['position', 'contacts'], 'precision': 'double'}";
    const pl_estimate with = estimate(SHEET, ask), without = estimate(SHEET, ""),
                      wide = estimate(SHEET, twice);
    const double points = 0.5 * SHEET_TRIANGLES;
    ck_assert_double_eq_tol(without.frame_bytes, 12 * SHEET_VERTICES + 1200, 1);
    ck_assert_double_eq_tol(with.frame_bytes - without.frame_bytes, 36 * points, 1);
    ck_assert_double_eq_tol(wide.frame_bytes - 24 * SHEET_VERTICES - 1200, 64 * points, 1);
    const char *large =
        "{'mesh': {'cloth': {'size': [0.4, 0.8], 'cells': [250, 300]}}, 'material': 'c'}";
    const char *cheap = ", 'solver': {'method': 'gradient_descent'}, 'output': {'fields':"
                        " ['position', 'contacts']}";
    const double most = estimate(large, cheap).frame_bytes - 12 * 251 * 301 - 1200;
    ck_assert_double_eq_tol(most, 36.0 * PL_CONTACT_POINTS, 1);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("estimates");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, memory, 0, 2);
    tcase_add_test(t, time);
    tcase_add_test(t, bytes);
    return run_cases("estimates of touching", t);
}
