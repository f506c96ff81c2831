/* Vertices that obstacles hold out, for devices. A thread a vertex, padding too. */
#define PL_ALL_REGISTERS /* distances are of double precision in either */
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

PL_THREAD void point_of(const pl_term_arguments *a, const pl_number *x, int64_t i, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = x[3 * (int64_t)a->group.corner[i] + c];
}

/* contacts.c's local step. */
PL_THREAD void local_of(const pl_term_arguments *a, int64_t i)
{
    const pl_admm_local *l = &a->local;
    const pl_number *x = a->x + 3 * (int64_t)a->group.corner[i];
    double w2 = a->group.weight[i], v[3], z[3], z_hat[3], to_global[3], dual[3];
    double friction = a->obstacle.friction, start[3], stationary[3];
    pl_block_sums sums = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        int64_t e = value_at(i, c);
        double u_hat = l->u[e] + l->beta * ((double)l->u[e] - l->u_old[e]);
        z_hat[c] = l->z[e] + l->beta * ((double)l->z[e] - l->z_old[e]);
        v[c] = u_hat + l->relaxation * x[c] + (1 - l->relaxation) * z_hat[c];
    }
    if (a->obstacle.share)
        friction *= a->obstacle.share[i];
    point_of(a, a->x_start, i, start);
    if (a->stationary)
        point_of(a, a->stationary, i, stationary);
    const pl_contact_begin begin = pl_contact_begin_at(a->obstacle.shape, &a->obstacle.path, start,
                                                       a->stationary ? stationary : NULL);
    pl_contact_hold(a->obstacle.shape, friction, &a->obstacle.path, &begin, start, v, z);
    for (int c = 0; c < 3; c++) {
        int64_t e = value_at(i, c);
        double s = z[c] - z_hat[c], r = x[c] - z[c], u = v[c] - z[c];
        double momentum = (z[c] - l->z[e]) - (u - l->u[e]);
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

/* What is held out is no energy of the body's. */
PL_THREAD void measure_of(const pl_term_arguments *a, int64_t i)
{
    a->energy[i] = a->stretch_out[i] = a->inverted_out[i] = 0;
}
PL_KERNEL(obstacles_measure, measure_of, pl_term_arguments)

/* -w^2 u of a thread's vertex, and whether there is any. */
PL_THREAD void push_of(const pl_term_arguments *a, int64_t i)
{
    int any = 0;
    for (int c = 0; c < 3; c++) {
        double u = a->u[value_at(i, c)];
        a->columns[c * a->group.terms + i] = -(a->group.weight[i] * u);
        any = any || u != 0;
    }
    a->columns[3 * a->group.terms + i] = any;
}
PL_KERNEL(obstacles_push, push_of, pl_term_arguments)

PL_THREAD bool touch_of(const pl_touch_arguments *a, int64_t i, pl_touch *out)
{
    const pl_term_arguments *t = &a->term;
    double start[3], x[3];
    bool any = false;
    for (int c = 0; t->u && c < 3; c++) {
        double u = t->u[value_at(i, c)];
        out->force[c] = -(t->group.weight[i] * u);
        any = any || u != 0;
    }
    if (!any)
        return false;
    point_of(t, a->x_start, i, start);
    point_of(t, t->x, i, x);
    pl_contact_meet(t->obstacle.shape, &a->path, start, x, out);
    out->restitution = a->restitution;
    return true;
}

#include "engine/backends/device/touch_threads.h"

PL_SPLITTING_KERNELS(obstacles, PL_LOCAL_KERNEL)
PL_TOUCH_KERNELS(obstacles)
PL_TERM_TABLE(obstacles, "contacts", 1, 3, true, NULL, NULL, PL_TERM_NAMED(obstacles, measure),
              NULL, PL_TERM_NAMED(obstacles, push), PL_SPLITTING_SLOTS(obstacles), NULL, NULL,
              PL_TOUCH_SLOTS(obstacles))
