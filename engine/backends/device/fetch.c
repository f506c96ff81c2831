/* Data for frames: a kernel converts them into separate memory, so that the state's arrays may change at once, and
 * a transfer copies them to the host while the device continues (device.h). */
#include "engine/backends/device/device_backend.h"

#include <stdlib.h>

struct pl_fetch {
    pl_fetch_form form;
    size_t bytes;
    void *converted; /* on the device */
    pl_device_transfer transfer;
};

static void device_fetch_destroy(pl_backend *b, pl_fetch *f)
{
    if (!f)
        return;
    pl_device_transfer_destroy(&f->transfer);
    pl_device_release(pl_device_of(b)->queue, f->converted);
    free(f);
}

static pl_status device_fetch_create(pl_backend *b, const pl_fetch_form *form, pl_fetch **out)
{
    pl_device_queue *queue = pl_device_of(b)->queue;
    pl_fetch *f = calloc(1, sizeof *f);
    if (!f)
        return PL_NO_MEMORY;
    f->form = *form;
    f->bytes = 3 * (size_t)b->model->vertices * (size_t)form->arrays *
               (form->single ? sizeof(float) : sizeof(double));
    f->converted = pl_device_alloc(queue, f->bytes);
    if (!f->converted || !pl_device_transfer_create(queue, &f->transfer, f->bytes)) {
        device_fetch_destroy(b, f);
        return PL_NO_MEMORY;
    }
    *out = f;
    return PL_OK;
}

static void device_fetch_begin(pl_backend *b, pl_fetch *f, const pl_array *const *arrays)
{
    int64_t count = 3 * b->model->vertices;
    pl_device_transfer_arrived(&f->transfer, true); /* the converted data must not change before */
    for (int32_t k = 0; k < f->form.arrays; k++) {
        pl_convert_arguments a = {.x = pl_device_numbers(arrays[k])};
        if (f->form.single)
            a.single = (float *)f->converted + k * count;
        else
            a.wide = (double *)f->converted + k * count;
        PL_NAMED(pl_device_convert)(pl_device_of(b)->queue, &a, count);
    }
    pl_device_transfer_begin(&f->transfer, f->converted, f->bytes);
}

static const void *device_fetch_take(pl_backend *b, pl_fetch *f, bool wait)
{
    return pl_device_transfer_arrived(&f->transfer, wait) ? f->transfer.host : NULL;
}

const pl_fetch_ops PL_NAMED(pl_device_fetch_ops) = {
    .create = device_fetch_create,
    .destroy = device_fetch_destroy,
    .begin = device_fetch_begin,
    .take = device_fetch_take,
};
