#include "tests/support/touching_surface.h"

#include "engine/model/model.h"
#include "tests/support/contact_exact.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void append(int32_t **to, int32_t *count, int corners, const int32_t *from, int64_t more,
                   int64_t first)
{
    *to = realloc(*to, (size_t)(*count + more + 1) * (size_t)corners * sizeof **to);
    for (int64_t i = 0; i < corners * more; i++)
        (*to)[(int64_t)corners * *count + i] = (int32_t)(first + from[i]);
    *count += (int32_t)more;
}

touching_surface touching_surface_of(const pl_run *run)
{
    touching_surface s = {0};
    for (int32_t b = 0; b < run->scene.body_count; b++) {
        int32_t *triangle;
        int64_t count, first = run->model->first_vertex[b];
        ck_assert_int_eq(pl_mesh_surface(&run->meshes[b], &triangle, &count), PL_OK);
        append(&s.triangle, &s.triangles, 3, triangle, count, first);
        append(&s.segment, &s.segments, 2, run->meshes[b].edges, run->meshes[b].edge_count, first);
        free(triangle);
    }
    return s;
}

void touching_surface_clear(touching_surface *s)
{
    free(s->triangle);
    free(s->segment);
    *s = (touching_surface){0};
}

int64_t touching_crossings(const touching_surface *s, const pl_run *run)
{
    return exact_crossings(pl_run_x(run), s->triangle, s->triangles, s->segment, s->segments, NULL);
}

double touching_mean(const pl_run *run, const double *values, int32_t body, int c)
{
    const int64_t *first = run->model->first_vertex;
    double sum = 0;
    for (int64_t v = first[body]; v < first[body + 1]; v++)
        sum += values[3 * v + c];
    return sum / (double)(first[body + 1] - first[body]);
}

double touching_force(const pl_run *run, int32_t first, int32_t second, int c)
{
    const pl_contact_metrics *m = &run->metrics.contact;
    for (int32_t k = 0; k < m->force_count; k++)
        if (m->forces[k].body[0] == first && m->forces[k].body[1] == second)
            return m->forces[k].newton[c];
    return 0;
}
