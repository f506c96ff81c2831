/* contact_velocity.h - effect of contact on velocities, for the host and for devices: everything in double.
 *
 * A stage solves for positions. The normal part of the matching velocity is not a solution: at the end of a fall it
 * reflects the width of the gap, and with the trapezoidal rule it throws a vertex back. So a vertex that an
 * obstacle pushes at a stage's end gets, along the normal, the obstacle's velocity and e times the velocity with
 * which it arrived.
 *
 * A stage that uses states before its start must not see an impact as an acceleration. Along the normal, the vertex
 * is assumed to have always moved as it does now. Across the normal, friction has pulled as well. Of its impulse
 * J_t = a h F_t / m, a share belongs to the impact: the ratio of the arrival velocity to J_n, the whole normal
 * impulse. That share is assumed to have acted before the stage as well: v_back += J_t, and x_back moves back by
 * (span - a h) J_t, the additional distance of the stage had v_back been its velocity throughout. The rest is
 * friction under a weight, and continues. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_CONTACT_VELOCITY_H
#define PLIANT_ENGINE_MODEL_GROUPS_CONTACT_VELOCITY_H

#include "engine/model/group.h"
#include "engine/obstacles/distance.h"

#include <stdbool.h>

/* A vertex's velocity relative to the obstacle's along its normal. */
typedef struct pl_contact_leap {
    double own;    /* the obstacle's */
    double into;   /* with which the vertex arrived */
    double leaves; /* with which it leaves, including the obstacle's */
} pl_contact_leap;

/* Relative to the velocity with which a vertex arrives: a push that changes less than this is the rounding error of
 * a multiplier, not contact. */
#define PL_CONTACT_LEAST_PUSH 1e-8

/* True if the obstacle changes a vertex's velocity; without `all`, only an obstacle with a restitution does.
 * within: a h, s; mass, kg. */
PL_EVERYWHERE bool pl_contact_bounces(const pl_touch *t, bool all, double within, double mass,
                                      const double v_start[3])
{
    if (!all && t->restitution == 0)
        return false;
    double comes[3], push = within / mass * pl_vector_dot(t->force, t->normal);
    for (int c = 0; c < 3; c++)
        comes[c] = v_start[c] - t->carry[c];
    return push > PL_CONTACT_LEAST_PUSH * sqrt(pl_vector_dot(comes, comes));
}

PL_EVERYWHERE pl_contact_leap pl_contact_leap_of(const pl_touch *t, const double v_start[3])
{
    pl_contact_leap leap;
    leap.own = pl_vector_dot(t->carry, t->normal);
    leap.into = pl_vector_dot(v_start, t->normal) - leap.own;
    leap.leaves = leap.own + (leap.into < 0 ? -t->restitution * leap.into : 0);
    return leap;
}

/* to[c] += length n[c]. */
PL_EVERYWHERE void pl_contact_add_along(double *to, double length, const double n[3])
{
    for (int c = 0; c < 3; c++)
        to[c] += length * n[c];
}

/* The velocity at the stage's end. */
PL_EVERYWHERE void pl_contact_leave(const pl_touch *t, const pl_contact_leap *leap, double v[3])
{
    pl_contact_add_along(v, leap->leaves - pl_vector_dot(v, t->normal), t->normal);
}

/* Changes the past that a later stage sees; within: a h, span: time to the point at which contact is evaluated, s. */
PL_EVERYWHERE void pl_contact_amend_history(const pl_touch *t, const pl_contact_leap *leap,
                                            double within, double span, double mass,
                                            const double x_end[3], double x_back[3],
                                            double v_back[3])
{
    double gain = within / mass, push = gain * pl_vector_dot(t->force, t->normal);
    double share = fmin(fmax(-leap->into / push, 0), 1);
    for (int c = 0; c < 3; c++) {
        double across = share * (gain * t->force[c] - push * t->normal[c]);
        v_back[c] += across;
        x_back[c] -= (span - within) * across;
    }
    pl_contact_add_along(v_back, leap->leaves - pl_vector_dot(v_back, t->normal), t->normal);
    double before = pl_vector_dot(x_end, t->normal) - span * leap->leaves;
    pl_contact_add_along(x_back, before - pl_vector_dot(x_back, t->normal), t->normal);
}

/* The power that friction takes from a vertex with velocity v, W. */
PL_EVERYWHERE double pl_contact_rub(const pl_touch *t, const double v[3])
{
    double slip[3];
    for (int c = 0; c < 3; c++)
        slip[c] = v[c] - t->carry[c];
    return pl_vector_dot(t->force, t->normal) * pl_vector_dot(slip, t->normal) -
           pl_vector_dot(t->force, slip);
}

#endif
