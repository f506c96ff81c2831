#include "engine/model/build.h"
#include "engine/model/isa.h"
#include "engine/model/tets.h"

#include <stdlib.h>

/* One group for each material model that occurs. */
pl_status pl_build_tets(pl_build *b)
{
    pl_model *m = b->model;
    const pl_elements *tets = &b->layout.elements[PL_ELEMENT_TET];
    int32_t *element = malloc((size_t)(m->tets + 1) * sizeof *element);
    double *mu = malloc((size_t)(m->tets + 1) * sizeof *mu);
    double *lambda = malloc((size_t)(m->tets + 1) * sizeof *lambda);
    pl_status status = element && mu && lambda ? PL_OK : PL_NO_MEMORY;
    for (pl_material_kind kind = 0; status == PL_OK && kind < PL_MATERIAL_KINDS; kind++) {
        int64_t count = 0;
        for (int64_t t = 0; t < m->tets; t++) {
            if (b->scene->materials[tets->material[t]].model != kind)
                continue;
            element[count] = (int32_t)t;
            mu[count] = b->mu[t];
            lambda[count++] = b->lambda[t];
        }
        if (count == 0)
            continue;
        pl_group group;
        status = pl_tets_create(pl_tets_ops(kind), b->layout.rest, b->tets, element, count, mu,
                                lambda, &b->scene->solver, &group);
        if (status == PL_OK)
            status = pl_build_add_group(b, &group, -1);
    }
    free(element);
    free(mu);
    free(lambda);
    return status;
}
