/* cpu_anderson.h - the inner loops of Anderson acceleration on blocks of a group's values: many arrays, each read
 * once. Compiled once for each instruction set; the bits do not depend on it. */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_ANDERSON_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_ANDERSON_H

#include "engine/backends/histories.h"
#include "engine/model/group.h"

/* Arrays of one group, [block][rows][PL_BLOCK] each. Differences are kept in single precision, which halves their
 * traffic: they accelerate the solution but are not part of it. */
typedef struct pl_anderson_part {
    const double *weight; /* [block][PL_BLOCK] */
    int32_t rows;
    double relaxation;
    double *u;                    /* in: the dual; out, from `combine`: v - D x */
    const double *z, *r_old;      /* r_old and g_old: of the iteration before */
    double *r;                    /* in: D x; out: D x - z */
    double *g;                    /* in: g_old; out: z + u + relaxation r */
    int32_t count;                /* number of pairs; 0: no previous iteration to subtract */
    float *const *dr, *const *dg; /* [count]; the last is the new one */
} pl_anderson_part;

typedef struct pl_anderson_loops {
    /* Computes blocks [b0, b1) of r, g and the new differences. Adds to sums[2 count + 1] the inner products, by
     * weight, of the new dr with each, of r with each, and of r with itself. */
    void (*difference)(const pl_anderson_part *part, int64_t b0, int64_t b1, double *sums);
    /* u = g - sum gamma_j dg_j - r - z over blocks [b0, b1). */
    void (*combine)(const pl_anderson_part *part, const double *gamma, int64_t b0, int64_t b1);
} pl_anderson_loops;

#if defined(__x86_64__)
extern const pl_anderson_loops pl_anderson_loops_v2, pl_anderson_loops_v3, pl_anderson_loops_v4;
#else
extern const pl_anderson_loops pl_anderson_loops_base;
#endif

#endif
