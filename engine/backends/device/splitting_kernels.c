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
    double dot[2 * PL_ANDERSON_MAX + 1] = {0}, w = a->weight[thread];
    int64_t at = thread / PL_BLOCK * a->rows * PL_BLOCK + thread % PL_BLOCK;
    int32_t m = a->count;
    for (int32_t e = 0; e < a->rows; e++, at += PL_BLOCK) {
        double z = a->z[at], r = a->r[at] - z, g = z + a->u[at] + a->relaxation * r;
        dot[2 * m] += w * r * r;
        if (m > 0) {
            float dr = (float)(r - a->r_old[at]);
            a->dr[m - 1][at] = dr;
            a->dg[m - 1][at] = (float)(g - a->g[at]);
            for (int32_t j = 0; j < m; j++) {
                double d = a->dr[j][at];
                dot[j] += w * dr * d;
                dot[m + j] += w * r * d;
            }
        }
        a->r[at] = (pl_number)r;
        a->g[at] = (pl_number)g;
    }
    for (int32_t j = 0; j <= 2 * m; j++)
        a->products[j * a->stride + thread] = dot[j];
}

PL_THREAD void anderson_combine(const pl_anderson_arguments *a, int64_t i)
{
    double v = a->g[i];
    for (int32_t j = 0; j < a->count; j++)
        v -= a->gamma[j] * a->dg[j][i];
    a->u[i] = (pl_number)(v - a->r[i] - a->z[i]);
}

#define DO(name, type) PL_KERNEL(name##_kernel, name, type)
PL_SPLITTING_ROW_KERNELS(DO)
