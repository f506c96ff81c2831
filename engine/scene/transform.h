/* transform.h - rotations, and the placement of a scene's objects. */
#ifndef PLIANT_ENGINE_SCENE_TRANSFORM_H
#define PLIANT_ENGINE_SCENE_TRANSFORM_H

#include <stdint.h>

/* Applied as scale, then rotate about the origin, then translate. */
typedef struct pl_transform {
    double scale[3];
    double rotate_axis[3];
    double rotate_degrees;
    double translate[3]; /* m */
} pl_transform;

/* R = rotation by `degrees` about the unit `axis` (Rodrigues), column-major. */
void pl_rotation(const double axis[3], double degrees, double R[9]);

/* Places `n` points [n][3]: scale, then rotate about the origin, then translate. May work in place. */
void pl_transform_points(const pl_transform *t, const double *from, int64_t n, double *to);
/* Places directions [n][3], normalised where not 0: the same without the translation. May work in place. */
void pl_transform_directions(const pl_transform *t, const double *from, int64_t n, double *to);

#endif
