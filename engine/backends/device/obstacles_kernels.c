/* Vertices that obstacles hold out, for devices. One thread per vertex, padding included. */
#define PL_ALL_REGISTERS /* distances are in double in either precision */
#include "engine/backends/device/vertex_threads.h"

PL_THREAD void point_of(const pl_term_arguments *a, const pl_number *x, int64_t i, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = x[3 * (int64_t)a->group.corner[i] + c];
}

/* The local step of contacts.c. */
PL_THREAD void local_of(const pl_term_arguments *a, int64_t i)
{
    double v[3], z[3], z_hat[3], start[3], stationary[3], friction = a->obstacle.friction;
    local_point(&a->local, a->x + 3 * (int64_t)a->group.corner[i], i, v, z_hat);
    if (a->obstacle.share)
        friction *= a->obstacle.share[i];
    point_of(a, a->x_start, i, start);
    if (a->stationary)
        point_of(a, a->stationary, i, stationary);
    const pl_contact_begin begin = pl_contact_begin_at(a->obstacle.shape, &a->obstacle.path, start,
                                                       a->stationary ? stationary : NULL);
    pl_contact_hold(a->obstacle.shape, friction, &a->obstacle.path, &begin, start, v, z);
    local_end(a, i, v, z_hat, z);
}

PL_KERNEL(obstacles_measure, measure_of, pl_term_arguments)

/* -w^2 u of a thread's vertex, and whether it is not 0. */
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
