#include "engine/model/build/resolve.h"

#include "engine/model/build/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- forces ---- */

static pl_status check_pressure(const pl_scene *scene, const pl_mesh *meshes, int32_t f,
                                pl_faults *faults)
{
    int32_t body = scene->forces[f].body;
    const pl_mesh *mesh = &meshes[body];
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/forces/%d/pressure/body", f);
    if (mesh->triangle_count > 0)
        return pl_mesh_check_closed(mesh, pointer, faults);
    if (mesh->tet_count > 0)
        return PL_OK;
    pl_faults_addf(faults, pointer, "not_closed", "a body with a closed surface",
                   "use wind, or point", "body \"%s\", which has no surface",
                   scene->bodies[body].name);
    return PL_INVALID;
}

pl_status pl_resolve_forces(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                            pl_faults *faults)
{
    pl_status status = PL_OK;
    for (int32_t f = 0; f < scene->force_count; f++) {
        const pl_scene_force *load = &scene->forces[f];
        pl_status one = PL_OK;
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/forces/%d/point/select", f);
        int64_t first = out->first_vertex[load->body];
        if (load->kind == PL_LOAD_POINT)
            one = pl_select_vertices(&load->select, &meshes[load->body], out->rest + 3 * first,
                                     pointer, &out->forces[f].vertex, &out->forces[f].count,
                                     faults);
        else if (load->kind == PL_LOAD_PRESSURE)
            one = check_pressure(scene, meshes, f, faults);
        for (int64_t k = 0; one == PL_OK && k < out->forces[f].count; k++)
            out->forces[f].vertex[k] += (int32_t)first;
        if (one == PL_NO_MEMORY)
            return one;
        status = one == PL_OK ? status : one;
    }
    return status;
}

/* ---- what statics needs ---- */

static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void join_two(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
}

/* Joins each element's corners into one piece. */
static void join(int32_t *parent, const pl_elements *elements)
{
    for (int64_t e = 0; e < elements->count; e++)
        for (int32_t c = 1; c < elements->corners; c++)
            join_two(parent, elements->corner[e * elements->corners],
                     elements->corner[e * elements->corners + c]);
}

/* An attachment to a place holds; one to a body joins. If that body has several pieces, the first is used, because
 * the nearest point is determined later. */
static void attach(const pl_scene *scene, const pl_layout *layout, int32_t *parent,
                   unsigned char *held)
{
    for (int32_t i = 0; i < layout->attachment_count; i++) {
        const pl_attachment *a = &scene->attachments[i];
        for (int64_t k = 0; k < layout->attached[i].count; k++)
            if (a->has_to)
                join_two(parent, layout->attached[i].vertex[k],
                         (int32_t)layout->first_vertex[a->to]);
            else
                held[layout->attached[i].vertex[k]] = PL_AXES_ALL;
    }
}

/* Without inertia, a piece that nothing holds along an axis has no equilibrium. */
static void refuse_piece(const pl_scene *scene, const pl_layout *layout, int32_t vertex,
                         unsigned held, pl_faults *faults)
{
    int32_t body = 0;
    while (body + 1 < scene->body_count && vertex >= layout->first_vertex[body + 1])
        body++;
    char pointer[64], axes[16] = "";
    for (int c = 0; c < 3; c++)
        if (!(held >> c & 1))
            snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%s%c", axes[0] ? ", " : "",
                     "xyz"[c]);
    snprintf(pointer, sizeof pointer, "/bodies/%d", body);
    pl_faults_addf(faults, pointer, "not_held",
                   "with time.integrator quasi_static, pins that hold each connected piece of a "
                   "body along x, y and z: without inertia only pins fix its position",
                   "pin a side, or planes of symmetry: {\"select\": {\"side\": \"-x\"}, "
                   "\"axes\": [\"x\"]}; obstacles do not hold a body",
                   "nothing that holds the piece around vertex %lld of body \"%s\" along %s",
                   (long long)(vertex - layout->first_vertex[body]), scene->bodies[body].name,
                   axes);
}

pl_status pl_check_statics(const pl_scene *scene, const pl_layout *layout, pl_faults *faults)
{
    int32_t n = (int32_t)layout->vertices;
    int32_t *parent = malloc((size_t)(n + 1) * sizeof *parent);
    unsigned char *held = calloc((size_t)n + 1, 1);
    pl_status status = parent && held ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK) {
        for (int32_t v = 0; v < n; v++)
            parent[v] = v;
        for (int k = 0; k < PL_ELEMENT_KINDS; k++)
            join(parent, &layout->elements[k]);
        attach(scene, layout, parent, held);
        for (int32_t v = 0; v < n; v++)
            held[root_of(parent, v)] |= held[v] | layout->held[v];
        for (int32_t v = 0; v < n; v++) {
            if (parent[v] != v || held[v] == PL_AXES_ALL)
                continue;
            refuse_piece(scene, layout, v, held[v], faults);
            status = PL_INVALID;
        }
    }
    free(parent);
    free(held);
    return status;
}
