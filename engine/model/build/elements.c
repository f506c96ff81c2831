#include "engine/model/build/elements.h"

#include "engine/model/build/tags.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pl_elements_clear(pl_elements *e)
{
    free(e->first);
    free(e->corner);
    free(e->measure);
    free(e->material);
    free(e->stiffness);
    free(e->fiber);
    *e = (pl_elements){0};
}

static void edges_from(const double *x, const int32_t *corner, int corners, double e[3][3])
{
    for (int c = 0; c + 1 < corners; c++)
        for (int k = 0; k < 3; k++)
            e[c][k] = x[3 * (int64_t)corner[c + 1] + k] - x[3 * (int64_t)corner[0] + k];
}

/* Volume, area or length from the edges e[0], e[1], .. of the first corner. */
static double measure(const double *x, const int32_t *corner, int corners)
{
    double e[3][3] = {{0}};
    edges_from(x, corner, corners, e);
    if (corners == 2)
        return sqrt(e[0][0] * e[0][0] + e[0][1] * e[0][1] + e[0][2] * e[0][2]);
    if (corners == 3) {
        double n[3];
        for (int k = 0; k < 3; k++) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            n[k] = e[0][k1] * e[1][k2] - e[0][k2] * e[1][k1];
        }
        return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    }
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
            e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* The elements of one kind of one mesh. */
typedef struct source {
    int64_t count;
    const int32_t *corner, *tags;
} source;

static source source_of(const pl_mesh *mesh, int kind)
{
    const source kinds[PL_ELEMENT_KINDS] = {
        [PL_ELEMENT_TET] = {mesh->tet_count, mesh->tets, mesh->tet_tags},
        [PL_ELEMENT_TRIANGLE] = {mesh->triangle_count, mesh->triangles, mesh->triangle_tags},
        [PL_ELEMENT_EDGE] = {mesh->edge_count, mesh->edges, mesh->edge_tags},
    };
    return kinds[kind];
}

static pl_status allocate(pl_elements *e, const pl_mesh *meshes, int32_t bodies, int kind)
{
    *e = (pl_elements){.corners = 4 - kind};
    e->first = calloc((size_t)bodies + 1, sizeof *e->first);
    if (!e->first)
        return PL_NO_MEMORY;
    for (int32_t b = 0; b < bodies; b++)
        e->first[b + 1] = e->first[b] + source_of(&meshes[b], kind).count;
    e->count = e->first[bodies];
    size_t room = (size_t)e->count + 1;
    e->corner = malloc(room * (size_t)e->corners * sizeof *e->corner);
    e->measure = malloc(room * sizeof *e->measure);
    e->material = malloc(room * sizeof *e->material);
    e->stiffness = malloc(room * sizeof *e->stiffness);
    return e->corner && e->measure && e->material && e->stiffness ? PL_OK : PL_NO_MEMORY;
}

static void unknown_tag(const pl_body *body, int32_t b, const pl_mesh *mesh, const char *tag,
                        pl_faults *faults)
{
    char pointer[400], escaped[256], known[400];
    pl_fault_escape(tag, escaped, sizeof escaped);
    snprintf(pointer, sizeof pointer, "/bodies/%d/materials_by_tag/%s", b, escaped);
    pl_tag_names(mesh, known, sizeof known);
    pl_faults_addf(faults, pointer, "unknown_tag", known,
                   "name a physical group of the mesh file that has elements, or its number",
                   "\"%s\", which no element of body \"%s\" has", tag, body->name);
}

/* Applies materials_by_tag of one body. */
static pl_status set_tagged(const pl_scene *scene, int32_t b, const pl_mesh *mesh,
                            const pl_elements *elements, pl_faults *faults)
{
    const pl_body *body = &scene->bodies[b];
    pl_status status = PL_OK;
    for (int32_t k = 0; k < body->tag_material_count; k++) {
        const pl_tag_material *entry = &body->tag_materials[k];
        bool found = false;
        for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++) {
            const pl_elements *e = &elements[kind];
            source from = source_of(mesh, kind);
            pl_tag_set set;
            if (!from.tags)
                continue;
            if (pl_tag_set_create(mesh, 3 - kind, entry->tag, &set) != PL_OK)
                return PL_NO_MEMORY;
            for (int64_t t = 0; t < from.count; t++)
                if (pl_tag_set_has(&set, from.tags[t])) {
                    e->material[e->first[b] + t] = entry->material;
                    found = true;
                }
            pl_tag_set_destroy(&set);
        }
        if (found)
            continue;
        unknown_tag(body, b, mesh, entry->tag, faults);
        status = PL_INVALID;
    }
    return status;
}

pl_status pl_elements_create(const pl_scene *scene, const pl_mesh *meshes,
                             const int64_t *first_vertex, const double *rest, pl_elements *elements,
                             pl_faults *faults)
{
    for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++) {
        pl_elements *e = &elements[kind];
        pl_status status = allocate(e, meshes, scene->body_count, kind);
        if (status != PL_OK)
            return status;
        for (int32_t b = 0; b < scene->body_count; b++) {
            source from = source_of(&meshes[b], kind);
            int32_t *to = e->corner + e->corners * e->first[b];
            for (int64_t i = 0; i < e->corners * from.count; i++)
                to[i] = from.corner[i] + (int32_t)first_vertex[b];
            for (int64_t t = e->first[b]; t < e->first[b + 1]; t++)
                e->material[t] = scene->bodies[b].material;
        }
        for (int64_t t = 0; t < e->count; t++)
            e->stiffness[t] = 1;
        for (int64_t t = 0; t < e->count; t++)
            e->measure[t] = measure(rest, e->corner + e->corners * t, e->corners);
    }
    pl_status status = PL_OK;
    for (int32_t b = 0; b < scene->body_count; b++) {
        pl_status one = set_tagged(scene, b, &meshes[b], elements, faults);
        if (one == PL_NO_MEMORY)
            return one;
        status = one != PL_OK ? one : status;
    }
    return status;
}
