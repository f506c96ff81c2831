/* contact_projection.h - a vertex that an obstacle holds out (contacts.h), for the host and for devices:
 * everything in double, whatever the precision of positions is. */
#ifndef PLIANT_ENGINE_MODEL_CONTACT_PROJECTION_H
#define PLIANT_ENGINE_MODEL_CONTACT_PROJECTION_H

#include "engine/obstacles/distance.h"
#include "engine/pose.h"

/* z: v projected onto the outside of an obstacle at `pose`, with friction against where the vertex, which
 * when the step began was at `own` as the obstacle sees it, would be had it stuck to it: `carried`. */
PL_EVERYWHERE void pl_contact_project(const pl_shape *shape, double friction, const pl_pose *pose,
                                      const double own[3], const double carried[3],
                                      const double v[3], double z[3])
{
    double q[3], turned[3], n[3];
    pl_pose_invert(pose, v, q);
    double depth = -pl_shape_measure_from(shape, own, q, turned, NULL);
    pl_pose_rotate(pose, turned, n);
    if (!(depth > 0)) {
        for (int c = 0; c < 3; c++)
            z[c] = v[c];
        return;
    }
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
    double left = pl_shape_measure_from(shape, own, q, turned, NULL);
    pl_pose_rotate(pose, turned, n);
    if (left < 0)
        for (int c = 0; c < 3; c++)
            z[c] -= left * n[c];
}

#endif
