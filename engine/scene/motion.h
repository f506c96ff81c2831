/* motion.h - rigid motions of pins and obstacles: x(t) = R(t) (x - o) + o + d(t), with d(t) = v t and R(t) a
 * rotation at a constant rate, or both by keyframes.
 *
 * Between two keyframes with the same axis, the angle is interpolated, so that 720 degrees are two turns. Between
 * different axes, the rotation from one to the other is interpolated, which is at most half a turn (Shoemake 1985,
 * "Animating rotation with quaternion curves"). A keyframe without rotation has the axis of its neighbour.
 *
 * Controls may take over a model's motions while it runs (change.h): a drive then determines the pose. */
#ifndef PLIANT_ENGINE_SCENE_MOTION_H
#define PLIANT_ENGINE_SCENE_MOTION_H

#include "engine/scene/fault.h"
#include "engine/scene/pose.h"
#include "engine/scene/transform.h"

/* Pose of a motion at one time: x = R(axis, degrees) (x(0) - origin) + origin + translate. */
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

/* A rigid motion over time: x(t) = R(axis, rate t) (x - origin) + origin + velocity t; or by keyframes, which start
 * from the identity at time 0 unless they say otherwise, and end at the last one's pose. */
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
        *drive; /* the model's, for a motion that a control may take over; else NULL */
} pl_motion;

/* The pose of a motion at `time` seconds; the identity for an absent motion. */
pl_pose pl_motion_pose(const pl_motion *motion, double time);
/* For the scene's own motion, ignoring drives: the velocity, m/s, at `time`, of the point at x in the motion's own
 * frame (its place at time 0, unless a keyframe moves it at once). Where the velocity jumps, it is the rate from
 * then on. */
void pl_motion_velocity(const pl_motion *motion, const double x[3], double time, double v[3]);

/* Replacement of a motion from the time `since`: rates from the pose at that time on, or keyframes whose times
 * count from then. It rotates about the motion's own origin. */
typedef struct pl_drive {
    bool on;
    double since;     /* s */
    pl_motion motion; /* its keyframes, malloc'ed, are the drive's: the first is that pose */
    pl_pose from;     /* that pose; its origin is unused */
} pl_drive;

/* False: it leaves everything where it is at the moment. */
static inline bool pl_motion_moves(const pl_motion *motion)
{
    return motion->present || (motion->drive && motion->drive->on);
}

/* Makes `to` take over a motion at `time`; motion->drive points to `drive`. PL_NO_MEMORY: nothing has changed. */
pl_status pl_motion_take_over(const pl_motion *motion, const pl_motion *to, double time,
                              pl_drive *drive);
void pl_drive_clear(pl_drive *drive);

#endif
