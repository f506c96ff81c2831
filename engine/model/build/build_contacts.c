#include "engine/scene/carries.h"
#include "engine/model/build/build.h"
#include "engine/model/matrix.h"
#include "engine/model/groups/contact_springs.h"
#include "engine/model/groups/contacts.h"

#include <stdlib.h>

/* The vertices that may touch an obstacle: on the surface and free. Ascending. */
static pl_status surface_vertices(pl_build *b, int32_t **out, int64_t *count)
{
    pl_model *m = b->model;
    unsigned char *mark = calloc((size_t)m->vertices, 1);
    int32_t *list = malloc((size_t)m->vertices * sizeof *list);
    pl_status status = mark && list ? PL_OK : PL_NO_MEMORY;
    for (int32_t i = 0; status == PL_OK && i < m->body_count; i++) {
        int32_t *triangles = NULL;
        int64_t triangle_count = 0;
        status = pl_mesh_surface(&b->meshes[i], &triangles, &triangle_count);
        for (int64_t k = 0; status == PL_OK && k < 3 * triangle_count; k++)
            mark[m->first_vertex[i] + triangles[k]] = 1;
        for (int64_t k = 0; status == PL_OK && k < 2 * b->meshes[i].edge_count; k++)
            mark[m->first_vertex[i] + b->meshes[i].edges[k]] = 1;
        free(triangles);
    }
    if (status != PL_OK) {
        free(mark);
        free(list);
        return status;
    }
    int64_t found = 0;
    for (int64_t i = 0; i < m->vertices; i++)
        if (mark[i] && m->free_row[i] >= 0)
            list[found++] = (int32_t)i;
    free(mark);
    *out = list;
    *count = found;
    return PL_OK;
}

/* Each vertex's body's factor on friction; false where all are 1. */
static bool friction_factors(const pl_build *b, const int32_t *vertex, int64_t count,
                             double *factor)
{
    const pl_model *m = b->model;
    bool any = false;
    for (int64_t k = 0; k < count; k++) {
        int32_t body = pl_model_body_of(m, m->first_vertex, vertex[k]);
        factor[k] = b->scene->bodies[body].friction;
        any = any || factor[k] != 1;
    }
    return any;
}

pl_status pl_build_contacts(pl_build *b)
{
    pl_model *m = b->model;
    if (m->obstacle_count == 0)
        return PL_OK;
    int32_t *vertex = NULL;
    int64_t count = 0;
    pl_status status = surface_vertices(b, &vertex, &count);
    double *stiffness = malloc((size_t)m->vertices * sizeof *stiffness);
    double *weight = malloc((size_t)(count + 1) * sizeof *weight);
    double *factor = malloc((size_t)(count + 1) * sizeof *factor);
    if (status == PL_OK && (!stiffness || !weight || !factor))
        status = PL_NO_MEMORY;
    if (status == PL_OK && count > 0) {
        pl_matrix_vertex_stiffness(m, stiffness);
        bool hard = pl_obstacles_are_hard(&b->scene->solver);
        pl_status (*create)(const pl_obstacle *, const int32_t *, const double *, int64_t,
                            pl_group *) = hard ? pl_contacts_create : pl_contact_springs_create;
        double scale = hard ? 1 : b->scene->solver.contact_stiffness;
        for (int64_t k = 0; k < count; k++)
            weight[k] = scale * stiffness[vertex[k]];
        bool slips = friction_factors(b, vertex, count, factor);
        for (int32_t o = 0; status == PL_OK && o < m->obstacle_count; o++) {
            pl_group group;
            m->restitution = m->restitution || b->scene->obstacles[o].restitution > 0;
            m->friction = m->friction || b->scene->obstacles[o].friction > 0;
            status = create(&b->scene->obstacles[o], vertex, weight, count, &group);
            if (status == PL_OK && slips) {
                status = hard ? pl_contacts_scale_friction(&group, factor, count)
                              : pl_contact_springs_scale_friction(&group, factor, count);
                if (status != PL_OK)
                    group.ops->destroy(&group);
            }
            if (status == PL_OK)
                status = pl_build_add_group(b, &group, o);
        }
    }
    free(vertex);
    free(stiffness);
    free(weight);
    free(factor);
    return status;
}
