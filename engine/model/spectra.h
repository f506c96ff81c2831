/* spectra.h - A_x, A_y and A_z (model.h), and bounds of their eigenvalues; separate from their factors, so that a
 * program that solves without a factor links no factorisation. */
#ifndef PLIANT_ENGINE_MODEL_SPECTRA_H
#define PLIANT_ENGINE_MODEL_SPECTRA_H

#include "engine/linear/spectrum.h"
#include "engine/model/model.h"

/* A's entries with the identity in the rows and columns of coordinates held in c, on the heap; NULL if out of
 * memory. */
double *pl_spectra_mask(const pl_model *model, int c);

/* The first coordinate in which the same vertices are held. */
int pl_spectra_first_like(const pl_model *model, int c);

/* Bounds over all three (linear/spectrum.h), for solves without a factor. PL_FAILED if one is found to be singular.
 * PL_NO_MEMORY. */
pl_status pl_spectra_find(const pl_model *model, double floor, pl_spectrum *out);
pl_status pl_spectra_check(const pl_model *model);

#endif
