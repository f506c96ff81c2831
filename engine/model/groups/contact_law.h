/* contact_law.h - a vertex against an obstacle with an energy (contact_springs.h), for the host and for devices:
 * everything in double, whatever the precision of positions. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_CONTACT_LAW_H
#define PLIANT_ENGINE_MODEL_GROUPS_CONTACT_LAW_H

#include "engine/model/groups/contact_projection.h"
#include <stddef.h>

/* State of a vertex over a stage. */
typedef struct pl_contact_anchor {
    pl_shape_start start; /* x_start in the obstacle's frame */
    double carried[3];    /* where that point is at the stage's end */
    double normal[3];     /* normal of friction's plane, at the stage's end */
    double grip;          /* g, N; 0: no friction */
    double reach;         /* m: displacement of the free vertex relative to the obstacle */
} pl_contact_anchor;

/* The terms of one obstacle. */
typedef struct pl_contact_law {
    pl_shape *shape;
    double friction;
    double *share;              /* [terms], of friction; NULL: 1 everywhere */
    double *stiffness;          /* [terms]: k, N/m; 0 in padding */
    pl_contact_anchor *anchors; /* [terms] */
    pl_pose start, end;         /* the obstacle at the stage's ends */
    double extrapolation; /* of the stage, >= 1: U is that of y (stage.h) divided by its square */
} pl_contact_law;

/* Computes the anchor of term i, for a vertex at `from` when the stage begins and, if free, at x_pred. `stationary`
 * is the stage's, or NULL if it equals the start. The grip follows from the depth at `at`, a position at the
 * stage's end, or, if NULL, at its start. */
PL_EVERYWHERE void pl_contact_freeze(const pl_contact_law *s, int64_t i, const double from[3],
                                     const double x_pred[3], const double *stationary,
                                     const double *at, double carry_fraction)
{
    pl_contact_anchor *a = &s->anchors[i];
    double own[3], to[3];
    pl_contact_reach(s->extrapolation, from, x_pred, to);
    pl_pose_invert(&s->start, from, own);
    pl_pose_apply(&s->end, own, a->carried);
    a->start = pl_shape_start_at(s->shape, own);
    double distance = a->start.distance;
    pl_pose_rotate(&s->end, a->start.normal, a->normal);
    if (at) {
        double y[3], n[3];
        pl_contact_reach(s->extrapolation, from, at, y);
        pl_pose_invert(&s->end, y, own);
        if (!pl_shape_is_clear(&a->start, own)) {
            distance = pl_shape_measure_since(s->shape, &a->start, own, n, NULL);
            pl_pose_rotate(&s->end, n, a->normal);
        }
    }
    const double way[3] = {to[0] - a->carried[0], to[1] - a->carried[1], to[2] - a->carried[2]};
    a->reach = sqrt(pl_vector_dot(way, way));
    a->grip = distance < 0 ? -distance * s->friction * s->stiffness[i] : 0;
    if (s->share)
        a->grip *= s->share[i];
    if (stationary)
        pl_contact_stick(stationary, carry_fraction, from, a->carried);
}

/* The point of term i's vertex, which is at x, that meets the obstacle. */
PL_EVERYWHERE void pl_contact_met(const pl_contact_law *s, int64_t i, const double x[3],
                                  double y[3])
{
    double from[3] = {0, 0, 0};
    if (s->extrapolation > 1)
        pl_pose_apply(&s->start, s->anchors[i].start.at, from);
    pl_contact_reach(s->extrapolation, from, x, y);
}

/* Signed distance of a vertex at x, and the normal; with H, the distance's Hessian. */
PL_EVERYWHERE double pl_contact_distance(const pl_contact_law *s, int64_t i, const double x[3],
                                         double n[3], double *H)
{
    double q[3], own[3];
    pl_pose_invert(&s->end, x, q);
    double distance = pl_shape_measure_since(s->shape, &s->anchors[i].start, q, own, H);
    pl_pose_rotate(&s->end, own, n);
    return distance;
}

/* True if a vertex at x is certainly outside. */
PL_EVERYWHERE bool pl_contact_is_clear(const pl_contact_law *s, int64_t i, const double x[3])
{
    double q[3];
    pl_pose_invert(&s->end, x, q);
    return pl_shape_is_clear(&s->anchors[i].start, q);
}

/* The slip since the stage's start along friction's plane, and its length. */
PL_EVERYWHERE double pl_contact_slip(const pl_contact_anchor *a, const double x[3], double slip[3])
{
    double d[3] = {x[0] - a->carried[0], x[1] - a->carried[1], x[2] - a->carried[2]};
    double along = pl_vector_dot(d, a->normal);
    for (int c = 0; c < 3; c++)
        slip[c] = d[c] - along * a->normal[c];
    return sqrt(pl_vector_dot(slip, slip));
}

/* k/2 min(phi, 0)^2 + g f(s) of term i at the given point, and its gradient there. */
PL_EVERYWHERE double pl_contact_energy_met(const pl_contact_law *s, int64_t i, const double x[3],
                                           double gradient[3])
{
    const pl_contact_anchor *a = &s->anchors[i];
    double k = s->stiffness[i], n[3];
    double distance = pl_contact_is_clear(s, i, x) ? 0 : pl_contact_distance(s, i, x, n, NULL);
    double energy = 0;
    gradient[0] = gradient[1] = gradient[2] = 0;
    if (distance < 0) {
        energy = 0.5 * k * distance * distance;
        for (int c = 0; c < 3; c++)
            gradient[c] = k * distance * n[c];
    }
    if (!(a->grip > 0))
        return energy;
    double slip[3], length = pl_contact_slip(a, x, slip), e = a->grip / k;
    bool sticks = length <= e;
    for (int c = 0; c < 3; c++)
        gradient[c] += sticks ? k * slip[c] : a->grip * slip[c] / length;
    return energy + (sticks ? 0.5 * k * length * length : a->grip * (length - e / 2));
}

/* Energy of term i at x, and the gradient. */
PL_EVERYWHERE double pl_contact_energy(const pl_contact_law *s, int64_t i, const double x[3],
                                       double gradient[3])
{
    double y[3];
    pl_contact_met(s, i, x, y);
    double energy = pl_contact_energy_met(s, i, y, gradient);
    for (int c = 0; c < 3; c++)
        gradient[c] /= s->extrapolation;
    return energy / (s->extrapolation * s->extrapolation);
}

/* K += k (n n^T + phi Hess phi), rotated by the pose; the shape's Hessian is in its own axes. */
PL_EVERYWHERE void pl_contact_add_normal(const pl_contact_law *s, int64_t i, double distance,
                                         const double n[3], const double *bend, double K[3][3])
{
    const double *R = s->end.R;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double turned = 0;
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++)
                    turned += R[r + 3 * p] * bend[3 * p + q] * R[c + 3 * q];
            K[r][c] += s->stiffness[i] * (n[r] * n[c] + distance * turned);
        }
}

/* A preconditioner serves the coming iterations. If these bring a vertex inside, or let it stick, it meets a spring
 * that the preconditioner did not contain, and the steps are far too long. So a vertex within reach of the surface
 * counts as inside, and its friction as sticking. */
PL_EVERYWHERE void pl_contact_diagonal(const pl_contact_law *s, int64_t i, const double x[3],
                                       double diagonal[3])
{
    const pl_contact_anchor *a = &s->anchors[i];
    double K[3][3] = {{0}}, n[3], bend[9], y[3];
    pl_contact_met(s, i, x, y);
    double distance = pl_contact_distance(s, i, y, n, bend);
    if (distance < a->reach)
        pl_contact_add_normal(s, i, fmin(distance, 0), n, bend, K);
    for (int c = 0; c < 3; c++)
        diagonal[c] = K[c][c] +
                      (a->grip > 0 ? s->stiffness[i] * (1 - a->normal[c] * a->normal[c]) : 0);
}

/* Effect of the obstacle on term i's vertex, at `start` when the stage began and at x in its solution (group.h). */
PL_EVERYWHERE bool pl_contact_touch(const pl_contact_law *s, const pl_contact_path *path, int64_t i,
                                    const double start[3], const double x[3], double restitution,
                                    pl_touch *out)
{
    double gradient[3];
    pl_contact_energy(s, i, x, gradient);
    for (int c = 0; c < 3; c++)
        out->force[c] = -gradient[c];
    if (gradient[0] == 0 && gradient[1] == 0 && gradient[2] == 0)
        return false;
    pl_contact_meet(s->shape, path, start, x, out);
    out->restitution = restitution;
    return true;
}

#endif
