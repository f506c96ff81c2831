/* shape_internal.h - what the files of this room share: a shape, and the functions behind it. */
#ifndef PLIANT_ENGINE_OBSTACLES_SHAPE_INTERNAL_H
#define PLIANT_ENGINE_OBSTACLES_SHAPE_INTERNAL_H

#include "engine/obstacles/closed_mesh.h"
#include "engine/obstacles/shape.h"

/* Distance and normal for d, the point seen from the shape's centre in the shape's own axes; H, if
 * not NULL, is zeroed by the caller. `inside` is not theirs. */
typedef double (*pl_shape_measure)(const pl_shape *s, const double d[3], double n[3], double *H);

struct pl_shape {
    pl_closed_mesh *solid; /* mesh, heightfield; else NULL */
    pl_shape_measure measure;
    bool inside;
    bool one_sided;   /* no point can come out where it did not go in */
    bool turned;      /* R is not the identity */
    double middle[3]; /* what a motion turns about */
    double center[3], R[9] /* own axes as columns */;
    double axis[3];           /* of what is round about an axis, unit */
    double radius, tube;      /* round ones; a torus's tube */
    double half[3];           /* half extents, of an axial one along the axis in [0] */
    double rounding;          /* of edges */
    double normal[3], offset; /* plane */
};

double pl_measure_plane(const pl_shape *s, const double d[3], double n[3], double *H);
double pl_measure_sphere(const pl_shape *s, const double d[3], double n[3], double *H);
double pl_measure_box(const pl_shape *s, const double d[3], double n[3], double *H);
double pl_measure_cylinder(const pl_shape *s, const double d[3], double n[3], double *H);
double pl_measure_capsule(const pl_shape *s, const double d[3], double n[3], double *H);
double pl_measure_torus(const pl_shape *s, const double d[3], double n[3], double *H);
double pl_measure_solid(const pl_shape *s, const double d[3], double n[3], double *H);

static inline double pl_dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* H += k a a^T. */
static inline void pl_add_outer(double *H, double k, const double a[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[3 * i + j] += k * a[i] * a[j];
}

static inline void pl_add_identity(double *H, double k)
{
    for (int i = 0; i < 3; i++)
        H[4 * i] += k;
}

#endif
