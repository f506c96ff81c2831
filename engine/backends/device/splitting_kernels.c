/* Kernels over values of a group (splitting_kernels.h). */
#ifdef __CUDACC__
#define PL_SPLITTING_KERNELS_ARE_HERE
#endif
#include "engine/backends/device/splitting_kernels.h"

PL_THREAD void scale_terms(const pl_scale_terms_arguments *a, int64_t i)
{
    a->values[i] *= a->factor[i / (a->rows * PL_BLOCK) * PL_BLOCK + i % PL_BLOCK];
}

PL_THREAD void anderson_difference(const pl_anderson_arguments *a, int64_t thread)
{
    double dot[PL_ANDERSON_MAX + 1] = {0}, w = a->weight[thread];
    int64_t at = thread / PL_BLOCK * a->rows * PL_BLOCK + thread % PL_BLOCK;
    int32_t m = a->count;
    for (int32_t e = 0; e < a->rows; e++, at += PL_BLOCK) {
        const double exact = a->Dx[at] - a->z[at];
        const double r = a->r[m][at] = (pl_number)exact;
        for (int32_t j = 0; j <= m; j++)
            dot[j] += w * r * a->r[j][at];
        if (a->dg)
            a->dg[at] = (float)(a->relaxation * exact - (a->taken ? a->dg[at] : 0));
    }
    for (int32_t j = 0; j <= m; j++)
        a->products[j * a->stride + thread] = dot[j];
}

PL_THREAD void mixing(const pl_mixing_arguments *a, int64_t i)
{
    double sum = 0;
    for (int32_t j = 0; j < a->count; j++)
        sum += a->gamma[j] * a->dg[j][i];
    const float taken = (float)sum;
    a->taken[i] = taken;
    a->u[i] = (pl_number)(a->u[i] - taken);
}

#define DO(name, type) PL_KERNEL(name##_kernel, name, type)
PL_SPLITTING_ROW_KERNELS(DO)
