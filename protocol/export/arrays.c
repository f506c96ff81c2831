/* Series of positions in one file: .npz, and the caches of points .pc2 and .mdd. */
#include "protocol/export/exporter.h"
#include "protocol/export/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- npz ---- */

typedef struct npz_pass {
    pl_export *e;
    uint32_t field; /* that the pass writes */
    int64_t rows;   /* vertices, or elements */
} npz_pass;

static bool npz_frame(void *context, const pl_export_frame *f)
{
    npz_pass *p = context;
    const void *values = p->field == PL_FIELD_POSITION   ? f->positions.any
                         : p->field == PL_FIELD_VELOCITY ? f->velocity.any
                         : p->field == PL_FIELD_STRESS   ? f->stress.any
                                                         : f->element_stress.any;
    if (!values)
        return pl_export_fail(p->e, PL_EXPORT_DAMAGED, "frame %" PRId64 " lacks a field", f->frame);
    pl_zip_write(&p->e->zip, values, (size_t)p->rows * pl_export_item_bytes(p->e));
    return true;
}

static bool put_frames(pl_export *e, const char *name, uint32_t field)
{
    const pl_shape *s = &e->shape;
    bool elements = field == PL_FIELD_ELEMENT_STRESS;
    npz_pass p = {e, field, elements ? s->tets + s->sheet_triangles : s->vertices};
    pl_npy_shape shape = {e->wide ? "<f8" : "<f4", 3, {e->count, p.rows, 3}};
    char header[PL_NPY_HEADER_MAX];
    size_t size = pl_npy_header(&shape, header);
    pl_zip_begin(&e->zip, name, size + pl_npy_bytes(&shape));
    pl_zip_write(&e->zip, header, size);
    if (!pl_export_frames(e, false, npz_frame, &p))
        return false;
    pl_zip_end(&e->zip);
    return true;
}

static void put_array(pl_export *e, const char *name, const pl_npy_shape *shape, const void *data)
{
    char header[PL_NPY_HEADER_MAX];
    size_t size = pl_npy_header(shape, header);
    pl_span spans[] = {{header, size, NULL}, {data, pl_npy_bytes(shape), NULL}};
    pl_zip_add(&e->zip, name, spans, 2);
}

/* ---- contacts: the points of all frames one after the other ---- */

typedef struct contact_pass {
    pl_export *e;
    int64_t *offset;  /* [frames + 1]: start of each frame's points */
    int first, count; /* index among a point's seven numbers; count 0: its bodies */
} contact_pass;

static bool count_contacts(void *context, const pl_export_frame *f)
{
    contact_pass *p = context;
    p->offset[p->e->done + 1] = p->offset[p->e->done] + f->contacts;
    return true;
}

/* Data written by the pass. */
static void put_point(const contact_pass *p, const pl_contact_point *point)
{
    const double number[] = {point->place[0],  point->place[1],  point->place[2], point->newton[0],
                             point->newton[1], point->newton[2], point->gap};
    const float narrow[] = {(float)number[0], (float)number[1], (float)number[2], (float)number[3],
                            (float)number[4], (float)number[5], (float)number[6]};
    pl_zip *zip = &p->e->zip;
    if (p->count == 0)
        pl_zip_write(zip, point->body, sizeof point->body);
    else if (p->e->wide)
        pl_zip_write(zip, number + p->first, (size_t)p->count * sizeof *number);
    else
        pl_zip_write(zip, narrow + p->first, (size_t)p->count * sizeof *narrow);
}

static bool contact_frame(void *context, const pl_export_frame *f)
{
    contact_pass *p = context;
    if (f->contacts != p->offset[p->e->done + 1] - p->offset[p->e->done])
        return pl_export_fail(p->e, PL_EXPORT_DAMAGED, "frame %" PRId64 " changed", f->frame);
    for (int64_t i = 0; i < f->contacts; i++)
        put_point(p, &f->contact[i]);
    return true;
}

static bool put_contact_array(contact_pass *p, const char *name, int first, int count)
{
    pl_export *e = p->e;
    const char *real = e->wide ? "<f8" : "<f4";
    const pl_npy_shape shape = {
        count ? real : "<i4", count == 1 ? 1 : 2, {p->offset[e->count], count ? count : 2}};
    char header[PL_NPY_HEADER_MAX];
    size_t size = pl_npy_header(&shape, header);
    p->first = first;
    p->count = count;
    pl_zip_begin(&e->zip, name, size + pl_npy_bytes(&shape));
    pl_zip_write(&e->zip, header, size);
    if (!pl_export_frames(e, false, contact_frame, p))
        return false;
    pl_zip_end(&e->zip);
    return true;
}

static bool put_contacts(pl_export *e)
{
    contact_pass p = {.e = e, .offset = calloc((size_t)e->count + 1, sizeof *p.offset)};
    if (!p.offset)
        return pl_export_no_memory(e);
    bool good = pl_export_frames(e, false, count_contacts, &p) &&
                put_contact_array(&p, "contact_bodies.npy", 0, 0) &&
                put_contact_array(&p, "contact_positions.npy", 0, 3) &&
                put_contact_array(&p, "contact_forces.npy", 3, 3) &&
                put_contact_array(&p, "contact_gaps.npy", 6, 1);
    if (good)
        put_array(e, "contact_offsets.npy", &(pl_npy_shape){"<i8", 1, {e->count + 1}}, p.offset);
    free(p.offset);
    return good;
}

/* ---- the file ---- */

static bool write_npz(pl_export *e)
{
    const pl_shape *s = &e->shape;
    bool elements = pl_export_has_element_stress(e);
    if (!put_frames(e, "positions.npy", PL_FIELD_POSITION) ||
        (e->fields & PL_FIELD_VELOCITY && !put_frames(e, "velocities.npy", PL_FIELD_VELOCITY)) ||
        (e->fields & PL_FIELD_STRESS && !put_frames(e, "stress.npy", PL_FIELD_STRESS)) ||
        (elements && !put_frames(e, "element_stress.npy", PL_FIELD_ELEMENT_STRESS)) ||
        (e->fields & PL_FIELD_CONTACTS && !put_contacts(e)))
        return false;
    put_array(e, "time.npy", &(pl_npy_shape){"<f8", 1, {e->count}}, e->times);
    put_array(e, "frame.npy", &(pl_npy_shape){"<i8", 1, {e->count}}, e->frames);
    put_array(e, "triangles.npy", &(pl_npy_shape){"<i4", 2, {s->triangles, 3}}, s->triangle);
    put_array(e, "edges.npy", &(pl_npy_shape){"<i4", 2, {s->edges, 2}}, s->edge);
    put_array(e, "tets.npy", &(pl_npy_shape){"<i4", 2, {s->tets, 4}}, s->tet);
    put_array(e, "body.npy", &(pl_npy_shape){"<i4", 1, {s->vertices}}, s->body);
    if (elements)
        put_array(e, "sheets.npy", &(pl_npy_shape){"<i4", 2, {s->sheet_triangles, 3}}, s->sheet);
    if (e->chosen)
        put_array(e, "vertex.npy", &(pl_npy_shape){"<i4", 1, {s->vertices}}, e->chosen);
    return true;
}

/* ---- caches of points ---- */

static bool pc2_frame(void *context, const pl_export_frame *f)
{
    pl_outlet_put(&((pl_export *)context)->out, f->positions.f32, (size_t)f->vertices * 12);
    return true;
}

/* Sends a piece of the frame at a time, big-endian, converted just before it is sent, while it is in the
 * processor's cache. */
static bool mdd_frame(void *context, const pl_export_frame *f)
{
    enum { PIECE = PL_OUTLET_BUFFER / 4 };
    pl_outlet *out = &((pl_export *)context)->out;
    for (int64_t done = 0, n; done < 3 * f->vertices; done += n) {
        n = 3 * f->vertices - done < PIECE ? 3 * f->vertices - done : PIECE;
        uint32_t *to = pl_outlet_room(out, (size_t)n * sizeof *to);
        memcpy(to, f->positions.f32 + done, (size_t)n * sizeof *to);
        for (int64_t i = 0; i < n; i++)
            to[i] = __builtin_bswap32(to[i]);
    }
    return true;
}

static bool check_mdd(pl_export *e)
{
    return (e->count <= INT32_MAX && e->shape.vertices <= INT32_MAX) ||
           pl_export_fail(e, PL_EXPORT_TOO_LARGE,
                          "more frames or vertices than the format can count");
}

static bool check_pc2(pl_export *e)
{
    int64_t span = e->frames[e->count - 1] - e->frames[0];
    if (span != (e->count - 1) * e->order.every)
        return pl_export_fail(e, PL_EXPORT_UNEVEN,
                              "frames between %" PRId64 " and %" PRId64
                              " are missing, and a .pc2 has one time step: choose others with "
                              "from, to and every, or use mdd",
                              e->frames[0], e->frames[e->count - 1]);
    return check_mdd(e);
}

/* "POINTCACHE2", version, points, first frame, frame step, frames. */
static bool write_pc2(pl_export *e)
{
    char head[32] = "POINTCACHE2";
    int32_t version = 1, points = (int32_t)e->shape.vertices, frames = (int32_t)e->count;
    float start = (float)e->frames[0], rate = (float)e->order.every;
    memcpy(head + 12, &version, 4);
    memcpy(head + 16, &points, 4);
    memcpy(head + 20, &start, 4);
    memcpy(head + 24, &rate, 4);
    memcpy(head + 28, &frames, 4);
    pl_outlet_put(&e->out, head, sizeof head);
    return pl_export_frames(e, false, pc2_frame, e);
}

static void put_swapped(pl_export *e, const void *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    bits = __builtin_bswap32(bits);
    pl_outlet_put(&e->out, &bits, sizeof bits);
}

/* Frames, points, then the times, all big-endian. */
static bool write_mdd(pl_export *e)
{
    int32_t frames = (int32_t)e->count, points = (int32_t)e->shape.vertices;
    put_swapped(e, &frames);
    put_swapped(e, &points);
    for (int64_t i = 0; i < e->count; i++)
        put_swapped(e, &(float){(float)e->times[i]});
    return pl_export_frames(e, false, mdd_frame, e);
}

const pl_export_kind pl_export_kind_npz = {
    .about = {.name = "npz", .media_type = "application/zip", .bodies = true},
    .doubles = true,
    .tets = true,
    .archive = true,
    .run = write_npz,
};

const pl_export_kind pl_export_kind_pc2 = {
    .about = {"pc2", "application/octet-stream", .bodies = true, .moves_mesh = true},
    .check = check_pc2,
    .run = write_pc2,
};

const pl_export_kind pl_export_kind_mdd = {
    .about = {"mdd", "application/octet-stream", .bodies = true, .moves_mesh = true},
    .check = check_mdd,
    .run = write_mdd,
};
