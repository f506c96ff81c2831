#include "engine/isa.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
static const char *const NAMES[PL_ISA_COUNT] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
#else
static const char *const NAMES[PL_ISA_COUNT] = {"base", "base", "base"};
#endif

#if defined(PL_ONE_ISA)

enum { base = PL_ISA_V2, v2 = PL_ISA_V2, v3 = PL_ISA_V3, v4 = PL_ISA_V4 };

pl_isa pl_isa_current(void)
{
    return (pl_isa)PL_ONE_ISA;
}

#else

static pl_isa best(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4"))
        return PL_ISA_V4;
    if (__builtin_cpu_supports("x86-64-v3"))
        return PL_ISA_V3;
    return PL_ISA_V2;
}

pl_isa pl_isa_current(void)
{
    /* A name that is unknown, or beyond the processor, is ignored: a worker that dies of an illegal instruction
     * helps nobody. pl_engine_isa() reports the one in use. */
    pl_isa most = best();
    const char *wish = getenv("PLIANT_ISA");
    for (int i = 0; wish && i <= (int)most; i++)
        if (strcmp(wish, NAMES[i]) == 0)
            return (pl_isa)i;
    return most;
}

#endif

const char *pl_isa_name(pl_isa isa)
{
    return NAMES[isa];
}
