/* cpu_sweep_lanes.h - the steps of the PL_BLOCK vertices of a pack, one in each lane. Compiled once for each
 * instruction set; the bits do not depend on it. */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_SWEEP_LANES_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_SWEEP_LANES_H

#include "engine/isa.h"
#include "engine/model/local.h"

/* Least pivot of H, relative to A_ii; Armijo's constant. */
#define PL_SWEEP_LEAST  1e-6
#define PL_SWEEP_ARMIJO 1e-4

/* A pack's constants, by lane; see cpu_sweep.h. */
typedef struct pl_pack_of {
    const int32_t *vertex;
    const double *mass, *diagonal, *held;
} pl_pack_of;

/* The vertices of a pack while they move. */
typedef struct pl_pack {
    _Alignas(64) double sums[PL_LOCAL_ROWS * PL_BLOCK]; /* of the terms: energy, f, H (local.h) */
    double from[3 * PL_BLOCK], d[3 * PL_BLOCK];
    double pull[3 * PL_BLOCK], inertia[PL_BLOCK]; /* derivatives of inertia and load at `from` */
    double by[3 * PL_BLOCK];                      /* the move: -alpha d */
    double slope[PL_BLOCK], alpha[PL_BLOCK];      /* f . d; 0: the vertex has its place */
    double rounding[PL_BLOCK], change[PL_BLOCK];  /* J: of `change`, and e's change by the move */
} pl_pack;

typedef struct pl_pack_loops {
    /* Reads positions, and adds inertia and load to f and H. */
    void (*load)(const pl_pack_of *of, const pl_stage *stage, const double *x, pl_pack *p);
    /* Finds d = H^-1 f with the identity in held rows and columns, slopes, and alpha: 1 in the first `used` lanes where
     * d goes down, 0 in others. Returns the used lanes, as bits, whose H is not definite; their alpha is 0. */
    uint32_t (*solve)(const pl_pack_of *of, int32_t used, pl_pack *p);
    /* by, and the part of inertia and load in `change`. */
    void (*propose)(pl_pack *p);
    /* Sets alpha to 0 where the change is a descent, else halves it. Returns true if any is left. */
    bool (*judge)(pl_pack *p);
} pl_pack_loops;

PL_ISA_DECLARE(const pl_pack_loops, pl_pack_loops);

#endif
