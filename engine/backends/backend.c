#include "engine/backends/backend.h"

#include "engine/backends/cpu/cpu.h"
#include "engine/scene/carries.h"

static _Thread_local const pl_backend_ops *gpu;

void pl_backend_register(const pl_backend_ops *ops)
{
    gpu = ops;
}

const pl_backend_ops *pl_backend_find(pl_device_kind device)
{
    switch (device) {
    case PL_DEVICE_CPU:
        return &pl_backend_cpu;
    case PL_DEVICE_GPU:
        return gpu;
    }
    return NULL;
}

const char *pl_backend_refuses(const pl_backend_ops *ops, const pl_model *model)
{
    if (!ops)
        return "there is no such device";
    if (pl_method_uses_matrix(model->solver.method) && !ops->solve)
        return "the method solves with a constant matrix, which the device can not";
    if (model->solver.method == PL_METHOD_NEWTON && !ops->hessian_prepare)
        return "the method solves with the energies' Hessian, which the device does not make";
    if (!ops->contact_velocities &&
        (!pl_integrator_is_euler(model->integrator) || model->restitution))
        return "it has neither restitution nor integrators but backward_euler and quasi_static";
    return ops->refuses ? ops->refuses(model) : NULL;
}
