#include "engine/step/touched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pl_touched_clear(pl_touched *t)
{
    free(t->forces);
    pl_contact_points_clear(&t->points);
    *t = (pl_touched){0};
}

static bool set_forces(pl_touched *t, const pl_body_force *forces, int32_t count)
{
    if (count > t->room) {
        pl_body_force *more = realloc(t->forces, 2 * (size_t)count * sizeof *more);
        if (!more)
            return false;
        t->forces = more;
        t->room = 2 * count;
    }
    if (count > 0)
        memcpy(t->forces, forces, (size_t)count * sizeof *forces);
    t->count = count;
    return true;
}

bool pl_touched_set(pl_touched *t, const pl_contact_sums *sums)
{
    if (!set_forces(t, sums->forces, sums->count))
        return false;
    t->active = sums->active;
    t->gap = sums->gap;
    t->taken += sums->taken;
    return true;
}

static bool copy_points(pl_contact_points *to, const pl_contact_points *from)
{
    if (from->count > to->room) {
        pl_contact_points_clear(to);
        to->point = malloc((size_t)from->count * sizeof *to->point);
        to->room = to->point ? from->count : 0;
    }
    to->count = from->count <= to->room ? from->count : 0;
    if (to->count > 0)
        memcpy(to->point, from->point, (size_t)to->count * sizeof *to->point);
    return to->count == from->count;
}

bool pl_touched_copy(pl_touched *t, const pl_touched *from, bool points)
{
    if (!set_forces(t, from->forces, from->count))
        return false;
    t->points.count = 0;
    t->active = from->active;
    t->gap = from->gap;
    t->taken = from->taken;
    return !points || copy_points(&t->points, &from->points);
}

void pl_touched_begin(pl_touched *step, const pl_touched *before)
{
    step->active = step->count = 0;
    step->points.count = 0;
    step->gap = INFINITY;
    step->taken = before->taken;
}

/* ---- saved ---- */

static void put_bodies(const int32_t body[2], pl_bytes_out *out)
{
    for (int i = 0; i < 2; i++)
        pl_bytes_put_i64(out, body[i]);
}

void pl_touched_save(const pl_touched *t, pl_bytes_out *out)
{
    pl_bytes_put_i64(out, t->active);
    pl_bytes_put_f64(out, t->gap);
    pl_bytes_put_f64(out, t->taken);
    pl_bytes_put_i64(out, t->count);
    for (int32_t k = 0; k < t->count; k++) {
        put_bodies(t->forces[k].body, out);
        pl_bytes_put(out, t->forces[k].newton, sizeof t->forces[k].newton);
    }
    pl_bytes_put_i64(out, t->points.count);
    for (int64_t k = 0; k < t->points.count; k++) {
        const pl_contact_point *p = &t->points.point[k];
        put_bodies(p->body, out);
        pl_bytes_put(out, p->place, sizeof p->place);
        pl_bytes_put(out, p->newton, sizeof p->newton);
        pl_bytes_put_f64(out, p->gap);
    }
}

static bool get_bodies(pl_bytes_in *in, int32_t bodies, int32_t out[2])
{
    bool good = true;
    for (int i = 0; i < 2; i++) {
        int64_t body = pl_bytes_get_i64(in);
        good = good && body >= 0 && body < bodies;
        out[i] = good ? (int32_t)body : 0;
    }
    return good;
}

static void get_vector(pl_bytes_in *in, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = pl_bytes_get_f64(in);
}

/* The length of a list of items of that size, or -1. */
static int64_t get_count(pl_bytes_in *in, uint64_t bytes)
{
    int64_t count = pl_bytes_get_i64(in);
    return in->failed || count < 0 || (uint64_t)count > in->left / bytes || count > INT32_MAX / 2
               ? -1
               : count;
}

static pl_status read_forces(pl_touched *t, int32_t bodies, pl_bytes_in *in)
{
    int64_t count = get_count(in, 5 * 8);
    if (count < 0)
        return PL_INVALID;
    t->forces = malloc(((size_t)count + 1) * sizeof *t->forces);
    if (!t->forces)
        return PL_NO_MEMORY;
    t->room = t->count = (int32_t)count;
    bool good = true;
    for (int64_t k = 0; good && k < count; k++) {
        good = get_bodies(in, bodies, t->forces[k].body);
        get_vector(in, t->forces[k].newton);
    }
    return good ? PL_OK : PL_INVALID;
}

static pl_status read_points(pl_contact_points *t, int32_t bodies, pl_bytes_in *in)
{
    int64_t count = get_count(in, 9 * 8);
    if (count < 0)
        return PL_INVALID;
    t->point = malloc(((size_t)count + 1) * sizeof *t->point);
    if (!t->point)
        return PL_NO_MEMORY;
    t->room = t->count = count;
    bool good = true;
    for (int64_t k = 0; good && k < count; k++) {
        pl_contact_point *p = &t->point[k];
        good = get_bodies(in, bodies, p->body);
        get_vector(in, p->place);
        get_vector(in, p->newton);
        p->gap = pl_bytes_get_f64(in);
    }
    return good ? PL_OK : PL_INVALID;
}

pl_status pl_touched_read(pl_touched *t, int32_t bodies, bool has_points, pl_bytes_in *in)
{
    pl_touched read = {.active = pl_bytes_get_i64(in)};
    read.gap = pl_bytes_get_f64(in);
    read.taken = pl_bytes_get_f64(in);
    pl_status status = read_forces(&read, bodies, in);
    if (status == PL_OK && has_points)
        status = read_points(&read.points, bodies, in);
    if (status != PL_OK) {
        pl_touched_clear(&read);
        return status;
    }
    pl_touched_clear(t);
    *t = read;
    return PL_OK;
}

/* ---- output ---- */

void pl_touched_measure(const pl_touched *t, pl_contact_metrics *out)
{
    *out = (pl_contact_metrics){.on = true,
                                .pairs = t->active,
                                .gap = isfinite(t->gap) ? t->gap : NAN,
                                .force_count = t->count,
                                .forces = t->forces,
                                .friction_work = t->taken};
}
