#include "clients/cli/draw/field.h"

#include "clients/cli/draw/vec.h"
#include "engine/scene/scene.h"
#include "protocol/export/strain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *unit;
    bool diverging;
} fields[] = {
    [PL_COLOUR_HEIGHT] = {"height", "m", false},
    [PL_COLOUR_DISPLACEMENT] = {"displacement", "m", false},
    [PL_COLOUR_STRETCH] = {"stretch", "%", true},
    [PL_COLOUR_STRESS] = {"stress", "Pa", false},
};
enum { FIELDS = sizeof fields / sizeof *fields };

/* Viridis, and blue to red with a middle: sRGB. */
static const uint32_t viridis[] = {0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c,
                                   0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725};
static const uint32_t diverging[] = {0x3b4cc0, 0x6282ea, 0x8db0fe, 0xb8d0f9, 0xdddddd,
                                     0xf5c4ad, 0xf49a7b, 0xde604d, 0xb40426};

/* ---- options ---- */

int pl_field_choose(const pl_cli *cli, pl_field *out)
{
    const char *name = pl_cli_option(cli, "--colour"), *range = pl_cli_option(cli, "--range");
    char end;
    *out = (pl_field){.low = INFINITY, .high = -INFINITY};
    for (int k = 1; name && k < FIELDS; k++)
        if (strcmp(name, fields[k].name) == 0)
            out->kind = (pl_colour_kind)k;
    if (name && out->kind == PL_COLOUR_NONE)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "--colour: got '%s', expected height, displacement, stretch or stress",
                           name);
    if (!range)
        return PL_EXIT_OK;
    out->fixed = sscanf(range, "%lf:%lf%c", &out->low, &out->high, &end) == 2;
    if (out->fixed && out->low < out->high && out->kind != PL_COLOUR_NONE)
        return PL_EXIT_OK;
    return pl_cli_fail(cli, PL_EXIT_USAGE,
                       "--range: got '%s', expected LOW:HIGH of the field of --colour", range);
}

/* ---- data ---- */

typedef struct first {
    float *x;
    int64_t vertices;
} first;

static bool take_first(void *context, const pl_session_frame *f)
{
    first *p = context;
    size_t bytes = 3 * (size_t)f->vertices * sizeof(float);
    p->x = malloc(bytes + 1);
    p->vertices = f->vertices;
    if (p->x)
        memcpy(p->x, f->positions, bytes);
    return false;
}

static int read_rest(pl_session_source *s, const pl_shape *mesh, pl_field *out)
{
    first rest = {0};
    int status = pl_session_source_frames(s, 0, 0, 1, false, take_first, &rest);
    out->rest = rest.x;
    if (status == PL_EXIT_OK && (!rest.x || rest.vertices != mesh->vertices))
        return pl_cli_fail(s->cli, PL_EXIT_FAILED,
                           "--colour %s compares with frame 0, which is not available",
                           fields[out->kind].name);
    return status;
}

static void moduli_of(const pl_material *m, double out[2])
{
    out[0] = out[1] = 0;
    if (m->has_lame) {
        out[0] = m->lame.mu;
        out[1] = m->lame.lambda / (2 * (m->lame.lambda + m->lame.mu));
    } else if (!m->has_constants) {
        out[0] = m->young / (2 + 2 * m->poisson);
        out[1] = m->poisson;
    }
}

static int read_moduli(const pl_session_source *s, const pl_session_shape *shape, pl_field *out)
{
    const pl_scene *scene = pl_session_shape_scene(shape);
    int32_t bodies = 0;
    for (int64_t v = 0; v < shape->mesh.vertices; v++)
        bodies = shape->mesh.body[v] >= bodies ? shape->mesh.body[v] + 1 : bodies;
    if (scene->body_count < bodies)
        return pl_cli_fail(s->cli, PL_EXIT_FAILED,
                           "--colour stress: this version cannot read the scene's materials");
    out->modulus = calloc(2 * (size_t)bodies + 1, sizeof *out->modulus);
    if (!out->modulus)
        return pl_cli_fail(s->cli, PL_EXIT_FAILED, "out of memory");
    for (int32_t b = 0; b < bodies; b++)
        moduli_of(&scene->materials[scene->bodies[b].material], out->modulus + 2 * (size_t)b);
    return PL_EXIT_OK;
}

int pl_field_open(pl_session_source *s, pl_session_shape *shape, pl_field *out)
{
    size_t vertices = (size_t)shape->mesh.vertices;
    int status = PL_EXIT_OK;
    if (out->kind == PL_COLOUR_NONE)
        return PL_EXIT_OK;
    out->value = malloc((vertices + 1) * sizeof *out->value);
    out->weight = malloc((vertices + 1) * sizeof *out->weight);
    out->colour = malloc((3 * vertices + 1) * sizeof *out->colour);
    if (!out->value || !out->weight || !out->colour)
        return pl_cli_fail(s->cli, PL_EXIT_FAILED, "out of memory");
    if (out->kind != PL_COLOUR_HEIGHT)
        status = read_rest(s, &shape->mesh, out);
    if (status == PL_EXIT_OK && out->kind == PL_COLOUR_STRESS)
        status = read_moduli(s, shape, out);
    if (status == PL_EXIT_OK && out->kind == PL_COLOUR_STRESS)
        status = pl_session_shape_read_tets(s, shape);
    return status;
}

void pl_field_clear(pl_field *f)
{
    free(f->rest);
    free(f->value);
    free(f->weight);
    free(f->colour);
    free(f->modulus);
    *f = (pl_field){0};
}

/* ---- values ---- */

static double distance(const float *a, const float *b)
{
    return sqrt(pow((double)a[0] - (double)b[0], 2) + pow((double)a[1] - (double)b[1], 2) +
                pow((double)a[2] - (double)b[2], 2));
}

/* Add a contribution to the mean at each corner. */
static void add(pl_field *f, int corners, const int32_t *corner, double value, double weight)
{
    for (int k = 0; k < corners; k++) {
        f->value[corner[k]] += (float)(value * weight);
        f->weight[corner[k]] += (float)weight;
    }
}

static void add_edge(pl_field *f, const float *x, int32_t a, int32_t b)
{
    double rest = distance(f->rest + 3 * (int64_t)a, f->rest + 3 * (int64_t)b);
    double now = distance(x + 3 * (int64_t)a, x + 3 * (int64_t)b);
    if (rest > 0)
        add(f, 2, (int32_t[]){a, b}, 100 * (now / rest - 1), 1);
}

static void stretch(pl_field *f, const pl_shape *mesh, const float *x)
{
    for (int64_t i = 0; i < 3 * mesh->triangles; i++)
        add_edge(f, x, mesh->triangle[i], mesh->triangle[i % 3 == 2 ? i - 2 : i + 1]);
    for (int64_t e = 0; e < mesh->edges; e++)
        add_edge(f, x, mesh->edge[2 * e], mesh->edge[2 * e + 1]);
}

/* Von Mises' stress of E = (C - 1) / 2 by Hooke's law: of a tetrahedron by the deviator 2 mu dev E, of a triangle
 * in plane stress, S = 2 mu (E + nu / (1 - nu) tr E). */
static double mises(int n, double c[3][3], const double modulus[2])
{
    double mu = modulus[0], nu = modulus[1];
    double xx = (c[0][0] - 1) / 2, yy = (c[1][1] - 1) / 2, xy = c[0][1] / 2;
    if (n == 2) {
        double trace = nu / (1 - nu) * (xx + yy), sx = xx + trace, sy = yy + trace;
        return 2 * mu * sqrt(sx * sx - sx * sy + sy * sy + 3 * xy * xy);
    }
    double zz = (c[2][2] - 1) / 2, yz = c[1][2] / 2, zx = c[2][0] / 2;
    double axial = (xx - yy) * (xx - yy) + (yy - zz) * (yy - zz) + (zz - xx) * (zz - xx);
    return 2 * mu * sqrt(axial / 2 + 3 * (xy * xy + yz * yz + zx * zx));
}

static void stress(pl_field *f, const int32_t *body, const float *x, int corners, int64_t count,
                   const int32_t *corner)
{
    double c[3][3];
    for (int64_t i = 0; i < count; i++, corner += corners) {
        double size = pl_strain_of_element(corners, corner, x, f->rest, c);
        if (size > 0)
            add(f, corners, corner, mises(corners - 1, c, f->modulus + 2 * (size_t)body[corner[0]]),
                size);
    }
}

static void take_in(pl_field *f, int64_t vertices)
{
    for (int64_t v = 0; v < vertices && !f->fixed; v++) {
        f->low = fmin(f->low, (double)f->value[v]);
        f->high = fmax(f->high, (double)f->value[v]);
    }
    if (fields[f->kind].diverging && !f->fixed) {
        f->high = fmax(f->high, -f->low);
        f->low = -f->high;
    }
}

void pl_field_measure(pl_field *f, const pl_shape *mesh, const float *positions)
{
    if (f->kind == PL_COLOUR_NONE)
        return;
    for (int64_t v = 0; v < mesh->vertices; v++) {
        const float *x = positions + 3 * v;
        f->weight[v] = 0;
        f->value[v] = f->kind == PL_COLOUR_HEIGHT         ? x[1]
                      : f->kind == PL_COLOUR_DISPLACEMENT ? (float)distance(x, f->rest + 3 * v)
                                                          : 0;
    }
    if (f->kind == PL_COLOUR_STRETCH)
        stretch(f, mesh, positions);
    if (f->kind == PL_COLOUR_STRESS) {
        stress(f, mesh->body, positions, 4, mesh->tets, mesh->tet);
        stress(f, mesh->body, positions, 3, mesh->sheet_triangles, mesh->sheet);
    }
    for (int64_t v = 0; v < mesh->vertices; v++)
        if (f->weight[v] > 0)
            f->value[v] /= f->weight[v];
    take_in(f, mesh->vertices);
}

/* ---- colours ---- */

static float channel(uint32_t rgb, int c)
{
    return (float)(rgb >> (16 - 8 * c) & 255) / 255;
}

void pl_field_paint(pl_field *f, int64_t vertices)
{
    bool middle = fields[f->kind].diverging;
    const uint32_t *stops = middle ? diverging : viridis;
    float last = (float)(middle ? sizeof diverging : sizeof viridis) / sizeof *viridis - 1;
    float scale = f->high > f->low ? (float)(last / (f->high - f->low)) : 0;
    for (int64_t v = 0; v < vertices; v++) {
        float at = clampf((f->value[v] - (float)f->low) * scale, 0, last);
        int k = at < last ? (int)at : (int)last - 1;
        for (int c = 0; c < 3; c++) {
            float s = channel(stops[k], c);
            s += (at - (float)k) * (channel(stops[k + 1], c) - s);
            f->colour[3 * v + c] = s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
        }
    }
}

void pl_field_say(const pl_field *f, const pl_cli *cli)
{
    char text[120];
    if (f->kind == PL_COLOUR_NONE)
        return;
    snprintf(text, sizeof text, "colours: %s from %.4g to %.4g %s", fields[f->kind].name, f->low,
             f->high, fields[f->kind].unit);
    pl_cli_note(cli, text);
}
