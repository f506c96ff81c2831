/* cpu_anderson.h - the inner loops of Anderson acceleration on blocks of a group's values: many arrays, each read
 * once. Compiled once for each instruction set; the bits do not depend on it. */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_ANDERSON_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_ANDERSON_H

#include "engine/backends/histories.h"
#include "engine/isa.h"
#include "engine/model/group.h"

/* Arrays of one group, [block][rows][PL_BLOCK] each, except as noted. Differences are in single precision,
 * which halves their traffic: they accelerate the solution but are not part of it. */
typedef struct pl_anderson_part {
    const double *weight; /* [block][PL_BLOCK] */
    int32_t rows;
    double relaxation;
    const double *z;
    int32_t count;    /* number of earlier residuals */
    double *const *r; /* [count + 1]; the last is out */
    float *dg; /* in: `taken` of the last local step, if `taken`; out: relaxation r - it; or NULL */
    bool taken;
} pl_anderson_part;

/* The same for what is taken from u. */
typedef struct pl_mixing_part {
    int32_t rows, count;
    const double *gamma;
    float *const *dg; /* [count] */
    float *taken;     /* may be one of dg */
    double *u;
} pl_mixing_part;

typedef struct pl_anderson_loops {
    /* Computes blocks [b0, b1) of the last residual, D x - z, and of dg. Dx: of these blocks alone. Adds to
     * sums[count + 1] the inner products, by weight, of that residual with each. */
    void (*difference)(const pl_anderson_part *part, const double *Dx, int64_t b0, int64_t b1,
                       double *sums);
    /* u -= taken = sum gamma_j dg_j over blocks [b0, b1). */
    void (*mix)(const pl_mixing_part *part, int64_t b0, int64_t b1);
} pl_anderson_loops;

PL_ISA_DECLARE(const pl_anderson_loops, pl_anderson_loops);

#endif
