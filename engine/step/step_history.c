#include "engine/step/step_history.h"

static int64_t numbers(const pl_backend *b)
{
    return 3 * b->model->vertices;
}

pl_status pl_step_history_create(const pl_integrator *integrator, pl_backend *b,
                                 pl_step_history *out)
{
    *out = (pl_step_history){0};
    bool inner = integrator->forces || integrator->remembers; /* of those, a first step's */
    if (integrator->looks_back) {
        out->x = b->ops->memory->alloc(b, numbers(b));
        out->v = b->ops->memory->alloc(b, numbers(b));
    }
    if (inner)
        out->inner = b->ops->memory->alloc(b, numbers(b));
    bool good = (!integrator->looks_back || (out->x && out->v)) && (!inner || out->inner);
    return good ? PL_OK : PL_NO_MEMORY;
}

void pl_step_history_release(pl_backend *b, pl_step_history *history)
{
    pl_array *const arrays[] = {history->x, history->v, history->inner};
    for (int k = 0; k < 3; k++)
        if (arrays[k])
            b->ops->memory->release(b, arrays[k]);
    *history = (pl_step_history){0};
}

static void save_array(pl_backend *b, const pl_array *array, pl_bytes_out *out)
{
    double *to = pl_bytes_grow(out, (size_t)numbers(b) * sizeof *to);
    if (to)
        b->ops->memory->download(b, to, array, numbers(b));
}

void pl_step_history_save(const pl_integrator *integrator, pl_backend *b,
                          const pl_step_history *history, pl_bytes_out *out)
{
    if (!integrator->remembers && !integrator->forces)
        return;
    pl_bytes_put_i64(out, history->known);
    if (history->known && integrator->remembers) {
        save_array(b, history->x, out);
        save_array(b, history->v, out);
    }
    if (history->known && integrator->forces)
        save_array(b, history->inner, out);
}

bool pl_step_history_read(const pl_integrator *integrator, int64_t vertices, pl_bytes_in *in,
                          pl_step_history_bytes *out)
{
    *out = (pl_step_history_bytes){0};
    if (!integrator->remembers && !integrator->forces)
        return !in->failed;
    int64_t known = pl_bytes_get_i64(in);
    size_t size = 3 * (size_t)vertices * sizeof(double);
    out->known = known == 1;
    if (out->known && integrator->remembers) {
        out->x = pl_bytes_take(in, size);
        out->v = pl_bytes_take(in, size);
    }
    if (out->known && integrator->forces)
        out->inner = pl_bytes_take(in, size);
    return !in->failed && (known == 0 || known == 1);
}

void pl_step_history_put(pl_backend *b, const pl_step_history_bytes *from, pl_step_history *history)
{
    history->known = from->known;
    if (from->x)
        b->ops->memory->upload(b, history->x, from->x, numbers(b));
    if (from->v)
        b->ops->memory->upload(b, history->v, from->v, numbers(b));
    if (from->inner)
        b->ops->memory->upload(b, history->inner, from->inner, numbers(b));
}
