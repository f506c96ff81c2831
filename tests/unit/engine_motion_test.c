/* Keyframed motions: where they are, and how fast. */
#include "engine/scene/motion.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static pl_motion motion_of(pl_keyframe *keys, int32_t count, pl_interpolation interpolation)
{
    return (pl_motion){.present = true,
                       .keyframes = keys,
                       .keyframe_count = count,
                       .interpolation = interpolation,
                       .has_origin = true,
                       .origin = {0, 2, 0}};
}

static void at(const pl_motion *motion, double time, const double x[3], double out[3])
{
    pl_pose pose = pl_motion_pose(motion, time);
    pl_pose_apply(&pose, x, out);
}

static void close_to(const double x[3], double a, double b, double c)
{
    ck_assert_double_eq_tol(x[0], a, 1e-14);
    ck_assert_double_eq_tol(x[1], b, 1e-14);
    ck_assert_double_eq_tol(x[2], c, 1e-14);
}

/* A bob hung one below the origin (0, 2, 0) swings about z: 0, +30, -30 degrees. */
START_TEST(pendulum)
{
    pl_keyframe keys[] = {{.time = 1, .axis = {0, 0, 1}, .degrees = 30},
                          {.time = 3, .axis = {0, 0, 1}, .degrees = -30}};
    pl_motion m = motion_of(keys, 2, PL_INTERPOLATION_LINEAR);
    const double bob[3] = {0, 1, 0};
    const double time[] = {0, 0.5, 1, 1.5, 2, 3, 9}, degrees[] = {0, 15, 30, 15, 0, -30, -30};
    for (int k = 0; k < 7; k++) {
        double x[3], angle = degrees[k] * M_PI / 180;
        at(&m, time[k], bob, x);
        close_to(x, sin(angle), 2 - cos(angle), 0);
    }
    /* Its speed is the angle's: 30 degrees a second at first, at right angles to the string. */
    double v[3];
    pl_motion_velocity(&m, bob, 0, v);
    close_to(v, M_PI / 6, 0, 0);
    pl_motion_velocity(&m, bob, 2, v);
    close_to(v, -M_PI / 6, 0, 0);
    pl_motion_velocity(&m, bob, 9, v);
    close_to(v, 0, 0, 0);
    /* Smoothly: a quarter of the way in time is 3/16 - 1/32 = 5/32 of it; at rest at the keys. */
    m.interpolation = PL_INTERPOLATION_SMOOTH;
    double x[3], angle = 30 * 5.0 / 32 * M_PI / 180;
    at(&m, 0.25, bob, x);
    close_to(x, sin(angle), 2 - cos(angle), 0);
    for (int k = 0; k < 4; k++) {
        pl_motion_velocity(&m, bob, k, v);
        if (k != 2)
            close_to(v, 0, 0, 0);
    }
}
END_TEST

/* Between keys of one axis degrees are interpolated, otherwise the shortest rotation: from 90 about x to 90 about y it
 * is 120 degrees about (-1, 1, 1) / sqrt 3, which maps (x, y, z) to (-y, z, -x). */
START_TEST(turns_and_slerp)
{
    pl_keyframe keys[] = {{.time = 0},
                          {.time = 1, .axis = {0, 0, 1}, .degrees = 720},
                          {.time = 2},
                          {.time = 3, .axis = {1, 0, 0}, .degrees = 90},
                          {.time = 5, .axis = {0, 1, 0}, .degrees = 90}};
    pl_motion m = motion_of(keys, 5, PL_INTERPOLATION_LINEAR);
    m.origin[1] = 0;
    const double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double x[3], R[9];
    at(&m, 0.125, e[0], x); /* an eighth of two turns */
    close_to(x, 0, 1, 0);
    at(&m, 1.0625, e[0], x); /* and back */
    close_to(x, sqrt(0.5), -sqrt(0.5), 0);
    at(&m, 2.5, e[1], x);
    close_to(x, 0, sqrt(0.5), sqrt(0.5));
    at(&m, 5, e[2], x);
    close_to(x, 1, 0, 0);
    /* Half way from one to the other: 90 about x, then 60 about the axis of the difference. */
    pl_pose pose = pl_motion_pose(&m, 4), before = pl_motion_pose(&m, 3),
            after = pl_motion_pose(&m, 5);
    double half[3], rest[3], axis[3] = {-1 / sqrt(3), 1 / sqrt(3), 1 / sqrt(3)};
    pl_rotation(axis, 60, R);
    for (int k = 0; k < 3; k++) {
        double a[3], b[3];
        pl_pose_rotate(&pose, e[k], half);
        pl_pose_rotate(&before, e[k], a);
        for (int i = 0; i < 3; i++)
            rest[i] = R[i] * a[0] + R[i + 3] * a[1] + R[i + 6] * a[2];
        close_to(half, rest[0], rest[1], rest[2]);
        pl_pose_rotate(&after, e[k], b);
        for (int i = 0; i < 3; i++)
            a[i] = R[i] * half[0] + R[i + 3] * half[1] + R[i + 6] * half[2];
        close_to(a, b[0], b[1], b[2]);
    }
}
END_TEST

/* Velocities are the derivatives of positions, everywhere but at a linear motion's keys. */
START_TEST(velocity_is_the_derivative)
{
    pl_keyframe keys[] = {
        {.time = 0.3, .translate = {1, 2, 3}, .axis = {0.6, 0, 0.8}, .degrees = 200},
        {.time = 1.3, .translate = {1, 0, -1}, .axis = {0, 1, 0}, .degrees = -300},
        {.time = 1.9, .translate = {0, 1, 0}, .axis = {0, 1, 0}, .degrees = 500}};
    pl_motion keyed = motion_of(keys, 3, (pl_interpolation)_i);
    pl_motion rates = {.present = true,
                       .velocity = {1, 2, 3},
                       .axis = {0, 0.6, 0.8},
                       .degrees_per_second = 100,
                       .origin = {1, 1, 1}};
    const double x[3] = {1, -1, 0.5}, d = 1e-5;
    for (int k = 0; k < 24; k++) {
        double time = 0.05 + 0.09 * k, lo[3], hi[3], v[3];
        for (int which = 0; which < 2; which++) {
            const pl_motion *m = which ? &rates : &keyed;
            at(m, time - d, x, lo);
            at(m, time + d, x, hi);
            pl_motion_velocity(m, x, time, v);
            for (int c = 0; c < 3; c++)
                ck_assert_double_eq_tol(v[c], (hi[c] - lo[c]) / (2 * d), 1e-6);
        }
    }
}
END_TEST

/* A key at time 0 that is elsewhere moves things at once; a motion that is not present never. */
START_TEST(start)
{
    pl_keyframe keys[] = {{.time = 0, .translate = {1, 0, 0}, .axis = {0, 0, 1}, .degrees = 90}};
    pl_motion m = motion_of(keys, 1, PL_INTERPOLATION_LINEAR), none = {.keyframe_count = 1};
    const double x[3] = {0, 3, 0};
    double out[3];
    at(&m, 0, x, out);
    close_to(out, 0, 2, 0);
    at(&none, 7, x, out);
    close_to(out, 0, 3, 0);
    pl_motion_velocity(&none, x, 7, out);
    close_to(out, 0, 0, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/motion");
    TCase *c = tcase_create("keyframes");
    tcase_add_test(c, pendulum);
    tcase_add_test(c, turns_and_slerp);
    tcase_add_loop_test(c, velocity_is_the_derivative, 0, 2);
    tcase_add_test(c, start);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
