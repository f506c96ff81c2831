#include "server/worker/step_warnings.h"

#include "engine/scene/carries.h"
#include "engine/step/pliant.h"
#include "engine/vectors.h"
#include "server/worker/placed_body.h"

#include <math.h>
#include <stdio.h>

/* Cells that sound may cross in a step. Boxes of 1e6 to 1e10 Pa were dropped on a floor with steps of 1 and 10 ms and
 * 300 iterations: quasi_newton and admm converge in all steps up to 10 cells, and fail in some from 32 on. */
static const double CELLS = 30;

/* Add the size of the parallelepiped that edges a, b and c span, or of a and b alone. */
static double span(const double *x, const int32_t *corner, int count)
{
    double edge[3][3], normal[3];
    for (int k = 0; k + 1 < count; k++)
        for (int c = 0; c < 3; c++)
            edge[k][c] = x[3 * corner[k + 1] + c] - x[3 * corner[0] + c];
    pl_vector_cross(edge[0], edge[1], normal);
    return count == 4 ? fabs(pl_vector_dot(normal, edge[2])) : sqrt(pl_vector_dot(normal, normal));
}

/* Mean edge length of a body's cells: six tetrahedra or two triangles make one. 0 for ropes. */
static double find_cell(const pl_placed_body *at)
{
    const pl_mesh *mesh = at->mesh;
    const bool solid = mesh->tet_count > 0;
    const int64_t count = solid ? mesh->tet_count : mesh->triangle_count;
    const int32_t *corners = solid ? mesh->tets : mesh->triangles;
    const int size = solid ? 4 : 3;
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += span(at->x, corners + size * i, size);
    if (count == 0)
        return 0;
    return solid ? cbrt(sum / (double)count) : sqrt(sum / (double)count);
}

static double speed_of_sound(const pl_material *m)
{
    return sqrt(fmax(0, pl_material_young(m)) / m->density);
}

/* The material of a body with the fastest sound. */
static const pl_material *find_stiffest(const pl_scene *scene, const pl_body *body)
{
    const pl_material *most = &scene->materials[body->material];
    for (int32_t k = 0; k < body->tag_material_count; k++) {
        const pl_material *other = &scene->materials[body->tag_materials[k].material];
        most = speed_of_sound(other) > speed_of_sound(most) ? other : most;
    }
    return most;
}

static pl_status warn_of_body(const pl_scene *scene, const pl_body *body, const pl_mesh *mesh,
                              pl_warnings *out)
{
    pl_placed_body at;
    pl_status status = pl_placed_body_init(&at, body, mesh);
    if (status != PL_OK)
        return status;
    const pl_material *m = find_stiffest(scene, body);
    const double cell = find_cell(&at), step = scene->time.step;
    const double crossed = cell > 0 ? speed_of_sound(m) * step / cell : 0;
    pl_placed_body_clear(&at);
    if (crossed < CELLS)
        return PL_OK;
    char text[512];
    snprintf(text, sizeof text,
             "body '%s' is too stiff for %s at a time.step of %g s: sound crosses %.0f of its "
             "cells of %.2g m in a step (material '%s': %.3g Pa); beyond %g cells steps may not "
             "converge; use \"method\": \"auto\" or \"newton\", or a time.step of %.1g s",
             body->name, pl_method_name(scene->solver.method), step, crossed, cell, m->name,
             pl_material_young(m), CELLS, step * CELLS / crossed);
    return pl_warnings_add(out, PL_WARNING_STIFF_STEP, 1, scene->body_count, text);
}

pl_status pl_step_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out)
{
    const pl_solver_settings *solver = &scene->solver;
    pl_status status = PL_OK;
    /* Without obstacles, stiff bodies that hardly rotate converge with any method. */
    if (scene->obstacle_count == 0 || solver->automatic || solver->method == PL_METHOD_NEWTON ||
        scene->time.integrator == PL_INTEGRATOR_QUASI_STATIC)
        return PL_OK;
    for (int32_t b = 0; status == PL_OK && b < scene->body_count; b++)
        status = warn_of_body(scene, &scene->bodies[b], &meshes[b], out);
    return status;
}
