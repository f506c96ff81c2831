#include "engine/step/stepper.h"

#include <stdlib.h>
#include <string.h>

void pl_stepper_destroy(pl_stepper *stepper)
{
    if (stepper->solver)
        stepper->solver->ops->destroy(stepper->solver);
    if (stepper->backend)
        stepper->backend->ops->destroy(stepper->backend);
    *stepper = (pl_stepper){0};
}

pl_status pl_stepper_create(const pl_model *model, int32_t threads, pl_backend *beside,
                            pl_stepper *out)
{
    *out = (pl_stepper){.model = model};
    const pl_backend_ops *ops = beside ? beside->ops : pl_backend_find(model->solver.device);
    pl_status status = pl_backend_refuses(ops, model)
                           ? PL_UNSUPPORTED
                           : ops->create(model, threads, beside, &out->backend);
    if (status == PL_OK)
        status = pl_solver_find(model->solver.method)->create(model, out->backend, &out->solver);
    if (status != PL_OK)
        pl_stepper_destroy(out);
    return status;
}

pl_status pl_stepper_set_threads(const pl_stepper *stepper, int32_t threads)
{
    pl_backend *b = stepper->backend;
    return b && b->ops->set_threads ? b->ops->set_threads(b, threads) : PL_OK;
}

/* ---- memory ---- */

static pl_contact_set *contacts_of(const pl_stepper *stepper)
{
    return stepper->model->touching ? stepper->backend->ops->pairs->set(stepper->backend) : NULL;
}

void pl_stepper_save(const pl_stepper *stepper, pl_bytes_out *out)
{
    const pl_contact_set *contacts = contacts_of(stepper);
    if (contacts) {
        int64_t count = pl_contact_set_save(contacts, NULL);
        pl_bytes_put_i64(out, count);
        pl_contact_memory *list = malloc(((size_t)count + 1) * sizeof *list);
        out->failed = out->failed || !list;
        if (list) {
            pl_contact_set_save(contacts, list);
            pl_bytes_put(out, list, (size_t)count * sizeof *list);
        }
        free(list);
    }
    if (stepper->solver->ops->save)
        stepper->solver->ops->save(stepper->solver, out);
}

static bool restore_solver(const pl_stepper *stepper, pl_bytes_in *in)
{
    const pl_solver_ops *ops = stepper->solver->ops;
    return ops->restore ? ops->restore(stepper->solver, in) : in->left == 0;
}

pl_status pl_stepper_restore(const pl_stepper *stepper, pl_bytes_in *in)
{
    pl_contact_set *contacts = contacts_of(stepper);
    if (!contacts)
        return restore_solver(stepper, in) ? PL_OK : PL_INVALID;
    pl_bytes_in rest = *in;
    pl_contact_memory *list;
    int64_t count = pl_bytes_get_i64(&rest);
    if (rest.failed || count < 0 || (uint64_t)count > rest.left / sizeof *list)
        return PL_INVALID;
    list = malloc(((size_t)count + 1) * sizeof *list); /* the bytes are not aligned */
    if (!list)
        return PL_NO_MEMORY;
    if (count > 0)
        pl_bytes_get(&rest, list, (size_t)count * sizeof *list);
    pl_status status = PL_INVALID;
    if (pl_contact_set_accepts(contacts, list, count) && restore_solver(stepper, &rest))
        status = pl_contact_set_restore(contacts, list, count) ? PL_OK : PL_NO_MEMORY;
    free(list);
    if (status == PL_OK)
        *in = rest;
    return status;
}
