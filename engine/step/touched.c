#include "engine/step/touched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pl_touched_clear(pl_touched *t)
{
    free(t->forces);
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

void pl_touched_begin(pl_touched *step, const pl_touched *before)
{
    step->active = step->count = 0;
    step->gap = INFINITY;
    step->taken = before->taken;
}

void pl_touched_save(const pl_touched *t, pl_bytes_out *out)
{
    pl_bytes_put_i64(out, t->active);
    pl_bytes_put_f64(out, t->gap);
    pl_bytes_put_f64(out, t->taken);
    pl_bytes_put_i64(out, t->count);
    for (int32_t k = 0; k < t->count; k++) {
        for (int i = 0; i < 2; i++)
            pl_bytes_put_i64(out, t->forces[k].body[i]);
        for (int c = 0; c < 3; c++)
            pl_bytes_put_f64(out, t->forces[k].newton[c]);
    }
}

pl_status pl_touched_read(pl_touched *t, int32_t bodies, pl_bytes_in *in)
{
    enum { BYTES = 40 };
    pl_touched read = {.active = pl_bytes_get_i64(in)};
    read.gap = pl_bytes_get_f64(in);
    read.taken = pl_bytes_get_f64(in);
    int64_t count = pl_bytes_get_i64(in);
    if (in->failed || count < 0 || (uint64_t)count > in->left / BYTES || count > INT32_MAX / 2)
        return PL_INVALID;
    read.forces = malloc(((size_t)count + 1) * sizeof *read.forces);
    read.room = read.count = (int32_t)count;
    if (!read.forces)
        return PL_NO_MEMORY;
    bool good = true;
    for (int64_t k = 0; good && k < count; k++) {
        for (int i = 0; i < 2; i++) {
            int64_t body = pl_bytes_get_i64(in);
            good = good && body >= 0 && body < bodies;
            read.forces[k].body[i] = good ? (int32_t)body : 0;
        }
        for (int c = 0; c < 3; c++)
            read.forces[k].newton[c] = pl_bytes_get_f64(in);
    }
    if (!good) {
        free(read.forces);
        return PL_INVALID;
    }
    pl_touched_clear(t);
    *t = read;
    return PL_OK;
}

void pl_touched_measure(const pl_touched *t, pl_contact_metrics *out)
{
    *out = (pl_contact_metrics){.on = true,
                                .pairs = t->active,
                                .gap = isfinite(t->gap) ? t->gap : NAN,
                                .force_count = t->count,
                                .forces = t->forces,
                                .friction_work = t->taken};
}
