/* A moving surface as one binary glTF 2.0 file: the first frame, a morph target for every other frame
 * (what its vertices are moved by), and an animation that gives each its time.
 *
 * The JSON comes before the data and holds their least and greatest values, which are known at the end:
 * its numbers have a fixed width, so that the same text with the right ones takes its place then. One
 * frame is in memory; the weights of n frames are n^2 numbers, so long runs are refused.
 */
#include "clients/cli/exporter.h"

#include "protocol/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 1000, HEAD = 20 };

typedef struct bounds {
    float lo[3], hi[3];
} bounds;

typedef struct glb {
    pl_exporter *e;
    pl_outfile file;
    int64_t used;             /* vertices that triangles or edges have */
    int32_t *vertex, *number; /* [used] of the session; [vertices] here, -1: none */
    float *base, *moved;      /* [used][3] */
    bounds *of;               /* [frames] */
    uint64_t data;            /* where the binary chunk is in the file */
} glb;

/* ---- the surface -------------------------------------------------------------------------------
 */

static void mark(glb *g, const int32_t *corner, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        g->number[corner[i]] = 0;
}

static bool choose_vertices(glb *g)
{
    const pl_session_shape *s = &g->e->shape;
    size_t n = (size_t)s->vertices + 1;
    g->number = malloc(n * sizeof *g->number);
    g->vertex = malloc(n * sizeof *g->vertex);
    g->of = calloc((size_t)g->e->count, sizeof *g->of);
    if (!g->number || !g->vertex || !g->of)
        return pl_export_fail_memory(g->e);
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
    return (g->base && g->moved) || pl_export_fail_memory(g->e);
}

/* ---- the data ----------------------------------------------------------------------------------
 */

/* Where what begins in the binary chunk: triangles, edges, times, weights, then the frames. */
typedef struct places {
    uint64_t triangles, edges, times, weights, frames, end;
} places;

static places lay_out(const glb *g)
{
    const pl_exporter *e = g->e;
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
        pl_outfile_write(&g->file, &g->number[corner[i]], sizeof(int32_t));
}

/* Frame k > 0 has weight 1 of target k - 1 alone. The times are filled in at the end. */
static void write_weights(glb *g)
{
    const float zero = 0, one = 1;
    for (int64_t k = 0; g->e->count > 1 && k < g->e->count; k++)
        pl_outfile_write(&g->file, &zero, sizeof zero);
    for (int64_t k = 0; k < g->e->count; k++)
        for (int64_t t = 0; t + 1 < g->e->count; t++)
            pl_outfile_write(&g->file, t + 1 == k ? &one : &zero, sizeof one);
}

static bool glb_frame(void *context, const pl_session_frame *f)
{
    glb *g = context;
    pl_exporter *e = g->e;
    if (!pl_export_fits(e, f))
        return false;
    float *out = e->done == 0 ? g->base : g->moved;
    bounds *b = &g->of[e->done];
    *b = (bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t i = 0; i < g->used; i++)
        for (int k = 0; k < 3; k++) {
            float x = f->positions[3 * (int64_t)g->vertex[i] + k];
            float value = e->done == 0 ? x : x - g->base[3 * i + k];
            out[3 * i + k] = value;
            b->lo[k] = fminf(b->lo[k], value);
            b->hi[k] = fmaxf(b->hi[k], value);
        }
    pl_outfile_write(&g->file, out, (size_t)g->used * 3 * sizeof(float));
    pl_export_note(e, f);
    errno = g->file.error;
    return g->file.error == 0 || pl_export_fail_file(e, e->path);
}

/* ---- the description ---------------------------------------------------------------------------
 */

/* As wide whatever it is: a float needs at most 15 characters so. */
static void put_fixed(pl_json_writer *w, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%15.9g", isfinite(value) ? value : 0.0);
    pl_json_put_raw(w, text);
}

static void put_bounds(pl_json_writer *w, const char *key, const float *values, int count)
{
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int k = 0; k < count; k++)
        put_fixed(w, (double)values[k]);
    pl_json_end_array(w);
}

enum { OF_VERTICES = 34962, OF_CORNERS = 34963 };

/* target 0: none is said. */
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

/* The numbers of views and accessors follow from what there is; -1: none. */
typedef struct numbers {
    int triangles, edges, animation,
        frames; /* views; the first accessor of each has its number, too */
    int first;  /* accessor of frame 0 */
} numbers;

static numbers number_all(const glb *g)
{
    const pl_exporter *e = g->e;
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
    const pl_exporter *e = g->e;
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
    if (*g->e->source.name)
        pl_json_set_string(w, "name", g->e->source.name);
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

/* The text is of one length, whatever the values are; malloc'ed. */
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

/* ---- the file ----------------------------------------------------------------------------------
 */

static void put_word(glb *g, uint32_t word)
{
    pl_outfile_write(&g->file, &word, sizeof word);
}

static bool write_head(glb *g, size_t *length)
{
    char *text = describe(g, length);
    places p = lay_out(g);
    if (!text)
        return pl_export_fail_memory(g->e);
    size_t padded = (*length + 3) / 4 * 4;
    put_word(g, 0x46546c67);
    put_word(g, 2);
    put_word(g, (uint32_t)(HEAD + padded + 8 + p.end));
    put_word(g, (uint32_t)padded);
    put_word(g, 0x4e4f534a);
    pl_outfile_write(&g->file, text, *length);
    pl_outfile_write(&g->file, "   ", padded - *length);
    put_word(g, (uint32_t)p.end);
    put_word(g, 0x004e4942);
    g->data = g->file.position;
    free(text);
    return true;
}

/* Bounds and times, now that they are known. */
static bool fill_in(glb *g, size_t expected)
{
    pl_exporter *e = g->e;
    size_t length;
    char *text = describe(g, &length);
    if (!text)
        return pl_export_fail_memory(e);
    if (length == expected)
        pl_outfile_patch(&g->file, HEAD, text, length);
    else
        e->status = pl_cli_fail(e->cli, PL_EXIT_FAILED,
                                "a value does not fit the file's description");
    free(text);
    for (int64_t k = 0; e->count > 1 && k < e->count; k++) {
        float time = (float)(e->times[k] - e->times[0]);
        pl_outfile_patch(&g->file, g->data + lay_out(g).times + 4 * (uint64_t)k, &time,
                         sizeof time);
    }
    return e->status == PL_EXIT_OK;
}

static int judge(glb *g)
{
    pl_exporter *e = g->e;
    uint64_t size = lay_out(g).end + 400 * (uint64_t)e->count + 4096;
    if (g->used == 0)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "the session has no surface");
    if (e->count > FRAMES_MAX || size > UINT32_MAX)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED,
                           "%" PRId64 " frames of %" PRId64 " vertices: a .glb has at most %d and "
                           "4 GiB; choose fewer by --every, --from and --to, or another format",
                           e->count, g->used, FRAMES_MAX);
    return PL_EXIT_OK;
}

static int write_file(glb *g)
{
    pl_exporter *e = g->e;
    size_t length = 0;
    if (pl_outfile_open(&g->file, e->path) != PL_OK) {
        pl_export_fail_file(e, e->path);
        return e->status;
    }
    bool good = write_head(g, &length);
    if (good) {
        write_corners(g, e->shape.triangle, 3 * e->shape.triangles);
        write_corners(g, e->shape.edge, 2 * e->shape.edges);
        write_weights(g);
        good = pl_export_frames(e, true, glb_frame, g) == PL_EXIT_OK && fill_in(g, length);
    }
    if (!good)
        pl_outfile_abandon(&g->file);
    else if (pl_outfile_commit(&g->file) != PL_OK)
        pl_export_fail_file(e, e->path);
    return good ? e->status : e->status ? e->status : PL_EXIT_FAILED;
}

int pl_export_glb(pl_exporter *e)
{
    glb g = {.e = e};
    int status = choose_vertices(&g) ? judge(&g) : e->status;
    if (status == PL_EXIT_OK)
        status = write_file(&g);
    free(g.number);
    free(g.vertex);
    free(g.of);
    free(g.base);
    free(g.moved);
    return status;
}
