#include "engine/scene/carries.h"
#include "engine/model/build/build.h"
#include "engine/model/matrix.h"
#include "engine/model/groups/contact_springs.h"
#include "engine/model/groups/contacts.h"

#include <math.h>
#include <stdlib.h>

/* Bounds of a hard contact's weight, relative to the stiffness of its vertex. */
static const double LIGHTEST = 0.2, HEAVIEST = 1;

static void add_edge(const pl_mesh *mesh, int32_t i, int32_t j, double *extent)
{
    const double *a = mesh->vertices + 3 * (int64_t)i, *b = mesh->vertices + 3 * (int64_t)j;
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    extent[i] = fmax(extent[i], length);
    extent[j] = fmax(extent[j], length);
}

/* extent[i]: the longest edge of the surface at vertex i, m; -1 for vertices not on it. */
static pl_status find_extents(const pl_build *b, double *extent)
{
    const pl_model *m = b->model;
    for (int64_t i = 0; i < m->vertices; i++)
        extent[i] = -1;
    for (int32_t i = 0; i < m->body_count; i++) {
        const pl_mesh *mesh = &b->meshes[i];
        double *own = extent + m->first_vertex[i];
        int32_t *triangles = NULL;
        int64_t triangle_count = 0;
        pl_status status = pl_mesh_surface(mesh, &triangles, &triangle_count);
        if (status != PL_OK)
            return status;
        for (int64_t k = 0; k < 3 * triangle_count; k++)
            add_edge(mesh, triangles[k], triangles[k % 3 == 2 ? k - 2 : k + 1], own);
        for (int64_t k = 0; k < mesh->edge_count; k++)
            add_edge(mesh, mesh->edges[2 * k], mesh->edges[2 * k + 1], own);
        free(triangles);
    }
    return PL_OK;
}

/* Lists the vertices that may touch an obstacle, ascending: on the surface and free. Returns their number. */
static int64_t list_vertices(const pl_model *m, const double *extent, int32_t *vertex)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m->vertices; i++)
        if (extent[i] >= 0 && m->free_row[i] >= 0)
            vertex[count++] = (int32_t)i;
    return count;
}

/* The friction factor of each vertex's body; false if all are 1. */
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

/* weight[k] is w^2 of vertex[k]. Springs have the user's share of the stiffness. ADMM needs the fewest iterations
 * with light weights, but they must outweigh concave terms (weights.h): a force f on a surface of curvature c is a
 * concave term f c, and f is at most about half of stiffness times extent. */
static void set_weights(const pl_obstacle *o, const pl_solver_settings *solver,
                        const double *stiffness, const double *extent, const int32_t *vertex,
                        int64_t count, double *weight)
{
    const bool hard = pl_obstacles_are_hard(solver);
    const double curvature = pl_obstacle_curvature(o);
    for (int64_t k = 0; k < count; k++) {
        const int32_t i = vertex[k];
        double bent = curvature > 0 ? 2 * extent[i] * curvature : 0;
        double share = fmin(fmax(bent, LIGHTEST), HEAVIEST);
        weight[k] = (hard ? share : solver->contact_stiffness) * stiffness[i];
    }
}

static pl_status add_obstacle(pl_build *b, int32_t o, const int32_t *vertex, const double *weight,
                              const double *factor, int64_t count)
{
    const pl_obstacle *obstacle = &b->scene->obstacles[o];
    const bool hard = pl_obstacles_are_hard(&b->scene->solver);
    pl_group group;
    pl_status status = (hard ? pl_contacts_create
                             : pl_contact_springs_create)(obstacle, vertex, weight, count, &group);
    if (status == PL_OK && factor) {
        status = (hard ? pl_contacts_scale_friction
                       : pl_contact_springs_scale_friction)(&group, factor, count);
        if (status != PL_OK)
            group.ops->destroy(&group);
    }
    return status == PL_OK ? pl_build_add_group(b, &group, o) : status;
}

pl_status pl_build_contacts(pl_build *b)
{
    pl_model *m = b->model;
    if (m->obstacle_count == 0)
        return PL_OK;
    const size_t all = (size_t)m->vertices + 1;
    int32_t *vertex = malloc(all * sizeof *vertex);
    double *extent = malloc(4 * all * sizeof *extent);
    pl_status status = vertex && extent ? find_extents(b, extent) : PL_NO_MEMORY;
    int64_t count = status == PL_OK ? list_vertices(m, extent, vertex) : 0;
    if (count > 0) {
        double *stiffness = extent + all, *weight = stiffness + all, *factor = weight + all;
        pl_matrix_vertex_stiffness(m, stiffness);
        bool slips = friction_factors(b, vertex, count, factor);
        for (int32_t o = 0; status == PL_OK && o < m->obstacle_count; o++) {
            const pl_obstacle *obstacle = &b->scene->obstacles[o];
            m->restitution = m->restitution || obstacle->restitution > 0;
            m->friction = m->friction || obstacle->friction > 0;
            set_weights(obstacle, &b->scene->solver, stiffness, extent, vertex, count, weight);
            status = add_obstacle(b, o, vertex, weight, slips ? factor : NULL, count);
        }
    }
    free(vertex);
    free(extent);
    return status;
}
