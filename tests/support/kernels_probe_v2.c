/* kernels_probe_v2.c - the kernels for x86-64-v2, whatever the build's flags. */
#if defined(__x86_64__)
#pragma GCC target("arch=x86-64-v2")

#define PROBE      pl_kernels_probe_v2
#define PROBE_NAME "x86-64-v2"
#include "tests/support/kernels_probe_body.h"
#endif
