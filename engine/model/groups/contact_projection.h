/* contact_projection.h - a vertex that an obstacle holds out (contacts.h), for the host and for devices: everything
 * in double, whatever the precision of positions. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_CONTACT_PROJECTION_H
#define PLIANT_ENGINE_MODEL_GROUPS_CONTACT_PROJECTION_H

#include "engine/model/group.h"
#include "engine/model/stage.h"
#include "engine/obstacles/distance.h"
#include "engine/scene/pose.h"

/* z: v projected onto the outside of an obstacle at `pose`, with friction. The slip is relative to `carried`, the
 * place of the vertex had it stuck to the obstacle. `start` is its place in the obstacle's frame when the step
 * began. */
PL_EVERYWHERE void pl_contact_project(const pl_shape *shape, double friction, const pl_pose *pose,
                                      const pl_shape_start *start, const double carried[3],
                                      const double v[3], double z[3])
{
    double q[3], turned[3], n[3];
    for (int c = 0; c < 3; c++)
        z[c] = v[c];
    pl_pose_invert(pose, v, q);
    if (pl_shape_is_clear(start, q))
        return;
    double depth = -pl_shape_measure_since(shape, start, q, turned, NULL);
    pl_pose_rotate(pose, turned, n);
    if (!(depth > 0))
        return;
    double slip[3], d[3];
    for (int c = 0; c < 3; c++)
        d[c] = v[c] - carried[c];
    double normal_part = pl_vector_dot(d, n);
    for (int c = 0; c < 3; c++)
        slip[c] = d[c] - normal_part * n[c];
    double length = sqrt(pl_vector_dot(slip, slip)), limit = friction * depth;
    double kept = length <= limit ? 1 : limit / length;
    for (int c = 0; c < 3; c++)
        z[c] = v[c] + depth * n[c] - kept * slip[c];
    /* On a curved obstacle the tangential move leaves the surface: move the vertex back onto it. */
    pl_pose_invert(pose, z, q);
    double left = pl_shape_measure_since(shape, start, q, turned, NULL);
    pl_pose_rotate(pose, turned, n);
    if (left < 0)
        for (int c = 0; c < 3; c++)
            z[c] -= left * n[c];
}

/* An obstacle over a stage (stage.h). */
typedef struct pl_contact_path {
    pl_pose start, end; /* pose when the stage begins, and when contact is evaluated */
    double span;        /* s between them */
    double extrapolation, carry_fraction;
} pl_contact_path;

/* The point at which contact is evaluated, for a vertex at x that was at `from` when the stage began. */
PL_EVERYWHERE void pl_contact_reach(double extrapolation, const double from[3], const double x[3],
                                    double y[3])
{
    for (int c = 0; c < 3; c++)
        y[c] = extrapolation > 1 ? from[c] + extrapolation * (x[c] - from[c]) : x[c];
}

/* Changes `carried`, to which the obstacle carries the point `from`, into the place at which the vertex would
 * stick, given its `stationary`. */
PL_EVERYWHERE void pl_contact_stick(const double stationary[3], double carry_fraction,
                                    const double from[3], double carried[3])
{
    for (int c = 0; c < 3; c++)
        carried[c] = stationary[c] + carry_fraction * (carried[c] - from[c]);
}

/* True if a vertex sticks at a place other than where an obstacle carries it. */
static inline bool pl_contact_has_stationary(const pl_stage *stage)
{
    return stage->stationary && stage->stationary != stage->x_start;
}

static inline pl_contact_path pl_contact_path_of(const pl_stage_scalars *stage, pl_pose start,
                                                 pl_pose end)
{
    pl_contact_path path = {start, end, pl_stage_touch_time(stage) - stage->time_start,
                            stage->extrapolation, stage->carry_fraction};
    return path;
}

/* State of a vertex over a stage that begins with it at `from`; `stationary`: the stage's, or NULL if it equals the
 * start. */
typedef struct pl_contact_begin {
    pl_shape_start start; /* `from` in the obstacle's frame */
    double carried[3];    /* position of the vertex at the end if it sticks */
} pl_contact_begin;

PL_EVERYWHERE pl_contact_begin pl_contact_begin_at(const pl_shape *shape,
                                                   const pl_contact_path *path,
                                                   const double from[3], const double *stationary)
{
    pl_contact_begin begin;
    double own[3];
    pl_pose_invert(&path->start, from, own);
    pl_pose_apply(&path->end, own, begin.carried);
    if (stationary)
        pl_contact_stick(stationary, path->carry_fraction, from, begin.carried);
    begin.start = pl_shape_start_at(shape, own);
    return begin;
}

/* pl_contact_project for the stage's unknown, for a vertex at `from` when the stage began. */
PL_EVERYWHERE void pl_contact_hold(const pl_shape *shape, double friction,
                                   const pl_contact_path *path, const pl_contact_begin *begin,
                                   const double from[3], const double v[3], double z[3])
{
    double y[3], out[3];
    pl_contact_reach(path->extrapolation, from, v, y);
    pl_contact_project(shape, friction, &path->end, &begin->start, begin->carried, y, out);
    for (int c = 0; c < 3; c++)
        z[c] = path->extrapolation > 1 ? from[c] + (out[c] - from[c]) / path->extrapolation
                                       : out[c];
}

/* Contact of a vertex, at `start` when the stage began and at x in its solution, with the obstacle: sets all of
 * *out except the force and the restitution. */
PL_EVERYWHERE void pl_contact_meet(const pl_shape *shape, const pl_contact_path *path,
                                   const double start[3], const double x[3], pl_touch *out)
{
    double own[3], y[3], q[3], n[3], carried[3];
    pl_pose_invert(&path->start, start, own);
    pl_pose_apply(&path->end, own, carried);
    pl_contact_reach(path->extrapolation, start, x, y);
    pl_pose_invert(&path->end, y, q);
    pl_shape_measure_from(shape, own, q, n, NULL);
    pl_pose_rotate(&path->end, n, out->normal);
    for (int c = 0; c < 3; c++)
        out->carry[c] = (carried[c] - start[c]) / path->span;
}

#endif
