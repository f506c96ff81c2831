/* Frames in other forms: dtype, vertices, fields, JSON lines; every n-th; limited rates; each made once for all
 * readers. */
#include "protocol/log/frame_variant.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char done[33]; /* frames 0 to LAST, with velocities */
enum { LAST = 12, VERTICES = 64, SURFACE = 56 };

static char *scene_with(const char *output, int64_t steps)
{
    char *scene = session_scene(steps, 1, ""), *more = NULL;
    char *at = strstr(scene, "\"every\": 1");
    ck_assert_int_gt(asprintf(&more, "%.*s%s, %s", (int)(at - scene), scene, output, at), 0);
    free(scene);
    return more;
}

static void start(void)
{
    daemon_fixture_start(d, NULL);
    session_run(d, scene_with("\"fields\": [\"position\", \"velocity\"]", LAST), done);
}

/* Values of a field of a record, the header in *h. */
static float *values_of(const char *body, size_t size, uint32_t field, pl_frame_header *h)
{
    pl_record r;
    ck_assert_int_eq(pl_record_decode((const unsigned char *)body, size, &r), PL_RECORD_GOOD);
    ck_assert_int_eq(r.type, PL_RECORD_FRAME);
    ck_assert_uint_eq(pl_crc32c(0, body + PL_RECORD_HEADER, (size_t)r.length), r.payload_crc);
    ck_assert(pl_frame_header_decode((const unsigned char *)body + PL_RECORD_HEADER, r.length, h));
    float *out = malloc((size_t)h->count * 3 * sizeof *out);
    ck_assert(pl_frame_values(h, body + PL_RECORD_HEADER, field, out));
    return out;
}

static float *frame_values(const char *rest, uint32_t field, pl_frame_header *h)
{
    http_reply *r = http_get(d, session_target(done, rest));
    http_expect(r, 200);
    float *out = values_of(r->body, r->length, field, h);
    http_reply_free(r);
    return out;
}

/* The surface's vertices are those of the triangles. */
static int32_t *surface_map(void)
{
    http_reply *r = http_get_as(d, session_target(done, "topology?array=surface"),
                                "application/x-npy");
    http_expect(r, 200);
    ck_assert_uint_eq(r->length, 128 + 4 * SURFACE);
    int32_t *map = malloc(4 * SURFACE);
    memcpy(map, r->body + 128, 4 * SURFACE);
    http_reply_free(r);
    bool drawn[VERTICES] = {false};
    r = http_get_as(d, session_target(done, "topology?array=triangles"), "application/x-npy");
    for (size_t at = 128; at < r->length; at += 4) {
        int32_t v;
        memcpy(&v, r->body + at, 4);
        drawn[v] = true;
    }
    http_reply_free(r);
    for (int v = 0, k = 0; v < VERTICES; v++)
        if (drawn[v])
            ck_assert_int_eq(map[k++], v);
    return map;
}

START_TEST(test_single_frame)
{
    pl_frame_header all, h;
    float *x = frame_values("frames/9", PL_FIELD_POSITION, &all);
    float *v = frame_values("frames/9", PL_FIELD_VELOCITY, &h);
    ck_assert(all.dtype == PL_DTYPE_F32 && all.fields == (PL_FIELD_POSITION | PL_FIELD_VELOCITY) &&
              all.count == VERTICES);
    int32_t *map = surface_map();
    float *s = frame_values("frames/9?vertices=surface&dtype=u16&fields=position",
                            PL_FIELD_POSITION, &h);
    ck_assert(h.dtype == PL_DTYPE_U16 && h.fields == PL_FIELD_POSITION && h.count == SURFACE);
    ck_assert_double_eq(h.time, all.time);
    for (int i = 0; i < 3 * SURFACE;
         i++) /* the cube is 1 m wide: a step of 1/65535 and little more */
        ck_assert_float_eq_tol(s[i], x[3 * map[i / 3] + i % 3], 1.2e-5f);
    float *w = frame_values("frames/9?dtype=f64&fields=velocity", PL_FIELD_VELOCITY, &h);
    ck_assert(h.dtype == PL_DTYPE_F64 && h.fields == PL_FIELD_VELOCITY);
    ck_assert_mem_eq(w, v, 12 * VERTICES);
    /* What falls has a velocity: backward Euler's is the difference over the step. */
    float *before = frame_values("frames/8", PL_FIELD_POSITION, &h);
    float most = 0;
    for (int i = 0; i < 3 * VERTICES; i++) {
        ck_assert_float_eq_tol(v[i], (x[i] - before[i]) / 0.01f, 1e-3f);
        most = fmaxf(most, fabsf(v[i]));
    }
    ck_assert_float_gt(most, 0.1f);
    free(before);
    free(w);
    free(s);
    free(map);
    free(v);
    free(x);
}
END_TEST

/* What only edges have is drawn too. */
START_TEST(test_surface_of_a_rope)
{
    char id[33];
    session_run(d,
                strdup("{\"pliant\": 1, \"time\": {\"steps\": 1}, \"materials\": {\"hemp\":"
                       " {\"young\": 1e7, \"density\": 800, \"area\": 1e-4}}, \"bodies\":"
                       " [{\"mesh\": {\"rope\": {\"length\": 1, \"segments\": 8}},"
                       " \"material\": \"hemp\"}]}"),
                id);
    http_reply *r = http_get_as(d, session_target(id, "topology?array=surface"),
                                "application/x-npy");
    http_expect(r, 200);
    ck_assert_uint_eq(r->length, 128 + 4 * 9);
    http_reply_free(r);
}
END_TEST

START_TEST(test_npy)
{
    http_reply *v = http_get_as(d, session_target(done, "frames/9?fields=velocity"),
                                "application/x-npy");
    http_reply *w = http_get_as(d, session_target(done, "frames/9?dtype=f64&vertices=surface"),
                                "application/x-npy");
    pl_frame_header h;
    float *values = frame_values("frames/9", PL_FIELD_VELOCITY, &h);
    http_expect(v, 200);
    ck_assert_uint_eq(v->length, 128 + 12 * VERTICES);
    ck_assert_mem_eq(v->body + 128, values, 12 * VERTICES);
    http_expect(w, 200);
    ck_assert_uint_eq(w->length, 128 + 24 * SURFACE);
    ck_assert_ptr_nonnull(memmem(w->body, 128, "'<f8'", 5));
    free(values);
    http_reply_free(v);
    http_reply_free(w);
}
END_TEST

/* A line of JSON: the numbers of the record. */
START_TEST(test_lines)
{
    http_stream s = http_stream_open(d, session_target(done, "frames?from=11&vertices=surface"),
                                     "Accept: application/x-ndjson\r\n");
    ck_assert_str_eq(http_header(s.reply, "Content-Type"), "application/x-ndjson");
    static const char *const events[] = {"hello", "", "", "end"};
    pl_frame_header h;
    float *x = frame_values("frames/11?vertices=surface", PL_FIELD_POSITION, &h);
    for (int i = 0; i < 4; i++) {
        char *line = http_stream_line(&s);
        json_t *value = json_loads(line, 0, NULL);
        ck_assert_str_eq(json_text(value, "event"), events[i]);
        if (i == 1) {
            ck_assert_int_eq(json_count(value, "frame"), 11);
            ck_assert_uint_eq(json_array_size(json_at(value, "velocity")), 3 * SURFACE);
            const json_t *position = json_at(value, "position");
            for (size_t k = 0; k < 3 * SURFACE; k++)
                ck_assert((float)json_number_value(json_array_get(position, k)) == x[k]);
        }
        json_decref(value);
        free(line);
    }
    ck_assert_ptr_null(http_stream_line(&s));
    http_stream_close(&s);
    http_reply *one = http_get_as(d, session_target(done, "frames/11?vertices=surface"),
                                  "application/x-ndjson");
    http_expect(one, 200);
    ck_assert_int_eq(one->body[one->length - 1], '\n');
    http_reply_free(one);
    free(x);
}
END_TEST

static json_t *payload_json(const pl_record *r, char *payload)
{
    json_t *value = json_loadb(payload, (size_t)r->length, 0, NULL);
    free(payload);
    return value;
}

/* A stream's converted frames equal the single ones; hello describes them. */
START_TEST(test_stream)
{
    http_reply *stream = http_get(
        d, session_target(done, "frames?from=2&to=11&every=3&dtype=u16&vertices=surface&follow=1"));
    http_expect(stream, 200);
    pl_record r;
    const char *at = stream->body;
    ck_assert_int_eq(pl_record_decode((unsigned char *)at, stream->length, &r), PL_RECORD_GOOD);
    json_t *hello = json_loadb(at + PL_RECORD_HEADER, (size_t)r.length, 0, NULL);
    ck_assert_str_eq(json_text(hello, "dtype"), "u16");
    ck_assert_str_eq(json_text(hello, "select"), "surface");
    ck_assert_str_eq(json_text(hello, "fields/1"), "velocity");
    ck_assert_int_eq(json_count(hello, "vertices"), SURFACE);
    ck_assert_int_eq(json_count(hello, "from"), 3);
    json_decref(hello);
    at += pl_record_size(r.length);
    for (int k = 3; k <= 9; k += 3) {
        char rest[64];
        snprintf(rest, sizeof rest, "frames/%d?dtype=u16&vertices=surface", k);
        http_reply *one = http_get(d, session_target(done, rest));
        ck_assert_mem_eq(at, one->body, one->length);
        at += one->length;
        http_reply_free(one);
    }
    ck_assert_int_eq(pl_record_decode((unsigned char *)at, PL_RECORD_HEADER, &r), PL_RECORD_GOOD);
    ck_assert_int_eq(r.type, PL_RECORD_END);
    ck_assert_ptr_eq(at + pl_record_size(r.length), stream->body + stream->length);
    http_reply_free(stream);
}
END_TEST

static const struct {
    const char *rest, *accept, *code;
    int status;
} refused[] = {
    {"frames?dtype=f16", NULL, "bad_query", 400},
    {"frames?vertices=inner", NULL, "bad_query", 400},
    {"frames?fields=speed", NULL, "bad_query", 400},
    {"frames?fields=position,position", NULL, "bad_query", 400},
    {"frames?every=0", NULL, "bad_query", 400},
    {"frames?max_fps=0", NULL, "bad_query", 400},
    {"frames?max_fps=1001", NULL, "bad_query", 400},
    {"frames/3?dtype=f16", NULL, "bad_query", 400},
    {"frames/3?every=2", NULL, "bad_query", 400},
    {"frames/3?dtype=u16", "application/x-npy", "bad_query", 400},
    {"frames/3?fields=position,velocity", "application/x-npy", "bad_query", 400},
    {"metrics?dtype=u16", NULL, "bad_query", 400},
};

START_TEST(test_refusals)
{
    http_reply *r = refused[_i].accept
                        ? http_get_as(d, session_target(done, refused[_i].rest), refused[_i].accept)
                        : http_get(d, session_target(done, refused[_i].rest));
    http_problem(r, refused[_i].status, refused[_i].code);
    http_reply_free(r);
}
END_TEST

/* Velocities that are not stored are rejected with a remedy. */
START_TEST(test_not_stored)
{
    char id[33];
    session_run(d, session_scene(2, 1, ""), id);
    http_reply *r = http_get(d, session_target(id, "frames?fields=velocity"));
    const json_t *faults = http_problem(r, 400, "bad_query");
    const json_t *fault = http_fault(faults, "/query/fields");
    ck_assert_str_eq(json_text(fault, "code"), "not_stored");
    ck_assert_ptr_nonnull(strstr(json_text(fault, "hint"), "output"));
    http_reply_free(r);
}
END_TEST

/* A session with more vertices than a line may have. */
START_TEST(test_too_many_for_lines)
{
    char id[33];
    char scene[] = "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1},"
                   " \"solver\": {\"iterations\": 1, \"tolerance\": 0}, \"bodies\": [{\"mesh\":"
                   " {\"box\": {\"size\": [20, 20, 0.1], \"cells\": [80, 80, 1]}}}]}";
    session_run(d, strdup(scene), id);
    http_reply *r = http_get_as(d, session_target(id, "frames"), "application/x-ndjson");
    http_problem(r, 406, "not_acceptable");
    http_reply_free(r);
}
END_TEST

/* ---- live ---- */

/* Many followers of one session, each in a converted form: every frame is converted once. */
START_TEST(test_made_once)
{
    enum { FOLLOWERS = 24 };
    char id[33];
    http_stream s[FOLLOWERS];
    pl_record r;
    char *payload;
    session_post_free(d, session_scene(6000, 100, ""), id);
    int64_t before = session_counter(d, "frames_encoded_total"),
            shared = session_counter(d, "frames_shared_total");
    for (int i = 0; i < FOLLOWERS; i++)
        s[i] = http_stream_open(d, session_target(id, "frames?from=0&follow=1&dtype=u16"), NULL);
    for (int i = 0; i < FOLLOWERS; i++) {
        int64_t next = 0;
        while (http_stream_record(&s[i], &r, &payload)) {
            if (r.type == PL_RECORD_FRAME)
                ck_assert_int_eq((int64_t)r.frame, next++);
            free(payload);
        }
        ck_assert_int_eq(next, 61);
        http_stream_close(&s[i]);
    }
    ck_assert_int_eq(session_counter(d, "frames_encoded_total") - before, 61);
    ck_assert_int_eq(session_counter(d, "frames_shared_total") - shared, 61 * (FOLLOWERS - 1));
    ck_assert_int_gt(session_counter(d, "frame_cache_bytes"), 0);
}
END_TEST

/* Followers of new frames have no log open: the newest frame is read once, for all. */
START_TEST(test_followers_share)
{
    enum { FOLLOWERS = 20, READ = 4 };
    char id[33];
    http_stream s[FOLLOWERS];
    pl_record r;
    char *payload;
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    for (int i = 0; i < FOLLOWERS; i++)
        s[i] = http_stream_open(d, session_target(id, "frames?mode=latest&follow=1"), NULL);
    for (int i = 0; i < FOLLOWERS * READ; i++) {
        do {
            ck_assert(http_stream_record(&s[i / READ], &r, &payload));
            free(payload);
        } while (r.type != PL_RECORD_FRAME);
    }
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    while (session_counter(d, "stream_log_readers") > 3 && daemon_fixture_clock() < end)
        daemon_fixture_nap();
    ck_assert_int_le(session_counter(d, "stream_log_readers"), 3);
    for (int i = 0; i < FOLLOWERS; i++)
        http_stream_close(&s[i]);
    session_tell(d, id, "cancel");
}
END_TEST

/* latest: an ascending selection, and `limit` counts sent frames. */
START_TEST(test_latest_limited)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 3);
    http_stream s = http_stream_open(
        d, session_target(id, "frames?mode=latest&follow=1&limit=4&max_fps=20&every=2&dtype=u16"),
        NULL);
    pl_record r;
    char *payload;
    int64_t last = 0;
    int frames = 0;
    double first = 0, end = 0;
    while (http_stream_record(&s, &r, &payload)) {
        if (r.type == PL_RECORD_FRAME) {
            ck_assert_int_gt((int64_t)r.frame, last);
            ck_assert_int_eq((int64_t)r.frame % 2, 0);
            last = (int64_t)r.frame;
            end = daemon_fixture_clock();
            first = frames++ == 0 ? end : first;
            free(payload);
        } else {
            json_t *value = payload_json(&r, payload);
            ck_assert(r.type == PL_RECORD_HELLO ||
                      strcmp(json_text(value, "reason"), "limit") == 0);
            json_decref(value);
        }
    }
    ck_assert_int_eq(frames, 4);
    ck_assert_double_ge(end - first,
                        0.14); /* three intervals of 50 ms, less the first one's delay */
    http_stream_close(&s);
    session_tell(d, id, "cancel");
}
END_TEST

/* The pace of stored frames: every frame, at the requested rate, without gaps. */
START_TEST(test_paced_history)
{
    double begin = daemon_fixture_clock();
    http_reply *r = http_get(d, session_target(done, "frames?from=0&max_fps=50"));
    ck_assert_double_ge(daemon_fixture_clock() - begin, 0.02 * LAST - 0.01);
    size_t at = 0;
    int frames = 0;
    pl_record record;
    while (at < r->length) {
        ck_assert_int_eq(pl_record_decode((unsigned char *)r->body + at, r->length - at, &record),
                         PL_RECORD_GOOD);
        frames += record.type == PL_RECORD_FRAME;
        at += pl_record_size(record.length);
    }
    ck_assert_int_eq(frames, LAST + 1);
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("variants");
    tcase_set_timeout(t, 180);
    tcase_add_unchecked_fixture(t, start, stop_daemon);
    tcase_add_test(t, test_single_frame);
    tcase_add_test(t, test_surface_of_a_rope);
    tcase_add_test(t, test_npy);
    tcase_add_test(t, test_lines);
    tcase_add_test(t, test_stream);
    tcase_add_loop_test(t, test_refusals, 0, sizeof refused / sizeof *refused);
    tcase_add_test(t, test_not_stored);
    tcase_add_test(t, test_too_many_for_lines);
    tcase_add_test(t, test_made_once);
    tcase_add_test(t, test_followers_share);
    tcase_add_test(t, test_latest_limited);
    tcase_add_test(t, test_paced_history);
    return run_cases("contract: variants of frames", t);
}
