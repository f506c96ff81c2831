/* Start and end of a step's stages, on a device: what groups keep over a stage, what contact leaves to the next one
 * (model/groups/contact_velocity.h), and dissipated energy. */
#include "engine/backends/device/device_backend.h"
#include "engine/model/groups/contact_springs.h"
#include "engine/model/groups/contacts.h"
#include "engine/scene/motion.h"

#include <math.h>
#include <string.h>

#define numbers pl_device_numbers

/* ---- start ---- */

/* The obstacle's poses over the stage, for a group that is an obstacle. True if they differ from those of before. */
static bool freeze_obstacle(const pl_group *group, const pl_stage_scalars *stage,
                            pl_term_arguments *to)
{
    pl_term_arguments before;
    memcpy(&before, to, sizeof before);
    const pl_motion *motion = group->ops->push ? &((const pl_contact_springs *)group->data)->motion
                                               : &((const pl_contacts *)group->data)->motion;
    to->obstacle.path = pl_contact_path_of(stage, pl_motion_pose(motion, stage->time_start),
                                           pl_motion_pose(motion, pl_stage_touch_time(stage)));
    to->obstacle.path.span =
        0; /* for touch_of(): its last digits differ from step to step, so only its own kernel
              has it as an argument (runs.c) */
    to->contact.start = to->obstacle.path.start;
    to->contact.end = to->obstacle.path.end;
    to->contact.extrapolation = stage->extrapolation > 1 ? stage->extrapolation : 1;
    return memcmp(&before, to, sizeof before) != 0; /* padding that differs costs a recording */
}

/* Motion of a point that an obstacle carries along: by the host's function, of times alone. */
static void freeze_offsets(pl_device *d, const pl_group *group, const pl_stage_scalars *stage,
                           const pl_device_group *on)
{
    pl_stage times = {.scalars = {.time_start = stage->time_start, .time_end = stage->time_end}};
    const pl_terms *t = group->data;
    group->ops->freeze(group, &times, 0, group->blocks);
    PL_NAMED(pl_device_put_numbers)
    (d->queue, on->arguments.terms.offset, (const double *)t->offset,
     group->ops->rows * on->threads);
}

void PL_NAMED(pl_device_freeze)(pl_backend *b, const pl_backend_stage *stage)
{
    pl_device *d = pl_device_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        pl_device_group *on = &d->model.groups[g];
        if (group->ops->depth && freeze_obstacle(group, &stage->scalars, &on->arguments))
            d->model.generation++;
        if (on->arguments.tets.blend || group->ops->push || group->ops->dissipate) {
            pl_freeze_arguments a = {.term = on->arguments, .stage = pl_numbers_stage(stage)};
            if (!pl_contact_has_stationary(&a.stage))
                a.stage.stationary = NULL;
            on->kernels->freeze(d->queue, &a, on->threads);
            if (on->arguments.tets.around)
                PL_NAMED(pl_device_tets_stretch_spread)(d->queue, &a, on->threads);
        } else if (on->arguments.terms.offset && group->ops->freeze) {
            freeze_offsets(d, group, &stage->scalars, on);
        }
    }
}

/* ---- contact ---- */

/* Shared by all effects of obstacles; false if the group is not an obstacle. */
static bool touch_of(pl_backend *b, int32_t g, const pl_backend_stage *stage, pl_array *const *u,
                     const pl_array *x, pl_touch_arguments *out)
{
    const pl_group *group = &b->model->groups[g];
    const pl_device_group *on = &pl_device_of(b)->model.groups[g];
    if (!group->ops->touch)
        return false;
    *out = (pl_touch_arguments){
        .term = on->arguments,
        .path = pl_contact_path_of(&stage->scalars, on->arguments.obstacle.path.start,
                                   on->arguments.obstacle.path.end),
        .x_start = numbers(stage->x_start),
        .restitution = group->ops->push ? ((const pl_contact_springs *)group->data)->restitution
                                        : ((const pl_contacts *)group->data)->restitution};
    out->term.x = numbers(x);
    out->term.u = u ? numbers(u[g]) : NULL;
    return true;
}

static void device_contact_forces(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                                  const pl_array *x, pl_array *force)
{
    b->ops->memory->clear(b, force, 3 * b->model->vertices);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        pl_touch_arguments a;
        if (!touch_of(b, g, stage, u, x, &a))
            continue;
        a.force = numbers(force);
        pl_device_of(b)->model.groups[g].kernels->force(pl_device_of(b)->queue, &a,
                                                        b->model->groups[g].terms);
    }
}

/* The sum of the numbers that a group's threads wrote in place of their energies. */
static double add_powers(pl_device *d, int32_t group, int64_t count)
{
    const pl_summing sum = {.kind = PL_SUM_NUMBERS,
                            .count = count,
                            .a = d->model.energy + d->model.groups[group].first};
    double total;
    PL_NAMED(pl_device_add_up)(d, &sum, 1, &total);
    return total;
}

static bool device_contact_velocities(pl_backend *b, const pl_backend_stage *stage,
                                      const pl_contact_end *end)
{
    pl_device *d = pl_device_of(b);
    double landed = 0;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        pl_touch_arguments a;
        if (!touch_of(b, g, stage, end->u, end->x, &a))
            continue;
        a.within = stage->scalars.a * stage->scalars.h;
        a.all = end->all;
        a.mass = d->model.vertices.mass;
        a.x_end = numbers(end->x_end);
        a.v_start = numbers(end->v_start);
        a.v_end = numbers(end->v);
        a.x_back = numbers(end->x_back);
        a.v_back = numbers(end->v_back);
        a.landing = end->landing;
        a.landed = isinf(end->landing) ? NULL : d->model.energy + d->model.groups[g].first;
        d->model.groups[g].kernels->leave(d->queue, &a, b->model->groups[g].terms);
        if (a.landed)
            landed += add_powers(d, g, b->model->groups[g].terms);
    }
    return landed > 0;
}

/* ---- between stages ---- */

static void device_inner_acceleration(pl_backend *b, const pl_backend_stage *stage,
                                      const pl_array *x, const pl_array *gradient,
                                      const pl_array *contact, pl_array *out)
{
    const pl_device *d = pl_device_of(b);
    pl_inner_arguments a = {.at_stage = stage != NULL,
                            .inertia = stage ? stage->scalars.inertia : 0,
                            .held = d->model.vertices.held,
                            .mass = d->model.vertices.mass,
                            .x = numbers(x),
                            .x_pred = stage ? numbers(stage->x_pred) : NULL,
                            .load = stage ? numbers(stage->load) : NULL,
                            .gradient = numbers(gradient),
                            .contact = numbers(contact),
                            .out = numbers(out)};
    PL_NAMED(pl_device_inner)(d->queue, &a, 3 * b->model->vertices);
}

static void device_pin_velocities(pl_backend *b, double time, double span, pl_array *v)
{
    const pl_device *d = pl_device_of(b);
    for (int32_t p = 0; p < b->model->pin_count; p++) {
        const pl_pin_model *pin = &b->model->pins[p];
        pl_pin_velocity_arguments a = {.span = span,
                                       .axes = pin->axes,
                                       .moved = pl_motion_moves(&pin->motion),
                                       .vertex = d->model.pin_vertex[p],
                                       .x0 = d->model.x0,
                                       .v = numbers(v)};
        for (int n = 0; n < 3; n++) {
            pl_pose pose = pl_motion_pose(&pin->motion, time - 0.5 * n * span);
            memcpy(a.R[n], pose.R, sizeof a.R[n]);
            memcpy(a.origin, pose.origin, sizeof a.origin);
            for (int c = 0; c < 3; c++)
                a.to[n][c] = pose.origin[c] + pose.shift[c];
        }
        PL_NAMED(pl_device_pin_velocity)(d->queue, &a, pin->count);
    }
}

/* ---- dissipated energy ---- */

static double device_friction(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                              const pl_array *x, const pl_array *v)
{
    pl_device *d = pl_device_of(b);
    double power = 0;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        pl_touch_arguments a;
        if (!touch_of(b, g, stage, u, x, &a))
            continue;
        a.v = numbers(v);
        a.power = d->model.energy + d->model.groups[g].first;
        d->model.groups[g].kernels->rub(d->queue, &a, b->model->groups[g].terms);
        power += add_powers(d, g, b->model->groups[g].terms);
    }
    return power;
}

double PL_NAMED(pl_device_dissipation)(pl_backend *b, int32_t group, const pl_array *x)
{
    pl_device *d = pl_device_of(b);
    const pl_device_group *on = &d->model.groups[group];
    pl_term_arguments a = on->arguments;
    a.x = numbers(x);
    a.energy = d->model.energy + on->first;
    on->kernels->dissipate(d->queue, &a, on->threads);
    return add_powers(d, group, on->threads);
}

const pl_contact_ops PL_NAMED(pl_device_contact_ops) = {
    .forces = device_contact_forces,
    .velocities = device_contact_velocities,
    .inner_acceleration = device_inner_acceleration,
    .pin_velocities = device_pin_velocities,
    .friction = device_friction,
};
