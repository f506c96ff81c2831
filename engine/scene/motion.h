/* motion.h - rigid motions of pins and obstacles: x(t) = R(t) (x - o) + o + d(t), with d(t) = v t and
 * R(t) a turn at a constant rate, or both by keyframes.
 *
 * Between two keyframes of the same axis the angle is interpolated, so that 720 degrees are two
 * turns; between different axes the rotation from one to the other, which is at most half a turn
 * (Shoemake 1985, "Animating rotation with quaternion curves"). A keyframe of no rotation has the
 * axis of its neighbour.
 *
 * A model's motions can be taken over while it runs (change.h): then a drive says where they are. */
#ifndef PLIANT_ENGINE_SCENE_MOTION_H
#define PLIANT_ENGINE_SCENE_MOTION_H

#include "engine/scene/fault.h"
#include "engine/scene/pose.h"
#include "engine/scene/transform.h"

/* Where a motion is at one time: x = R(axis, degrees) (x(0) - origin) + origin + translate. */
typedef struct pl_keyframe {
    double time;         /* s */
    double translate[3]; /* m */
    double axis[3];      /* unit */
    double degrees;
} pl_keyframe;
typedef enum pl_interpolation {
    PL_INTERPOLATION_LINEAR, /* at a constant rate from one keyframe to the next */
    PL_INTERPOLATION_SMOOTH, /* at rest at every keyframe: 3 s^2 - 2 s^3 of the way */
} pl_interpolation;

/* A rigid motion over time: x(t) = R(axis, rate t) (x - origin) + origin + velocity t; or by
 * keyframes, which start from the identity at time 0 where they do not say otherwise, and end at the
 * last one's. */
typedef struct pl_motion {
    bool present;
    pl_interpolation interpolation;
    int32_t keyframe_count;    /* 0: by the rates below */
    pl_keyframe *keyframes;    /* by time; the scene's, or the model's */
    double velocity[3];        /* m/s */
    double axis[3];            /* unit */
    double degrees_per_second; /* 0: no rotation */
    bool has_origin;
    double origin[3]; /* m; without has_origin: the centre of the selection, or of the obstacle */
    const struct pl_drive
        *drive; /* the model's, of a motion that a control may take over; else NULL */
} pl_motion;

/* The pose of a motion at `time` seconds; of a motion that is not present, the identity. */
pl_pose pl_motion_pose(const pl_motion *motion, double time);
/* Of the scene's own motion, drives aside: the velocity at `time` of what is at x in the motion's own frame (at time 0 but for a keyframe that
 * moves it at once), m/s: the rate from then on, where it jumps. */
void pl_motion_velocity(const pl_motion *motion, const double x[3], double time, double v[3]);

/* What has taken a motion over at the time `since`: rates from the pose that it had then on, or
 * keyframes whose times count from then. It turns about the motion's own origin. */
typedef struct pl_drive {
    bool on;
    double since;     /* s */
    pl_motion motion; /* its keyframes, malloc'ed, are the drive's: the first is that pose */
    pl_pose from;     /* that pose; its origin is not used */
} pl_drive;

/* False: it leaves everything where it is, now. */
static inline bool pl_motion_moves(const pl_motion *motion)
{
    return motion->present || (motion->drive && motion->drive->on);
}

/* Let `to` take over a motion at `time`; `drive` is what its member points to. PL_NO_MEMORY: nothing
 * has changed. */
pl_status pl_motion_take_over(const pl_motion *motion, const pl_motion *to, double time,
                              pl_drive *drive);
void pl_drive_clear(pl_drive *drive);

#endif
