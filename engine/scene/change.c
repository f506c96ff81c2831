#include "engine/scene/change.h"

#include <stdlib.h>

void pl_change_clear(pl_change *c)
{
    for (int32_t i = 0; i < c->pin_count; i++)
        free(c->pins[i].motion.keyframes);
    for (int32_t i = 0; i < c->obstacle_count; i++)
        free(c->obstacles[i].motion.keyframes);
    free(c->pins);
    free(c->obstacles);
    free(c->forces);
    free(c->materials);
    *c = (pl_change){0};
}

static void change_damping(pl_material_damping *d, const pl_change_damping *c)
{
    if (c->has_viscosity)
        d->viscosity = c->viscosity;
    if (c->has_bulk_viscosity)
        d->bulk_viscosity = c->bulk_viscosity;
    if (c->has_beta)
        d->beta = c->beta;
    if (c->has_coefficient)
        d->coefficient = c->coefficient;
    if (c->has_mass)
        d->mass = c->mass;
}

void pl_scene_change(pl_scene *scene, const pl_change *change)
{
    for (int32_t i = 0; i < change->material_count; i++) {
        const pl_change_material *c = &change->materials[i];
        pl_material *m = &scene->materials[c->index];
        if (c->has_young)
            m->young = c->young;
        if (c->has_poisson)
            m->poisson = c->poisson;
        if (c->has_lame)
            m->lame = c->lame;
        if (c->has_constants)
            m->constants = c->constants;
        if (c->has_damping)
            change_damping(&m->damping, &c->damping);
        if (c->has_air_damping)
            m->air_damping = c->air_damping;
    }
}
