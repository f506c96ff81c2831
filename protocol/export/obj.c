/* A series of .obj files. */
#include "protocol/export/exporter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 80 }; /* maximum: three numbers of 16 characters */

/* All vertices, the triangles and the edges. */
static bool describe(const pl_shape *shape, const float *x, pl_text *out)
{
    out->length = 0;
    if (!pl_text_room(out, (size_t)(shape->vertices + shape->triangles + shape->edges + 1) * LINE))
        return false;
    char *at = out->text;
    for (int64_t i = 0; i < shape->vertices; i++, x += 3)
        at += snprintf(at, LINE, "v %.9g %.9g %.9g\n", (double)x[0], (double)x[1], (double)x[2]);
    for (int64_t i = 0; i < shape->triangles; i++) {
        const int32_t *v = shape->triangle + 3 * i;
        at += snprintf(at, LINE, "f %" PRId32 " %" PRId32 " %" PRId32 "\n", v[0] + 1, v[1] + 1,
                       v[2] + 1);
    }
    for (int64_t i = 0; i < shape->edges; i++) {
        const int32_t *v = shape->edge + 2 * i;
        at += snprintf(at, LINE, "l %" PRId32 " %" PRId32 "\n", v[0] + 1, v[1] + 1);
    }
    out->length = (size_t)(at - out->text);
    return true;
}

typedef struct obj_series {
    pl_export *e;
    pl_text text;
} obj_series;

static bool obj_frame(void *context, const pl_export_frame *f)
{
    obj_series *s = context;
    return describe(&s->e->shape, f->positions.f32, &s->text)
               ? pl_export_put_numbered(s->e, f, &s->text)
               : pl_export_no_memory(s->e);
}

static bool write_obj(pl_export *e)
{
    obj_series s = {.e = e};
    bool good = pl_export_frames(e, !e->order.plain, obj_frame, &s);
    free(s.text.text);
    return good;
}

const pl_export_kind pl_export_kind_obj = {
    .about = {"obj", "model/obj", .series = true, .bodies = true, .index = ".obj"},
    .run = write_obj,
};
