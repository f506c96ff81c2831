/* kernels_probe_v4.c - the kernels for x86-64-v4, whatever the build's flags. */
#if defined(__x86_64__)
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")

#define PROBE      pl_kernels_probe_v4
#define PROBE_NAME "x86-64-v4"
#include "tests/support/kernels_probe_body.h"
#endif
