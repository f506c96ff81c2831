/* The large functions of triangles of any material, for devices: prox and concavity. */
#define PL_CALLS
#include "engine/kernels/stretch_kinds.h"

#define TERMS_NAME "triangles"
#define CORNERS    3
#define COLUMNS    2
#include "engine/model/groups/triangle_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

PL_THREAD void concavity_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    terms_concavity(&at.group, a->z + at.lane, a->values + at.lane, at.block, at.block + 1);
}
PL_KERNEL(triangles_concavity, concavity_of, pl_term_arguments)

PL_LOCAL_KERNEL(triangles)
