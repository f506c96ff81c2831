/* Vertices against obstacles with an energy, for devices. One thread per vertex. */
#define PL_ALL_REGISTERS /* distances are in double in either precision */
#include "engine/backends/device/term_kernels.h"

PL_THREAD void find_point(const pl_term_arguments *a, const pl_number *x, int64_t i, double out[3])
{
    const pl_number *at = x + 3 * (int64_t)a->group.corner[i];
    for (int c = 0; c < 3; c++)
        out[c] = at[c];
}

PL_THREAD void put(const pl_term_arguments *a, int64_t i, const double value[3])
{
    const pl_number4 v = {(pl_number)value[0], (pl_number)value[1], (pl_number)value[2], 0};
    a->contributions[a->group.contribution / 3 + i] = v;
}

PL_THREAD void energy_gradient_of(const pl_term_arguments *a, int64_t thread)
{
    double x[3], gradient[3];
    find_point(a, a->x, thread, x);
    double energy = pl_contact_energy(&a->contact, thread, x, gradient);
    if (a->energy)
        a->energy[thread] = (pl_number)energy;
    put(a, thread, gradient);
}

PL_THREAD void hessian_diagonal_of(const pl_term_arguments *a, int64_t thread)
{
    double x[3], diagonal[3];
    find_point(a, a->x, thread, x);
    pl_contact_diagonal(&a->contact, thread, x, diagonal);
    put(a, thread, diagonal);
}

/* An obstacle's energy is not part of the body's. */
PL_THREAD void measure_of(const pl_term_arguments *a, int64_t thread)
{
    a->energy[thread] = a->stretch_out[thread] = a->inverted_out[thread] = 0;
}

PL_THREAD void freeze_of(const pl_freeze_arguments *a, int64_t thread)
{
    double from[3], to[3], stationary[3], at[3];
    find_point(&a->term, a->stage.x_start, thread, from);
    find_point(&a->term, a->stage.x_pred, thread, to);
    if (a->stage.stationary)
        find_point(&a->term, a->stage.stationary, thread, stationary);
    if (a->stage.x_grip)
        find_point(&a->term, a->stage.x_grip, thread, at);
    pl_contact_freeze(&a->term.contact, thread, from, to, a->stage.stationary ? stationary : NULL,
                      a->stage.x_grip ? at : NULL, a->stage.scalars.carry_fraction);
}
PL_KERNEL(contacts_freeze, freeze_of, pl_freeze_arguments)

PL_THREAD void push_of(const pl_term_arguments *a, int64_t thread)
{
    double x[3], gradient[3];
    find_point(a, a->x, thread, x);
    pl_contact_energy(&a->contact, thread, x, gradient);
    for (int c = 0; c < 3; c++)
        a->columns[c * a->group.terms + thread] = -gradient[c];
    a->columns[3 * a->group.terms + thread] = gradient[0] != 0 || gradient[1] != 0 ||
                                              gradient[2] != 0;
}
PL_KERNEL(contacts_push, push_of, pl_term_arguments)

PL_THREAD bool touch_of(const pl_touch_arguments *a, int64_t thread, pl_touch *out)
{
    double start[3], x[3];
    find_point(&a->term, a->x_start, thread, start);
    find_point(&a->term, a->term.x, thread, x);
    return pl_contact_touch(&a->term.contact, &a->path, thread, start, x, a->restitution, out);
}

#include "engine/backends/device/touch_threads.h"

PL_DESCENT_KERNELS(contacts)
PL_TOUCH_KERNELS(contacts)
PL_TERM_TABLE(contacts, "contact_springs", 1, 3, false, PL_DESCENT_SLOTS(contacts),
              PL_TERM_NAMED(contacts, freeze), PL_TERM_NAMED(contacts, push), NULL, NULL, NULL,
              NULL, NULL, NULL, PL_TOUCH_SLOTS(contacts))
