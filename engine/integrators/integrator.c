#include "engine/integrators/integrator.h"

const pl_integrator *pl_integrator_find(pl_integrator_kind kind)
{
    switch (kind) {
    case PL_INTEGRATOR_BACKWARD_EULER:
        return &pl_backward_euler;
    case PL_INTEGRATOR_QUASI_STATIC:
        return &pl_quasi_static;
    }
    return NULL;
}
