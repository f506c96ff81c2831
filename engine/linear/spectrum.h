/* spectrum.h - between what the eigenvalues of a matrix lie, once its diagonal is scaled to ones: what
 * Chebyshev's iteration has to know of A = D^(1/2) (D^-1/2 A D^-1/2) D^(1/2) and nothing else. */
#ifndef PLIANT_ENGINE_LINEAR_SPECTRUM_H
#define PLIANT_ENGINE_LINEAR_SPECTRUM_H

#include "engine/linear/linear.h"

/* Where a matrix is singular to rounding: what `least` is no lower than. */
#define PL_SPECTRUM_LEAST 1e-12

/* Of D^-1 A. `most` is a bound; `least` is one as far as Lanczos' process has found the end of the
 * spectrum, to a tenth of itself, and is no less than `floor`, which the caller knows as one. */
typedef struct pl_spectrum {
    double least, most;
} pl_spectrum;

/* Of a positive semidefinite matrix with a positive diagonal, by at most some hundreds of products with
 * it. PL_NO_MEMORY, or PL_OK. */
pl_status pl_spectrum_find(const pl_sparse *a, double floor, pl_spectrum *out);

#endif
