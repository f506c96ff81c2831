/* spectrum.h - bounds of a matrix's eigenvalues after its diagonal is scaled to ones: all that Chebyshev iteration
 * needs to know of A = D^(1/2) (D^-1/2 A D^-1/2) D^(1/2). */
#ifndef PLIANT_ENGINE_LINEAR_SPECTRUM_H
#define PLIANT_ENGINE_LINEAR_SPECTRUM_H

#include "engine/linear/linear.h"

/* Lower limit of `least`: the matrix is then singular to rounding. */
#define PL_SPECTRUM_LEAST 1e-12

/* Bounds for D^-1 A. `most` is a true bound. `least` is one as far as Lanczos' process has found the end of the
 * spectrum, to a tenth of its value; it is at least `floor`, a lower bound known to the caller. */
typedef struct pl_spectrum {
    double least, most;
} pl_spectrum;

/* For a positive semidefinite matrix with a positive diagonal; takes at most some hundreds of products with it.
 * PL_NO_MEMORY, or PL_OK. */
pl_status pl_spectrum_find(const pl_sparse *a, double floor, pl_spectrum *out);

/* The least eigenvalue of a symmetric tridiagonal matrix, between PL_SPECTRUM_LEAST and `most`, by bisection to a
 * thousandth. alpha [count]: the diagonal; beta [count - 1]: beside it. */
double pl_spectrum_least_of(const double *alpha, const double *beta, int32_t count, double most);

#endif
