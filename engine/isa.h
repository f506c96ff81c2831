/* isa.h - the instruction set of the engine's own kernels. Every file named *_isa.c is compiled once for each
 * instruction set, and the table of the best one that this processor supports is used; PLIANT_ISA in the
 * environment forces another. The bits do not depend on it: fixed widths, no contraction, no approximation.
 */
#ifndef PLIANT_ENGINE_ISA_H
#define PLIANT_ENGINE_ISA_H

typedef enum pl_isa { PL_ISA_V2, PL_ISA_V3, PL_ISA_V4, PL_ISA_COUNT } pl_isa;

/* The instruction set in use, decided at the first call. */
pl_isa pl_isa_current(void);
/* "x86-64-v4", ... or "base" if the build has only one. */
const char *pl_isa_name(pl_isa isa);

#endif
