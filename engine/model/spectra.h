/* spectra.h - A_x, A_y and A_z (model.h), and between what their eigenvalues lie; apart from their factors,
 * since who solves without one links no factors. */
#ifndef PLIANT_ENGINE_MODEL_SPECTRA_H
#define PLIANT_ENGINE_MODEL_SPECTRA_H

#include "engine/linear/spectrum.h"
#include "engine/model/model.h"

/* A's entries with the identity in the rows and columns of what is held in coordinate c, on the heap; NULL
 * when out of memory. */
double *pl_spectra_mask(const pl_model *model, int c);

/* The first coordinate that the same vertices are held in. */
int pl_spectra_first_like(const pl_model *model, int c);

/* Of all three (linear/spectrum.h), and whether none is singular as far as that tells, PL_FAILED: for those
 * who solve without a factor. PL_NO_MEMORY. */
pl_status pl_spectra_find(const pl_model *model, double floor, pl_spectrum *out);
pl_status pl_spectra_check(const pl_model *model);

#endif
