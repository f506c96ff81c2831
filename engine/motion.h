/* motion.h - rigid motions of pins and obstacles: x(t) = R(t) (x - o) + o + d(t), with d(t) = v t and
 * R(t) a turn at a constant rate, or both by keyframes.
 *
 * Between two keyframes of the same axis the angle is interpolated, so that 720 degrees are two
 * turns; between different axes the rotation from one to the other, which is at most half a turn
 * (Shoemake 1985, "Animating rotation with quaternion curves"). A keyframe of no rotation has the
 * axis of its neighbour. */
#ifndef PLIANT_ENGINE_MOTION_H
#define PLIANT_ENGINE_MOTION_H

#include "engine/pose.h"
#include "engine/transform.h"

/* The pose of a motion at `time` seconds; of a motion that is not present, the identity. */
pl_pose pl_motion_pose(const pl_motion *motion, double time);
/* The velocity at `time` of what is at x in the motion's own frame (at time 0 but for a keyframe that
 * moves it at once), m/s: the rate from then on, where it jumps. */
void pl_motion_velocity(const pl_motion *motion, const double x[3], double time, double v[3]);

#endif
