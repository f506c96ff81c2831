/* motion.h - rigid motions of pins and obstacles: x(t) = R(t) (x - o) + o + v t. */
#ifndef PLIANT_ENGINE_MODEL_MOTION_H
#define PLIANT_ENGINE_MODEL_MOTION_H

#include "engine/scene.h"

/* A rotation about an axis through `origin`, then a translation. */
typedef struct pl_pose {
    double R[9]; /* column-major */
    double origin[3], shift[3];
} pl_pose;

/* R = rotation by `degrees` about the unit `axis` (Rodrigues), column-major. */
void pl_rotation(const double axis[3], double degrees, double R[9]);
/* The pose of a motion at `time` seconds; of a motion that is not present, the identity. */
pl_pose pl_motion_pose(const pl_motion *motion, double time);
void pl_pose_apply(const pl_pose *pose, const double x[3], double out[3]);
void pl_pose_invert(const pl_pose *pose, const double x[3], double out[3]);
void pl_pose_rotate(const pl_pose *pose, const double d[3], double out[3]);

#endif
