/* Kernels of contact between bodies (between_kernels.h). */
#ifdef __CUDACC__
#define PL_BETWEEN_KERNELS_ARE_HERE
#endif
#define PL_ALL_REGISTERS /* the law is in double in either precision */
#include "engine/backends/device/vertex_threads.h"

#include "engine/backends/device/between_kernels.h"
#include "engine/backends/device/row_kernels.h"
#include "engine/contact/row_law.h"

/* ---- rows as energies ---- */

/* r = sum w_a x_a, from differences, because the weights sum to 0. */
PL_THREAD void way_of(const pl_device_row *row, const pl_number *x, double r[3])
{
    const pl_number *origin = x + 3 * (int64_t)row->vertex[0];
    r[0] = r[1] = r[2] = 0;
    for (int k = 1; k < 4; k++)
        for (int c = 0; c < 3; c++)
            r[c] += row->weight[k] * ((double)x[3 * (int64_t)row->vertex[k] + c] - origin[c]);
}

PL_THREAD pl_row_law law_of(const pl_device_row *row)
{
    const pl_row_law law = {row->normal,    row->start, row->grip, row->distance,
                            row->stiffness, row->force, row->bound};
    return law;
}

PL_THREAD void row_pull(const pl_row_pull_arguments *a, int64_t i)
{
    const pl_row_law law = law_of(&a->rows.row[i]);
    double r[3];
    way_of(&a->rows.row[i], a->x, r);
    a->energy[i] = pl_row_pull(&law, r, a->pull + 3 * i);
}

/* A row's contribution to the diagonal of the Hessian at its corner. */
PL_THREAD void add_diagonal(const pl_device_row *row, int corner, const pl_number *x, double sum[3])
{
    const pl_row_law law = law_of(row);
    const double w = row->weight[corner];
    double r[3], K[3][3];
    way_of(row, x, r);
    pl_row_hessian(&law, r, K);
    for (int c = 0; c < 3; c++)
        sum[c] += w * w * K[c][c];
}

PL_THREAD void row_gather(const pl_row_gather_arguments *a, int64_t i)
{
    double sum[3] = {0, 0, 0};
    for (int32_t e = a->rows.first[i]; e < a->rows.first[i + 1]; e++) {
        const int32_t r = a->rows.entry[e] / 4, corner = a->rows.entry[e] % 4;
        const pl_device_row *row = &a->rows.row[r];
        if (a->x)
            add_diagonal(row, corner, a->x, sum);
        for (int c = 0; !a->x && c < 3; c++)
            sum[c] += a->sign * row->weight[corner] * a->pull[3 * (int64_t)r + c];
    }
    for (int c = 0; c < 3; c++)
        a->out[3 * (int64_t)a->rows.vertex[i] + c] = (pl_number)sum[c];
}

/* ---- the joint prox ---- */

/* v of the touched vertices: the argument of the prox in their terms' local steps, or their held position. */
PL_THREAD void prox_points(const pl_prox_arguments *a, int64_t i)
{
    const pl_number *x = a->x + 3 * (int64_t)a->rows.vertex[i];
    double z_hat[3];
    if (a->term[i] >= 0)
        local_point(&a->local, x, a->term[i], a->v + 3 * i, z_hat);
    else
        for (int c = 0; c < 3; c++)
            a->v[3 * i + c] = x[c];
}

/* C v of a row, from the touched vertices' v. */
PL_THREAD void apply(const pl_device_row *row, const double *v, double way[3])
{
    const double *origin = v + 3 * (int64_t)row->place[0];
    way[0] = way[1] = way[2] = 0;
    for (int k = 1; k < 4; k++)
        for (int c = 0; c < 3; c++)
            way[c] += row->weight[k] * (v[3 * (int64_t)row->place[k] + c] - origin[c]);
}

PL_THREAD void prox_free(const pl_prox_arguments *a, int64_t i)
{
    const pl_device_row *row = &a->rows.row[i];
    double way[3];
    apply(row, a->v, way);
    pl_row_free(row->normal, row->distance, row->start, way, a->free + 3 * i);
}

/* y of coordinate i. */
PL_THREAD double ahead(const pl_prox_arguments *a, int64_t i)
{
    return a->p[i] + a->control->beta * (a->p[i] - a->last[i]);
}

/* moved = W^-1 C^T y. */
PL_THREAD void prox_move(const pl_prox_arguments *a, int64_t i)
{
    double sum[3] = {0, 0, 0};
    if (a->control->done && !a->settle)
        return;
    for (int32_t e = a->rows.first[i]; e < a->rows.first[i + 1]; e++) {
        const int64_t r = a->rows.entry[e] / 4;
        const double w = a->rows.row[r].weight[a->rows.entry[e] % 4];
        for (int c = 0; c < 3; c++)
            sum[c] += w * (a->settle ? a->p[3 * r + c] : ahead(a, 3 * r + c));
    }
    for (int c = 0; c < 3; c++)
        a->moved[3 * i + c] = a->give[i] * sum[c];
}

PL_THREAD void prox_sweep(const pl_prox_arguments *a, int64_t i)
{
    const pl_device_row *row = &a->rows.row[i];
    double way[3], y[3];
    if (a->control->done)
        return;
    apply(row, a->moved, way);
    for (int c = 0; c < 3; c++)
        y[c] = ahead(a, 3 * i + c);
    pl_row_sweep(row->normal, row->friction, a->step[i], y, a->free + 3 * i, way, a->p + 3 * i,
                 a->last + 3 * i, a->part + 3 * i);
}

PL_THREAD double total_of(const double *sums)
{
    double total = 0;
    for (int i = 0; i < PL_SUM_LAST; i++)
        total += sums[i];
    return total;
}

/* `accelerate` of joint_prox.c, and whether the sweep was the last. */
PL_THREAD void prox_decide(const pl_prox_arguments *a, int64_t thread)
{
    pl_prox_control *k = a->control;
    (void)thread;
    if (k->done)
        return;
    const double change = total_of(a->sums), size = total_of(a->sums + PL_SUM_LAST);
    const int restart = total_of(a->sums + 2 * PL_SUM_LAST) > 0;
    const double next = restart ? 1 : (1 + sqrt(1 + 4 * k->t * k->t)) / 2;
    const double least = a->rounding * a->rounding * size, wanted = a->exact * a->exact;
    k->beta = restart ? 0 : (k->t - 1) / next;
    k->t = next;
    k->sweeps++;
    k->done = change <= (wanted > least ? wanted : least);
}

PL_THREAD void prox_spread(const pl_prox_arguments *a, int64_t i)
{
    for (int c = 0; a->term[i] >= 0 && c < 3; c++)
        a->values[value_at(a->term[i], c)] = (pl_number)(a->sign * a->moved[3 * i + c]);
}

#define DO(name, type) PL_KERNEL(name, name, type)
PL_BETWEEN_KERNELS(DO)
