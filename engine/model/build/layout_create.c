/* Lays out a scene, and finds every fault of it against its meshes. */
#include "engine/model/build/fields.h"
#include "engine/model/build/layout.h"
#include "engine/model/build/resolve.h"
#include "engine/model/build/select.h"
#include "engine/model/materials.h"
#include "engine/obstacles/solid.h"
#include "engine/scene/carries.h"
#include "engine/scene/transform.h"
#include "engine/step/pliant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pl_status pl_body_select(const pl_body *body, const pl_mesh *mesh, const pl_selection *select,
                         const char *pointer, int32_t **out, int64_t *count, pl_faults *faults)
{
    double *rest = malloc((size_t)(3 * mesh->vertex_count + 1) * sizeof *rest);
    if (!rest)
        return PL_NO_MEMORY;
    pl_transform_points(&body->transform, mesh->vertices, mesh->vertex_count, rest);
    pl_status status = pl_select_vertices(select, mesh, rest, pointer, out, count, faults);
    free(rest);
    return status;
}

/* Resolves one pin; another pin must not hold any of its vertices' coordinates already. */
static pl_status resolve_pin(const pl_scene *scene, const pl_mesh *meshes, int32_t p,
                             pl_layout *out, pl_faults *faults)
{
    const pl_pin *pin = &scene->pins[p];
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/pins/%d/select", p);
    int64_t first = out->first_vertex[pin->body];
    pl_pin_vertices *list = &out->pins[p];
    pl_status status = pl_select_vertices(&pin->select, &meshes[pin->body], out->rest + 3 * first,
                                          pointer, &list->vertex, &list->count, faults);
    if (status != PL_OK)
        return status;
    int64_t twice = 0, example = -1;
    for (int64_t k = 0; k < list->count; k++) {
        list->vertex[k] += (int32_t)first;
        int32_t v = list->vertex[k];
        if ((out->held[v] & pin->axes) && twice++ == 0)
            example = v - first;
        out->held[v] |= (unsigned char)pin->axes;
    }
    if (twice > 0) {
        pl_faults_addf(
            faults, pointer, "pinned_twice", "vertices not held by an earlier pin along these axes",
            "a coordinate can follow only one motion: make the selections or the axes disjoint",
            "%lld vertices that an earlier pin holds (vertex %lld of body \"%s\" is one)",
            (long long)twice, (long long)example, scene->bodies[pin->body].name);
        return PL_INVALID;
    }
    return PL_OK;
}

static pl_status resolve_pins(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                              pl_faults *faults)
{
    pl_status status = PL_OK;
    for (int32_t p = 0; p < scene->pin_count; p++) {
        pl_status one = resolve_pin(scene, meshes, p, out, faults);
        if (one == PL_NO_MEMORY)
            return one;
        if (one != PL_OK)
            status = one;
    }
    for (int64_t i = 0; i < out->vertices; i++)
        out->free_vertices += out->held[i] != PL_AXES_ALL;
    if (status == PL_OK && out->free_vertices == 0) {
        pl_faults_add(faults, "/pins", "nothing_free", "every vertex of every body is pinned",
                      "at least one free vertex",
                      "select fewer vertices, for example a side of a body");
        status = PL_INVALID;
    }
    return status;
}

/* Kinds of elements of each material in the bodies, [material_count]; NULL if out of memory. */
static pl_material_uses *count_uses(const pl_scene *scene, const pl_layout *layout)
{
    size_t materials = (size_t)scene->material_count;
    pl_material_uses *uses = calloc(materials + 1, sizeof *uses);
    unsigned char *kinds = malloc(materials + 1); /* bits of the kinds that a body has */
    for (int32_t b = 0; uses && kinds && b < scene->body_count; b++) {
        memset(kinds, 0, materials);
        for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++) {
            const pl_elements *e = &layout->elements[kind];
            for (int64_t t = e->first[b]; t < e->first[b + 1]; t++)
                kinds[e->material[t]] |= (unsigned char)(1 << kind);
        }
        for (size_t i = 0; i < materials; i++) {
            uses[i].model += (kinds[i] & (1 << PL_ELEMENT_TET | 1 << PL_ELEMENT_TRIANGLE)) != 0;
            uses[i].triangles += kinds[i] >> PL_ELEMENT_TRIANGLE & 1;
            uses[i].edges += kinds[i] >> PL_ELEMENT_EDGE & 1;
        }
    }
    if (!kinds) {
        free(uses);
        return NULL;
    }
    free(kinds);
    return uses;
}

/* Adds a fault for each kind of terms that the method does not support. */
static pl_status check_method(const pl_scene *scene, const pl_layout *layout, pl_faults *faults)
{
    pl_method_kind method = scene->solver.method;
    pl_carried parts[PL_CARRIED_MAX];
    pl_material_uses *uses = count_uses(scene, layout);
    if (!uses)
        return PL_NO_MEMORY;
    int32_t count = pl_scene_carried(scene, uses, parts);
    free(uses);
    unsigned all = 0;
    for (int32_t i = 0; i < count; i++)
        all |= parts[i].traits;
    pl_status status = PL_OK;
    for (int32_t i = 0; i < count; i++) {
        const char *what = parts[i].what, *why = pl_method_refuses(method, parts[i].traits);
        if (!why)
            continue;
        char expected[384], hint[384], methods[160];
        snprintf(expected, sizeof expected, "%s, where a scene has %ss: %s",
                 pl_methods_that_carry(parts[i].traits, methods, sizeof methods), what, why);
        pl_methods_that_carry(all, methods, sizeof methods);
        if (methods[0])
            snprintf(hint, sizeof hint, "use \"method\": %s, or omit the %ss", methods, what);
        else
            snprintf(hint, sizeof hint, "omit the %ss: no method supports this whole scene", what);
        pl_faults_addf(faults, "/solver/method", "unsupported", expected, hint, "%s, with %d %s%s",
                       pl_method_name(scene->solver.automatic ? PL_METHOD_AUTO : method),
                       parts[i].count, what, parts[i].count == 1 ? "" : "s");
        status = PL_INVALID;
    }
    return status;
}

/* Hard limits gain energy under integrators without dissipation: a rope reached 1e5 times m g L / 2 in 400 steps,
 * even at a tolerance of 1e-9. */
static pl_status check_integrator(const pl_scene *scene, pl_faults *faults)
{
    pl_integrator_kind kind = scene->time.integrator;
    if (kind != PL_INTEGRATOR_TRAPEZOIDAL && kind != PL_INTEGRATOR_IMPLICIT_MIDPOINT)
        return PL_OK;
    const char *name = kind == PL_INTEGRATOR_TRAPEZOIDAL ? "trapezoidal" : "implicit_midpoint";
    pl_status status = PL_OK;
    for (int32_t i = 0; i < scene->material_count; i++) {
        const pl_material *m = &scene->materials[i];
        if (!m->strain_limit.present && m->inextensible == PL_EXTENSIBLE)
            continue;
        const char *what = m->strain_limit.present ? "strain limit" : "inextensible edges";
        pl_faults_addf(faults, "/time/integrator", "unsupported",
                       "backward_euler, bdf2, tr_bdf2, sdirk2 or quasi_static, for a material with "
                       "hard limits: this integrator gains energy from them",
                       "use \"integrator\": \"tr_bdf2\", or omit the limits",
                       "%s, with the %s of material '%.64s'", name, what, m->name);
        status = PL_INVALID;
    }
    return status;
}

/* Adds a fault for each feature that the scene's device lacks. */
static pl_status check_device(const pl_scene *scene, const pl_layout *layout, pl_faults *faults)
{
    pl_material_uses *uses = count_uses(scene, layout);
    if (!uses)
        return PL_NO_MEMORY;
    pl_status status = pl_device_carries(scene, uses, faults);
    free(uses);
    return status;
}

/* Vertices and the corners of elements are counted in 32 bits, with some room for their blocks. */
static pl_status check_sizes(const pl_mesh *meshes, int32_t bodies, int64_t vertices,
                             pl_faults *faults)
{
    int64_t most = 0, counts[PL_ELEMENT_KINDS] = {0};
    for (int32_t b = 0; b < bodies; b++) {
        counts[PL_ELEMENT_TET] += meshes[b].tet_count;
        counts[PL_ELEMENT_TRIANGLE] += meshes[b].triangle_count;
        counts[PL_ELEMENT_EDGE] += meshes[b].edge_count;
    }
    for (int k = 0; k < PL_ELEMENT_KINDS; k++)
        most = counts[k] > most ? counts[k] : most;
    if (vertices <= INT32_MAX / 4 && most <= INT32_MAX / 16)
        return PL_OK;
    pl_faults_addf(faults, "/bodies", "too_large",
                   "fewer than 134 million elements of each kind in total", "use coarser meshes",
                   "%lld vertices, %lld tetrahedra, %lld triangles and %lld edges",
                   (long long)vertices, (long long)counts[PL_ELEMENT_TET],
                   (long long)counts[PL_ELEMENT_TRIANGLE], (long long)counts[PL_ELEMENT_EDGE]);
    return PL_INVALID;
}

/* Checks that a mesh, as placed, bounds a solid. Vertices that no triangle uses do not count. */
static pl_status check_solid(const pl_obstacle *obstacle, const char *pointer, pl_faults *faults)
{
    pl_solid_arrays a;
    if (obstacle->kind != PL_OBSTACLE_MESH)
        return PL_OK;
    pl_status status = pl_solid_arrays_create(obstacle, &a);
    if (status != PL_OK)
        return status;
    pl_mesh mesh;
    status = pl_mesh_from_arrays(&(pl_mesh_arrays){.vertex_count = a.vertex_count,
                                                   .vertices = a.vertex,
                                                   .triangle_count = a.triangle_count,
                                                   .triangles = a.triangle},
                                 pointer, &mesh, faults);
    if (status == PL_OK)
        status = pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REFUSE, pointer, faults);
    if (status == PL_OK)
        status = pl_mesh_check_closed(&mesh, pointer, faults);
    pl_mesh_clear(&mesh);
    pl_solid_arrays_clear(&a);
    return status;
}

static pl_status check_obstacles(const pl_scene *scene, pl_faults *faults)
{
    pl_status worst = PL_OK;
    for (int32_t o = 0; o < scene->obstacle_count; o++) {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/obstacles/%d/mesh", o);
        pl_status status = check_solid(&scene->obstacles[o], pointer, faults);
        if (status == PL_NO_MEMORY)
            return status;
        worst = status == PL_OK ? worst : status;
    }
    return worst;
}

/* True if the next check should run: only lack of memory stops the checks. */
static bool go_on(pl_status one, pl_status *all)
{
    *all = one == PL_OK ? *all : one;
    return one != PL_NO_MEMORY;
}

/* Finds every fault of a scene whose elements are laid out; resolves pins, attachments and forces to vertices. */
static pl_status check_layout(const pl_scene *scene, const pl_mesh *meshes, bool device,
                              pl_layout *out, pl_faults *faults)
{
    bool still = scene->time.integrator == PL_INTEGRATOR_QUASI_STATIC;
    pl_status all = PL_OK;
    (void)(go_on(resolve_pins(scene, meshes, out, faults), &all) &&
           go_on(pl_layout_parts(scene, meshes, out, faults), &all) &&
           go_on(pl_resolve_forces(scene, meshes, out, faults), &all) &&
           go_on(still ? pl_check_statics(scene, out, faults) : PL_OK, &all) &&
           go_on(check_obstacles(scene, faults), &all) &&
           go_on(check_method(scene, out, faults), &all) &&
           go_on(check_integrator(scene, faults), &all) &&
           go_on(device ? check_device(scene, out, faults) : PL_OK, &all) &&
           go_on(pl_matrix_carries(scene, faults), &all) &&
           go_on(pl_materials_check(scene, faults), &all));
    return all;
}

/* Lays out elements, then applies the fields of their meshes, with the faults of both. */
static pl_status create_elements(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                                 pl_faults *faults)
{
    pl_status status = pl_elements_create(scene, meshes, out->first_vertex, out->rest,
                                          out->elements, faults);
    for (int32_t b = 0; status != PL_NO_MEMORY && b < scene->body_count; b++) {
        pl_status one = pl_fields_apply(scene, b, &meshes[b], out->elements, faults);
        status = one != PL_OK ? one : status;
    }
    return status;
}

static pl_status create(const pl_scene *scene, const pl_mesh *meshes, bool device, pl_layout *out,
                        pl_faults *faults)
{
    *out = (pl_layout){.pin_count = scene->pin_count, .force_count = scene->force_count};
    size_t bodies = (size_t)scene->body_count;
    out->first_vertex = calloc(bodies + 1, sizeof *out->first_vertex);
    out->pins = calloc((size_t)scene->pin_count + 1, sizeof *out->pins);
    out->forces = calloc((size_t)scene->force_count + 1, sizeof *out->forces);
    pl_status status = PL_NO_MEMORY;
    if (!out->first_vertex || !out->pins || !out->forces)
        goto done;
    for (size_t b = 0; b < bodies; b++)
        out->first_vertex[b + 1] = out->first_vertex[b] + meshes[b].vertex_count;
    out->vertices = out->first_vertex[bodies];
    status = check_sizes(meshes, scene->body_count, out->vertices, faults);
    if (status != PL_OK)
        goto done;
    status = PL_NO_MEMORY;
    out->rest = malloc((size_t)(3 * out->vertices + 1) * sizeof *out->rest);
    out->held = calloc((size_t)out->vertices + 1, 1);
    if (!out->rest || !out->held)
        goto done;
    for (size_t b = 0; b < bodies; b++)
        pl_transform_points(&scene->bodies[b].transform, meshes[b].vertices, meshes[b].vertex_count,
                            out->rest + 3 * out->first_vertex[b]);
    status = create_elements(scene, meshes, out, faults);
    if (status != PL_OK)
        goto done;
    out->tets = out->elements[PL_ELEMENT_TET].count;
    out->first_tet = out->elements[PL_ELEMENT_TET].first;
    status = check_layout(scene, meshes, device, out, faults);
done:
    if (status != PL_OK)
        pl_layout_destroy(out);
    return status;
}

pl_status pl_layout_create(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                           pl_faults *faults)
{
    return create(scene, meshes, false, out, faults);
}

pl_status pl_layout_check(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                          pl_faults *faults)
{
    return create(scene, meshes, true, out, faults);
}
