/* Reads the frames of an export: checked, for the selected vertices, in float64 or float32 as the format needs.
 * Values already in the right form in the record are not copied. */
#include "protocol/export/exporter.h"

#include "protocol/log/log_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

enum { POSITION, VELOCITY, STRESS, ELEMENT_STRESS }; /* pl_export.made */

/* True if the frame's numbers have the format's type. */
static bool as_stored(const pl_export *e, const pl_frame_header *h)
{
    return (h->dtype == PL_DTYPE_F64) == e->wide;
}

static void *room_for(pl_export *e, int field, int64_t items)
{
    if (!e->made[field])
        e->made[field] = malloc((size_t)items * pl_export_item_bytes(e) + 1);
    return e->made[field];
}

/* Three values of each item, from `stored` on, in the format's type. */
static void take_values(const pl_export *e, const pl_frame_header *h, const unsigned char *stored,
                        int64_t items, void *out)
{
    const float *narrow = (const void *)stored;
    const double *wide = (const void *)stored;
    if (as_stored(e, h))
        memcpy(out, stored, (size_t)items * pl_export_item_bytes(e));
    else if (e->wide)
        for (int64_t i = 0; i < 3 * items; i++)
            ((double *)out)[i] = (double)narrow[i];
    else
        for (int64_t i = 0; i < 3 * items; i++)
            ((float *)out)[i] = (float)wide[i];
}

/* Gathers the selected vertices; `all` may be `out` itself, because no vertex moves to a higher index. */
static void choose(const pl_export *e, const unsigned char *all, unsigned char *out)
{
    const int64_t item = (int64_t)pl_export_item_bytes(e);
    if (e->wide)
        for (int64_t i = 0; i < e->shape.vertices; i++)
            memmove(out + i * item, all + e->chosen[i] * item, 3 * sizeof(double));
    else
        for (int64_t i = 0; i < e->shape.vertices; i++)
            memmove(out + i * item, all + e->chosen[i] * item, 3 * sizeof(float));
}

/* A field of the vertices. NULL if the frame lacks it, or if out of memory. */
static const void *read_field(pl_export *e, const pl_frame_header *h, int index, uint32_t field)
{
    uint64_t before = (uint64_t)__builtin_popcount(h->fields & (field - 1));
    const unsigned char *stored = e->payload + PL_FRAME_HEADER +
                                  before * h->count * pl_frame_value_bytes(h);
    if (!(h->fields & field))
        return NULL;
    if (as_stored(e, h) && !e->chosen)
        return stored;
    void *out = room_for(e, index, e->stored);
    if (!out)
        return NULL;
    if (!as_stored(e, h)) {
        take_values(e, h, stored, e->stored, out);
        stored = out;
    }
    if (e->chosen)
        choose(e, stored, out);
    return out;
}

bool pl_export_has_element_stress(const pl_export *e)
{
    return e->fields & PL_FIELD_ELEMENT_STRESS && pl_export_kind_of(e)->tets && !e->order.surface;
}

/* A field of the tetrahedra and the sheets of the shape; NULL if out of memory. */
static const void *read_elements(pl_export *e, const pl_frame_header *h)
{
    const pl_shape *s = &e->shape;
    const size_t item = pl_frame_value_bytes(h);
    const unsigned char *values = e->payload + PL_FRAME_HEADER +
                                  pl_frame_fields(h) * h->count * item;
    if (as_stored(e, h) && !e->chosen)
        return values;
    unsigned char *out = room_for(e, ELEMENT_STRESS, s->tets + s->sheet_triangles);
    if (!out)
        return NULL;
    take_values(e, h, values + (size_t)s->first_tet * item, s->tets, out);
    take_values(e, h, values + (size_t)(s->all_tets + s->first_sheet) * item, s->sheet_triangles,
                out + (size_t)s->tets * pl_export_item_bytes(e));
    return out;
}

/* The frame's points that belong to the selected body, or all; false: out of memory. */
static bool read_contacts(pl_export *e, const pl_frame_header *h, pl_export_frame *out)
{
    const unsigned char *stored = pl_frame_contacts_at(h, e->payload);
    if ((int64_t)h->contacts > e->contact_room) {
        free(e->contact);
        e->contact_room = 2 * (int64_t)h->contacts;
        e->contact = malloc((size_t)e->contact_room * sizeof *e->contact);
        if (!e->contact)
            e->contact_room = 0;
    }
    if (h->contacts > 0 && !e->contact)
        return false;
    for (uint64_t i = 0; i < h->contacts; i++) {
        pl_contact_point *to = &e->contact[out->contacts];
        pl_frame_contacts_decode(h, stored + i * pl_frame_point_bytes(h), 1, to);
        out->contacts += e->body < 0 || to->body[0] == e->body || to->body[1] == e->body;
    }
    out->contact = e->contact;
    return true;
}

/* ---- a frame ---- */

static bool grow(pl_export *e, uint64_t size)
{
    if (size <= e->capacity)
        return true;
    free(e->payload);
    e->payload = malloc((size_t)size);
    e->capacity = e->payload ? (size_t)size : 0;
    return e->payload;
}

static pl_log_outcome read_payload(pl_export *e, int64_t frame, pl_frame_header *h)
{
    pl_log_range range;
    pl_log_outcome outcome = pl_log_find(e->reader, frame, PL_LOG_FRAME, &range);
    if (outcome != PL_LOG_OK)
        return outcome;
    uint64_t length = range.record.length;
    if (!grow(e, length)) {
        errno = ENOMEM;
        return PL_LOG_ERROR;
    }
    if (!pl_read_range(range.fd, e->payload, (size_t)length, range.offset + PL_RECORD_HEADER))
        return errno ? PL_LOG_ERROR : PL_LOG_CORRUPT;
    bool good = pl_crc32c(0, e->payload, (size_t)length) == range.record.payload_crc &&
                pl_frame_header_decode(e->payload, length, h) && h->dtype != PL_DTYPE_U16 &&
                (int64_t)h->count == e->stored && h->fields & PL_FIELD_POSITION;
    return good ? PL_LOG_OK : PL_LOG_CORRUPT;
}

pl_log_outcome pl_export_read(pl_export *e, int64_t frame, pl_export_frame *out)
{
    pl_frame_header h;
    pl_log_outcome outcome = read_payload(e, frame, &h);
    if (outcome != PL_LOG_OK)
        return outcome;
    bool elements = h.fields & PL_FIELD_ELEMENT_STRESS && pl_export_has_element_stress(e);
    if (elements && (int64_t)h.elements != e->shape.all_tets + e->shape.all_sheets)
        return PL_LOG_CORRUPT;
    *out = (pl_export_frame){.frame = frame, .vertices = e->shape.vertices, .time = h.time};
    out->positions.any = read_field(e, &h, POSITION, PL_FIELD_POSITION);
    out->velocity.any = read_field(e, &h, VELOCITY, PL_FIELD_VELOCITY);
    out->stress.any = read_field(e, &h, STRESS, PL_FIELD_STRESS);
    out->element_stress.any = elements ? read_elements(e, &h) : NULL;
    if (out->positions.any && (out->velocity.any || !(h.fields & PL_FIELD_VELOCITY)) &&
        (out->stress.any || !(h.fields & PL_FIELD_STRESS)) &&
        (out->element_stress.any || !elements) && read_contacts(e, &h, out))
        return PL_LOG_OK;
    errno = ENOMEM;
    return PL_LOG_ERROR;
}

/* ---- all of them ---- */

bool pl_export_fail_frame(pl_export *e, int64_t frame, pl_log_outcome outcome)
{
    if (outcome == PL_LOG_ERROR && errno == ENOMEM)
        return pl_export_no_memory(e);
    if (outcome == PL_LOG_ERROR)
        return pl_export_fail(e, PL_EXPORT_UNREADABLE, "frame %" PRId64 " cannot be read: %s",
                              frame, strerror(errno));
    return pl_export_fail(
        e, PL_EXPORT_DAMAGED,
        "frame %" PRId64
        " %s: choose others with from and to, or a format with one file per frame (vtu, obj)",
        frame, outcome == PL_LOG_PRUNED ? "is no longer stored" : "is damaged");
}

void pl_export_tell_left_out(pl_export *e, int64_t frame)
{
    if (e->sink->left_out)
        e->sink->left_out(e->sink->context, frame);
}

bool pl_export_frames(pl_export *e, bool gaps, pl_export_take take, void *context)
{
    e->done = 0;
    for (int64_t i = 0; i < e->count; i++) {
        pl_export_frame f;
        pl_log_outcome outcome = pl_export_read(e, e->frames[i], &f);
        if (gaps && (outcome == PL_LOG_CORRUPT || outcome == PL_LOG_PRUNED)) {
            pl_export_tell_left_out(e, e->frames[i]);
            continue;
        }
        if (outcome != PL_LOG_OK)
            return pl_export_fail_frame(e, e->frames[i], outcome);
        if (!take(context, &f) || !pl_export_going(e))
            return false;
        e->done++;
        if (e->sink->progress && !e->sink->progress(e->sink->context, e->done, e->count))
            return pl_export_fail(e, PL_EXPORT_STOPPED, "the export was rejected");
    }
    return true;
}
