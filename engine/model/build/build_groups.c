#include "engine/model/build/build.h"
#include "engine/model/groups/terms.h"

#include <stdlib.h>

pl_status pl_build_add_group(pl_build *b, pl_group *group, int32_t obstacle)
{
    pl_model *m = b->model;
    if (m->group_count == b->group_room) {
        size_t room = 2 * (size_t)b->group_room + 4;
        pl_group *groups = realloc(m->groups, room * sizeof *groups);
        if (groups)
            m->groups = groups;
        int32_t *obstacles = realloc(m->group_obstacle, room * sizeof *obstacles);
        if (obstacles)
            m->group_obstacle = obstacles;
        if (!groups || !obstacles) {
            group->ops->destroy(group);
            return PL_NO_MEMORY;
        }
        b->group_room = (int32_t)room;
    }
    m->groups[m->group_count] = *group;
    m->group_obstacle[m->group_count++] = obstacle;
    return PL_OK;
}

bool pl_build_shares_group(const pl_build *b, int32_t material, int32_t other)
{
    const pl_material *p = &b->scene->materials[material], *q = &b->scene->materials[other];
    return p->model == q->model && p->invertible == q->invertible &&
           (material == other || p->model != PL_MATERIAL_SPLINE);
}

bool pl_build_leads_group(const pl_build *b, int32_t material)
{
    for (int32_t i = 0; i < material; i++)
        if (pl_build_shares_group(b, i, material))
            return false;
    return true;
}

pl_status pl_build_add_terms(pl_build *b, const pl_terms_list *list, const pl_stretch_ops *material,
                             const double *shared)
{
    if (list->count == 0)
        return PL_OK;
    pl_group group;
    pl_status status = pl_terms_create(list, material, shared, &group);
    return status == PL_OK ? pl_build_add_group(b, &group, -1) : status;
}

pl_status pl_build_groups(pl_build *b)
{
    pl_status (*const builders[])(pl_build *) = {
        pl_build_tets,   pl_build_sheets,   pl_build_links, pl_build_damping,
        pl_build_limits, pl_build_contacts, pl_build_apart};
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++) {
        pl_status status = builders[i](b);
        if (status != PL_OK)
            return status;
    }
    pl_model *m = b->model;
    for (int32_t g = 0; g < m->group_count; g++) {
        m->groups[g].contribution = m->contributions;
        m->contributions += pl_group_contributions(&m->groups[g]);
        if (m->groups[g].ops->held)
            m->groups[g].ops->held->place(&m->groups[g], m->multipliers);
        m->multipliers += pl_group_multipliers(&m->groups[g]);
    }
    return pl_gather_create(m->vertices, m->groups, m->group_count, &m->gather);
}
