#include "engine/scene/metrics.h"

static const char *const names[PL_FAILURE_COUNT] = {
    [PL_FAILURE_NONE] = "none",
    [PL_FAILURE_NOT_FINITE] = "not_finite",
    [PL_FAILURE_INVERTED] = "inverted",
    [PL_FAILURE_LINE_SEARCH] = "line_search",
    [PL_FAILURE_NOT_CONVERGED] = "not_converged",
    [PL_FAILURE_OUT_OF_MEMORY] = "out_of_memory",
    [PL_FAILURE_WORKER_CRASHED] = "worker_crashed",
    [PL_FAILURE_TIMEOUT] = "timeout",
    [PL_FAILURE_DISK] = "disk",
    [PL_FAILURE_NOT_REPRODUCIBLE] = "not_reproducible",
    [PL_FAILURE_INTERNAL] = "internal",
    [PL_FAILURE_NO_GPU] = "no_gpu",
    [PL_FAILURE_INTERSECTION] = "intersection",
};

const char *pl_failure_name(pl_failure_code code)
{
    return (unsigned)code < PL_FAILURE_COUNT ? names[code] : "internal";
}
