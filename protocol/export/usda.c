/* A run as USD text: for each body a Mesh of its surface, or BasisCurves of its ropes, whose points (and
 * velocities, if they are stored) are time samples.
 *
 * The samples of an attribute are contiguous, but frames are read one after the other. So each pass over the frames
 * writes as many attributes as fit into BUDGET, each into its own text. An attribute that does not fit gets a pass
 * of its own and is written directly. Attributes may come in any order, so the extent, known at the end, follows
 * the points.
 */
#include "protocol/export/exporter.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_ROOM = 64, NAME_ROOM = 80, BUDGET = 32 << 20 };
static const double DEFAULT_RATE = 24; /* time codes per second for a single frame */

/* sRGB colours of the bodies in turn, as in pictures. */
static const unsigned char palette[][3] = {{0xee, 0x6c, 0x3a}, {0x1f, 0x8f, 0xa3},
                                           {0xf0, 0xb6, 0x2e}, {0x7a, 0x62, 0xb8},
                                           {0x57, 0xa6, 0x5b}, {0xd3, 0x52, 0x84}};
enum { PALETTE = sizeof palette / sizeof *palette };

typedef struct prim {
    int32_t body;
    bool curves;
    char name[NAME_ROOM];
    int64_t first, end; /* of its triangles or edges */
    int64_t used;
    int32_t *vertex; /* [used] its vertices, as indices of the shape */
    float lo[3], hi[3];
} prim;

/* The samples of one attribute. */
typedef struct channel {
    int32_t prim;
    bool velocity;
    pl_text text;
} channel;

typedef struct usda {
    pl_export *e;
    double rate; /* time codes per second */
    int32_t prims, channels;
    prim *prim;
    channel *channel;
    int32_t *number;     /* [shape.vertices] of the current prim */
    int32_t first, last; /* channels of the pass */
} usda;

/* ---- prims and attributes ---- */

/* The end of the run of elements, from `first` on, that belong to the first one's body. */
static int64_t end_of_body(const pl_shape *s, const int32_t *corner, int corners, int64_t first,
                           int64_t count)
{
    int64_t end = first;
    while (end < count && s->body[corner[corners * end]] == s->body[corner[corners * first]])
        end++;
    return end;
}

/* The vertices of a mesh, each once and ascending. */
static bool list_vertices(usda *u, prim *p)
{
    const pl_shape *s = &u->e->shape;
    const int32_t *corner = s->triangle + 3 * p->first;
    int64_t corners = 3 * (p->end - p->first);
    p->vertex = malloc((size_t)corners * sizeof *p->vertex + 1);
    if (!p->vertex)
        return false;
    memset(u->number, 0, (size_t)s->vertices * sizeof *u->number);
    for (int64_t i = 0; i < corners; i++)
        u->number[corner[i]] = 1;
    for (int64_t v = 0; v < s->vertices; v++)
        if (u->number[v])
            p->vertex[p->used++] = (int32_t)v;
    return true;
}

/* Consecutive connected edges are one curve. */
static bool begins_curve(const prim *p, const int32_t *edge, int64_t i)
{
    return i == p->first || edge[2 * i] != edge[2 * i - 1];
}

/* The vertices of curves in their order. */
static bool list_curves(usda *u, prim *p)
{
    const int32_t *edge = u->e->shape.edge;
    p->vertex = malloc((size_t)(p->end - p->first) * 2 * sizeof *p->vertex + 1);
    for (int64_t i = p->first; p->vertex && i < p->end; i++) {
        if (begins_curve(p, edge, i))
            p->vertex[p->used++] = edge[2 * i];
        p->vertex[p->used++] = edge[2 * i + 1];
    }
    return p->vertex;
}

static bool is_taken(const usda *u, const prim *p)
{
    for (const prim *q = u->prim; q < p; q++)
        if (strcmp(q->name, p->name) == 0)
            return true;
    return false;
}

/* A valid USD name that no earlier prim has. */
static void name_prim(usda *u, prim *p)
{
    const char *name = u->e->shape.name[p->body];
    size_t n = 0;
    if (!*name || (*name >= '0' && *name <= '9'))
        p->name[n++] = '_';
    for (; *name && n < NAME_ROOM - 24; name++) {
        char c = *name;
        bool good = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        p->name[n++] = good ? c : '_';
    }
    p->name[n] = '\0';
    for (int32_t k = (int32_t)(p - u->prim); is_taken(u, p); k++)
        snprintf(p->name + n, NAME_ROOM - n, "_%" PRId32, k);
}

static bool add_prims(usda *u, bool curves)
{
    const pl_shape *s = &u->e->shape;
    const int32_t *corner = curves ? s->edge : s->triangle;
    int64_t count = curves ? s->edges : s->triangles;
    for (int64_t first = 0, end; first < count; first = end) {
        prim *p = &u->prim[u->prims];
        end = end_of_body(s, corner, curves ? 2 : 3, first, count);
        *p = (prim){.body = s->body[corner[(curves ? 2 : 3) * first]],
                    .curves = curves,
                    .first = first,
                    .end = end,
                    .lo = {INFINITY, INFINITY, INFINITY},
                    .hi = {-INFINITY, -INFINITY, -INFINITY}};
        u->prims++;
        if (!(curves ? list_curves(u, p) : list_vertices(u, p)))
            return false;
        name_prim(u, p);
    }
    return true;
}

static bool prepare(usda *u)
{
    const pl_export *e = u->e;
    size_t most = 2 * (size_t)e->shape.bodies + 1;
    bool velocity = e->fields & PL_FIELD_VELOCITY;
    u->number = malloc((size_t)e->shape.vertices * sizeof *u->number + 1);
    u->prim = calloc(most, sizeof *u->prim);
    u->channel = calloc(2 * most, sizeof *u->channel);
    if (!u->number || !u->prim || !u->channel || !add_prims(u, false) || !add_prims(u, true))
        return pl_export_no_memory(u->e);
    for (int32_t p = 0; p < u->prims; p++) {
        u->channel[u->channels++].prim = p;
        if (velocity)
            u->channel[u->channels++] = (channel){.prim = p, .velocity = true};
    }
    double least = INFINITY;
    for (int64_t i = 1; i < e->count; i++)
        least = fmin(least, e->times[i] - e->times[i - 1]);
    u->rate = least > 0 && least < INFINITY ? 1 / least : DEFAULT_RATE;
    return true;
}

static void clear(usda *u)
{
    for (int32_t p = 0; p < u->prims; p++)
        free(u->prim[p].vertex);
    for (int32_t c = 0; c < u->channels; c++)
        free(u->channel[c].text.text);
    free(u->number);
    free(u->prim);
    free(u->channel);
}

/* ---- texts ---- */

__attribute__((format(printf, 2, 3))) static void put(pl_export *e, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pl_outlet_put(&e->out, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

/* In quotes, without control characters. */
static void put_string(pl_export *e, const char *text)
{
    pl_outlet_put(&e->out, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            pl_outlet_put(&e->out, "\\", 1);
        if ((unsigned char)*text >= ' ')
            pl_outlet_put(&e->out, text, 1);
    }
    pl_outlet_put(&e->out, "\"", 1);
}

static void put_integers(pl_export *e, const char *name, int64_t count,
                         int64_t (*value)(const usda *u, const prim *p, int64_t i), const usda *u,
                         const prim *p)
{
    put(e, "        int[] %s = [", name);
    for (int64_t i = 0; i < count; i++)
        put(e, "%s%" PRId64, i ? ", " : "", value(u, p, i));
    put(e, "]\n");
}

/* Times on a grid are whole numbers. */
static double time_code(const usda *u, double time)
{
    double code = time * u->rate;
    return fabs(code - round(code)) < 1e-6 * fmax(1, fabs(code)) ? round(code) : code;
}

static double linear(unsigned char srgb)
{
    double c = srgb / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void put_head(const usda *u)
{
    pl_export *e = u->e;
    double rate = time_code(u, 1);
    put(e, "#usda 1.0\n(\n    customLayerData = {\n        string creator = \"pliant %s\"\n    }\n",
        PLIANT_VERSION);
    put(e, "    defaultPrim = \"World\"\n    endTimeCode = %.9g\n    framesPerSecond = %.9g\n",
        time_code(u, e->times[e->count - 1]), rate);
    put(e, "    metersPerUnit = 1\n    startTimeCode = %.9g\n    timeCodesPerSecond = %.9g\n",
        time_code(u, e->times[0]), rate);
    put(e,
        "    upAxis = \"%c\"\n)\n\ndef Xform \"World\" (\n    customData = {\n        string scene "
        "= ",
        e->up_axis);
    put_string(e, e->scene_name ? e->scene_name : "");
    put(e, "\n    }\n)\n{\n");
}

static int64_t three(const usda *u, const prim *p, int64_t i)
{
    (void)u, (void)p, (void)i;
    return 3;
}

static int64_t corner_of(const usda *u, const prim *p, int64_t i)
{
    return u->number[u->e->shape.triangle[3 * p->first + i]];
}

static void put_faces(const usda *u, const prim *p)
{
    pl_export *e = u->e;
    for (int64_t i = 0; i < p->used; i++)
        u->number[p->vertex[i]] = (int32_t)i;
    put(e, "        uniform bool doubleSided = 1\n");
    put_integers(e, "faceVertexCounts", p->end - p->first, three, u, p);
    put_integers(e, "faceVertexIndices", 3 * (p->end - p->first), corner_of, u, p);
    put(e, "        uniform token subdivisionScheme = \"none\"\n");
}

static void put_curve_counts(const usda *u, const prim *p)
{
    pl_export *e = u->e;
    put(e, "        uniform token type = \"linear\"\n        int[] curveVertexCounts = [");
    for (int64_t i = p->first, begun = p->first; i < p->end; i++)
        if (i + 1 == p->end || begins_curve(p, e->shape.edge, i + 1)) {
            put(e, "%s%" PRId64, begun > p->first ? ", " : "", i - begun + 2);
            begun = i + 1;
        }
    put(e, "]\n");
}

/* Writes the text before the samples. */
static void open_channel(const usda *u, const channel *c)
{
    pl_export *e = u->e;
    const prim *p = &u->prim[c->prim];
    const unsigned char *rgb = palette[p->body % PALETTE];
    if (c->velocity) {
        put(e, "        vector3f[] velocities.timeSamples = {\n");
        return;
    }
    put(e, "    def %s \"%s\" (\n        customData = {\n            string body = ",
        p->curves ? "BasisCurves" : "Mesh", p->name);
    put_string(e, e->shape.name[p->body]);
    put(e, "\n        }\n    )\n    {\n");
    if (p->curves)
        put_curve_counts(u, p);
    else
        put_faces(u, p);
    put(e, "        color3f[] primvars:displayColor = [(%.4g, %.4g, %.4g)]\n", linear(rgb[0]),
        linear(rgb[1]), linear(rgb[2]));
    put(e, "        point3f[] points.timeSamples = {\n");
}

/* Writes the text after them; the last channel of a prim closes the prim. */
static void close_channel(const usda *u, const channel *c)
{
    pl_export *e = u->e;
    const prim *p = &u->prim[c->prim];
    put(e, "        }\n");
    if (c + 1 < u->channel + u->channels && c[1].prim == c->prim)
        return;
    double size = 0;
    for (int k = 0; k < 3; k++)
        size = fmax(size, (double)p->hi[k] - (double)p->lo[k]);
    if (p->curves)
        put(e,
            "        float[] widths = [%.3g] (\n            interpolation = \"constant\"\n"
            "        )\n",
            fmax(size, 1e-6) / 100);
    put(e, "        float3[] extent = [(%.9g, %.9g, %.9g), (%.9g, %.9g, %.9g)]\n    }\n",
        (double)p->lo[0], (double)p->lo[1], (double)p->lo[2], (double)p->hi[0], (double)p->hi[1],
        (double)p->hi[2]);
}

/* ---- samples ---- */

static bool sample(usda *u, channel *c, const pl_export_frame *f)
{
    prim *p = &u->prim[c->prim];
    const float *values = c->velocity ? f->velocity.f32 : f->positions.f32;
    if (!values)
        return true; /* a frame without velocities */
    pl_text_printf(&c->text, "            %.9g: [", time_code(u, f->time));
    char *at = pl_text_room(&c->text, (size_t)p->used * POINT_ROOM + 8), *begin = at;
    if (!at)
        return pl_export_no_memory(u->e);
    for (int64_t i = 0; i < p->used; i++) {
        const float *x = values + 3 * (int64_t)p->vertex[i];
        at += snprintf(at, POINT_ROOM, "%s(%.9g, %.9g, %.9g)", i ? ", " : "", (double)x[0],
                       (double)x[1], (double)x[2]);
        for (int k = 0; k < 3 && !c->velocity; k++) {
            p->lo[k] = fminf(p->lo[k], x[k]);
            p->hi[k] = fmaxf(p->hi[k], x[k]);
        }
    }
    c->text.length += (size_t)(at - begin);
    pl_text_put(&c->text, "],\n");
    return !c->text.failed || pl_export_no_memory(u->e);
}

static void put_samples(const usda *u, channel *c)
{
    pl_outlet_put(&u->e->out, c->text.text, c->text.length);
    c->text.length = 0;
}

static bool take_frame(void *context, const pl_export_frame *f)
{
    usda *u = context;
    for (int32_t c = u->first; c < u->last; c++)
        if (!sample(u, &u->channel[c], f))
            return false;
    if (u->last == u->first + 1)
        put_samples(u, &u->channel[u->first]);
    return true;
}

/* Selects the channels of the next pass. */
static void begin_pass(usda *u)
{
    double size = 0;
    u->first = u->last;
    do
        size += (double)u->prim[u->channel[u->last++].prim].used * (double)u->e->count * POINT_ROOM;
    while (u->last < u->channels && size + (double)u->prim[u->channel[u->last].prim].used *
                                                (double)u->e->count * POINT_ROOM <
                                        BUDGET);
}

static bool write_pass(usda *u)
{
    bool alone = u->last == u->first + 1;
    if (alone)
        open_channel(u, &u->channel[u->first]);
    if (!pl_export_frames(u->e, false, take_frame, u))
        return false;
    for (int32_t k = u->first; k < u->last; k++) {
        channel *c = &u->channel[k];
        if (!alone)
            open_channel(u, c);
        put_samples(u, c);
        close_channel(u, c);
        free(c->text.text);
        c->text = (pl_text){0};
    }
    return pl_export_going(u->e);
}

static bool write_usda(pl_export *e)
{
    usda u = {.e = e};
    bool good = prepare(&u);
    if (good)
        put_head(&u);
    while (good && u.last < u.channels) {
        begin_pass(&u);
        good = write_pass(&u);
    }
    if (good)
        put(e, "}\n");
    clear(&u);
    return good;
}

static bool check_usda(pl_export *e)
{
    return e->shape.triangles + e->shape.edges > 0 ||
           pl_export_fail(e, PL_EXPORT_NO_SURFACE, "the session has no surface");
}

const pl_export_kind pl_export_kind_usda = {
    .about = {"usda", "model/vnd.usda", .bodies = true},
    .scene = true,
    .check = check_usda,
    .run = write_usda,
};
