#include "engine/backends/backend.h"

#include "engine/backends/profile.h"
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
        return pl_profile_current() ? pl_backend_cpu_profiled() : &pl_backend_cpu;
    case PL_DEVICE_GPU:
        return gpu;
    }
    return NULL;
}

/* True if all slots of a table, which has only pointers, are set. */
static bool is_full(const void *table, size_t size)
{
    void (*const *slot)(void) = table;
    for (size_t i = 0; i < size / sizeof *slot; i++)
        if (!slot[i])
            return false;
    return true;
}

const char *pl_backend_incomplete(const pl_backend_ops *ops)
{
#define TABLE(name, needed)                                                                        \
    {                                                                                              \
#name, ops->name, sizeof *ops->name, needed                                                \
    }
    const struct {
        const char *name;
        const void *table;
        size_t size;
        bool needed;
    } tables[] = {
        TABLE(memory, true),
        TABLE(fetch, true),
        TABLE(kinematics, true),
        TABLE(rows, true),
        TABLE(objective, true),
        TABLE(measures, true),
        TABLE(descent, true),
        TABLE(contact, false),
        TABLE(augmented, false),
        TABLE(pairs, false),
        TABLE(matrix, ops->factored || ops->iterated || ops->splitting),
        TABLE(factored, ops->matrix && !ops->iterated),
        TABLE(iterated, ops->matrix && !ops->factored),
        TABLE(splitting, ops->anderson != NULL),
        TABLE(anderson, false),
        TABLE(hessian, false),
        TABLE(sweep, false),
        TABLE(runs, false),
        TABLE(queue, false),
    };
#undef TABLE
    if (!ops->refuses || !ops->create || !ops->destroy)
        return "the backend itself";
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].table ? !is_full(tables[i].table, tables[i].size) : tables[i].needed)
            return tables[i].name;
    return NULL;
}

static bool splits(pl_method_kind method)
{
    return method == PL_METHOD_ADMM || method == PL_METHOD_PROJECTIVE_DYNAMICS;
}

const char *pl_backend_refuses(const pl_backend_ops *ops, const pl_model *model)
{
    if (!ops)
        return "the device does not exist";
    if (pl_method_uses_matrix(model->solver.method) && !ops->matrix)
        return "the method solves with a constant matrix, which the device does not support";
    if (splits(model->solver.method) && !ops->splitting)
        return "the method splits the objective, which the device does not support";
    if (model->solver.method == PL_METHOD_NEWTON && !ops->hessian)
        return "the method solves with the energies' Hessian, which the device does not compute";
    if (model->solver.method == PL_METHOD_VERTEX_BLOCK_DESCENT && !ops->sweep)
        return "the method moves one vertex after another, which the device does not support";
    if (!ops->contact && (!pl_integrator_is_euler(model->integrator) || model->restitution))
        return "it supports no restitution, and only the integrators backward_euler and "
               "quasi_static";
    if (!ops->augmented && model->multipliers > 0)
        return "it supports inextensible edges only with admm";
    if (!ops->pairs && model->touching)
        return "it has no contact between bodies";
    return ops->refuses(model);
}
