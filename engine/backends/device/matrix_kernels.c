/* Kernels of the constant matrix (matrix_kernels.h). */
#ifdef __CUDACC__
#define PL_ROW_KERNELS_ARE_HERE
#define PL_MATRIX_KERNELS_ARE_HERE
#endif
#include "engine/backends/device/matrix_kernels.h"

#include "engine/backends/device/gather_kernels.h"

PL_THREAD int holds(const pl_device_vertices *m, int64_t row, int k)
{
    return m->held[m->free_vertex[row]] >> k & 1;
}

/* ---- right-hand sides ---- */

PL_THREAD void stage_rows(const pl_stage_rows_arguments *a, int64_t i)
{
    const pl_device_vertices *m = &a->vertices;
    int64_t n = m->free, v = m->free_vertex[i];
    double r[3], inertia = a->inertia * m->mass[v];
    for (int k = 0; k < 3; k++)
        r[k] = inertia * a->x_pred[3 * v + k] + (a->load ? a->load[3 * v + k] : 0);
    for (int32_t e = a->matrix.coupling_start[i]; e < a->matrix.coupling_start[i + 1]; e++) {
        int64_t other = a->matrix.coupling_vertex[e];
        for (int k = 0; k < 3; k++)
            if (m->held[other] >> k & 1)
                r[k] -= (double)a->matrix.coupling_value[e] * a->x[3 * other + k];
    }
    for (int k = 0; k < 3; k++)
        a->rows[k * n + i] = holds(m, i, k) ? a->x[3 * v + k] : (pl_number)r[k];
}

PL_THREAD void gather_rows(const pl_gather_rows_arguments *a, int64_t i)
{
    const pl_device_vertices *m = &a->vertices;
    pl_number f[3];
    gather(m, a->contributions, m->free_vertex[i], f);
    for (int k = 0; k < 3; k++)
        a->rows[k * m->free + i] = a->base[k * m->free + i] + (holds(m, i, k) ? 0 : f[k]);
}

PL_THREAD void gather_square(const pl_gather_square_arguments *a, int64_t i)
{
    pl_number f[3];
    double total = 0;
    gather(&a->vertices, a->contributions, a->vertices.free_vertex[i], f);
    for (int k = 0; k < 3; k++)
        total += holds(&a->vertices, i, k) ? 0 : (double)f[k] * f[k];
    a->columns[i] = total;
}

/* ---- Chebyshev's iteration ---- */

/* A_k x of row i, in double and by differences, so that a body far from the origin loses no digits: sum_j A_ij
 * (x_j - x_i) + (sum_j A_ij) x_i, where x_j is 0 at held coordinates. */
PL_THREAD void multiply_rows(const pl_iterate_arguments *a, int64_t i, double out[3])
{
    const pl_device_matrix *A = &a->matrix;
    int64_t n = a->vertices.free, at = A->start[i / PL_SLICE] + i % PL_SLICE;
    double own[3];
    for (int k = 0; k < 3; k++) {
        own[k] = a->from[k * n + i];
        out[k] = A->sum[i] * own[k];
    }
    for (; at < A->start[i / PL_SLICE + 1]; at += PL_SLICE) {
        int64_t j = A->column[at];
        double value = A->value[at];
        for (int k = 0; k < 3; k++)
            out[k] += value * ((holds(&a->vertices, j, k) ? 0 : a->from[k * n + j]) - own[k]);
    }
}

/* D^-1 A d of row i; d is 0 at held coordinates. */
PL_THREAD void multiply_step(const pl_iterate_arguments *a, int64_t i, pl_number out[3])
{
    const pl_device_matrix *A = &a->matrix;
    int64_t at = A->start[i / PL_SLICE] + i % PL_SLICE;
    pl_number x = 0, y = 0, z = 0, inverse = 1 / A->diagonal[i];
    for (; at < A->start[i / PL_SLICE + 1]; at += PL_SLICE) {
        const pl_number4 d = a->d[A->column[at]];
        pl_number value = A->value[at];
        x += value * d.x;
        y += value * d.y;
        z += value * d.z;
    }
    out[0] = a->d[i].x + inverse * x;
    out[1] = a->d[i].y + inverse * y;
    out[2] = a->d[i].z + inverse * z;
}

PL_THREAD pl_number4 vector_of(const pl_number v[3])
{
    const pl_number4 out = {v[0], v[1], v[2], 0};
    return out;
}

PL_THREAD void iterate_begin(const pl_iterate_arguments *a, int64_t i)
{
    int64_t n = a->vertices.free;
    double product[3] = {0, 0, 0};
    pl_number x[3], r[3], d[3];
    if (a->from)
        multiply_rows(a, i, product);
    for (int k = 0; k < 3; k++) {
        int held = holds(&a->vertices, i, k);
        pl_number rhs = a->rhs[k * n + i];
        x[k] = held ? rhs : a->from ? a->from[k * n + i] : 0;
        r[k] = held ? 0 : (pl_number)((rhs - product[k]) / a->matrix.diagonal[i]);
        d[k] = (pl_number)a->first * r[k];
    }
    a->x[i] = vector_of(x);
    a->r[i] = vector_of(r);
    a->d_new[i] = vector_of(d);
    if (a->r0)
        a->r0[i] = vector_of(r);
}

/* x + d and r - D^-1 A d. */
PL_THREAD void go_on(const pl_iterate_arguments *a, int64_t i, pl_number x[3], pl_number r[3])
{
    pl_number product[3];
    const pl_number4 x_old = a->x[i], r_old = a->r[i], d = a->d[i];
    multiply_step(a, i, product);
    x[0] = x_old.x + d.x;
    x[1] = x_old.y + d.y;
    x[2] = x_old.z + d.z;
    r[0] = r_old.x - product[0];
    r[1] = r_old.y - product[1];
    r[2] = r_old.z - product[2];
    for (int k = 0; k < 3; k++)
        r[k] = holds(&a->vertices, i, k) ? 0 : r[k];
}

PL_THREAD void iterate_step(const pl_iterate_arguments *a, int64_t i)
{
    pl_number x[3], r[3], on = (pl_number)a->on, down = (pl_number)a->down;
    go_on(a, i, x, r);
    const pl_number4 d = a->d[i];
    const pl_number d_new[3] = {on * d.x + down * r[0], on * d.y + down * r[1],
                                on * d.z + down * r[2]};
    a->x[i] = vector_of(x);
    a->r[i] = vector_of(r);
    a->d_new[i] = vector_of(d_new);
}

PL_THREAD void iterate_end(const pl_iterate_arguments *a, int64_t i)
{
    int64_t n = a->vertices.free;
    pl_number x[3], r[3];
    go_on(a, i, x, r);
    if (a->columns) {
        const pl_number4 r0 = a->r0[i];
        const double down[3] = {(double)r0.x - r[0], (double)r0.y - r[1], (double)r0.z - r[2]};
        double total = 0;
        for (int k = 0; k < 3; k++)
            if (!holds(&a->vertices, i, k))
                total += ((double)x[k] - a->from[k * n + i]) * a->matrix.diagonal[i] * down[k];
        a->columns[i] = total;
    }
    for (int k = 0; k < 3; k++)
        a->rows[k * n + i] = x[k];
}

#define DO(name, type) PL_KERNEL(name, name, type)
PL_MATRIX_KERNELS(DO)
