/* Frames in another form than stored: every dtype, the surface alone, some of the fields. */
#include "protocol/log/frame_contacts.h"
#include "protocol/log/frame_variant.h"
#include "tests/support/suite.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 7 };

/* Position and velocity of vertex v along c: exact in float. */
static double value(int field, int v, int c)
{
    return field == 0 ? 0.25 * v * v - 3 * c : 100.0 * c - 8.5 * v;
}

static char payload[PL_FRAME_HEADER + 2 * COUNT * 24];

/* A stored frame of both fields; returns the record. */
static pl_record stored_frame(uint32_t dtype)
{
    pl_frame_header h = {.dtype = dtype,
                         .fields = PL_FIELD_POSITION | PL_FIELD_VELOCITY,
                         .count = COUNT,
                         .time = 1.5,
                         .step = 30};
    pl_frame_header_encode(&h, (unsigned char *)payload);
    char *at = payload + PL_FRAME_HEADER;
    for (int f = 0; f < 2; f++)
        for (int v = 0; v < COUNT; v++)
            for (int c = 0; c < 3; c++) {
                double wide = value(f, v, c);
                float narrow = (float)wide;
                size_t size = dtype == PL_DTYPE_F64 ? 8 : 4;
                memcpy(at, dtype == PL_DTYPE_F64 ? (void *)&wide : (void *)&narrow, size);
                at += size;
            }
    return (pl_record){.type = PL_RECORD_FRAME,
                       .attempt = 3,
                       .seq = 10,
                       .frame = 10,
                       .length = (uint64_t)(at - payload)};
}

static const uint32_t stored_types[] = {PL_DTYPE_F32, PL_DTYPE_F64};
static const pl_frame_variant variants[] = {
    {PL_DTYPE_F32, PL_FIELD_POSITION, false},
    {PL_DTYPE_F64, PL_FIELD_VELOCITY, false},
    {PL_DTYPE_U16, PL_FIELD_POSITION, false},
    {PL_DTYPE_U16, (PL_FIELD_POSITION | PL_FIELD_VELOCITY), false},
    {PL_DTYPE_F32, (PL_FIELD_POSITION | PL_FIELD_VELOCITY), true},
    {PL_DTYPE_U16, (PL_FIELD_POSITION | PL_FIELD_VELOCITY), true},
    {PL_DTYPE_F64, PL_FIELD_POSITION, true},
    {PL_DTYPE_U16, PL_FIELD_VELOCITY, true},
};
enum { VARIANTS = sizeof variants / sizeof *variants };
static const int32_t surface[] = {0, 2, 5, 6};

/* Values of one field equal those of the stored frame, to half a step of the box if quantised. */
static void check_field(const pl_frame_variant *v, const pl_frame_header *h, const char *body,
                        int field)
{
    float out[3 * COUNT];
    int count = v->surface ? 4 : COUNT;
    uint32_t bit = field ? PL_FIELD_VELOCITY : PL_FIELD_POSITION;
    ck_assert(pl_frame_values(h, body, bit, out) == ((v->fields & bit) != 0));
    if (!(v->fields & bit))
        return;
    for (int c = 0; c < 3; c++) {
        double lo = HUGE_VAL, hi = -HUGE_VAL;
        for (int i = 0; i < count; i++) {
            double x = value(field, v->surface ? surface[i] : i, c);
            lo = fmin(lo, x);
            hi = fmax(hi, x);
        }
        for (int i = 0; i < count; i++) {
            double x = value(field, v->surface ? surface[i] : i, c);
            double tolerance = v->dtype == PL_DTYPE_U16 ? 0.5001 * (hi - lo) / 65535 : 0;
            ck_assert_double_le(fabs((double)out[3 * i + c] - (double)(float)x),
                                tolerance + 1e-6 * tolerance * fabs(x) +
                                    (tolerance > 0 ? 1e-7 * fabs(x) : 0));
        }
    }
}

START_TEST(test_variants)
{
    const pl_frame_variant *v = &variants[_i / 2];
    pl_record stored = stored_frame(stored_types[_i % 2]), r;
    pl_frame_header h;
    char *bytes;
    size_t size;
    ck_assert_int_eq(pl_frame_variant_encode(v, &stored, payload, surface, 4, &bytes, &size),
                     PL_OK);
    ck_assert_int_eq(pl_record_decode((unsigned char *)bytes, size, &r), PL_RECORD_GOOD);
    ck_assert(r.type == PL_RECORD_FRAME && r.attempt == 3 && r.seq == 10 && r.frame == 10);
    ck_assert_uint_eq(size, pl_record_size(r.length));
    const char *body = bytes + PL_RECORD_HEADER;
    ck_assert_uint_eq(pl_crc32c(0, body, (size_t)r.length), r.payload_crc);
    for (size_t i = PL_RECORD_HEADER + (size_t)r.length; i < size; i++)
        ck_assert_int_eq(bytes[i], 0);
    ck_assert(pl_frame_header_decode((const unsigned char *)body, r.length, &h));
    ck_assert(h.dtype == v->dtype && h.fields == v->fields && h.step == 30);
    ck_assert_double_eq(h.time, 1.5);
    ck_assert_uint_eq(h.count, v->surface ? 4 : COUNT);
    check_field(v, &h, body, 0);
    check_field(v, &h, body, 1);
    free(bytes);
}
END_TEST

/* Asked for as it lies, it is the same bytes. */
START_TEST(test_as_stored)
{
    pl_frame_variant v = {0};
    pl_record stored = stored_frame(stored_types[_i]);
    pl_frame_header h;
    char *bytes;
    size_t size;
    ck_assert(pl_frame_header_decode((unsigned char *)payload, stored.length, &h));
    ck_assert(pl_frame_variant_settle(&v, &h));
    ck_assert_int_eq(pl_frame_variant_encode(&v, &stored, payload, NULL, 0, &bytes, &size), PL_OK);
    ck_assert_mem_eq(bytes + PL_RECORD_HEADER, payload, (size_t)stored.length);
    free(bytes);
    v = (pl_frame_variant){.fields = PL_FIELD_POSITION};
    ck_assert(!pl_frame_variant_settle(&v, &h));
    v = (pl_frame_variant){.surface = true};
    ck_assert(!pl_frame_variant_settle(&v, &h));
}
END_TEST

/* A flat box, and one point: nothing is divided by nothing. The greatest is 65535. */
START_TEST(test_flat)
{
    pl_frame_header h = {.dtype = PL_DTYPE_F32, .fields = PL_FIELD_POSITION, .count = 2};
    const float x[6] = {1, 5, -2, 1, 7, -2};
    char *bytes;
    size_t size;
    float out[6];
    pl_frame_header_encode(&h, (unsigned char *)payload);
    memcpy(payload + PL_FRAME_HEADER, x, sizeof x);
    pl_record stored = {.type = PL_RECORD_FRAME, .length = PL_FRAME_HEADER + sizeof x};
    const pl_frame_variant v = {.dtype = PL_DTYPE_U16};
    ck_assert_int_eq(pl_frame_variant_encode(&v, &stored, payload, NULL, 0, &bytes, &size), PL_OK);
    const char *body = bytes + PL_RECORD_HEADER;
    ck_assert(pl_frame_header_decode((const unsigned char *)body, PL_FRAME_HEADER + 48 + 12, &h));
    ck_assert(pl_frame_values(&h, body, PL_FIELD_POSITION, out));
    ck_assert_mem_eq(out, x, sizeof x);
    uint16_t q[6];
    memcpy(q, body + PL_FRAME_HEADER + 48, sizeof q);
    ck_assert(q[0] == 0 && q[1] == 0 && q[4] == 65535 && q[5] == 0);
    free(bytes);
}
END_TEST

START_TEST(test_refusals)
{
    char *bytes;
    size_t size;
    pl_record stored = stored_frame(PL_DTYPE_F32);
    static const int32_t beyond[] = {0, COUNT}, negative[] = {-1, 2};
    const pl_frame_variant map = {.surface = true}, all = {.dtype = PL_DTYPE_F64};
    ck_assert_int_eq(pl_frame_variant_encode(&map, &stored, payload, beyond, 2, &bytes, &size),
                     PL_INVALID);
    ck_assert_int_eq(pl_frame_variant_encode(&map, &stored, payload, negative, 2, &bytes, &size),
                     PL_INVALID);
    const pl_frame_variant more = {.fields = 4 | PL_FIELD_POSITION};
    ck_assert_int_eq(pl_frame_variant_encode(&more, &stored, payload, NULL, 0, &bytes, &size),
                     PL_INVALID);
    stored.length--;
    ck_assert_int_eq(pl_frame_variant_encode(&all, &stored, payload, NULL, 0, &bytes, &size),
                     PL_INVALID);
    /* Quantised values are not mistaken for numbers. */
    stored = stored_frame(PL_DTYPE_F32);
    const pl_frame_variant u16 = {.dtype = PL_DTYPE_U16};
    ck_assert_int_eq(pl_frame_variant_encode(&u16, &stored, payload, NULL, 0, &bytes, &size),
                     PL_OK);
    pl_record r;
    ck_assert_int_eq(pl_record_decode((unsigned char *)bytes, size, &r), PL_RECORD_GOOD);
    char *again;
    ck_assert_int_eq(
        pl_frame_variant_encode(&all, &r, bytes + PL_RECORD_HEADER, NULL, 0, &again, &size),
        PL_INVALID);
    free(bytes);
}
END_TEST

/* ---- contacts ---- */

static const pl_contact_point points[] = {{{0, 2}, {0.5, -1.25, 3}, {10, 20.5, -30}, 0.0625},
                                          {{1, 1}, {1, 2, 4}, {1e300, -1e300, 0}, -0.5}};
enum { POINTS = 2 };

/* The frame above with points behind it; returns the payload. */
static char *with_contacts(uint32_t dtype, pl_record *record)
{
    pl_frame_header h;
    *record = stored_frame(dtype);
    ck_assert(pl_frame_header_decode((unsigned char *)payload, record->length, &h));
    h.fields |= PL_FIELD_CONTACTS;
    h.contacts = POINTS;
    char *out = malloc(sizeof payload + POINTS * 64);
    memcpy(out, payload, record->length);
    pl_frame_header_encode(&h, (unsigned char *)out);
    pl_frame_contacts_encode(&h, points, POINTS, (unsigned char *)out + record->length);
    record->length += POINTS * pl_frame_point_bytes(&h);
    return out;
}

static const pl_frame_variant of_contacts[] = {
    {0, 0, false},
    {PL_DTYPE_F64, PL_FIELD_POSITION | PL_FIELD_CONTACTS, true},
    {PL_DTYPE_U16, PL_FIELD_POSITION | PL_FIELD_CONTACTS, false},
    {PL_DTYPE_F32, PL_FIELD_CONTACTS, true},
    {PL_DTYPE_U16, PL_FIELD_CONTACTS, false},
    {PL_DTYPE_F32, PL_FIELD_VELOCITY, false},
};

/* The points go along whatever vertices are chosen; numbers beyond a float are the greatest one. */
START_TEST(test_contacts)
{
    const pl_frame_variant *v = &of_contacts[_i / 2];
    pl_record stored, r;
    pl_frame_header h;
    char *from = with_contacts(stored_types[_i % 2], &stored), *bytes;
    size_t size;
    ck_assert_int_eq(pl_frame_variant_encode(v, &stored, from, surface, 4, &bytes, &size), PL_OK);
    ck_assert_int_eq(pl_record_decode((unsigned char *)bytes, size, &r), PL_RECORD_GOOD);
    const unsigned char *body = (unsigned char *)bytes + PL_RECORD_HEADER;
    ck_assert(pl_frame_header_decode(body, r.length, &h));
    const bool has = v->fields == 0 || v->fields & PL_FIELD_CONTACTS;
    const bool wide = h.dtype == PL_DTYPE_F64 && stored_types[_i % 2] == PL_DTYPE_F64;
    ck_assert_uint_eq(h.contacts, has ? POINTS : 0);
    pl_contact_point out[POINTS];
    pl_frame_contacts_decode(&h, pl_frame_contacts_at(&h, body), (int64_t)h.contacts, out);
    for (int i = 0; has && i < POINTS; i++) {
        ck_assert_mem_eq(out[i].body, points[i].body, sizeof out[i].body);
        ck_assert_mem_eq(out[i].place, points[i].place, sizeof out[i].place);
        ck_assert_double_eq(out[i].gap, points[i].gap);
        for (int c = 0; c < 3; c++) {
            double n = points[i].newton[c], most = wide ? DBL_MAX : (double)FLT_MAX;
            ck_assert_double_eq(out[i].newton[c], fmax(fmin(n, most), -most));
        }
    }
    if (v->fields == 0)
        ck_assert_mem_eq(body, from, (size_t)stored.length);
    free(bytes);
    free(from);
}
END_TEST

START_TEST(test_names)
{
    uint32_t bits = 0;
    const char *wrong = NULL;
    ck_assert(pl_dtype_parse("u16", &bits) && bits == PL_DTYPE_U16);
    ck_assert(!pl_dtype_parse("f16", &bits) && !pl_dtype_parse("", &bits));
    ck_assert_str_eq(pl_dtype_name(PL_DTYPE_F64), "f64");
    ck_assert_ptr_null(pl_dtype_name(9));
    ck_assert(pl_fields_parse("velocity,position", &bits, &wrong) &&
              bits == (PL_FIELD_POSITION | PL_FIELD_VELOCITY));
    ck_assert(pl_fields_parse("velocity", &bits, &wrong) && bits == PL_FIELD_VELOCITY);
    ck_assert(pl_fields_parse("position,stress", &bits, &wrong) && bits == 5);
    ck_assert(pl_fields_parse("contacts", &bits, &wrong) && bits == PL_FIELD_CONTACTS);
    ck_assert_uint_eq(pl_field_parse("stress"), PL_FIELD_STRESS);
    ck_assert_uint_eq(pl_field_parse("element_stress"), PL_FIELD_ELEMENT_STRESS);
    ck_assert_uint_eq(pl_field_parse("position,stress"), 0);
    static const char *const bad[] = {"",
                                      "position,",
                                      ",position",
                                      "speed",
                                      "position,position",
                                      "position velocity",
                                      "element_stress"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!pl_fields_parse(bad[i], &bits, &wrong), "%s", bad[i]);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("variants");
    tcase_add_loop_test(t, test_variants, 0, 2 * VARIANTS);
    tcase_add_loop_test(t, test_as_stored, 0, 2);
    tcase_add_loop_test(t, test_contacts, 0, 2 * (sizeof of_contacts / sizeof *of_contacts));
    tcase_add_test(t, test_flat);
    tcase_add_test(t, test_refusals);
    tcase_add_test(t, test_names);
    return run_cases("protocol/frame_variant", t);
}
