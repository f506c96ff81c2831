/* A moving surface as one binary glTF 2.0 file: the first frame, a morph target for every other frame (the
 * displacements of its vertices), and an animation that gives each its time.
 *
 * The JSON precedes the data and contains their least and greatest values, so the frames are read twice. One frame
 * is in memory. The weights of n frames are n^2 numbers, so long runs are rejected.
 */
#include "protocol/export/exporter.h"

#include "protocol/text/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES_MAX = 1000, HEAD = 20 };

typedef struct bounds {
    float lo[3], hi[3];
} bounds;

typedef struct glb {
    pl_export *e;
    int64_t used;             /* number of vertices that triangles or edges have */
    int32_t *vertex, *number; /* [used] index in the session; [vertices] index here, -1: none */
    float *base, *moved;      /* [used][3] */
    bounds *of;               /* [frames] */
    bool looking;             /* the first pass, for the bounds */
} glb;

/* ---- the surface ---- */

static void mark(glb *g, const int32_t *corner, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        g->number[corner[i]] = 0;
}

static bool choose_vertices(glb *g)
{
    const pl_shape *s = &g->e->shape;
    size_t n = (size_t)s->vertices + 1;
    g->number = malloc(n * sizeof *g->number);
    g->vertex = malloc(n * sizeof *g->vertex);
    g->of = calloc((size_t)g->e->count, sizeof *g->of);
    if (!g->number || !g->vertex || !g->of)
        return pl_export_no_memory(g->e);
    for (int64_t v = 0; v < s->vertices; v++)
        g->number[v] = -1;
    mark(g, s->triangle, 3 * s->triangles);
    mark(g, s->edge, 2 * s->edges);
    for (int64_t v = 0; v < s->vertices; v++)
        if (g->number[v] == 0) {
            g->vertex[g->used] = (int32_t)v;
            g->number[v] = (int32_t)g->used++;
        }
    g->base = malloc((size_t)g->used * 3 * sizeof(float) + 1);
    g->moved = malloc((size_t)g->used * 3 * sizeof(float) + 1);
    return (g->base && g->moved) || pl_export_no_memory(g->e);
}

static void clear(glb *g)
{
    free(g->number);
    free(g->vertex);
    free(g->of);
    free(g->base);
    free(g->moved);
}

/* ---- the data ---- */

/* Offsets in the binary chunk: triangles, edges, times, weights, then the frames. */
typedef struct places {
    uint64_t triangles, edges, times, weights, frames, end;
} places;

static places lay_out(const glb *g)
{
    const pl_export *e = g->e;
    uint64_t n = (uint64_t)e->count, targets = n - 1;
    places p = {.triangles = 0};
    p.edges = p.triangles + 12 * (uint64_t)e->shape.triangles;
    p.times = p.edges + 8 * (uint64_t)e->shape.edges;
    p.weights = p.times + (targets ? 4 * n : 0);
    p.frames = p.weights + 4 * n * targets;
    p.end = p.frames + 12 * (uint64_t)g->used * n;
    return p;
}

static void write_corners(glb *g, const int32_t *corner, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        pl_outlet_put(&g->e->out, &g->number[corner[i]], sizeof(int32_t));
}

/* The times, and the weights: frame k > 0 has weight 1 of target k - 1 alone. */
static void write_animation(glb *g)
{
    const float zero = 0, one = 1;
    const double *times = g->e->times;
    for (int64_t k = 0; g->e->count > 1 && k < g->e->count; k++)
        pl_outlet_put(&g->e->out, &(float){(float)(times[k] - times[0])}, sizeof(float));
    for (int64_t k = 0; k < g->e->count; k++)
        for (int64_t t = 0; t + 1 < g->e->count; t++)
            pl_outlet_put(&g->e->out, t + 1 == k ? &one : &zero, sizeof one);
}

static bounds bounds_of(const float *x, int64_t count)
{
    bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            float value = x[3 * i + k];
            b.lo[k] = value < b.lo[k] ? value : b.lo[k];
            b.hi[k] = value > b.hi[k] ? value : b.hi[k];
        }
    return b;
}

static bool glb_frame(void *context, const pl_export_frame *f)
{
    glb *g = context;
    pl_export *e = g->e;
    float *out = e->done == 0 ? g->base : g->moved;
    for (int64_t i = 0; i < g->used; i++)
        for (int k = 0; k < 3; k++) {
            float x = f->positions.f32[3 * (int64_t)g->vertex[i] + k];
            out[3 * i + k] = e->done == 0 ? x : x - g->base[3 * i + k];
        }
    if (g->looking)
        g->of[e->done] = bounds_of(out, g->used);
    else
        pl_outlet_put(&e->out, out, (size_t)g->used * 3 * sizeof(float));
    return true;
}

/* ---- the description ---- */

static void put_bounds(pl_json_writer *w, const char *key, const float *values, int count)
{
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int k = 0; k < count; k++)
        pl_json_put_number(w, (double)values[k], 9);
    pl_json_end_array(w);
}

enum { OF_VERTICES = 34962, OF_CORNERS = 34963 };

/* target 0: omitted */
static void put_view(pl_json_writer *w, uint64_t at, uint64_t size, int target)
{
    pl_json_begin_object(w);
    pl_json_set_integer(w, "buffer", 0);
    pl_json_set_integer(w, "byteOffset", (int64_t)at);
    pl_json_set_integer(w, "byteLength", (int64_t)size);
    if (target == OF_VERTICES)
        pl_json_set_integer(w, "byteStride", 12);
    if (target)
        pl_json_set_integer(w, "target", target);
    pl_json_end_object(w);
}

static void begin_accessor(pl_json_writer *w, int view, uint64_t at, bool index, int64_t count,
                           const char *type)
{
    pl_json_begin_object(w);
    pl_json_set_integer(w, "bufferView", view);
    pl_json_set_integer(w, "byteOffset", (int64_t)at);
    pl_json_set_integer(w, "componentType", index ? 5125 : 5126);
    pl_json_set_integer(w, "count", count);
    pl_json_set_string(w, "type", type);
}

/* The numbers of views and accessors follow from which parts exist; -1: none. */
typedef struct numbers {
    int triangles, edges, animation,
        frames; /* views; the first accessor of each view has the same number */
    int first;  /* accessor of frame 0 */
} numbers;

static numbers number_all(const glb *g)
{
    const pl_export *e = g->e;
    int next = 0;
    numbers n = {-1, -1, -1, -1, -1};
    if (e->shape.triangles)
        n.triangles = next++;
    if (e->shape.edges)
        n.edges = next++;
    if (e->count > 1)
        n.animation = next++;
    n.frames = next;
    n.first = next + (e->count > 1); /* times and weights are two accessors of one view */
    return n;
}

static void put_views(pl_json_writer *w, const glb *g, const numbers *n, const places *p)
{
    pl_json_key(w, "bufferViews");
    pl_json_begin_array(w);
    if (n->triangles >= 0)
        put_view(w, p->triangles, p->edges - p->triangles, OF_CORNERS);
    if (n->edges >= 0)
        put_view(w, p->edges, p->times - p->edges, OF_CORNERS);
    if (n->animation >= 0)
        put_view(w, p->times, p->frames - p->times, 0);
    put_view(w, p->frames, p->end - p->frames, OF_VERTICES);
    pl_json_end_array(w);
}

static void put_accessors(pl_json_writer *w, const glb *g, const numbers *n, const places *p)
{
    const pl_export *e = g->e;
    float range[2] = {0, (float)(e->times[e->count - 1] - e->times[0])};
    pl_json_key(w, "accessors");
    pl_json_begin_array(w);
    if (n->triangles >= 0) {
        begin_accessor(w, n->triangles, 0, true, 3 * e->shape.triangles, "SCALAR");
        pl_json_end_object(w);
    }
    if (n->edges >= 0) {
        begin_accessor(w, n->edges, 0, true, 2 * e->shape.edges, "SCALAR");
        pl_json_end_object(w);
    }
    if (n->animation >= 0) {
        begin_accessor(w, n->animation, 0, false, e->count, "SCALAR");
        put_bounds(w, "min", &range[0], 1);
        put_bounds(w, "max", &range[1], 1);
        pl_json_end_object(w);
        begin_accessor(w, n->animation, p->weights - p->times, false, e->count * (e->count - 1),
                       "SCALAR");
        pl_json_end_object(w);
    }
    for (int64_t k = 0; k < e->count; k++) {
        begin_accessor(w, n->frames, 12 * (uint64_t)g->used * (uint64_t)k, false, g->used, "VEC3");
        put_bounds(w, "min", g->of[k].lo, 3);
        put_bounds(w, "max", g->of[k].hi, 3);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

static void put_primitive(pl_json_writer *w, const glb *g, const numbers *n, int indices, int mode)
{
    pl_json_begin_object(w);
    pl_json_key(w, "attributes");
    pl_json_begin_object(w);
    pl_json_set_integer(w, "POSITION", n->first);
    pl_json_end_object(w);
    pl_json_set_integer(w, "indices", indices);
    pl_json_set_integer(w, "mode", mode);
    pl_json_set_integer(w, "material", 0);
    if (g->e->count > 1) {
        pl_json_key(w, "targets");
        pl_json_begin_array(w);
        for (int64_t k = 1; k < g->e->count; k++) {
            pl_json_begin_object(w);
            pl_json_set_integer(w, "POSITION", n->first + k);
            pl_json_end_object(w);
        }
        pl_json_end_array(w);
    }
    pl_json_end_object(w);
}

static void put_scene(pl_json_writer *w, const glb *g, const numbers *n)
{
    pl_json_set_raw(w, "asset",
                    "{\"version\":\"2.0\",\"generator\":\"pliant " PLIANT_VERSION "\"}");
    pl_json_set_integer(w, "scene", 0);
    pl_json_set_raw(w, "scenes", "[{\"nodes\":[0]}]");
    pl_json_key(w, "nodes");
    pl_json_begin_array(w);
    pl_json_begin_object(w);
    pl_json_set_integer(w, "mesh", 0);
    if (g->e->scene_name && *g->e->scene_name)
        pl_json_set_string(w, "name", g->e->scene_name);
    pl_json_end_object(w);
    pl_json_end_array(w);
    pl_json_set_raw(w, "materials",
                    "[{\"doubleSided\":true,\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                    "[0.8,0.45,0.25,1],\"metallicFactor\":0,\"roughnessFactor\":0.7}}]");
    pl_json_key(w, "meshes");
    pl_json_begin_array(w);
    pl_json_begin_object(w);
    pl_json_key(w, "primitives");
    pl_json_begin_array(w);
    if (n->triangles >= 0)
        put_primitive(w, g, n, n->triangles, 4);
    if (n->edges >= 0)
        put_primitive(w, g, n, n->edges, 1);
    pl_json_end_array(w);
    pl_json_end_object(w);
    pl_json_end_array(w);
}

/* malloc'ed */
static char *describe(const glb *g, size_t *length)
{
    pl_json_writer w = {0};
    numbers n = number_all(g);
    places p = lay_out(g);
    pl_json_begin_object(&w);
    put_scene(&w, g, &n);
    pl_json_key(&w, "buffers");
    pl_json_begin_array(&w);
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "byteLength", (int64_t)p.end);
    pl_json_end_object(&w);
    pl_json_end_array(&w);
    put_views(&w, g, &n, &p);
    put_accessors(&w, g, &n, &p);
    if (n.animation >= 0) {
        char animation[200];
        snprintf(animation, sizeof animation,
                 "[{\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"weights\"}}],"
                 "\"samplers\":[{\"input\":%d,\"output\":%d,\"interpolation\":\"LINEAR\"}]}]",
                 n.animation, n.animation + 1);
        pl_json_set_raw(&w, "animations", animation);
    }
    pl_json_end_object(&w);
    return pl_json_finish(&w, length);
}

/* ---- the file ---- */

static void put_word(glb *g, uint32_t word)
{
    pl_outlet_put(&g->e->out, &word, sizeof word);
}

static bool write_head(glb *g)
{
    size_t length;
    char *text = describe(g, &length);
    places p = lay_out(g);
    if (!text)
        return pl_export_no_memory(g->e);
    size_t padded = (length + 3) / 4 * 4;
    put_word(g, 0x46546c67);
    put_word(g, 2);
    put_word(g, (uint32_t)(HEAD + padded + 8 + p.end));
    put_word(g, (uint32_t)padded);
    put_word(g, 0x4e4f534a);
    pl_outlet_put(&g->e->out, text, length);
    pl_outlet_put(&g->e->out, "   ", padded - length);
    put_word(g, (uint32_t)p.end);
    put_word(g, 0x004e4942);
    free(text);
    return true;
}

static bool check_glb(pl_export *e)
{
    glb g = {.e = e};
    bool good = choose_vertices(&g);
    uint64_t size = lay_out(&g).end + 400 * (uint64_t)e->count + 4096;
    int64_t used = g.used;
    clear(&g);
    if (good && used == 0)
        return pl_export_fail(e, PL_EXPORT_NO_SURFACE, "the session has no surface");
    if (good && (e->count > FRAMES_MAX || size > UINT32_MAX))
        return pl_export_fail(e, PL_EXPORT_TOO_LARGE,
                              "%" PRId64 " frames of %" PRId64
                              " vertices: a .glb has at most %d and 4 GiB; choose fewer with "
                              "every, from and to, or another format",
                              e->count, used, FRAMES_MAX);
    return good;
}

static bool write_glb(pl_export *e)
{
    glb g = {.e = e, .looking = true};
    bool good = choose_vertices(&g) && pl_export_frames(e, false, glb_frame, &g) && write_head(&g);
    g.looking = false;
    if (good) {
        write_corners(&g, e->shape.triangle, 3 * e->shape.triangles);
        write_corners(&g, e->shape.edge, 2 * e->shape.edges);
        write_animation(&g);
        good = pl_export_frames(e, false, glb_frame, &g);
    }
    clear(&g);
    return good;
}

const pl_export_kind pl_export_kind_glb = {
    .about = {"glb", "model/gltf-binary", .bodies = true},
    .scene = true,
    .check = check_glb,
    .run = write_glb,
};
