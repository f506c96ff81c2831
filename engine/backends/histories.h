/* histories.h - data that phases with a history (backend.h) share with their inner loops. Separate from all that a
 * backend knows of a model, because the loops are compiled once for each instruction set. */
#ifndef PLIANT_ENGINE_BACKENDS_HISTORIES_H
#define PLIANT_ENGINE_BACKENDS_HISTORIES_H

#include "engine/backends/array.h"

#include <stdint.h>

/* Most pairs of Anderson acceleration. */
enum { PL_ANDERSON_MAX = 8 };

/* The newest pair of a quasi-Newton history, and inner products with all pairs. The last of s holds the direction
 * of the last step, of length alpha, and becomes s; the last of w becomes A^-1 t, with t = g - g_old and p = A^-1
 * g. All are rows. */
typedef struct pl_history_pair {
    pl_array *const *s, *const *w; /* [count], oldest first */
    int32_t count;
    double alpha;
    const pl_array *g, *g_old, *p, *p_old;
    double *sg, *wg, *st, *wt; /* out, [count]: s_i . g, w_i . g, s_i . t, w_i . t */
} pl_history_pair;

#endif
