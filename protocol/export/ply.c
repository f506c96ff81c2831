/* A series of .ply files (Turk 1994), binary little-endian: positions, velocities if they are stored, the triangles
 * and the edges of ropes. */
#include "protocol/export/exporter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 640, FACE = 1 + 3 * 4, EDGE = 2 * 4 };

static size_t put_head(const pl_shape *s, const pl_export_frame *f, char *out)
{
    int n = snprintf(out, HEAD,
                     "ply\nformat binary_little_endian 1.0\ncomment time %.9g\n"
                     "element vertex %" PRId64 "\n"
                     "property float x\nproperty float y\nproperty float z\n%s"
                     "element face %" PRId64 "\nproperty list uchar int vertex_indices\n"
                     "element edge %" PRId64 "\nproperty int vertex1\nproperty int vertex2\n"
                     "end_header\n",
                     f->time, s->vertices,
                     f->velocity.f32 ? "property float vx\nproperty float vy\nproperty float vz\n"
                                     : "",
                     s->triangles, s->edges);
    return (size_t)n;
}

static char *put_vertices(const pl_export_frame *f, char *at)
{
    const size_t row = 3 * sizeof(float);
    for (int64_t i = 0; i < f->vertices; i++) {
        memcpy(at, f->positions.f32 + 3 * i, row);
        at += row;
        if (f->velocity.f32) {
            memcpy(at, f->velocity.f32 + 3 * i, row);
            at += row;
        }
    }
    return at;
}

static char *put_faces(const pl_shape *s, char *at)
{
    for (int64_t i = 0; i < s->triangles; i++, at += FACE) {
        *at = 3;
        memcpy(at + 1, s->triangle + 3 * i, FACE - 1);
    }
    return at;
}

static bool describe(const pl_shape *s, const pl_export_frame *f, pl_text *out)
{
    size_t vertex = (f->velocity.f32 ? 6 : 3) * sizeof(float);
    out->length = 0;
    char *at = pl_text_room(out, HEAD + (size_t)s->vertices * vertex + (size_t)s->triangles * FACE +
                                     (size_t)s->edges * EDGE);
    if (!at)
        return false;
    at = put_faces(s, put_vertices(f, at + put_head(s, f, at)));
    if (s->edges > 0)
        memcpy(at, s->edge, (size_t)s->edges * EDGE);
    out->length = (size_t)(at - out->text) + (size_t)s->edges * EDGE;
    return true;
}

typedef struct ply_series {
    pl_export *e;
    pl_text text;
} ply_series;

static bool ply_frame(void *context, const pl_export_frame *f)
{
    ply_series *s = context;
    return describe(&s->e->shape, f, &s->text) ? pl_export_put_numbered(s->e, f, &s->text)
                                               : pl_export_no_memory(s->e);
}

static bool write_ply(pl_export *e)
{
    ply_series s = {.e = e};
    bool good = pl_export_frames(e, !e->order.plain, ply_frame, &s);
    free(s.text.text);
    return good;
}

const pl_export_kind pl_export_kind_ply = {
    .about = {"ply", "application/octet-stream", .series = true, .bodies = true, .index = ".ply"},
    .run = write_ply,
};
