/* pose.h - the effect of a rigid motion at one time. */
#ifndef PLIANT_ENGINE_SCENE_POSE_H
#define PLIANT_ENGINE_SCENE_POSE_H

#include "engine/everywhere.h"

/* A rotation about an axis through `origin`, then a translation. */
typedef struct pl_pose {
    double R[9]; /* column-major */
    double origin[3], shift[3];
} pl_pose;

PL_EVERYWHERE void pl_pose_rotate(const pl_pose *pose, const double d[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = pose->R[i] * d[0] + pose->R[i + 3] * d[1] + pose->R[i + 6] * d[2];
}

PL_EVERYWHERE void pl_pose_apply(const pl_pose *pose, const double x[3], double out[3])
{
    double d[3], r[3];
    for (int c = 0; c < 3; c++)
        d[c] = x[c] - pose->origin[c];
    pl_pose_rotate(pose, d, r);
    for (int c = 0; c < 3; c++)
        out[c] = r[c] + pose->origin[c] + pose->shift[c];
}

PL_EVERYWHERE void pl_pose_invert(const pl_pose *pose, const double x[3], double out[3])
{
    double d[3];
    for (int c = 0; c < 3; c++)
        d[c] = x[c] - pose->shift[c] - pose->origin[c];
    for (int i = 0; i < 3; i++)
        out[i] = pose->R[3 * i] * d[0] + pose->R[3 * i + 1] * d[1] + pose->R[3 * i + 2] * d[2] +
                 pose->origin[i];
}

#endif
