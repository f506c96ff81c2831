/* Accelerated steps of chebyshev_descent. Several in a row are recorded once and replayed as one launch (device.h)
 * as long as their arguments stay the same; their weights, which change, lie in the device's memory. If a device
 * has no recordings, they are launched one by one, with the same bits. */
#include "engine/backends/device/device_backend.h"

#define numbers pl_device_numbers

static pl_chebyshev_arguments arguments_of(const pl_device *d, const pl_chebyshev *step)
{
    return (pl_chebyshev_arguments){.vertices = d->model.vertices,
                                    .x = numbers(step->x),
                                    .inverse = numbers(step->inverse),
                                    .s = numbers(step->s),
                                    .x_new = numbers(step->x_new)};
}

void PL_NAMED(pl_device_step)(pl_backend *b, const pl_chebyshev *step)
{
    pl_chebyshev_arguments a = arguments_of(pl_device_of(b), step);
    a.down = -step->omega * step->alpha;
    a.on = step->omega - 1;
    a.g = numbers(step->g);
    PL_NAMED(pl_device_chebyshev)(pl_device_of(b)->queue, &a, b->model->free_vertices);
}

static pl_device_run_key key_of(const pl_device *d, const pl_backend_stage *stage,
                                const pl_chebyshev *step, int32_t count)
{
    return (pl_device_run_key){.x = step->x,
                               .inverse = step->inverse,
                               .s = step->s,
                               .x_pred = stage->x_pred,
                               .load = stage->load,
                               .inertia = stage->scalars.inertia,
                               .count = count,
                               .generation = d->model.generation};
}

static bool is_same(const pl_device_run_key *a, const pl_device_run_key *b)
{
    return a->x == b->x && a->inverse == b->inverse && a->s == b->s && a->x_pred == b->x_pred &&
           a->load == b->load && a->inertia == b->inertia && a->count == b->count &&
           a->generation == b->generation;
}

/* Launches the steps, with weights from the device's memory. */
static void launch(pl_device *d, const pl_device_run_key *key)
{
    const pl_chebyshev step = {
        .x = key->x, .inverse = key->inverse, .s = (pl_array *)key->s, .x_new = (pl_array *)key->x};
    pl_chebyshev_arguments a = arguments_of(d, &step);
    a.inertia = key->inertia;
    a.contributions = d->model.contributions;
    a.x_pred = numbers(key->x_pred);
    a.load = numbers(key->load);
    for (int64_t k = 0; k < key->count; k++) {
        a.weights = d->weights + 2 * k;
        const double *energies;
        int64_t rows;
        PL_NAMED(pl_device_differentiate)(d, a.x, NULL, false);
        a.contact = PL_NAMED(pl_device_between_pull)(d, a.x, &energies, &rows);
        PL_NAMED(pl_device_chebyshev)(d->queue, &a, d->base.model->free_vertices);
    }
}

/* The recording of these launches, made if missing; NULL if it cannot be made. */
static const pl_device_recording *find(pl_device *d, const pl_device_run_key *key)
{
    pl_device_runs *r = &d->runs;
    for (int32_t k = 0; k < PL_DEVICE_RUNS; k++)
        if (r->recording[k].list && is_same(&r->key[k], key))
            return &r->recording[k];
    int32_t at = r->next;
    if (!pl_device_record_begin(d->queue))
        return NULL;
    launch(d, key);
    if (!pl_device_record_end(d->queue, &r->recording[at]))
        return NULL;
    r->key[at] = *key;
    r->next = (at + 1) % PL_DEVICE_RUNS;
    r->recorded++;
    return &r->recording[at];
}

static void run_some(pl_backend *b, const pl_backend_stage *stage, const pl_chebyshev *step,
                     const double *omega, int32_t count)
{
    pl_device *d = pl_device_of(b);
    double weights[2 * PL_DEVICE_RUN_MAX];
    for (int32_t k = 0; k < count; k++) {
        weights[2 * k] = -omega[k] * step->alpha;
        weights[2 * k + 1] = omega[k] - 1;
    }
    pl_device_put(d->queue, d->weights, weights, 2 * (size_t)count * sizeof *weights);
    const pl_device_run_key key = key_of(d, stage, step, count);
    /* The first run is launched, not recorded: a kernel that was never launched may be loaded during a recording.
     * So are runs with rows of contact, which differ from step to step. */
    const pl_contact_rows *rows = pl_host_contact_rows(&d->between.host);
    const bool plain = d->runs.launched == 0 || (rows && rows->count > 0);
    const pl_device_recording *recording = plain ? NULL : find(d, &key);
    if (recording) {
        pl_device_replay(d->queue, recording);
        d->runs.replayed++;
    } else {
        launch(d, &key);
        d->runs.launched++;
    }
}

static void device_run(pl_backend *b, const pl_backend_stage *stage, const pl_chebyshev *step,
                       const double *omega, int32_t count)
{
    for (int32_t k = 0; k < count; k += PL_DEVICE_RUN_MAX)
        run_some(b, stage, step, omega + k,
                 count - k < PL_DEVICE_RUN_MAX ? count - k : PL_DEVICE_RUN_MAX);
}

void PL_NAMED(pl_device_runs_destroy)(pl_device *d)
{
    for (int32_t k = 0; k < PL_DEVICE_RUNS; k++)
        pl_device_forget(&d->runs.recording[k]);
    pl_device_release(d->queue, d->weights);
}

const pl_runs_ops PL_NAMED(pl_device_runs_ops) = {
    .chebyshev = device_run,
};
