/* isa.h - the instruction set of the engine's own kernels. Every file named *_isa.c is compiled once for each
 * instruction set, and the table of the best one that this processor supports is used; PLIANT_ISA in the
 * environment forces another. The bits do not depend on it: fixed widths, no contraction, no approximation.
 */
#ifndef PLIANT_ENGINE_ISA_H
#define PLIANT_ENGINE_ISA_H

typedef enum pl_isa { PL_ISA_V2, PL_ISA_V3, PL_ISA_V4, PL_ISA_COUNT } pl_isa;

/* Declares what a file named *_isa.c defines once for each instruction set. */
#if defined(__x86_64__)
#define PL_ISA_DECLARE(type, name) extern type name##_v2, name##_v3, name##_v4
#else
#define PL_ISA_DECLARE(type, name) extern type name##_base
#define PL_ONE_ISA                 base
#endif

/* Initialises an array of PL_ISA_COUNT pointers to it. PL_ONE_ISA: this is all that the build has. */
#if defined(PL_ONE_ISA)
#define PL_ISA_ALL(name, isa)                                                                      \
    {                                                                                              \
        &name##_##isa, &name##_##isa, &name##_##isa                                                \
    }
#define PL_ISA_SAME(name, isa) PL_ISA_ALL(name, isa)
#define PL_ISA_TABLE(name)     PL_ISA_SAME(name, PL_ONE_ISA)
#else
#define PL_ISA_TABLE(name)                                                                         \
    {                                                                                              \
        &name##_v2, &name##_v3, &name##_v4                                                         \
    }
#endif

/* The instruction set in use, decided at the first call. */
pl_isa pl_isa_current(void);
/* "x86-64-v4", ... or "base" if the build has only one. */
const char *pl_isa_name(pl_isa isa);

#endif
