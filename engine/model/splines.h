/* splines.h - cubic splines of a material, from the scene's description to the numbers of kernels/stretch_spline.h. */
#ifndef PLIANT_ENGINE_MODEL_SPLINES_H
#define PLIANT_ENGINE_MODEL_SPLINES_H

#include "engine/kernels/stretch.h"
#include "engine/scene/scene.h"

/* The three splines, PL_SPLINE_SHARED numbers, in Pa, and the shear modulus at rest. `lame` defines the named
 * splines and is not read for others. Whatever the splines, the rest state is free of stress: the slope that
 * a'(1) + 2 b'(1) + c'(1) would have is subtracted from a. */
double pl_splines_make(const pl_splines *splines, pl_lame_constants lame, double *shared);

/* True if one of them, PL_SPLINE_NUMBERS numbers, has a lower bound. */
bool pl_spline_is_bounded(const double *spline);

#endif
