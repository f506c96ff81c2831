/* The work of a step around its minimisation. */
#include "engine/backends/device/device_backend.h"
#include "engine/model/load_forces.h"
#include "engine/backends/look.h"
#include "engine/scene/motion.h"

#include <string.h>

#define device_of pl_device_of
#define numbers   pl_device_numbers
#define add_up    PL_NAMED(pl_device_add_up)
#define column_of pl_device_column
#define shown     PL_NAMED(pl_device_shown)

static void device_drift(pl_backend *b, double h, const double gravity[3], const pl_array *x,
                         const pl_array *v, pl_array *out)
{
    pl_drift_arguments a = {.h = h, .x = numbers(x), .v = numbers(v), .out = numbers(out)};
    memcpy(a.gravity, gravity, sizeof a.gravity);
    PL_NAMED(pl_device_drift)(device_of(b)->queue, &a, 3 * b->model->vertices);
}

static void device_blend(pl_backend *b, const pl_array *base, double d, const pl_array *v, double e,
                         const pl_array *v_old, pl_array *out)
{
    pl_blend_arguments a = {.d = d,
                            .e = e,
                            .base = numbers(base),
                            .v = numbers(v),
                            .v_old = numbers(v_old),
                            .out = numbers(out)};
    PL_NAMED(pl_device_blend)(device_of(b)->queue, &a, 3 * b->model->vertices);
}

static void device_velocity(pl_backend *b, double h, const pl_array *x, const pl_array *x_new,
                            pl_array *out)
{
    pl_velocity_arguments a = {
        .h = h, .x = numbers(x), .x_new = numbers(x_new), .out = numbers(out)};
    PL_NAMED(pl_device_velocity)(device_of(b)->queue, &a, 3 * b->model->vertices);
}

static void device_place_pins(pl_backend *b, double time, pl_array *x)
{
    pl_device *d = device_of(b);
    for (int32_t p = 0; p < b->model->pin_count; p++) {
        const pl_pin_model *pin = &b->model->pins[p];
        pl_pose pose = pl_motion_pose(&pin->motion, time);
        pl_place_pin_arguments a = {.axes = pin->axes,
                                    .moved = pl_motion_moves(&pin->motion),
                                    .vertex = d->model.pin_vertex[p],
                                    .x0 = d->model.x0,
                                    .x = numbers(x)};
        memcpy(a.R, pose.R, sizeof a.R);
        memcpy(a.origin, pose.origin, sizeof a.origin);
        for (int c = 0; c < 3; c++)
            a.to[c] = pose.origin[c] + pose.shift[c];
        PL_NAMED(pl_device_place_pin)(d->queue, &a, pin->count);
    }
}

static void device_pin_force(pl_backend *b, int32_t pin, const pl_array *gradient, double force[3])
{
    pl_device *d = device_of(b);
    const pl_pin_model *p = &b->model->pins[pin];
    pl_pin_force_arguments a = {.count = p->count,
                                .axes = p->axes,
                                .vertex = d->model.pin_vertex[pin],
                                .gradient = numbers(gradient),
                                .columns = d->columns};
    PL_NAMED(pl_device_pin_force)(d->queue, &a, p->count);
    pl_summing sums[3];
    for (int c = 0; c < 3; c++)
        sums[c] = column_of(d, c, p->count);
    add_up(d, sums, 3, force);
}

static void device_evaluate_loads(pl_backend *b, double time, const pl_array *x, const pl_array *v,
                                  pl_array *load, pl_force *total)
{
    pl_device *d = device_of(b);
    pl_loads_evaluate(b->model, time, shown(d, x, d->host_x), shown(d, v, d->host_v), d->threads,
                      d->host_out, total);
    b->ops->memory->upload(b, load, d->host_out, 3 * b->model->vertices);
}

static double device_farthest(pl_backend *b, const pl_array *a, const pl_array *c, int64_t *vertex)
{
    pl_device *d = device_of(b);
    return pl_look_farthest(b->model->vertices, shown(d, a, d->host_x), shown(d, c, d->host_v),
                            vertex);
}

static int64_t device_find_not_finite(pl_backend *b, const pl_array *x)
{
    pl_device *d = device_of(b);
    return pl_look_not_finite(b->model->vertices, shown(d, x, d->host_x));
}

const pl_kinematics_ops PL_NAMED(pl_device_kinematics_ops) = {
    .drift = device_drift,
    .blend = device_blend,
    .velocity = device_velocity,
    .place_pins = device_place_pins,
    .pin_force = device_pin_force,
    .evaluate_loads = device_evaluate_loads,
    .farthest = device_farthest,
    .find_not_finite = device_find_not_finite,
};
