#include "engine/model/model.h"

int32_t pl_model_body_of(const pl_model *m, const int64_t *first, int64_t id)
{
    int32_t body = 0;
    while (body + 1 < m->body_count && id >= first[body + 1])
        body++;
    return body;
}

uint64_t pl_model_hash(const pl_model *m)
{
    return m->hash;
}

int64_t pl_model_vertex_count(const pl_model *m)
{
    return m->vertices;
}
int64_t pl_model_tet_count(const pl_model *m)
{
    return m->tets;
}
int64_t pl_model_element_count(const pl_model *m)
{
    return m->tets + m->first_triangle[m->body_count];
}
int64_t pl_model_first_vertex(const pl_model *m, int32_t body)
{
    return m->first_vertex[body];
}
