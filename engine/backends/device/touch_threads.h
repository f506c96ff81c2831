/* touch_threads.h - effects of obstacles on their vertices besides an energy or a constraint: forces carried to the
 * next stage, velocities, and the power of friction (model/groups/contact_velocity.h). Included by the two kinds of
 * obstacles, after
 *
 *   touch_of(a, i, &touch)    term i's touch, or false if it has no effect
 *
 * One thread per term. A vertex is in only one term of a group, so no two threads write the same vertex. */
#include "engine/backends/device/term_kernels.h"

PL_THREAD int64_t vertex_of(const pl_touch_arguments *a, int64_t i)
{
    return a->term.group.corner[i];
}

PL_THREAD void take_vector(const pl_number *from, int64_t vertex, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = from[3 * vertex + c];
}

PL_THREAD void give_vector(pl_number *to, int64_t vertex, const double v[3])
{
    for (int c = 0; c < 3; c++)
        to[3 * vertex + c] = (pl_number)v[c];
}

PL_THREAD void force_of(const pl_touch_arguments *a, int64_t i)
{
    pl_touch touch;
    if (!touch_of(a, i, &touch))
        return;
    for (int c = 0; c < 3; c++)
        a->force[3 * vertex_of(a, i) + c] += (pl_number)touch.force[c];
}

PL_THREAD void leave_of(const pl_touch_arguments *a, int64_t i)
{
    pl_touch touch;
    int64_t vertex = vertex_of(a, i);
    double v_start[3], v[3], x_end[3], x_back[3], v_back[3];
    if (a->landed)
        a->landed[i] = 0;
    take_vector(a->v_start, vertex, v_start);
    if (!touch_of(a, i, &touch) ||
        !pl_contact_bounces(&touch, a->all != 0, a->within, a->mass[vertex], v_start))
        return;
    take_vector(a->v_end, vertex, v);
    pl_contact_leap leap = pl_contact_leap_of(&touch, v_start);
    if (a->landed && -leap.into > a->landing)
        a->landed[i] = 1;
    pl_contact_leave(&touch, &leap, v);
    give_vector(a->v_end, vertex, v);
    if (!a->v_back)
        return;
    take_vector(a->x_end, vertex, x_end);
    take_vector(a->x_back, vertex, x_back);
    take_vector(a->v_back, vertex, v_back);
    pl_contact_amend_history(&touch, &leap, a->within, a->path.span, a->mass[vertex], x_end, x_back,
                             v_back);
    give_vector(a->x_back, vertex, x_back);
    give_vector(a->v_back, vertex, v_back);
}

PL_THREAD void rub_of(const pl_touch_arguments *a, int64_t i)
{
    pl_touch touch;
    double v[3];
    take_vector(a->v, vertex_of(a, i), v);
    a->power[i] = touch_of(a, i, &touch) ? (pl_number)pl_contact_rub(&touch, v) : 0;
}

#define PL_TOUCH_KERNELS(kind)                                                                     \
    PL_KERNEL(kind##_force, force_of, pl_touch_arguments)                                          \
    PL_KERNEL(kind##_leave, leave_of, pl_touch_arguments)                                          \
    PL_KERNEL(kind##_rub, rub_of, pl_touch_arguments)
#define PL_TOUCH_SLOTS(kind)                                                                       \
    PL_TERM_NAMED(kind, force), PL_TERM_NAMED(kind, leave), PL_TERM_NAMED(kind, rub)
