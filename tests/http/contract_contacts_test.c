/* Contacts between bodies with the frames: as records, lines of JSON and arrays, and in a stream. */
#include "protocol/log/frame_contacts.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char done[33];
enum { LAST = 25 };

/* A block falls on another one and slides. */
static char *scene_with(const char *fields)
{
    char *scene = NULL;
    ck_assert_int_gt(
        asprintf(&scene,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d},"
                 " \"contact\": {\"friction\": 0.4}, \"bodies\": ["
                 "{\"name\": \"upper\", \"mesh\": {\"box\": {\"size\": [0.3, 0.3, 0.3],"
                 " \"cells\": [2, 2, 2]}}, \"transform\": {\"translate\": [0.02, 0.37, 0.01]}},"
                 "{\"name\": \"lower\", \"mesh\": {\"box\": {\"size\": [0.4, 0.4, 0.4],"
                 " \"cells\": [2, 2, 2]}}}],"
                 " \"pins\": [{\"body\": \"lower\", \"select\": {\"side\": \"-y\"}}],"
                 " \"gravity\": [1, -9.81, 0], \"output\": {\"fields\": [%s]}}",
                 LAST, fields),
        0);
    return scene;
}

static void start(void)
{
    daemon_fixture_start(d, NULL);
    session_run(d, scene_with("\"position\", \"contacts\""), done);
}

/* The points of a record, malloc'ed. */
static pl_contact_point *points_of(const http_reply *reply, pl_frame_header *h)
{
    pl_record r;
    const unsigned char *body = (const unsigned char *)reply->body;
    ck_assert_int_eq(pl_record_decode(body, reply->length, &r), PL_RECORD_GOOD);
    ck_assert_uint_eq(pl_crc32c(0, body + PL_RECORD_HEADER, (size_t)r.length), r.payload_crc);
    ck_assert(pl_frame_header_decode(body + PL_RECORD_HEADER, r.length, h));
    pl_contact_point *out = malloc((size_t)h->contacts * sizeof *out + 1);
    pl_frame_contacts_decode(h, pl_frame_contacts_at(h, body + PL_RECORD_HEADER),
                             (int64_t)h->contacts, out);
    return out;
}

/* The force of the upper block on the lower one by the metrics. */
static void force_of(double out[3])
{
    http_reply *r = http_get_as(d, session_target(done, "metrics?from=25"), "application/x-ndjson");
    http_expect(r, 200);
    const char *line = strstr(r->body, "{\"seq\":25");
    ck_assert_ptr_nonnull(line);
    json_t *value = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *force = json_at(json_array_get(json_at(json_at(value, "contact"), "forces"), 0),
                                  "force");
    for (int c = 0; c < 3; c++)
        out[c] = json_number_value(json_array_get(force, (size_t)c));
    json_decref(value);
    http_reply_free(r);
}

static pl_contact_point *get_points(const char *rest, pl_frame_header *h)
{
    http_reply *r = http_get(d, session_target(done, rest));
    http_expect(r, 200);
    pl_contact_point *points = points_of(r, h);
    http_reply_free(r);
    return points;
}

/* Stored with the frame, they add up to the force in the metrics, within float32 precision. */
START_TEST(test_records)
{
    double force[3];
    pl_frame_header h, alone;
    pl_contact_point *points = get_points("frames/25", &h);
    ck_assert_uint_eq(h.fields, PL_FIELD_POSITION | PL_FIELD_CONTACTS);
    ck_assert_uint_gt(h.contacts, 3);
    ck_assert(points[0].body[0] == 0 && points[0].body[1] == 1);
    force_of(force);
    ck_assert_double_lt(force[1], -1);
    for (int c = 0; c < 3; c++) {
        for (uint64_t i = 0; i < h.contacts; i++)
            force[c] -= points[i].newton[c];
        ck_assert_double_le(fabs(force[c]), 1e-3);
    }
    pl_contact_point *same = get_points("frames/25?fields=contacts&dtype=f64", &alone);
    ck_assert_uint_eq(alone.contacts, h.contacts);
    ck_assert_uint_eq(alone.fields, PL_FIELD_CONTACTS);
    ck_assert_mem_eq(same, points, (size_t)h.contacts * sizeof *same);
    free(same);
    free(points);
    points = get_points("frames/25?fields=position", &alone);
    ck_assert_uint_eq(alone.contacts, 0);
    free(points);
}
END_TEST

static void check_vector(const json_t *list, const double v[3])
{
    ck_assert_uint_eq(json_array_size(list), 3);
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(json_number_value(json_array_get(list, (size_t)c)), v[c],
                                1e-6 * fabs(v[c]));
}

START_TEST(test_lines)
{
    pl_frame_header h;
    pl_contact_point *points = get_points("frames/25", &h);
    http_reply *line = http_get_as(d, session_target(done, "frames/25?fields=contacts"),
                                   "application/x-ndjson");
    http_expect(line, 200);
    json_t *value = json_loads(line->body, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *list = json_at(value, "contacts");
    ck_assert_uint_eq(json_array_size(list), h.contacts);
    ck_assert_ptr_null(json_object_get(value, "position"));
    for (uint64_t i = 0; i < h.contacts; i++) {
        const json_t *point = json_array_get(list, i), *bodies = json_at(point, "bodies");
        for (size_t k = 0; k < 2; k++)
            ck_assert_int_eq(json_integer_value(json_array_get(bodies, k)), points[i].body[k]);
        check_vector(json_at(point, "position"), points[i].place);
        check_vector(json_at(point, "force"), points[i].newton);
        ck_assert_double_eq_tol(json_number_value(json_at(point, "gap")), points[i].gap, 1e-9);
    }
    json_decref(value);
    free(points);
    http_reply_free(line);
}
END_TEST

/* One array with named parts, whose items equal the record's. */
START_TEST(test_npy)
{
    pl_frame_header h;
    char shape[48];
    free(get_points("frames/25?fields=contacts", &h));
    http_reply *record = http_get(d, session_target(done, "frames/25?fields=contacts")),
               *r = http_get_as(d, session_target(done, "frames/25?fields=contacts"),
                                "application/x-npy");
    http_expect(r, 200);
    snprintf(shape, sizeof shape, "'shape': (%llu,)", (unsigned long long)h.contacts);
    ck_assert_ptr_nonnull(memmem(r->body, 192, shape, strlen(shape)));
    ck_assert_ptr_nonnull(memmem(r->body, 192, "('force', '<f4', (3,))", 22));
    const size_t bytes = (size_t)h.contacts * 36,
                 header = 10 + (unsigned char)r->body[8] + 256 * (size_t)(unsigned char)r->body[9];
    ck_assert_uint_eq(header % 64, 0);
    ck_assert_uint_eq(r->length, header + bytes);
    ck_assert_mem_eq(r->body + header, record->body + PL_RECORD_HEADER + PL_FRAME_HEADER, bytes);
    http_reply_free(r);
    http_reply_free(record);
}
END_TEST

START_TEST(test_stream)
{
    http_stream s = http_stream_open(
        d, session_target(done, "frames?from=0&follow=1&fields=position,contacts&dtype=u16"), NULL);
    pl_record r;
    char *payload;
    uint64_t most = 0;
    int frames = 0;
    while (http_stream_record(&s, &r, &payload)) {
        pl_frame_header h;
        if (r.type == PL_RECORD_HELLO)
            ck_assert_ptr_nonnull(strstr(payload, "\"contacts\""));
        if (r.type == PL_RECORD_FRAME) {
            ck_assert(pl_frame_header_decode((unsigned char *)payload, r.length, &h));
            most = h.contacts > most ? h.contacts : most;
            frames++;
        }
        free(payload);
    }
    http_stream_close(&s);
    ck_assert_int_eq(frames, LAST + 1);
    ck_assert_uint_gt(most, 3);
}
END_TEST

START_TEST(test_not_stored)
{
    char id[33];
    session_run(d, scene_with("\"position\""), id);
    http_reply *r = http_get(d, session_target(id, "frames/3?fields=contacts"));
    const json_t *fault = http_fault(http_problem(r, 400, "bad_query"), "/query/fields");
    ck_assert_str_eq(json_text(fault, "code"), "not_stored");
    ck_assert_str_eq(json_text(fault, "got"), "contacts");
    ck_assert_ptr_nonnull(strstr(json_text(fault, "hint"), "\"contacts\"]"));
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("contacts");
    tcase_set_timeout(t, 180);
    tcase_add_unchecked_fixture(t, start, stop_daemon);
    tcase_add_test(t, test_records);
    tcase_add_test(t, test_lines);
    tcase_add_test(t, test_npy);
    tcase_add_test(t, test_stream);
    tcase_add_test(t, test_not_stored);
    return run_cases("contract: contacts of frames", t);
}
