/* vectors.h - vectors of three numbers and matrices of nine. */
#ifndef PLIANT_ENGINE_VECTORS_H
#define PLIANT_ENGINE_VECTORS_H

#include "engine/everywhere.h"

PL_EVERYWHERE double pl_vector_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = a - b. */
PL_EVERYWHERE void pl_vector_subtract(const double *a, const double *b, double *out)
{
    for (int c = 0; c < 3; c++)
        out[c] = a[c] - b[c];
}

/* out = a x b; out must differ from both. */
PL_EVERYWHERE void pl_vector_cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
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
