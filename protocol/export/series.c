/* A series for ParaView: .vtu files and the .pvd that lists them. */
#include "protocol/export/contact_series.h"
#include "protocol/export/exporter.h"
#include "protocol/export/strain.h"
#include "protocol/export/vtu.h"

#include "protocol/text/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 32 };
enum { PVD_EVERY = 50 }; /* frames between two states of the .pvd while a series is written */

typedef struct vtu_series {
    pl_export *e;
    pl_vtu vtu;
    pl_vtu_file file;
    float *displacement;           /* [vertices][3]: of the current frame from frame 0 */
    float *volume_ratio, *stretch; /* [cells], relative to frame 0 */
    float *stress[3];              /* [vertices]: von Mises', greatest principal, mean */
    float *of_cells[3];            /* [cells]: the same; 0 for ropes */
    int64_t *frames;               /* [count]: those written */
    double *times;                 /* [count] */
    int64_t done;
    pl_contact_series contacts;
    int numbers; /* energies of the current frame */
    pl_vtu_number number[NUMBERS_MAX];
} vtu_series;

static bool put_pvd(vtu_series *s)
{
    pl_text text = {0};
    char *name = NULL;
    pl_pvd_write(&text, s->e->order.name, s->frames, s->times, s->done);
    bool good = !text.failed && asprintf(&name, "%s.pvd", s->e->order.name) >= 0;
    good = good ? pl_export_put_file(s->e, name, &(pl_span){text.text, text.length, NULL}, 1)
                : pl_export_no_memory(s->e);
    free(text.text);
    free(name);
    if (good && s->e->fields & PL_FIELD_CONTACTS)
        good = pl_contact_series_list(&s->contacts, s->e, s->frames, s->times, s->done);
    return good;
}

/* Relative to frame 0, the cells in the order of the file. */
static void measure(vtu_series *s, const float *x)
{
    const pl_shape *shape = &s->e->shape;
    int64_t at = 0;
    for (int64_t i = 0; i < 3 * shape->vertices; i++)
        s->displacement[i] = x[i] - s->e->start[i];
    pl_strain_of_cells(4, shape->tets, shape->tet, x, s->e->start, s->volume_ratio, s->stretch);
    at += shape->tets;
    pl_strain_of_cells(3, shape->sheet_triangles, shape->sheet, x, s->e->start,
                       s->volume_ratio + at, s->stretch + at);
    at += shape->sheet_triangles;
    pl_strain_of_cells(2, shape->edges, shape->edge, x, s->e->start, s->volume_ratio + at,
                       s->stretch + at);
}

/* Adds the numbers of an object under names like energy_kinetic. Values that were not computed are null and left
 * out. */
static void add_numbers(vtu_series *s, const char *name, const pl_json *value)
{
    char inner[PL_VTU_NAME];
    double number = pl_json_number(value, "", NAN);
    if (isfinite(number) && s->numbers < NUMBERS_MAX) {
        pl_vtu_number *to = &s->number[s->numbers++];
        to->value = number;
        snprintf(to->name, sizeof to->name, "%s", name);
    }
    for (size_t i = 0; pl_json_is_object(value) && i < pl_json_count(value); i++) {
        const pl_json *member;
        const char *key = pl_json_member(value, i, &member);
        if (snprintf(inner, sizeof inner, "%s_%s", name, key) < (int)sizeof inner)
            add_numbers(s, inner, member);
    }
}

/* The energies of a frame, from its metrics. A frame whose metrics are damaged has none. */
static bool read_energies(vtu_series *s, int64_t frame)
{
    char *text;
    uint64_t length;
    s->numbers = 0;
    pl_log_outcome outcome = pl_log_read(s->e->reader, frame, PL_LOG_METRICS, &text, &length);
    if (outcome == PL_LOG_ERROR)
        return pl_export_fail_frame(s->e, frame, outcome);
    if (outcome != PL_LOG_OK)
        return true;
    pl_json *metrics = pl_json_parse(text, (size_t)length, NULL);
    bool starved = !metrics && errno == ENOMEM;
    add_numbers(s, "energy", pl_json_at(metrics, "energy"));
    pl_json_free(metrics);
    free(text);
    return !starved || pl_export_no_memory(s->e);
}

static bool vtu_frame(void *context, const pl_export_frame *f)
{
    vtu_series *s = context;
    pl_export *e = s->e;
    if (s->e->start)
        measure(s, f->positions.f32);
    for (int64_t i = 0; f->stress.f32 && i < f->vertices; i++)
        for (int k = 0; k < 3; k++)
            s->stress[k][i] = f->stress.f32[3 * i + k];
    int64_t elements = e->shape.tets + e->shape.sheet_triangles;
    for (int64_t i = 0; f->element_stress.f32 && i < elements; i++)
        for (int k = 0; k < 3; k++)
            s->of_cells[k][i] = f->element_stress.f32[3 * i + k];
    if (!read_energies(s, f->frame))
        return false;
    pl_vtu_frame v = {
        .time = f->time,
        .numbers = s->numbers,
        .number = s->number,
        .positions = f->positions.f32,
        .points = {{"displacement", 3, s->e->start ? s->displacement : NULL},
                   {"velocity", 3, f->velocity.f32},
                   {"von_mises", 1, f->stress.f32 ? s->stress[0] : NULL},
                   {"principal_stress", 1, f->stress.f32 ? s->stress[1] : NULL},
                   {"mean_stress", 1, f->stress.f32 ? s->stress[2] : NULL}},
        .cells = {{"volume_ratio", 1, s->e->start ? s->volume_ratio : NULL},
                  {"stretch", 1, s->e->start ? s->stretch : NULL},
                  {"von_mises", 1, f->element_stress.f32 ? s->of_cells[0] : NULL},
                  {"principal_stress", 1, f->element_stress.f32 ? s->of_cells[1] : NULL},
                  {"mean_stress", 1, f->element_stress.f32 ? s->of_cells[2] : NULL}}};
    pl_status built = pl_vtu_build(&s->vtu, &v, &s->file);
    if (built == PL_INVALID)
        return pl_export_fail(e, PL_EXPORT_TOO_LARGE, "a frame would exceed 4 GiB an array");
    char *name = built == PL_OK ? pl_vtu_name(e->order.name, f->frame) : NULL;
    if (!name)
        return pl_export_no_memory(e);
    bool good = pl_export_put_file(e, name, s->file.spans, s->file.count);
    free(name);
    if (good && !e->order.plain && e->fields & PL_FIELD_CONTACTS)
        good = pl_contact_series_put(&s->contacts, e, f);
    s->frames[s->done] = f->frame;
    s->times[s->done++] = f->time;
    /* In a folder, a series can be watched while it is written. */
    bool early = e->sink->file && !e->order.plain && s->done % PVD_EVERY == 0;
    return good && (!early || put_pvd(s));
}

static bool prepare(vtu_series *s)
{
    const pl_shape *shape = &s->e->shape;
    size_t cells = (size_t)(shape->tets + shape->sheet_triangles + shape->edges);
    pl_vtu_mesh mesh = {.vertices = shape->vertices,
                        .body = shape->body,
                        .tets = shape->tets,
                        .tet = shape->tet,
                        .triangles = shape->sheet_triangles,
                        .triangle = shape->sheet,
                        .edges = shape->edges,
                        .edge = shape->edge};
    s->displacement = malloc((size_t)shape->vertices * 3 * sizeof(float) + 1);
    s->volume_ratio = malloc(cells * sizeof(float) + 1);
    s->stretch = malloc(cells * sizeof(float) + 1);
    bool of_cells = pl_export_has_element_stress(s->e), have = true;
    for (int k = 0; k < 3; k++) {
        s->stress[k] = malloc((size_t)shape->vertices * sizeof(float) + 1);
        s->of_cells[k] = of_cells ? calloc(cells + 1, sizeof(float)) : NULL;
        have &= s->stress[k] && (s->of_cells[k] || !of_cells);
    }
    s->frames = malloc((size_t)s->e->count * sizeof *s->frames);
    s->times = malloc((size_t)s->e->count * sizeof *s->times);
    bool good = s->displacement && s->volume_ratio && s->stretch && have && s->frames && s->times &&
                pl_vtu_open(&s->vtu, &mesh) == PL_OK;
    return good || pl_export_no_memory(s->e);
}

/* The reference for displacements. Whether it exists affects the export's bytes, so this is checked first. */
static bool check_vtu(pl_export *e)
{
    pl_export_frame f;
    size_t bytes = (size_t)e->shape.vertices * 3 * sizeof(float);
    pl_log_outcome outcome = pl_export_read(e, 0, &f);
    if (outcome == PL_LOG_ERROR)
        return pl_export_fail_frame(e, 0, outcome);
    if (outcome != PL_LOG_OK)
        return true;
    e->start = malloc(bytes + 1);
    if (!e->start)
        return pl_export_no_memory(e);
    memcpy(e->start, f.positions.f32, bytes);
    return true;
}

static bool write_vtu(pl_export *e)
{
    vtu_series s = {.e = e};
    bool good = prepare(&s) && pl_export_frames(e, !e->order.plain, vtu_frame, &s) &&
                (e->order.plain || put_pvd(&s));
    pl_contact_series_clear(&s.contacts);
    pl_vtu_clear(&s.vtu);
    pl_vtu_file_clear(&s.file);
    free(s.displacement);
    free(s.volume_ratio);
    free(s.stretch);
    for (int k = 0; k < 3; k++) {
        free(s.stress[k]);
        free(s.of_cells[k]);
    }
    free(s.frames);
    free(s.times);
    return good;
}

const pl_export_kind pl_export_kind_vtu = {
    .about = {"vtu", "application/octet-stream", .series = true, .bodies = true, .index = ".pvd"},
    .tets = true,
    .check = check_vtu,
    .run = write_vtu,
};
