/* device_run.h - a scene's run on the backend for devices, its kernels run on the host, and the one on the CPU; and
 * functions to compare the two.
 */
#ifndef PLIANT_TESTS_SUPPORT_DEVICE_RUN_H
#define PLIANT_TESTS_SUPPORT_DEVICE_RUN_H

#include "engine/step/state.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* On the CPU, on the device in double precision, and in single. */
typedef enum precision { HOST, DOUBLE, SINGLE } precision;

/* The runs that are opened from now on are there. */
static inline void choose(precision p)
{
    if (p == HOST)
        pl_run_on_host();
    else
        setenv("PLIANT_TEST_BACKEND", p == SINGLE ? "emulated-single" : "emulated", 1);
}

/* The largest difference between two arrays; NaN if either contains one. */
static inline double greatest_difference(const double *a, const double *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        double way = fabs(a[i] - b[i]);
        most = way > most || isnan(way) ? way : most;
    }
    return most;
}

/* The same for two runs' positions. */
static inline double farthest(const pl_run *a, const pl_run *b)
{
    return greatest_difference(pl_run_x(a), pl_run_x(b), 3 * pl_run_vertices(a));
}

/* |a - b| <= share of the largest |a|, and `least`; NaNs must be in the same places. */
static inline void hold_numbers(const char *what, const double *a, const double *b, int count,
                                double share, double least)
{
    double size = 0;
    for (int k = 0; k < count; k++)
        size = fmax(size, fabs(a[k]));
    for (int k = 0; k < count; k++) {
        ck_assert_msg(isnan(a[k]) == isnan(b[k]), "%s %d: %g, %g", what, k, a[k], b[k]);
        if (!isnan(a[k]))
            ck_assert_msg(fabs(a[k] - b[k]) <= share * size + least, "%s %d: %.9g, %.9g", what, k,
                          a[k], b[k]);
    }
}

/* e of a run's first step, by backward Euler, at positions of the host's, in double, by the CPU that it is on,
 * whose stage is then that step's. */
static inline double objective_at(const pl_run *cpu, const double *x)
{
    const pl_model *m = cpu->model;
    int64_t count = 3 * m->vertices;
    double *pred = calloc((size_t)count, sizeof *pred);
    for (int64_t i = 0; i < count; i++)
        pred[i] = m->x0[i] + m->h * m->v0[i] + m->h * m->h * m->gravity[i % 3];
    const pl_backend_stage stage = {
        .scalars = {.a = 1, .h = m->h, .inertia = m->inertia, .span = m->h, .time_end = m->h},
        .x_start = pl_host_array(m->x0),
        .v_start = pl_host_array(m->v0),
        .xp = pl_host_array(m->x0),
        .x_pred = pl_host_array(pred)};
    pl_backend *b = cpu->state->whole.backend;
    b->ops->objective->freeze(b, &stage);
    double e = b->ops->objective->value(b, &stage, pl_host_array(x));
    free(pred);
    return e;
}

#endif
