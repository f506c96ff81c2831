#include "engine/scene/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* R = S T, column-major. */
static void multiply(const double S[9], const double T[9], double R[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i + 3 * j] = S[i] * T[3 * j] + S[i + 3] * T[1 + 3 * j] + S[i + 6] * T[2 + 3 * j];
}

/* ---- keyframes ---- */

/* The two keyframes around a time, the fraction of the way between them, and its rate. */
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

/* The axis and the angle, degrees, of the rotation from a's to b's: q = b conj(a), the shorter way. */
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

/* Pose and velocity of a keyframed motion at a time. */
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
    multiply(S, R, out.pose.R);
    return out;
}

/* ---- any motion ---- */

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

/* R(t) = R(axis, rate (t - since)) R(since), d(t) = d(since) + v (t - since); or by keyframes. */
static pl_pose driven_pose(const pl_motion *motion, double time)
{
    const pl_drive *drive = motion->drive;
    double gone = time - drive->since;
    pl_pose pose = drive->from;
    if (drive->motion.keyframe_count > 0) {
        pose = keyframed(&drive->motion, gone).pose;
    } else {
        double turn[9];
        pl_rotation(drive->motion.axis, drive->motion.degrees_per_second * gone, turn);
        if (drive->motion.degrees_per_second != 0)
            multiply(turn, drive->from.R, pose.R);
        for (int c = 0; c < 3; c++)
            pose.shift[c] += drive->motion.velocity[c] * gone;
    }
    memcpy(pose.origin, motion->origin, sizeof pose.origin);
    return pose;
}

pl_pose pl_motion_pose(const pl_motion *motion, double time)
{
    pl_pose pose = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (motion->drive && motion->drive->on)
        return driven_pose(motion, time);
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

/* ---- taking over ---- */

/* A rotation's axis and angle, from the unit quaternion (w, x, y, z). Its largest component is computed from its
 * square, 4 w^2 = 1 + trace and so on, and the others are divided by it (Shepperd 1978). */
static void axis_of(const double R[9], double axis[3], double *degrees)
{
    double trace = R[0] + R[4] + R[8], q[4], length = 0;
    int big = 0;
    for (int c = 1; c < 3; c++)
        if (R[4 * c] > R[4 * big])
            big = c;
    if (trace > R[4 * big]) {
        double s = sqrt(1 + trace);
        q[0] = s / 2;
        for (int c = 0; c < 3; c++) {
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            q[1 + c] = (R[c2 + 3 * c1] - R[c1 + 3 * c2]) / (2 * s);
        }
    } else {
        int c1 = (big + 1) % 3, c2 = (big + 2) % 3;
        double s = sqrt(1 + R[4 * big] - R[4 * c1] - R[4 * c2]);
        q[0] = (R[c2 + 3 * c1] - R[c1 + 3 * c2]) / (2 * s);
        q[1 + big] = s / 2;
        q[1 + c1] = (R[big + 3 * c1] + R[c1 + 3 * big]) / (2 * s);
        q[1 + c2] = (R[big + 3 * c2] + R[c2 + 3 * big]) / (2 * s);
    }
    for (int c = 0; c < 3; c++)
        length += q[1 + c] * q[1 + c];
    length = sqrt(length);
    *degrees = 2 * atan2(length, q[0]) * (180 / M_PI);
    for (int c = 0; c < 3; c++)
        axis[c] = length > 0 ? q[1 + c] / length : c == 2;
}

void pl_drive_clear(pl_drive *drive)
{
    free(drive->motion.keyframes);
    *drive = (pl_drive){0};
}

pl_status pl_motion_take_over(const pl_motion *motion, const pl_motion *to, double time,
                              pl_drive *drive)
{
    pl_drive next = {.on = true, .since = time, .motion = *to};
    next.from = pl_motion_pose(motion, time);
    next.motion.drive = NULL;
    next.motion.present = true;
    next.motion.has_origin = false; /* the motion's own applies */
    memset(next.motion.origin, 0, sizeof next.motion.origin);
    int32_t given = to->keyframe_count;
    next.motion.keyframes = NULL;
    if (given > 0) {
        pl_keyframe *keys = next.motion.keyframes = calloc((size_t)given + 1, sizeof *keys);
        if (!keys)
            return PL_NO_MEMORY;
        int32_t count = 0;
        if (to->keyframes[0].time > 0) {
            axis_of(next.from.R, keys[0].axis, &keys[0].degrees);
            memcpy(keys[0].translate, next.from.shift, sizeof keys[0].translate);
            count = 1;
        }
        memcpy(keys + count, to->keyframes, (size_t)given * sizeof *keys);
        next.motion.keyframe_count = count + given;
    }
    pl_drive_clear(drive);
    *drive = next;
    return PL_OK;
}
