#include "engine/scene/carries.h"
#include "engine/model/build/build.h"
#include "engine/model/groups/isa.h"
#include "engine/model/groups/tets.h"

#include <stdlib.h>
#include <string.h>

/* The tetrahedra of one group, with capacity for all of the model's. */
typedef struct list {
    int32_t *element;
    double *constants, *shear, *stiffness;
    int64_t count;
} list;

static void gather(const pl_build *b, int32_t leader, int32_t rows, list *l)
{
    const int32_t *material = b->layout.elements[PL_ELEMENT_TET].material;
    l->count = 0;
    for (int64_t t = 0; t < b->model->tets; t++) {
        const pl_material_numbers *numbers = &b->materials[material[t]];
        if (!pl_build_shares_group(b, material[t], leader) ||
            pl_damping_is_merged(b->scene, &b->scene->materials[material[t]]))
            continue; /* merged terms have their energy in their damping (build_damping.c) */
        memcpy(l->constants + l->count * rows, numbers->constants,
               (size_t)rows * sizeof *l->constants);
        l->element[l->count] = (int32_t)t;
        l->shear[l->count] = numbers->shear;
        l->stiffness[l->count++] = pl_material_weight(numbers, &b->scene->solver);
    }
}

/* True if neighbours of an inverted element convert with it: if the energy is infinite for J <= 0. Fung's energy is
 * so steep under stretch that its bodies recover without this, and get caught elsewhere with it. */
static bool spreads(const pl_material *m)
{
    return m->invertible && m->model != PL_MATERIAL_FUNG &&
           pl_stretch_ops_of(m->model)->domain == PL_STRETCH_POSITIVE;
}

/* The group of the materials that share one with `leader`, unless they have no tetrahedra. */
static pl_status add_group(pl_build *b, int32_t leader, list *l)
{
    const pl_material *material = &b->scene->materials[leader];
    const pl_stretch_ops *stretch = pl_stretch_ops_of(material->model);
    gather(b, leader, stretch->constants, l);
    if (l->count == 0)
        return PL_OK;
    const pl_tets_parts parts = {.ops = pl_tets_ops(material->model, material->invertible),
                                 .stretch = stretch,
                                 .rest = b->layout.rest,
                                 .tets = b->tets,
                                 .element = l->element,
                                 .count = l->count,
                                 .constants = l->constants,
                                 .shear = l->shear,
                                 .stiffness = l->stiffness,
                                 .scale = b->layout.elements[PL_ELEMENT_TET].stiffness,
                                 .shared = b->materials[leader].shared,
                                 .shared_count = b->materials[leader].shared_count,
                                 .invertible = material->invertible,
                                 .spreads = spreads(material)};
    pl_group group;
    pl_status status = pl_tets_create(&parts, &group);
    return status == PL_OK ? pl_build_add_group(b, &group, -1) : status;
}

/* In the order of the models, and of the materials of a model. */
pl_status pl_build_tets(pl_build *b)
{
    const size_t room = (size_t)b->model->tets + 1;
    list l = {.element = malloc(room * sizeof *l.element),
              .constants = malloc(room * PL_STRETCH_CONSTANTS_MAX * sizeof *l.constants),
              .shear = malloc(room * sizeof *l.shear),
              .stiffness = malloc(room * sizeof *l.stiffness)};
    pl_status status = l.element && l.constants && l.shear && l.stiffness ? PL_OK : PL_NO_MEMORY;
    for (int kind = 0; status == PL_OK && kind < PL_MATERIAL_KINDS; kind++)
        for (int32_t i = 0; status == PL_OK && i < b->scene->material_count; i++)
            if ((int)b->scene->materials[i].model == kind && pl_build_leads_group(b, i))
                status = add_group(b, i, &l);
    free(l.element);
    free(l.constants);
    free(l.shear);
    free(l.stiffness);
    return status;
}
