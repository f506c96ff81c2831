#include "tests/support/contact_scene.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *grown(void *array, int64_t count, size_t size)
{
    void *larger = realloc(array, (size_t)(count + 1) * size);
    ck_assert_ptr_nonnull(larger);
    return larger;
}

int32_t contact_scene_add(contact_scene *s, const double *x, int32_t vertices,
                          const int32_t *triangle, int32_t triangles, const int32_t *segment,
                          int32_t segments)
{
    int32_t first = s->vertices;
    s->x = grown(s->x, 3 * ((int64_t)first + vertices), sizeof *s->x);
    s->body = grown(s->body, first + vertices, sizeof *s->body);
    s->triangle = grown(s->triangle, 3 * ((int64_t)s->triangles + triangles), sizeof *s->triangle);
    s->segment = grown(s->segment, 2 * ((int64_t)s->segments + segments), sizeof *s->segment);
    if (vertices)
        memcpy(s->x + 3 * (int64_t)first, x, (size_t)vertices * 3 * sizeof *x);
    for (int32_t v = 0; v < vertices; v++)
        s->body[first + v] = s->bodies;
    for (int64_t i = 0; i < 3 * (int64_t)triangles; i++)
        s->triangle[3 * (int64_t)s->triangles + i] = first + triangle[i];
    for (int64_t i = 0; i < 2 * (int64_t)segments; i++)
        s->segment[2 * (int64_t)s->segments + i] = first + segment[i];
    s->vertices += vertices;
    s->triangles += triangles;
    s->segments += segments;
    s->bodies++;
    return first;
}

int32_t contact_scene_add_mesh(contact_scene *s, pl_mesh *mesh, const double offset[3])
{
    int32_t *triangle;
    int64_t count;
    ck_assert_int_eq(pl_mesh_surface(mesh, &triangle, &count), PL_OK);
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] += offset[i % 3];
    int32_t first = contact_scene_add(s, mesh->vertices, (int32_t)mesh->vertex_count, triangle,
                                      (int32_t)count, mesh->edges, (int32_t)mesh->edge_count);
    free(triangle);
    pl_mesh_clear(mesh);
    return first;
}

int32_t contact_scene_add_box(contact_scene *s, const double corner[3], const double size[3],
                              const int32_t cells[3])
{
    pl_mesh mesh;
    double offset[3];
    ck_assert_int_eq(pl_mesh_box(size, cells, &mesh), PL_OK);
    for (int c = 0; c < 3; c++) {
        double lowest = INFINITY;
        for (int64_t i = 0; i < mesh.vertex_count; i++)
            lowest = fmin(lowest, mesh.vertices[3 * i + c]);
        offset[c] = corner[c] - lowest;
    }
    return contact_scene_add_mesh(s, &mesh, offset);
}

void contact_scene_finish(contact_scene *s)
{
    const pl_contact_source source = {s->vertices, s->body,    s->triangles, s->triangle,
                                      s->segments, s->segment, s->solid};
    ck_assert_int_eq(pl_contact_surface_create(&source, &s->surface), PL_OK);
    ck_assert_int_eq(pl_contact_trees_create(s->surface, &s->trees), PL_OK);
}

void contact_scene_clear(contact_scene *s)
{
    pl_contact_trees_destroy(s->trees);
    pl_contact_surface_destroy(s->surface);
    free(s->x);
    free(s->body);
    free(s->triangle);
    free(s->segment);
    *s = (contact_scene){0};
}

pl_contact_pairs contact_scene_pairs(contact_scene *s, const double *x, double reach, int threads)
{
    const pl_contact_rules rules = {.reach = reach};
    pl_contact_pairs out;
    ck_assert_int_eq(pl_contact_trees_update(s->trees, x, x, reach, threads), PL_OK);
    ck_assert_int_eq(pl_contact_pairs_find(s->trees, x, &rules, threads, &out), PL_OK);
    return out;
}
