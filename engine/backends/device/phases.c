/* A device's backend: its memory, sums copied to the host, and its tables. */
#include "engine/backends/device/phases.h"

#include "engine/backends/device/device_backend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define device_of pl_device_of
#define numbers   pl_device_numbers

/* ---- memory ---- */

static void device_destroy(pl_backend *b)
{
    pl_device *d = device_of(b);
    PL_NAMED(pl_device_splitting_destroy)(d);
    PL_NAMED(pl_device_runs_destroy)(d);
    PL_NAMED(pl_device_between_destroy)(d);
    PL_NAMED(pl_device_model_destroy)(&d->model);
    pl_device_release(d->queue, d->columns);
    pl_device_release(d->queue, d->partial);
    pl_device_release(d->queue, d->last);
    pl_device_release(d->queue, d->scratch);
    if (!d->beside)
        pl_device_queue_destroy(d->queue);
    free(d->host_x);
    free(d->host_v);
    free(d->host_out);
    free(d);
}

static pl_status device_create(const pl_model *model, int32_t threads, pl_backend *beside,
                               pl_backend **out)
{
    if (PL_NAMED(pl_device_refuses)(model))
        return PL_UNSUPPORTED;
    pl_device *d = calloc(1, sizeof *d);
    if (!d)
        return PL_NO_MEMORY;
    d->base = (pl_backend){&PL_NAMED(pl_backend_device), model};
    d->threads = threads;
    d->beside = beside;
    /* Only single precision is compiled for several at a time (device.h). */
    d->queue = beside ? device_of(beside)->queue
                      : pl_device_queue_create(sizeof(pl_number) == sizeof(float));
    if (!d->queue) {
        free(d);
        return PL_NO_MEMORY;
    }
    size_t n = (size_t)model->vertices;
    pl_status status = PL_NAMED(pl_device_model_create)(d->queue, model, &d->model);
    d->first = model;
    if (status == PL_OK)
        status = PL_NAMED(pl_device_splitting_create)(d);
    if (status == PL_OK)
        status = PL_NAMED(pl_device_between_create)(d);
    d->columns = pl_device_alloc(d->queue, PL_DEVICE_COLUMNS * n * sizeof *d->columns);
    d->partial = pl_device_alloc(d->queue, PL_SUMS_MAX * PL_SUM_WIDTH * sizeof *d->partial);
    d->last = pl_device_alloc(d->queue, PL_SUMS_MAX * PL_SUM_LAST * sizeof *d->last);
    d->scratch = pl_device_alloc(d->queue, 3 * n * sizeof *d->scratch);
    d->weights = pl_device_alloc(d->queue, 2 * PL_DEVICE_RUN_MAX * sizeof *d->weights);
    d->host_x = malloc(3 * n * sizeof *d->host_x);
    d->host_v = malloc(3 * n * sizeof *d->host_v);
    d->host_out = malloc(3 * n * sizeof *d->host_out);
    if (status == PL_OK && (!d->columns || !d->partial || !d->last || !d->scratch || !d->weights ||
                            !d->host_x || !d->host_v || !d->host_out))
        status = PL_NO_MEMORY;
    if (status != PL_OK) {
        device_destroy(&d->base);
        return status;
    }
    *out = &d->base;
    return PL_OK;
}

/* For work on the host. */
static pl_status device_set_threads(pl_backend *b, int32_t threads)
{
    pl_device *d = device_of(b);
    d->threads = threads > 0 ? threads : 1;
    if (d->between.host.set)
        pl_contact_set_set_threads(d->between.host.set, d->threads);
    return PL_OK;
}

static pl_array *device_alloc(pl_backend *b, int64_t count)
{
    return pl_device_alloc(device_of(b)->queue,
                           (size_t)(count > 0 ? count : 1) * sizeof(pl_number));
}
static void device_release(pl_backend *b, pl_array *array)
{
    pl_device_release(device_of(b)->queue, array);
}
static void device_upload(pl_backend *b, pl_array *to, const double *from, int64_t count)
{
    PL_NAMED(pl_device_put_numbers)(device_of(b)->queue, numbers(to), from, count);
}
static void device_download(pl_backend *b, double *to, const pl_array *from, int64_t count)
{
    PL_NAMED(pl_device_get_numbers)(device_of(b)->queue, to, numbers(from), count);
}
static void device_copy(pl_backend *b, pl_array *to, const pl_array *from, int64_t count)
{
    pl_device_copy(device_of(b)->queue, to, from, (size_t)count * sizeof(pl_number));
}
static void device_clear(pl_backend *b, pl_array *array, int64_t count)
{
    pl_device_clear(device_of(b)->queue, array, (size_t)count * sizeof(pl_number));
}

static void device_meanwhile(pl_backend *b, void (*work)(void *context), void *context)
{
    pl_device *d = pl_device_of(b);
    d->meanwhile = work;
    d->meanwhile_context = context;
}

static const char *device_fault(const pl_backend *b, bool *launching)
{
    const char *what = pl_device_fault();
    *launching = what && pl_device_launching(((const pl_device *)b)->queue);
    return what;
}

/* Copies positions to where the host can read them. */
const double *PL_NAMED(pl_device_shown)(pl_device *d, const pl_array *x, double *to)
{
    if (d->meanwhile)
        d->meanwhile(d->meanwhile_context);
    PL_NAMED(pl_device_get_numbers)(d->queue, to, numbers(x), 3 * d->base.model->vertices);
    return to;
}

/* ---- sums ---- */

/* Parts of sums that one launch makes, and the sums that they are of. */
typedef struct parts {
    pl_sums_arguments arguments;
    int32_t of[PL_SUMS_MAX], count;
} parts;

/* Makes them, adds them to `out`, and leaves none. */
static void make_parts(pl_device *d, parts *p, double *out)
{
    double last[PL_SUMS_MAX * PL_SUM_LAST];
    pl_sums_last_arguments b = {.partial = d->partial, .out = d->last};
    int64_t most = 0;
    for (int32_t k = 0; k < p->count; k++) {
        const int64_t count = p->arguments.sum[k].count - p->arguments.first[k];
        most = count > most ? count : most;
        b.largest |= (uint64_t)(p->arguments.sum[k].kind == PL_SUM_LARGEST) << k;
    }
    p->arguments.width = b.width = pl_sum_width(most);
    PL_NAMED(pl_device_sums)(d->queue, &p->arguments, p->count * b.width);
    PL_NAMED(pl_device_sums_last)(d->queue, &b, (int64_t)p->count * PL_SUM_LAST);
    if (d->meanwhile)
        d->meanwhile(d->meanwhile_context);
    pl_device_get(d->queue, last, d->last, (size_t)p->count * PL_SUM_LAST * sizeof *last);
    for (int32_t k = 0; k < p->count; k++) {
        bool largest = b.largest >> k & 1;
        double total = 0, *of = &out[p->of[k]];
        for (int i = 0; i < PL_SUM_LAST; i++) {
            double one = last[k * PL_SUM_LAST + i];
            total = largest ? fmax(total, one) : total + one;
        }
        *of = pl_device_fault() ? NAN : largest ? fmax(*of, total) : *of + total;
    }
    p->count = 0;
}

static void add_part(parts *p, const pl_summing *sum, int32_t number, int64_t first)
{
    pl_summing *part = &p->arguments.sum[p->count];
    *part = *sum;
    if (part->count - first > PL_SUM_PART)
        part->count = first + PL_SUM_PART;
    p->arguments.first[p->count] = first;
    p->of[p->count++] = number;
}

void PL_NAMED(pl_device_add_up)(pl_device *d, const pl_summing *sum, int32_t count, double *out)
{
    parts p = {.arguments = {.vertices = d->model.vertices, .partial = d->partial}};
    for (int32_t k = 0; k < count; k++) {
        int64_t first = 0;
        out[k] = 0;
        do {
            if (p.count == PL_SUMS_MAX)
                make_parts(d, &p, out);
            add_part(&p, &sum[k], k, first);
            first += PL_SUM_PART;
        } while (first < sum[k].count);
    }
    make_parts(d, &p, out);
}

/* ---- the backend ---- */

static const pl_memory_ops device_memory = {
    .alloc = device_alloc,
    .release = device_release,
    .upload = device_upload,
    .download = device_download,
    .copy = device_copy,
    .clear = device_clear,
};

static const pl_queue_ops device_queue = {
    .meanwhile = device_meanwhile,
    .fault = device_fault,
};

const pl_backend_ops PL_NAMED(pl_backend_device) = {
    .name = PL_DEVICE_NAME,
    .on_host = false,
#ifdef PL_SINGLE
    .epsilon = FLT_EPSILON,
    .energy_epsilon = 1e-6,
#else
    .epsilon = DBL_EPSILON,
    .energy_epsilon = 1e-13,
#endif
    .refuses = PL_NAMED(pl_device_refuses),
    .create = device_create,
    .destroy = device_destroy,
    .set_threads = device_set_threads,
    .memory = &device_memory,
    .fetch = &PL_NAMED(pl_device_fetch_ops),
    .kinematics = &PL_NAMED(pl_device_kinematics_ops),
    .rows = &PL_NAMED(pl_device_rows_ops),
    .objective = &PL_NAMED(pl_device_objective_ops),
    .measures = &PL_NAMED(pl_device_measures_ops),
    .descent = &PL_NAMED(pl_device_descent_ops),
    .contact = &PL_NAMED(pl_device_contact_ops),
    .pairs = &PL_NAMED(pl_device_pairs_ops),
    .matrix = &PL_NAMED(pl_device_matrix_ops),
    .iterated = &PL_NAMED(pl_device_iterated_ops),
    .splitting = &PL_NAMED(pl_device_splitting_ops),
    .anderson = &PL_NAMED(pl_device_anderson_ops),
    .runs = &PL_NAMED(pl_device_runs_ops),
    .queue = &device_queue,
};
