/* primitives.h - distances of the shapes that have a formula, for the host and for devices.
 *
 * All but the plane are a core (a point, a segment, a circle, a box, a disc with thickness) and everything within a
 * radius r of it. The distance is that to the core less r, and its Hessian follows from the core's: at a distance l
 * from a point, curvature is 1/l in both directions across n; from a line, 1/l in the direction also across the
 * line; from a flat face, 0. A body of revolution is a profile in the half plane (rho, y): across that plane the
 * curvature is n_rho / rho.
 */
#ifndef PLIANT_ENGINE_OBSTACLES_PRIMITIVES_H
#define PLIANT_ENGINE_OBSTACLES_PRIMITIVES_H

#include "engine/obstacles/closed_mesh_distance.h"

#include <stdbool.h>

/* The kinds of pl_obstacle in the same order, so the values are equal; a kind without a function below is a closed
 * mesh. */
typedef enum pl_distance_kind {
    PL_DISTANCE_PLANE,
    PL_DISTANCE_SPHERE,
    PL_DISTANCE_BOX,
    PL_DISTANCE_CYLINDER,
    PL_DISTANCE_CAPSULE,
    PL_DISTANCE_TORUS,
    PL_DISTANCE_HEIGHTFIELD,
    PL_DISTANCE_MESH,
    PL_DISTANCE_CONE
} pl_distance_kind;

typedef struct pl_shape {
    pl_closed_mesh *solid; /* mesh, heightfield; else NULL */
    int32_t kind;          /* pl_distance_kind */
    bool inside;
    bool one_sided;   /* a point that did not enter it cannot come out of it */
    double thin;      /* pl_obstacle_thickness(), m */
    double margin;    /* contacts hold vertices this far from the surface, m */
    bool turned;      /* R is not the identity */
    double middle[3]; /* centre of rotation of a motion */
    double center[3], R[9] /* own axes as columns */;
    double axis[3];           /* for a body of revolution, unit */
    double radius, tube;      /* for round shapes; a torus's tube */
    double half[3];           /* half extents; for an axial shape, along the axis in [0] */
    double rounding;          /* of edges */
    double normal[3], offset; /* plane */
} pl_shape;

/* For each kind: distance and normal for d, the point relative to the shape's centre in the shape's own axes. H, if
 * not NULL, is zeroed by the caller. The caller handles `inside`. */

PL_EVERYWHERE double pl_measure_plane(const pl_shape *s, const double d[3], double n[3], double *H)
{
    for (int c = 0; c < 3; c++)
        n[c] = s->normal[c];
    return pl_vector_dot(s->normal, d) - s->offset;
}

PL_EVERYWHERE double pl_measure_sphere(const pl_shape *s, const double d[3], double n[3], double *H)
{
    double r = sqrt(pl_vector_dot(d, d));
    /* The centre has no nearest point; any direction will do. */
    for (int c = 0; c < 3; c++)
        n[c] = r > 0 ? d[c] / r : (c == 1);
    if (H && r > 0) {
        pl_matrix_add_identity(H, 1 / r);
        pl_matrix_add_outer(H, -1 / r, n);
    }
    return r - s->radius;
}

PL_EVERYWHERE double pl_measure_box(const pl_shape *s, const double d[3], double n[3], double *H)
{
    double q[3], out[3], square = 0;
    int nearest = 0;
    for (int c = 0; c < 3; c++) {
        q[c] = fabs(d[c]) - (s->half[c] - s->rounding);
        out[c] = fmax(q[c], 0);
        square += out[c] * out[c];
        nearest = q[c] > q[nearest] ? c : nearest;
    }
    double length = sqrt(square);
    for (int c = 0; c < 3; c++) {
        double sign = d[c] < 0 ? -1 : 1;
        n[c] = length > 0 ? sign * out[c] / length : c == nearest ? sign : 0;
    }
    if (!(length > 0))
        return q[nearest] - s->rounding;
    if (H) {
        for (int c = 0; c < 3; c++)
            H[4 * c] = q[c] > 0 ? 1 / length : 0;
        pl_matrix_add_outer(H, -1 / length, n);
    }
    return length - s->rounding;
}

/* A point in cylindrical coordinates about the shape's axis: rho, y and the unit vectors outward and around. On the
 * axis, any outward direction will do; the axis determines one. */
typedef struct pl_axial {
    double rho, y;
    double out[3], around[3];
} pl_axial;

PL_EVERYWHERE pl_axial pl_axial_of(const double a[3], const double d[3])
{
    pl_axial p;
    p.y = pl_vector_dot(a, d);
    double away[3];
    for (int c = 0; c < 3; c++)
        away[c] = d[c] - p.y * a[c];
    p.rho = sqrt(pl_vector_dot(away, away));
    if (!(p.rho > 0)) {
        /* across the axis, from the coordinate direction farthest from it */
        int k = fabs(a[0]) <= fabs(a[1]) ? 0 : 1;
        k = fabs(a[2]) < fabs(a[k]) ? 2 : k;
        for (int c = 0; c < 3; c++)
            away[c] = (c == k) - a[k] * a[c];
    }
    double length = sqrt(pl_vector_dot(away, away));
    for (int c = 0; c < 3; c++)
        p.out[c] = away[c] / length;
    for (int c = 0; c < 3; c++) {
        int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        p.around[c] = a[c1] * p.out[c2] - a[c2] * p.out[c1];
    }
    return p;
}

/* n from its parts in the half plane; H from the profile's curvature along the surface in that plane and from the
 * curvature about the axis. */
PL_EVERYWHERE void pl_turn_profile(const pl_axial *p, const double a[3], double n_rho, double n_y,
                                   double bend, double n[3], double *H)
{
    double along[3];
    for (int c = 0; c < 3; c++) {
        n[c] = n_rho * p->out[c] + n_y * a[c];
        along[c] = n_rho * a[c] - n_y * p->out[c];
    }
    if (!H)
        return;
    pl_matrix_add_outer(H, bend, along);
    if (p->rho > 0)
        pl_matrix_add_outer(H, n_rho / p->rho, p->around);
}

/* The profile is a rectangle, like a box's in two dimensions. */
PL_EVERYWHERE double pl_measure_cylinder(const pl_shape *s, const double d[3], double n[3],
                                         double *H)
{
    pl_axial p = pl_axial_of(s->axis, d);
    double side = p.y < 0 ? -1 : 1;
    double q_rho = p.rho - (s->radius - s->rounding);
    double q_y = side * p.y - (s->half[0] - s->rounding);
    if (q_rho > 0 && q_y > 0) {
        double length = sqrt(q_rho * q_rho + q_y * q_y);
        pl_turn_profile(&p, s->axis, q_rho / length, side * q_y / length, 1 / length, n, H);
        return length - s->rounding;
    }
    bool wall = q_rho >= q_y;
    pl_turn_profile(&p, s->axis, wall ? 1 : 0, wall ? 0 : side, 0, n, H);
    return (wall ? q_rho : q_y) - s->rounding;
}

/* The core is the segment |y| <= half[0]. */
PL_EVERYWHERE double pl_measure_capsule(const pl_shape *s, const double d[3], double n[3],
                                        double *H)
{
    pl_axial p = pl_axial_of(s->axis, d);
    double beyond = fabs(p.y) - s->half[0], side = p.y < 0 ? -1 : 1;
    if (!(beyond > 0)) {
        pl_turn_profile(&p, s->axis, 1, 0, 0, n, H);
        return p.rho - s->radius;
    }
    double length = sqrt(p.rho * p.rho + beyond * beyond);
    pl_turn_profile(&p, s->axis, p.rho / length, side * beyond / length, 1 / length, n, H);
    if (H && !(p.rho > 0))
        pl_matrix_add_outer(H, 1 / length, p.around);
    return length - s->radius;
}

/* The profile is a triangle, from the rim of the base (radius, -half[0]) to the tip (0, half[0]). Inside, the
 * nearer of base and flank counts; outside, the one across from the point, or the rim or the tip. */
PL_EVERYWHERE double pl_measure_cone(const pl_shape *s, const double d[3], double n[3], double *H)
{
    pl_axial p = pl_axial_of(s->axis, d);
    double height = 2 * s->half[0], slant = sqrt(s->radius * s->radius + height * height);
    double rho = p.rho - s->radius, y = p.y + s->half[0]; /* from the rim */
    double along = (height * y - s->radius * rho) / slant;
    double beside = (height * rho + s->radius * y) / slant, below = -y;
    bool at_rim = rho > 0 && along < 0;
    double e_rho = at_rim ? rho : p.rho, e_y = at_rim ? y : p.y - s->half[0];
    double length = sqrt(e_rho * e_rho + e_y * e_y);
    /* At the tip itself, which rounding may place beyond it, use the flank's normal. */
    if ((at_rim || along > slant) && length > 0) {
        pl_turn_profile(&p, s->axis, e_rho / length, e_y / length, 1 / length, n, H);
        if (H && !(p.rho > 0))
            pl_matrix_add_outer(H, 1 / length, p.around);
        return length;
    }
    bool base = below >= beside;
    pl_turn_profile(&p, s->axis, base ? 0 : height / slant, base ? -1 : s->radius / slant, 0, n, H);
    return base ? below : beside;
}

/* The core is the circle rho = radius, y = 0. */
PL_EVERYWHERE double pl_measure_torus(const pl_shape *s, const double d[3], double n[3], double *H)
{
    pl_axial p = pl_axial_of(s->axis, d);
    double off = p.rho - s->radius;
    double length = sqrt(off * off + p.y * p.y);
    if (length > 0)
        pl_turn_profile(&p, s->axis, off / length, p.y / length, 1 / length, n, H);
    else
        pl_turn_profile(&p, s->axis, 1, 0, 0, n, H);
    return length - s->tube;
}

/* Selects by the kind of the shape. `within`: a known bound of the distance, or INFINITY. */
PL_EVERYWHERE double pl_measure_own(const pl_shape *s, const double d[3], double within,
                                    double n[3], double *H)
{
    switch (s->kind) {
    case PL_DISTANCE_PLANE:
        return pl_measure_plane(s, d, n, H);
    case PL_DISTANCE_SPHERE:
        return pl_measure_sphere(s, d, n, H);
    case PL_DISTANCE_BOX:
        return pl_measure_box(s, d, n, H);
    case PL_DISTANCE_CYLINDER:
        return pl_measure_cylinder(s, d, n, H);
    case PL_DISTANCE_CAPSULE:
        return pl_measure_capsule(s, d, n, H);
    case PL_DISTANCE_CONE:
        return pl_measure_cone(s, d, n, H);
    case PL_DISTANCE_TORUS:
        return pl_measure_torus(s, d, n, H);
    default:
        return pl_closed_mesh_measure_within(s->solid, d, within, n, H);
    }
}

#endif
