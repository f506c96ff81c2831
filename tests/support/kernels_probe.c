/* kernels_probe.c - the kernels as this build's flags have them, and the list of all. */
#define PROBE      pl_kernels_probe_baseline
#define PROBE_NAME "baseline"
#include "tests/support/kernels_probe_body.h"

#if defined(__x86_64__)
extern const pl_kernels_probe pl_kernels_probe_v2, pl_kernels_probe_v3, pl_kernels_probe_v4;
#endif

const pl_kernels_probe *pl_kernels_probes(void)
{
    static pl_kernels_probe list[5];
    int count = 0;
    list[count++] = pl_kernels_probe_baseline;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v2"))
        list[count++] = pl_kernels_probe_v2;
    if (__builtin_cpu_supports("x86-64-v3"))
        list[count++] = pl_kernels_probe_v3;
    if (__builtin_cpu_supports("x86-64-v4"))
        list[count++] = pl_kernels_probe_v4;
#endif
    list[count].name = NULL;
    return list;
}
