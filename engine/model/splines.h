/* splines.h - cubic splines of a material, from what a scene says to the numbers of
 * kernels/stretch_spline.h. */
#ifndef PLIANT_ENGINE_MODEL_SPLINES_H
#define PLIANT_ENGINE_MODEL_SPLINES_H

#include "engine/kernels/stretch.h"
#include "engine/scene/scene.h"

/* The three splines, PL_SPLINE_SHARED numbers, in Pa; the shear modulus at rest. `lame` makes the
 * named ones and is not read for others. Whatever the splines, rest is free of stress: the slope that
 * a'(1) + 2 b'(1) + c'(1) would have is taken off a. */
double pl_splines_make(const pl_splines *splines, pl_lame_constants lame, double *shared);

/* Whether one of them, PL_SPLINE_NUMBERS numbers, has a least value. */
bool pl_spline_is_bounded(const double *spline);

#endif
