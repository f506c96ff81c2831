/* vectors.h - three numbers, and matrices of nine. */
#ifndef PLIANT_ENGINE_OBSTACLES_VECTORS_H
#define PLIANT_ENGINE_OBSTACLES_VECTORS_H

#include "engine/everywhere.h"

PL_EVERYWHERE double pl_vector_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* H += k a a^T. */
PL_EVERYWHERE void pl_matrix_add_outer(double *H, double k, const double a[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[3 * i + j] += k * a[i] * a[j];
}

PL_EVERYWHERE void pl_matrix_add_identity(double *H, double k)
{
    for (int i = 0; i < 3; i++)
        H[4 * i] += k;
}

#endif
