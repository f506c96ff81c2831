/* Which BLAS is linked, without linking one: a program without BLAS sees NULL here. */
#include "engine/linear/linear.h"

/* OpenBLAS's own call, absent from other BLAS libraries. */
extern char *openblas_get_corename(void) __attribute__((weak));

const char *pl_blas_core(void)
{
    return openblas_get_corename ? openblas_get_corename() : "none";
}
