/* sample.h - points of the unit cube [0, 1)^d, the same on every machine, because only integers determine them.
 *
 * Random points are splitmix64's. A Latin hypercube has, in each dimension, one point in each of n equal parts.
 * Sobol points are base-2 digital sequences with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30,
 * 2008, new-joe-kuo-6.21201), in Gray-code order from point 0. A seed other than 0 shifts each dimension by an
 * exclusive or, which keeps their discrepancy (Owen 2003, digital shift).
 */
#ifndef PLIANT_PROTOCOL_SWEEP_SAMPLE_H
#define PLIANT_PROTOCOL_SWEEP_SAMPLE_H

#include "engine/scene/fault.h"

#include <stdint.h>

enum { PL_SOBOL_DIMENSIONS = 21 };

typedef enum pl_sampling {
    PL_SAMPLING_GRID,
    PL_SAMPLING_RANDOM,
    PL_SAMPLING_LATIN,
    PL_SAMPLING_SOBOL,
} pl_sampling;
/* "grid", "random", "latin_hypercube", "sobol"; NULL-terminated. */
extern const char *const pl_sampling_names[];

/* Writes n points of d dimensions into out [n][d]. Not for PL_SAMPLING_GRID, whose points are not sampled. d is at
 * most PL_SOBOL_DIMENSIONS for Sobol. PL_OK or PL_NO_MEMORY. */
pl_status pl_sample_points(pl_sampling sampling, uint64_t seed, int64_t n, int32_t d, double *out);

#endif
