/* Forces; in statics nothing moves. */
#include "engine/model/build/build.h"

#include <stdlib.h>
#include <string.h>

/* Wind without a named body acts on all. */
static bool on_all(const pl_scene_force *load)
{
    return load->kind == PL_LOAD_WIND && !load->has_body;
}

static bool acts_on(const pl_scene_force *load, int32_t body)
{
    return load->kind != PL_LOAD_POINT && (on_all(load) || load->body == body);
}

static bool needs_skin(const pl_scene *scene, int32_t body)
{
    for (int32_t f = 0; f < scene->force_count; f++)
        if (acts_on(&scene->forces[f], body))
            return true;
    return false;
}

/* Appends the surface of one body. */
static pl_status add_body(pl_skin *skin, const pl_mesh *mesh, int64_t first_vertex)
{
    int32_t *triangles = NULL;
    int64_t count = 0;
    pl_status status = pl_mesh_surface(mesh, &triangles, &count);
    if (status != PL_OK)
        return status;
    size_t all = (size_t)(skin->count + count);
    int32_t *triangle = realloc(skin->triangle, (3 * all + 1) * sizeof *triangle);
    if (triangle)
        skin->triangle = triangle;
    bool *two_sided = realloc(skin->two_sided, (all + 1) * sizeof *two_sided);
    if (two_sided)
        skin->two_sided = two_sided;
    if (!triangle || !two_sided) {
        free(triangles);
        return PL_NO_MEMORY;
    }
    for (int64_t k = 0; k < 3 * count; k++)
        triangle[3 * skin->count + k] = triangles[k] + (int32_t)first_vertex;
    for (int64_t t = 0; t < count; t++)
        two_sided[skin->count + t] = t >= count - mesh->triangle_count;
    skin->count += count;
    free(triangles);
    return PL_OK;
}

/* Each vertex's triangles, and the masses of triangles. */
static pl_status connect(pl_skin *skin, int64_t vertices, const double *mass)
{
    skin->start = calloc((size_t)vertices + 2, sizeof *skin->start);
    skin->incident = malloc((size_t)(3 * skin->count + 1) * sizeof *skin->incident);
    skin->mass = calloc((size_t)skin->count + 1, sizeof *skin->mass);
    if (!skin->start || !skin->incident || !skin->mass)
        return PL_NO_MEMORY;
    int64_t *start = skin->start;
    for (int64_t k = 0; k < 3 * skin->count; k++)
        start[skin->triangle[k] + 2]++;
    for (int64_t i = 0; i <= vertices; i++)
        start[i + 1] += start[i];
    /* start[i + 1] is vertex i's cursor now, and the start of vertex i + 1 when all is filled in. */
    for (int64_t k = 0; k < 3 * skin->count; k++)
        skin->incident[start[skin->triangle[k] + 1]++] = k / 3;
    for (int64_t k = 0; k < 3 * skin->count; k++) {
        int32_t v = skin->triangle[k];
        skin->mass[k / 3] += mass[v] / (double)(start[v + 1] - start[v]);
    }
    return PL_OK;
}

/* The vertices of point loads are moved out of the layout. */
static pl_status create(const pl_scene *scene, const pl_mesh *meshes, pl_layout *layout,
                        const double *mass, pl_loads *out)
{
    *out = (pl_loads){.count = scene->force_count};
    pl_skin *skin = &out->skin;
    out->list = calloc((size_t)out->count + 1, sizeof *out->list);
    skin->first = calloc((size_t)scene->body_count + 1, sizeof *skin->first);
    if (!out->list || !skin->first)
        return PL_NO_MEMORY;
    for (int32_t f = 0; f < out->count; f++) {
        pl_load_model *load = &out->list[f];
        load->load = scene->forces[f];
        load->load.name = NULL;
        load->load.select = (pl_selection){0};
        load->vertex = layout->forces[f].vertex;
        load->count = layout->forces[f].count;
        layout->forces[f].vertex = NULL;
    }
    pl_status status = PL_OK;
    for (int32_t b = 0; status == PL_OK && b < scene->body_count; b++) {
        if (needs_skin(scene, b))
            status = add_body(skin, &meshes[b], layout->first_vertex[b]);
        skin->first[b + 1] = skin->count;
    }
    return status == PL_OK ? connect(skin, layout->vertices, mass) : status;
}

pl_status pl_build_loads(pl_build *b)
{
    pl_model *m = b->model;
    if (m->inertia == 0)
        memset(m->v0, 0, 3 * (size_t)m->vertices * sizeof *m->v0);
    return create(b->scene, b->meshes, &b->layout, m->mass, &m->loads);
}
