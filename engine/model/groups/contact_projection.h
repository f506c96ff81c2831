/* contact_projection.h - a vertex that an obstacle holds out (contacts.h), for the host and for devices:
 * everything in double, whatever the precision of positions is. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_CONTACT_PROJECTION_H
#define PLIANT_ENGINE_MODEL_GROUPS_CONTACT_PROJECTION_H

#include "engine/model/group.h"
#include "engine/model/stage.h"
#include "engine/obstacles/distance.h"
#include "engine/scene/pose.h"

/* z: v projected onto the outside of an obstacle at `pose`, with friction against where the vertex, which
 * when the step began was at `start` as the obstacle sees it, would be had it stuck to it: `carried`. */
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
    /* On a curved obstacle the tangential move leaves the surface: put it back. */
    pl_pose_invert(pose, z, q);
    double left = pl_shape_measure_since(shape, start, q, turned, NULL);
    pl_pose_rotate(pose, turned, n);
    if (left < 0)
        for (int c = 0; c < 3; c++)
            z[c] -= left * n[c];
}

/* An obstacle over a stage (stage.h). */
typedef struct pl_contact_path {
    pl_pose start, end; /* where it is when the stage begins, and when contact looks at it */
    double span;        /* s between them */
    double extrapolation, carry_fraction;
} pl_contact_path;

/* What contact looks at of a vertex at x whose place when the stage began is `from`. */
PL_EVERYWHERE void pl_contact_reach(double extrapolation, const double from[3], const double x[3],
                                    double y[3])
{
    for (int c = 0; c < 3; c++)
        y[c] = extrapolation > 1 ? from[c] + extrapolation * (x[c] - from[c]) : x[c];
}

/* From where an obstacle has carried what was at `from` to where the vertex would stick to it, of its
 * `still`. */
PL_EVERYWHERE void pl_contact_stick(const double stationary[3], double carry_fraction,
                                    const double from[3], double carried[3])
{
    for (int c = 0; c < 3; c++)
        carried[c] = stationary[c] + carry_fraction * (carried[c] - from[c]);
}

/* Whether a vertex sticks somewhere else than where an obstacle carries it. */
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

/* What a vertex keeps over a stage that begins with it at `from`; `stationary`: the stage's, or NULL where that is
 * where it began. */
typedef struct pl_contact_begin {
    pl_shape_start start; /* `from` as the obstacle sees it */
    double carried[3];    /* where the vertex is at the end if it sticks */
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

/* pl_contact_project of what the stage is solved for, of a vertex at `from` when it began. */
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

/* Where a vertex at `start` when the stage began, and at x where it was solved, meets the obstacle: all of
 * *out but the force and the restitution. */
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
