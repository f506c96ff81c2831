#include "server/worker/expected.h"

#include <stdio.h>
#include <stdlib.h>

pl_status pl_expected_find(const pl_session_scene *s, pl_expected **out, pl_faults *faults)
{
    const pl_scene *scene = &s->scene;
    pl_status status = PL_OK;
    pl_expected *list = calloc((size_t)scene->expectation_count + 1, sizeof *list);
    if (!list)
        return PL_NO_MEMORY;
    for (int32_t k = 0; k < scene->expectation_count && status != PL_NO_MEMORY; k++) {
        const pl_expectation *e = &scene->expectations[k];
        char pointer[64];
        if (!e->has_select || e->select.kind == PL_SELECT_ALL)
            continue;
        snprintf(pointer, sizeof pointer, "/expect/%d/select", k);
        pl_status one = pl_body_select(&scene->bodies[e->body], &s->meshes[e->body], &e->select,
                                       pointer, &list[k].vertex, &list[k].count, faults);
        if (one != PL_OK)
            status = one;
    }
    if (status == PL_OK)
        *out = list;
    else
        pl_expected_free(list, scene->expectation_count);
    return status;
}

pl_status pl_expected_check_probes(const pl_session_scene *s, pl_faults *faults)
{
    pl_status status = PL_OK;
    for (int32_t k = 0; k < s->scene.output.probe_count && status != PL_NO_MEMORY; k++) {
        const pl_expectation *e = &s->scene.output.probes[k];
        char pointer[64];
        int32_t *vertex = NULL;
        int64_t count;
        if (!e->has_select || e->select.kind == PL_SELECT_ALL)
            continue;
        snprintf(pointer, sizeof pointer, "/output/probes/%d/select", k);
        pl_status one = pl_body_select(&s->scene.bodies[e->body], &s->meshes[e->body], &e->select,
                                       pointer, &vertex, &count, faults);
        free(vertex);
        status = one != PL_OK ? one : status;
    }
    return status;
}

void pl_expected_free(pl_expected *list, int32_t count)
{
    for (int32_t k = 0; list && k < count; k++)
        free(list[k].vertex);
    free(list);
}

void pl_expected_encode(pl_json_writer *w, const pl_session_scene *s, const pl_expected *list)
{
    pl_json_begin_array(w);
    for (int32_t k = 0; k < s->scene.expectation_count; k++) {
        int64_t first = 0;
        if (!list[k].vertex) {
            pl_json_put_null(w);
            continue;
        }
        for (int32_t b = 0; b < s->scene.expectations[k].body; b++)
            first += s->meshes[b].vertex_count;
        pl_json_begin_array(w);
        for (int64_t i = 0; i < list[k].count; i++)
            pl_json_put_integer(w, first + list[k].vertex[i]);
        pl_json_end_array(w);
    }
    pl_json_end_array(w);
}
