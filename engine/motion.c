#include "engine/motion.h"

#include <math.h>
#include <string.h>

/* ---- keyframes
 * ----------------------------------------------------------------------------------- */

/* The two keyframes around a time, how far it is from one to the other, and the rate of that. */
typedef struct between {
    pl_keyframe from, to;
    double s, rate; /* 1, 1/s */
} between;

static between find_segment(const pl_motion *motion, double time)
{
    static const pl_keyframe AT_REST = {.axis = {0, 0, 1}};
    const pl_keyframe *keys = motion->keyframes;
    int32_t count = motion->keyframe_count, next = 0;
    while (next < count && keys[next].time <= time)
        next++;
    between b = {.from = next > 0 ? keys[next - 1] : AT_REST};
    b.to = next < count ? keys[next] : b.from;
    double span = b.to.time - b.from.time;
    if (!(span > 0))
        return b;
    b.s = fmax(0, (time - b.from.time) / span);
    b.rate = 1 / span;
    if (motion->interpolation == PL_INTERPOLATION_SMOOTH) {
        b.rate *= 6 * b.s * (1 - b.s);
        b.s *= b.s * (3 - 2 * b.s);
    }
    return b;
}

/* Unit quaternion (w, x, y, z) of a keyframe's rotation. */
static void quaternion(const pl_keyframe *key, double q[4])
{
    double half = fmod(key->degrees, 720.0) * (M_PI / 360.0);
    q[0] = cos(half);
    for (int c = 0; c < 3; c++)
        q[1 + c] = sin(half) * key->axis[c];
}

/* The axis and the angle, degrees, that turn a's rotation into b's: q = b conj(a), the shorter way. */
static double turn_between(const pl_keyframe *from, const pl_keyframe *to, double axis[3])
{
    double a[4], b[4];
    quaternion(from, a);
    quaternion(to, b);
    double w = b[0] * a[0] + b[1] * a[1] + b[2] * a[2] + b[3] * a[3];
    for (int c = 0; c < 3; c++) {
        int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        axis[c] = a[0] * b[1 + c] - b[0] * a[1 + c] -
                  (b[1 + c1] * a[1 + c2] - b[1 + c2] * a[1 + c1]);
    }
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    for (int c = 0; c < 3; c++)
        axis[c] = length > 0 ? (w < 0 ? -axis[c] : axis[c]) / length : c == 2;
    return 2 * atan2(length, fabs(w)) * (180 / M_PI);
}

/* A keyframed motion at a time: where, and how fast. */
typedef struct keyed {
    pl_pose pose;
    double axis[3], turning, moving[3]; /* turning: degrees/s; moving: m/s */
} keyed;

static keyed keyframed(const pl_motion *motion, double time)
{
    between b = find_segment(motion, time);
    keyed out = {0};
    for (int c = 0; c < 3; c++) {
        double way = b.to.translate[c] - b.from.translate[c];
        out.pose.origin[c] = motion->origin[c];
        out.pose.shift[c] = b.from.translate[c] + b.s * way;
        out.moving[c] = b.rate * way;
    }
    const double *from = b.from.axis, *to = b.to.axis;
    bool same = from[0] == to[0] && from[1] == to[1] && from[2] == to[2];
    if (same || b.from.degrees == 0 || b.to.degrees == 0) {
        double turn = b.to.degrees - b.from.degrees;
        memcpy(out.axis, b.from.degrees != 0 ? from : to, sizeof out.axis);
        out.turning = b.rate * turn;
        pl_rotation(out.axis, b.from.degrees + b.s * turn, out.pose.R);
        return out;
    }
    double R[9], S[9], turn = turn_between(&b.from, &b.to, out.axis);
    out.turning = b.rate * turn;
    pl_rotation(from, b.from.degrees, R);
    pl_rotation(out.axis, b.s * turn, S);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.pose.R[i + 3 * j] = S[i] * R[3 * j] + S[i + 3] * R[1 + 3 * j] +
                                    S[i + 6] * R[2 + 3 * j];
    return out;
}

/* ---- any motion
 * ---------------------------------------------------------------------------------- */

void pl_motion_velocity(const pl_motion *motion, const double x[3], double time, double v[3])
{
    keyed at = {0};
    if (motion->present && motion->keyframe_count > 0) {
        at = keyframed(motion, time);
    } else if (motion->present) {
        at.pose = pl_motion_pose(motion, time);
        at.turning = motion->degrees_per_second;
        memcpy(at.axis, motion->axis, sizeof at.axis);
        memcpy(at.moving, motion->velocity, sizeof at.moving);
    }
    double rate = at.turning * (M_PI / 180), d[3], r[3];
    for (int c = 0; c < 3; c++)
        d[c] = x[c] - at.pose.origin[c];
    pl_pose_rotate(&at.pose, d, r);
    for (int c = 0; c < 3; c++) {
        int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        v[c] = at.moving[c] + rate * (at.axis[c1] * r[c2] - at.axis[c2] * r[c1]);
    }
}

pl_pose pl_motion_pose(const pl_motion *motion, double time)
{
    pl_pose pose = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (!motion->present)
        return pose;
    if (motion->keyframe_count > 0)
        return keyframed(motion, time).pose;
    if (motion->degrees_per_second != 0)
        pl_rotation(motion->axis, motion->degrees_per_second * time, pose.R);
    for (int c = 0; c < 3; c++) {
        pose.origin[c] = motion->origin[c];
        pose.shift[c] = motion->velocity[c] * time;
    }
    return pose;
}
