#include "engine/model/motion.h"

#include <math.h>

void pl_rotation(const double axis[3], double degrees, double R[9])
{
    /* Whole turns are taken off first, so that a pin comes back to the same bits each turn. */
    double angle = fmod(degrees, 360.0) * (M_PI / 180.0);
    double c = cos(angle), s = sin(angle), t = 1 - c;
    double x = axis[0], y = axis[1], z = axis[2];
    double rows[9] = {t * x * x + c,     t * x * y - s * z, t * x * z + s * y,
                      t * x * y + s * z, t * y * y + c,     t * y * z - s * x,
                      t * x * z - s * y, t * y * z + s * x, t * z * z + c};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i + 3 * j] = rows[3 * i + j];
}

pl_pose pl_motion_pose(const pl_motion *motion, double time)
{
    pl_pose pose = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (!motion->present)
        return pose;
    if (motion->degrees_per_second != 0)
        pl_rotation(motion->axis, motion->degrees_per_second * time, pose.R);
    for (int c = 0; c < 3; c++) {
        pose.origin[c] = motion->origin[c];
        pose.shift[c] = motion->velocity[c] * time;
    }
    return pose;
}

void pl_pose_rotate(const pl_pose *pose, const double d[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = pose->R[i] * d[0] + pose->R[i + 3] * d[1] + pose->R[i + 6] * d[2];
}

void pl_pose_apply(const pl_pose *pose, const double x[3], double out[3])
{
    double d[3], r[3];
    for (int c = 0; c < 3; c++)
        d[c] = x[c] - pose->origin[c];
    pl_pose_rotate(pose, d, r);
    for (int c = 0; c < 3; c++)
        out[c] = r[c] + pose->origin[c] + pose->shift[c];
}

void pl_pose_invert(const pl_pose *pose, const double x[3], double out[3])
{
    double d[3];
    for (int c = 0; c < 3; c++)
        d[c] = x[c] - pose->shift[c] - pose->origin[c];
    for (int i = 0; i < 3; i++)
        out[i] = pose->R[3 * i] * d[0] + pose->R[3 * i + 1] * d[1] + pose->R[3 * i + 2] * d[2] +
                 pose->origin[i];
}
