/* The group with which methods that split keep bodies apart. */
#include "engine/contact/surface.h"
#include "engine/model/build/build.h"
#include "engine/model/groups/touching.h"
#include "engine/model/matrix.h"

#include <stdlib.h>

/* Relative to the stiffness of a vertex. 0.2 to 0.5 took the fewest iterations on a stack of cubes that lands and
 * rests. */
static const double WEIGHT = 0.2;

pl_status pl_build_apart(pl_build *b)
{
    pl_model *m = b->model;
    const pl_method_kind method = m->solver.method;
    if (!m->touching || (method != PL_METHOD_ADMM && method != PL_METHOD_PROJECTIVE_DYNAMICS))
        return PL_OK;
    const pl_contact_surface *s = m->touching->surface;
    int32_t *vertex = malloc(((size_t)s->vertices + 1) * sizeof *vertex);
    double *weight = malloc(((size_t)s->vertices + 1) * sizeof *weight);
    double *stiffness = malloc(((size_t)m->vertices + 1) * sizeof *stiffness);
    pl_status status = vertex && weight && stiffness ? PL_OK : PL_NO_MEMORY;
    int64_t count = 0;
    if (status == PL_OK)
        pl_matrix_vertex_stiffness(m, stiffness);
    for (int32_t i = 0; status == PL_OK && i < s->vertices; i++) {
        const int32_t v = s->vertex[i];
        if (m->free_row[v] < 0)
            continue;
        vertex[count] = v;
        weight[count++] = WEIGHT * stiffness[v];
    }
    pl_group group;
    if (count > 0) {
        status = pl_touching_create(vertex, weight, count, m->vertices, &group);
        if (status == PL_OK)
            status = pl_build_add_group(b, &group, -1);
    }
    free(vertex);
    free(weight);
    free(stiffness);
    return status;
}
