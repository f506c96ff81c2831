#include "engine/model/build/build.h"

#include <stdlib.h>
#include <string.h>

pl_status pl_build_bodies(pl_build *b)
{
    pl_model *m = b->model;
    const pl_layout *layout = &b->layout;
    size_t n = (size_t)m->vertices, bodies = (size_t)m->body_count;
    m->first_vertex = malloc((bodies + 1) * sizeof *m->first_vertex);
    m->first_tet = malloc((bodies + 1) * sizeof *m->first_tet);
    m->first_triangle = malloc((bodies + 1) * sizeof *m->first_triangle);
    const pl_elements *triangles = &layout->elements[PL_ELEMENT_TRIANGLE];
    m->thickness = malloc(((size_t)triangles->count + 1) * sizeof *m->thickness);
    m->mass = malloc(n * sizeof *m->mass);
    m->x0 = malloc(3 * n * sizeof *m->x0);
    m->v0 = malloc(3 * n * sizeof *m->v0);
    if (!m->first_vertex || !m->first_tet || !m->first_triangle || !m->thickness || !m->mass ||
        !m->x0 || !m->v0)
        return PL_NO_MEMORY;
    for (int64_t t = 0; t < triangles->count; t++)
        m->thickness[t] = b->scene->materials[triangles->material[t]].thickness;
    memcpy(m->first_vertex, layout->first_vertex, (bodies + 1) * sizeof *m->first_vertex);
    memcpy(m->first_tet, layout->first_tet, (bodies + 1) * sizeof *m->first_tet);
    memcpy(m->first_triangle, triangles->first, (bodies + 1) * sizeof *m->first_triangle);
    pl_layout_masses(b->scene, layout, m->mass);
    for (size_t i = 0; i < bodies; i++) {
        const pl_body *body = &b->scene->bodies[i];
        int64_t v = m->first_vertex[i];
        pl_body_initial(body, layout->rest + 3 * v, m->mass + v, m->first_vertex[i + 1] - v,
                        m->x0 + 3 * v, m->v0 + 3 * v);
    }
    return PL_OK;
}
