#include "engine/step/stepper.h"

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
