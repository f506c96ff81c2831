/* Data for a frame, converted at once: the CPU waits for nothing. */
#include "engine/backends/cpu/cpu_internal.h"

#include <stdlib.h>
#include <string.h>

struct pl_fetch {
    pl_fetch_form form;
    void *values; /* [arrays][vertices][3] */
};

pl_status pl_cpu_fetch_create(pl_backend *b, const pl_fetch_form *form, pl_fetch **out)
{
    size_t count = 3 * (size_t)b->model->vertices * (size_t)form->arrays;
    pl_fetch *f = calloc(1, sizeof *f);
    if (f)
        f->values = malloc(count * (form->single ? sizeof(float) : sizeof(double)) + 1);
    if (!f || !f->values) {
        free(f);
        return PL_NO_MEMORY;
    }
    f->form = *form;
    *out = f;
    return PL_OK;
}

void pl_cpu_fetch_destroy(pl_backend *b, pl_fetch *f)
{
    if (f)
        free(f->values);
    free(f);
}

void pl_cpu_fetch_begin(pl_backend *b, pl_fetch *f, const pl_array *const *arrays)
{
    int64_t count = 3 * b->model->vertices;
    for (int32_t k = 0; k < f->form.arrays; k++) {
        const double *from = pl_numbers_read(arrays[k]);
        if (f->form.single) {
            float *to = (float *)f->values + k * count;
            for (int64_t i = 0; i < count; i++)
                to[i] = (float)from[i];
        } else {
            memcpy((double *)f->values + k * count, from, (size_t)count * sizeof(double));
        }
    }
}

const void *pl_cpu_fetch_take(pl_backend *b, pl_fetch *f, bool wait)
{
    return f->values;
}
