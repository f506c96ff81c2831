/* vertex_threads.h - the work of one thread on its term, for groups whose terms are a single vertex
 * (model/groups/vertex_terms.h). Everything is computed in double. */
#include "engine/backends/device/term_kernels.h"

PL_THREAD int64_t value_at(int64_t thread, int c)
{
    return (thread / PL_BLOCK * 3 + c) * PL_BLOCK + thread % PL_BLOCK;
}

PL_THREAD void put(const pl_term_arguments *a, pl_number4 *to, int64_t i, const double v[3])
{
    const pl_number4 out = {(pl_number)v[0], (pl_number)v[1], (pl_number)v[2], 0};
    to[a->group.contribution / 3 + i] = out;
}

PL_THREAD void reduce_of(const pl_term_arguments *a, int64_t i)
{
    for (int c = 0; c < 3; c++)
        a->values[value_at(i, c)] = a->x[3 * (int64_t)a->group.corner[i] + c];
}

/* v, the argument of the prox in term i's local step, and z^. */
PL_THREAD void local_point(const pl_admm_local *l, const pl_number *x, int64_t i, double v[3],
                           double z_hat[3])
{
    for (int c = 0; c < 3; c++) {
        const int64_t e = value_at(i, c);
        const double u_hat = l->u[e] + l->beta * ((double)l->u[e] - l->u_old[e]);
        z_hat[c] = l->z[e] + l->beta * ((double)l->z[e] - l->z_old[e]);
        v[c] = u_hat + l->relaxation * x[c] + (1 - l->relaxation) * z_hat[c];
    }
}

/* The rest of its local step, with z the prox of v. */
PL_THREAD void local_end(const pl_term_arguments *a, int64_t i, const double v[3],
                         const double z_hat[3], const double z[3])
{
    const pl_admm_local *l = &a->local;
    const pl_number *x = a->x + 3 * (int64_t)a->group.corner[i];
    const double w2 = a->group.weight[i];
    double to_global[3], dual[3];
    pl_block_sums sums = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        const int64_t e = value_at(i, c);
        const double s = z[c] - z_hat[c], r = x[c] - z[c], u = v[c] - z[c];
        const double momentum = (z[c] - l->z[e]) - (u - l->u[e]);
        sums.primal += w2 * r * r;
        sums.change += w2 * s * s;
        sums.size += w2 * z[c] * z[c];
        to_global[c] = w2 * (z[c] - u + l->beta_next * momentum);
        dual[c] = w2 * s;
        l->u_old[e] = (pl_number)u;
        l->z_old[e] = (pl_number)z[c];
    }
    put(a, a->contributions, i, to_global);
    if (l->dual)
        put(a, (pl_number4 *)l->dual, i, dual);
    l->sums[i] = sums;
}

PL_THREAD void contribute_of(const pl_term_arguments *a, int64_t i)
{
    double q[3];
    for (int c = 0; c < 3; c++)
        q[c] = a->group.weight[i] * ((double)a->z[value_at(i, c)] - a->u[value_at(i, c)]);
    put(a, a->contributions, i, q);
}

PL_THREAD void transpose_of(const pl_term_arguments *a, int64_t i)
{
    double q[3];
    for (int c = 0; c < 3; c++)
        q[c] = a->group.weight[i] * a->u[value_at(i, c)];
    put(a, a->contributions, i, q);
}

/* The energy of holding a vertex out is not the body's. */
PL_THREAD void measure_of(const pl_term_arguments *a, int64_t i)
{
    a->energy[i] = a->stretch_out[i] = a->inverted_out[i] = 0;
}
