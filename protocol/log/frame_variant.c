#include "protocol/log/frame_variant.h"

#include "protocol/log/frame_contacts.h"
#include "protocol/text/bytes.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const char *const dtype_names[] = {NULL, "f32", "f64", "u16"};

const char *pl_dtype_name(uint32_t dtype)
{
    return dtype < sizeof dtype_names / sizeof *dtype_names ? dtype_names[dtype] : NULL;
}

bool pl_dtype_parse(const char *name, uint32_t *out)
{
    for (uint32_t d = PL_DTYPE_F32; d <= PL_DTYPE_U16; d++) {
        if (strcmp(name, dtype_names[d]) == 0) {
            *out = d;
            return true;
        }
    }
    return false;
}

const char *pl_field_name(uint32_t field)
{
    return field == PL_FIELD_POSITION         ? "position"
           : field == PL_FIELD_VELOCITY       ? "velocity"
           : field == PL_FIELD_STRESS         ? "stress"
           : field == PL_FIELD_ELEMENT_STRESS ? "element_stress"
           : field == PL_FIELD_CONTACTS       ? "contacts"
                                              : NULL;
}

static uint32_t field_named(const char *name, size_t length)
{
    for (uint32_t bit = 1; bit <= PL_FIELD_CONTACTS; bit <<= 1) {
        const char *known = pl_field_name(bit);
        if (known && strlen(known) == length && memcmp(known, name, length) == 0)
            return bit;
    }
    return 0;
}

uint32_t pl_field_parse(const char *name)
{
    return field_named(name, strlen(name));
}

bool pl_fields_parse(const char *list, uint32_t *out, const char **wrong)
{
    uint32_t fields = 0;
    for (const char *at = list;;) {
        size_t length = strcspn(at, ",");
        uint32_t bit = field_named(at, length);
        if (!(bit & PL_FIELDS_SENT) || (fields & bit)) {
            *wrong = at;
            return false;
        }
        fields |= bit;
        if (!at[length])
            break;
        at += length + 1;
    }
    *out = fields;
    return true;
}

/* ---- encoding ---- */

bool pl_frame_variant_settle(pl_frame_variant *v, const pl_frame_header *stored)
{
    v->dtype = v->dtype ? v->dtype : stored->dtype;
    v->fields = v->fields ? v->fields : stored->fields & PL_FIELDS_SENT;
    return v->dtype == stored->dtype && v->fields == stored->fields && !v->surface;
}

/* Start of a field's values in a payload; NULL if it has none. */
static const char *field_values(const pl_frame_header *h, const char *payload, uint32_t field)
{
    if (!(h->fields & field))
        return NULL;
    uint64_t before = (uint64_t)__builtin_popcount(h->fields & (field - 1));
    return payload + PL_FRAME_HEADER + pl_frame_box_bytes(h) +
           before * h->count * pl_frame_value_bytes(h);
}

/* Gathers the selected vertices' values, 3 x `width` bytes each. */
static void gather(const char *values, size_t width, const int32_t *map, int64_t count, char *out)
{
    if (width == sizeof(float)) {
        for (int64_t i = 0; i < count; i++)
            memcpy(out + 12 * i, values + 12 * (size_t)map[i], 12);
    } else {
        for (int64_t i = 0; i < count; i++)
            memcpy(out + 24 * i, values + 24 * (size_t)map[i], 24);
    }
}

/* Least and greatest of each coordinate, then q = round(65535 (x - least) / (greatest - least)). In double, so that
 * the rounding is right whatever the box; by a product, because divisions would take most of the time. Four
 * vertices go together, in loops of twelve that become vector instructions. */
enum { TOGETHER = 12 };
#define QUANTISE(type)                                                                             \
    static void box_of_##type(const type *x, int64_t n, double box[6])                             \
    {                                                                                              \
        type lo[TOGETHER], hi[TOGETHER];                                                           \
        for (int j = 0; j < TOGETHER; j++)                                                         \
            lo[j] = hi[j] = n > 0 ? x[j % 3] : 0;                                                  \
        int64_t i = 0;                                                                             \
        for (; i + TOGETHER <= n; i += TOGETHER) {                                                 \
            _Pragma("omp simd") for (int j = 0; j < TOGETHER; j++)                                 \
            {                                                                                      \
                lo[j] = x[i + j] < lo[j] ? x[i + j] : lo[j];                                       \
                hi[j] = x[i + j] > hi[j] ? x[i + j] : hi[j];                                       \
            }                                                                                      \
        }                                                                                          \
        for (int j = 0; i < n; i++, j++) {                                                         \
            lo[j] = x[i] < lo[j] ? x[i] : lo[j];                                                   \
            hi[j] = x[i] > hi[j] ? x[i] : hi[j];                                                   \
        }                                                                                          \
        for (int j = 3; j < TOGETHER; j++) {                                                       \
            lo[j % 3] = lo[j] < lo[j % 3] ? lo[j] : lo[j % 3];                                     \
            hi[j % 3] = hi[j] > hi[j % 3] ? hi[j] : hi[j % 3];                                     \
        }                                                                                          \
        for (int c = 0; c < 3; c++) {                                                              \
            box[c] = lo[c];                                                                        \
            box[3 + c] = hi[c];                                                                    \
        }                                                                                          \
    }                                                                                              \
    static void quantise_##type(const type *x, int64_t n, double box[6], uint16_t *out)            \
    {                                                                                              \
        double least[TOGETHER], scale[TOGETHER];                                                   \
        box_of_##type(x, n, box);                                                                  \
        for (int j = 0; j < TOGETHER; j++) {                                                       \
            double width = box[3 + j % 3] - box[j % 3];                                            \
            least[j] = box[j % 3];                                                                 \
            scale[j] = width > 0 ? 65535.0 / width : 0;                                            \
        }                                                                                          \
        int64_t i = 0;                                                                             \
        for (; i + TOGETHER <= n; i += TOGETHER) {                                                 \
            _Pragma("omp simd") for (int j = 0; j < TOGETHER; j++)                                 \
            {                                                                                      \
                double q = ((double)x[i + j] - least[j]) * scale[j] + 0.5;                         \
                out[i + j] = (uint16_t)(int32_t)(q < 65535.0 ? q : 65535.0);                       \
            }                                                                                      \
        }                                                                                          \
        for (int j = 0; i < n; i++, j++) {                                                         \
            double q = ((double)x[i] - least[j]) * scale[j] + 0.5;                                 \
            out[i] = (uint16_t)(int32_t)(q < 65535.0 ? q : 65535.0);                               \
        }                                                                                          \
    }
QUANTISE(float)
QUANTISE(double)

/* Converts one field from the stored numbers to those of the variant. `box` is the place of the u16's box. */
static void convert(uint32_t from, const char *x, uint32_t to, int64_t count, char *box, char *out)
{
    const float *narrow = (const float *)x;
    const double *wide = (const double *)x;
    double bounds[6];
    if (to == PL_DTYPE_U16) {
        if (from == PL_DTYPE_F32)
            quantise_float(narrow, 3 * count, bounds, (uint16_t *)out);
        else
            quantise_double(wide, 3 * count, bounds, (uint16_t *)out);
        memcpy(box, bounds, sizeof bounds);
    } else if (from == to) {
        memcpy(out, x, (size_t)count * (to == PL_DTYPE_F64 ? 24 : 12));
    } else if (to == PL_DTYPE_F32) {
        for (int64_t i = 0; i < 3 * count; i++)
            ((float *)out)[i] = (float)wide[i];
    } else {
        for (int64_t i = 0; i < 3 * count; i++)
            ((double *)out)[i] = narrow[i];
    }
}

/* True if the map's vertices are all among the frame's: it is ascending, so its last one tells. */
static bool map_fits(const pl_frame_header *h, const int32_t *map, int64_t count)
{
    return count == 0 || (map[0] >= 0 && (uint64_t)map[count - 1] < h->count);
}

/* Layout of the new record. */
typedef struct layout {
    pl_frame_header header;
    uint64_t length; /* of the payload */
    size_t width;    /* bytes of a stored number */
} layout;

static bool lay_out(const pl_frame_variant *v, const pl_frame_header *stored, int64_t map_count,
                    layout *out)
{
    if (stored->dtype == PL_DTYPE_U16 || (v->fields & ~stored->fields))
        return false;
    out->header = *stored;
    out->header.dtype = v->dtype ? v->dtype : stored->dtype;
    out->header.fields = v->fields ? v->fields : stored->fields & PL_FIELDS_SENT;
    out->header.elements = 0;
    out->header.contacts = out->header.fields & PL_FIELD_CONTACTS ? stored->contacts : 0;
    out->header.count = v->surface ? (uint64_t)map_count : stored->count;
    out->width = stored->dtype == PL_DTYPE_F64 ? sizeof(double) : sizeof(float);
    out->length = PL_FRAME_HEADER + pl_frame_body_bytes(&out->header);
    return out->length <= PL_RECORD_MAX_PAYLOAD;
}

/* The points, which belong to the whole frame whatever the selected vertices. */
static void copy_contacts(const pl_frame_header *stored, const char *payload,
                          const pl_frame_header *to, char *out)
{
    const unsigned char *from = pl_frame_contacts_at(stored, (const unsigned char *)payload);
    unsigned char *at = (unsigned char *)out + PL_FRAME_HEADER + pl_frame_body_bytes(to) -
                        to->contacts * pl_frame_point_bytes(to);
    for (uint64_t i = 0; i < to->contacts; i++) {
        pl_contact_point point;
        pl_frame_contacts_decode(stored, from + i * pl_frame_point_bytes(stored), 1, &point);
        pl_frame_contacts_encode(to, &point, 1, at + i * pl_frame_point_bytes(to));
    }
}

/* map NULL: all vertices. `gathered` has room for the selected ones if they are converted afterwards. */
static void fill(const layout *to, const pl_frame_header *stored, const char *payload,
                 const int32_t *map, char *gathered, char *out)
{
    int64_t count = (int64_t)to->header.count;
    char *box = out + PL_FRAME_HEADER, *at = box + pl_frame_box_bytes(&to->header);
    pl_frame_header_encode(&to->header, (unsigned char *)out);
    for (uint32_t field = 1; field <= PL_FIELDS_KNOWN; field <<= 1) {
        if (!(to->header.fields & field))
            continue;
        const char *x = field_values(stored, payload, field);
        if (map && to->header.dtype == stored->dtype) {
            gather(x, to->width, map, count, at);
        } else {
            if (map) {
                gather(x, to->width, map, count, gathered);
                x = gathered;
            }
            convert(stored->dtype, x, to->header.dtype, count, box, at);
        }
        box += 6 * sizeof(double);
        at += (uint64_t)count * pl_frame_value_bytes(&to->header);
    }
    copy_contacts(stored, payload, &to->header, out);
}

pl_status pl_frame_variant_encode(const pl_frame_variant *v, const pl_record *stored,
                                  const char *payload, const int32_t *map, int64_t map_count,
                                  char **out, size_t *size)
{
    pl_frame_header from;
    layout to;
    if (!pl_frame_header_decode((const unsigned char *)payload, stored->length, &from) ||
        !lay_out(v, &from, map_count, &to) || (v->surface && !map_fits(&from, map, map_count)))
        return PL_INVALID;
    size_t whole = (size_t)pl_record_size(to.length);
    char *bytes = malloc(whole);
    bool converts = v->surface && to.header.dtype != from.dtype;
    char *gathered = converts ? malloc((size_t)map_count * 3 * to.width + 1) : NULL;
    if (!bytes || (converts && !gathered)) {
        free(bytes);
        free(gathered);
        return PL_NO_MEMORY;
    }
    char *body = bytes + PL_RECORD_HEADER;
    fill(&to, &from, payload, v->surface ? map : NULL, gathered, body);
    free(gathered);
    memset(body + to.length, 0, whole - PL_RECORD_HEADER - (size_t)to.length);
    pl_record record = *stored;
    record.length = to.length;
    record.payload_crc = pl_crc32c(0, body, (size_t)to.length);
    pl_record_encode(&record, (unsigned char *)bytes);
    *out = bytes;
    *size = whole;
    return PL_OK;
}

/* ---- decoding ---- */

bool pl_frame_values(const pl_frame_header *h, const char *payload, uint32_t field, float *out)
{
    const char *x = field_values(h, payload, field);
    if (!x)
        return false;
    size_t n = 3 * (size_t)h->count;
    if (h->dtype == PL_DTYPE_F32) {
        memcpy(out, x, n * sizeof *out);
    } else if (h->dtype == PL_DTYPE_F64) {
        for (size_t i = 0; i < n; i++)
            out[i] = (float)pl_get_f64((const unsigned char *)x + 8 * i);
    } else {
        const unsigned char *box = (const unsigned char *)payload + PL_FRAME_HEADER +
                                   48 * (size_t)__builtin_popcount(h->fields & (field - 1));
        for (size_t i = 0; i < n; i++) {
            double lo = pl_get_f64(box + 8 * (i % 3)), hi = pl_get_f64(box + 24 + 8 * (i % 3));
            double q = pl_get_u16((const unsigned char *)x + 2 * i);
            out[i] = (float)(lo + q * (hi - lo) / 65535);
        }
    }
    return true;
}
