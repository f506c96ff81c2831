/* cpu_rows.h - the inner loops of a history on one chunk of rows: many vectors, each read once. Compiled once for
 * each instruction set, as the kernels are; the bits do not depend on it. */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_ROWS_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_ROWS_H

#include "engine/backends/histories.h"
#include "engine/isa.h"

/* Number of items in the chunk of a partial sum, whatever the number of threads. */
enum { CHUNK = 512 };

typedef struct pl_rows_loops {
    /* Computes rows [i0, i1) of the newest s and w, and dots[4 count + 1]: for each pair s.g, s.t, w.g, w.t, then
     * p.g. At most CHUNK rows. */
    void (*pair)(const pl_history_pair *pair, int64_t i0, int64_t i1, double *dots);
    /* Rows [i0, i1) of out = sum of coefficient[j] list[j]; out must not be in the list. */
    void (*combine)(const pl_array *const *list, const double *coefficient, int32_t terms,
                    int64_t i0, int64_t i1, double *out);
    /* a . c over rows [i0, i1). */
    double (*dot)(const double *a, const double *c, int64_t i0, int64_t i1);
    /* Rows [i0, i1) of out = inverse g; returns g . out over them. */
    double (*scale)(const double *inverse, const double *g, int64_t i0, int64_t i1, double *out);
} pl_rows_loops;

PL_ISA_DECLARE(const pl_rows_loops, pl_rows_loops);

/* The loops for this processor. */
const pl_rows_loops *pl_cpu_rows(void);

#endif
