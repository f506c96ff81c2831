/* Topology, single frames and the stream of frames.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char done[33]; /* a session of frames 0 to LAST that has succeeded */
enum { LAST = 12, VERTICES = 64, TETS = 162, BOUNDARY = 108 };

static void start(void)
{
    daemon_fixture_start(d, NULL);
    session_run(d, session_scene(LAST, 1, ""), done);
}

/* ---- npy ---- */

typedef struct npy {
    http_reply *reply;
    char descr[8];
    long long rows, columns;
    const char *values; /* not aligned */
} npy;

/* A two-dimensional array in C order with values of `width` bytes. */
static npy npy_get(const char *target, const char *accept, int width)
{
    npy a = {.reply = http_get_as(d, target, accept)};
    char text[512];
    http_expect(a.reply, 200);
    ck_assert_str_eq(http_header(a.reply, "Content-Type"), "application/x-npy");
    const unsigned char *bytes = (unsigned char *)a.reply->body;
    ck_assert_uint_ge(a.reply->length, 10);
    ck_assert_mem_eq(bytes, "\x93NUMPY\x01\x00", 8);
    size_t head = 10u + bytes[8] + 256u * bytes[9];
    ck_assert_uint_eq(head % 64, 0);
    ck_assert_uint_lt(head, sizeof text);
    ck_assert_uint_le(head, a.reply->length);
    snprintf(text, sizeof text, "%.*s", (int)(head - 10), a.reply->body + 10);
    ck_assert_int_eq(text[head - 11], '\n');
    ck_assert_ptr_nonnull(strstr(text, "'fortran_order': False"));
    const char *descr = strstr(text, "'descr': '"), *shape = strstr(text, "'shape': (");
    ck_assert(descr && shape);
    ck_assert_int_eq(sscanf(descr + 10, "%7[^']'", a.descr), 1);
    ck_assert_int_eq(sscanf(shape + 10, "%lld, %lld)", &a.rows, &a.columns), 2);
    ck_assert_uint_eq(a.reply->length - head, (size_t)(a.rows * a.columns * width));
    a.values = a.reply->body + head;
    return a;
}

static void npy_free(npy *a)
{
    http_reply_free(a->reply);
}

static int32_t npy_integer(const npy *a, size_t i)
{
    int32_t v;
    memcpy(&v, a->values + 4 * i, 4);
    return v;
}

static float npy_float(const npy *a, size_t i)
{
    float v;
    memcpy(&v, a->values + 4 * i, 4);
    return v;
}

/* ---- topology ---- */

START_TEST(test_topology)
{
    http_reply *r = http_get(d, session_target(done, "topology"));
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "bodies/0/name"), "cube");
    ck_assert_int_eq(json_count(r->json, "bodies/0/vertices"), VERTICES);
    ck_assert_int_eq(json_count(r->json, "bodies/0/first_vertex"), 0);
    npy triangles = npy_get(session_target(done, "topology?array=triangles"), "*/*", 4);
    npy tets = npy_get(session_target(done, "topology?array=tets"), "*/*", 4);
    ck_assert_str_eq(triangles.descr, "<i4");
    ck_assert_str_eq(tets.descr, "<i4");
    ck_assert_int_eq(triangles.rows, BOUNDARY);
    ck_assert_int_eq(triangles.columns, 3);
    ck_assert_int_eq(tets.rows, TETS);
    ck_assert_int_eq(tets.columns, 4);
    const json_t *flat = json_at(r->json, "bodies/0/triangles");
    ck_assert_uint_eq(json_array_size(flat), 3 * BOUNDARY);
    for (size_t i = 0; i < 3 * BOUNDARY; i++)
        ck_assert_int_eq(json_integer_value(json_array_get(flat, i)), npy_integer(&triangles, i));
    for (size_t i = 0; i < 4 * TETS; i++)
        ck_assert(npy_integer(&tets, i) >= 0 && npy_integer(&tets, i) < VERTICES);
    npy_free(&triangles);
    npy_free(&tets);
    http_reply_free(r);
    r = http_get(d, session_target(done, "topology?array=quads"));
    http_problem(r, 400, "bad_query");
    http_reply_free(r);
}
END_TEST

/* A second body's vertices have indices of the whole session. */
START_TEST(test_topology_of_two)
{
    char id[33];
    char *scene = NULL;
    ck_assert_int_gt(asprintf(&scene,
                              "{\"pliant\": 1, \"time\": {\"steps\": 1}, \"bodies\": ["
                              "{\"name\": \"a\", \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}},"
                              "{\"name\": \"b\", \"mesh\": {\"box\": {\"cells\": [1, 1, 2]}},"
                              " \"transform\": {\"translate\": [5, 0, 0]}}],"
                              "\"pins\": [{\"body\": \"b\", \"select\": {\"side\": \"-x\"}}]}"),
                     0);
    session_run(d, scene, id);
    http_reply *r = http_get(d, session_target(id, "topology"));
    const json_t *held = json_at(r->json, "pins/0/at");
    ck_assert_uint_eq(json_array_size(held), 6);
    ck_assert_int_eq(json_count(r->json, "pins/0/vertices"), 6);
    for (size_t i = 0; i < 6; i++)
        ck_assert_int_ge(json_integer_value(json_array_get(held, i)), 8);
    ck_assert_int_eq(json_count(r->json, "bodies/1/first_vertex"), 8);
    ck_assert_int_eq(json_count(r->json, "bodies/1/vertices"), 12);
    npy tets = npy_get(session_target(id, "topology?array=tets"), "*/*", 4);
    ck_assert_int_eq(tets.rows, 18);
    for (size_t i = 0; i < 24; i++)
        ck_assert_int_lt(npy_integer(&tets, i), 8);
    for (size_t i = 24; i < 72; i++)
        ck_assert(npy_integer(&tets, i) >= 8 && npy_integer(&tets, i) < 20);
    npy_free(&tets);
    http_reply_free(r);
}
END_TEST

/* ---- one frame ---- */

START_TEST(test_frame_npy)
{
    npy first = npy_get(session_target(done, "frames/0"), "application/x-npy", 4);
    npy last = npy_get(session_target(done, "frames/latest"), "application/x-npy", 4);
    npy same = npy_get(session_target(done, "frames/12"), "application/x-npy", 4);
    ck_assert_str_eq(first.descr, "<f4");
    ck_assert_int_eq(first.rows, VERTICES);
    ck_assert_int_eq(first.columns, 3);
    /* The box at rest: every coordinate a multiple of 1/3 from -1/2 to 1/2, its corners there. */
    for (size_t i = 0; i < 3 * VERTICES; i++) {
        float at = 3 * (npy_float(&first, i) + 0.5f);
        ck_assert_float_eq_tol(at, (float)(int)(at + 0.5f), 1e-5f);
        ck_assert(at > -0.1f && at < 3.1f);
    }
    ck_assert_uint_eq(last.reply->length, same.reply->length);
    ck_assert_mem_eq(last.reply->body, same.reply->body, same.reply->length);
    ck_assert_mem_ne(last.values, first.values, 12 * VERTICES);
    npy_free(&first);
    npy_free(&last);
    npy_free(&same);
}
END_TEST

/* The record of a frame: header, times, and the values that npy has. */
START_TEST(test_frame_record)
{
    http_reply *r = http_get(d, session_target(done, "frames/7"));
    http_expect(r, 200);
    ck_assert_str_eq(http_header(r, "Content-Type"), "application/vnd.pliant.frames");
    const unsigned char *bytes = (unsigned char *)r->body;
    pl_record record;
    pl_frame_header header;
    ck_assert_int_eq(pl_record_decode(bytes, r->length, &record), PL_RECORD_GOOD);
    ck_assert_int_eq(record.type, PL_RECORD_FRAME);
    ck_assert_uint_eq(record.frame, 7);
    ck_assert_uint_eq(record.seq, 7);
    ck_assert_uint_eq(record.attempt, 1);
    ck_assert_uint_eq(r->length, pl_record_size(record.length));
    ck_assert_uint_eq(pl_crc32c(0, bytes + PL_RECORD_HEADER, (size_t)record.length),
                      record.payload_crc);
    ck_assert(pl_frame_header_decode(bytes + PL_RECORD_HEADER, record.length, &header));
    ck_assert_uint_eq(header.dtype, PL_DTYPE_F32);
    ck_assert_uint_eq(header.fields, PL_FIELD_POSITION);
    ck_assert_uint_eq(header.count, VERTICES);
    ck_assert_uint_eq(header.step, 7);
    ck_assert_double_eq_tol(header.time, 0.07, 1e-12);
    npy values = npy_get(session_target(done, "frames/7"), "application/x-npy", 4);
    ck_assert_mem_eq(values.values, bytes + PL_RECORD_HEADER + PL_FRAME_HEADER, 12 * VERTICES);
    npy_free(&values);
    http_reply_free(r);
}
END_TEST

/* Positions stored in double precision are sent as such in records, and as float32 in npy. */
START_TEST(test_frame_double)
{
    char id[33];
    char *scene = session_scene(2, 1, "");
    char *at = strstr(scene, "\"every\": 1");
    char *more = NULL;
    ck_assert_int_gt(
        asprintf(&more, "%.*s\"precision\": \"double\", %s", (int)(at - scene), scene, at), 0);
    free(scene);
    session_run(d, more, id);
    http_reply *r = http_get(d, session_target(id, "frames/2"));
    pl_frame_header header;
    pl_record record;
    const unsigned char *bytes = (unsigned char *)r->body;
    ck_assert_int_eq(pl_record_decode(bytes, r->length, &record), PL_RECORD_GOOD);
    ck_assert(pl_frame_header_decode(bytes + PL_RECORD_HEADER, record.length, &header));
    ck_assert_uint_eq(header.dtype, PL_DTYPE_F64);
    http_stream s = http_stream_open(d, session_target(id, "frames?from=2"), NULL);
    char *payload;
    ck_assert(http_stream_record(&s, &record, &payload));
    json_t *hello = json_loads(payload, 0, NULL);
    ck_assert_str_eq(json_text(hello, "dtype"), "f64");
    json_decref(hello);
    free(payload);
    http_stream_close(&s);
    npy values = npy_get(session_target(id, "frames/2"), "application/x-npy", 4);
    ck_assert_str_eq(values.descr, "<f4");
    ck_assert_int_eq(values.rows, VERTICES);
    for (size_t i = 0; i < 3 * VERTICES; i++) {
        double stored;
        memcpy(&stored, bytes + PL_RECORD_HEADER + PL_FRAME_HEADER + 8 * i, 8);
        ck_assert(npy_float(&values, i) == (float)stored);
    }
    npy_free(&values);
    http_reply_free(r);
}
END_TEST

START_TEST(test_frame_refusals)
{
    static const struct {
        const char *k;
        int status;
    } rows[] = {{"13", 404},
                {"99999999999999", 404},
                {"-1", 400},
                {"1x", 400},
                {"1.5", 400},
                {"first", 400},
                {"99999999999999999999999999", 400},
                {"%2e%2e", 400}};
    char target[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(target, sizeof target, "frames/%s", rows[i].k);
        http_reply *r = http_get(d, session_target(done, target));
        ck_assert_msg(r->status == rows[i].status, "%s: %d", rows[i].k, r->status);
        ck_assert_str_eq(http_header(r, "Content-Type"), "application/problem+json");
        http_reply_free(r);
    }
    http_reply *r = http_get_as(d, session_target(done, "frames/1"), "image/png");
    http_problem(r, 406, "not_acceptable");
    ck_assert_ptr_nonnull(strstr(r->body, "application/x-npy"));
    http_reply_free(r);
    r = http_get_as(d, session_target(done, "frames?from=0"), "image/png");
    http_problem(r, 406, "not_acceptable");
    http_reply_free(r);
}
END_TEST

/* ---- the stream ---- */

typedef struct told {
    int64_t first, last; /* frames seen, without a hole */
    char reason[32], state[32];
    int64_t end_frame;
} told;

static void check_hello(const char *id, const pl_record *record, const char *payload, int64_t from)
{
    ck_assert_int_eq(record->type, PL_RECORD_HELLO);
    json_t *hello = json_loadb(payload, (size_t)record->length, 0, NULL);
    ck_assert_int_eq(json_count(hello, "format"), 1);
    ck_assert_str_eq(json_text(hello, "session"), id);
    ck_assert_str_eq(json_text(hello, "topology"), session_target(id, "topology"));
    ck_assert_str_eq(json_text(hello, "dtype"), "f32");
    ck_assert_int_eq(json_count(hello, "vertices"), VERTICES);
    ck_assert_int_gt(json_count(hello, "frames"), 0);
    ck_assert_int_eq(json_count(hello, "from"), from);
    json_decref(hello);
}

/* The next frame record; the end record ends it with false. */
static bool next_frame(http_stream *s, told *t)
{
    pl_record record;
    pl_frame_header header;
    char *payload;
    ck_assert_msg(http_stream_record(s, &record, &payload), "no end record");
    bool frame = record.type == PL_RECORD_FRAME;
    if (frame) {
        int64_t expected = t->last < 0 ? t->first : t->last + 1;
        ck_assert_int_eq((int64_t)record.frame, expected);
        ck_assert_int_eq((int64_t)record.seq, expected);
        ck_assert(pl_frame_header_decode((unsigned char *)payload, record.length, &header));
        ck_assert_uint_eq(header.count, VERTICES);
        t->last = (int64_t)record.frame;
    } else {
        ck_assert_int_eq(record.type, PL_RECORD_END);
        json_t *end = json_loadb(payload, (size_t)record.length, 0, NULL);
        snprintf(t->reason, sizeof t->reason, "%s", json_text(end, "reason"));
        snprintf(t->state, sizeof t->state, "%s", json_text(end, "state"));
        t->end_frame = json_count(end, "frame");
        json_decref(end);
    }
    free(payload);
    return frame;
}

static http_stream open_stream(const char *id, int64_t from, const char *rest, told *t)
{
    char target[128];
    pl_record record;
    char *payload;
    *t = (told){.first = from, .last = -1};
    snprintf(target, sizeof target, "frames?from=%lld%s", (long long)from, rest);
    http_stream s = http_stream_open(d, session_target(id, target), NULL);
    ck_assert_str_eq(http_header(s.reply, "Content-Type"), "application/vnd.pliant.frames");
    ck_assert(http_stream_record(&s, &record, &payload));
    check_hello(id, &record, payload, from);
    free(payload);
    return s;
}

/* To the end record, after which nothing follows. */
static void read_out(http_stream *s, told *t)
{
    pl_record record;
    char *payload;
    while (next_frame(s, t))
        ;
    ck_assert(!http_stream_record(s, &record, &payload));
    http_stream_close(s);
}

static const struct {
    int64_t from;
    const char *rest;
    int64_t last; /* -1: none */
    const char *reason;
} ranges[] = {
    {0, "", LAST, "succeeded"},
    {0, "&follow=1", LAST, "succeeded"},
    {5, "", LAST, "succeeded"},
    {5, "&follow=1", LAST, "succeeded"},
    {LAST, "&follow=1", LAST, "succeeded"},
    {LAST + 1, "&follow=1", -1, "succeeded"},
    {3, "&limit=2", 4, "limit"},
    {3, "&to=7&follow=0", 7, "limit"},
};

START_TEST(test_ranges)
{
    told t;
    http_stream s = open_stream(done, ranges[_i].from, ranges[_i].rest, &t);
    read_out(&s, &t);
    ck_assert_int_eq(t.last, ranges[_i].last);
    ck_assert_str_eq(t.reason, ranges[_i].reason);
    ck_assert_str_eq(t.state, "succeeded");
    ck_assert_int_eq(t.end_frame, LAST);
}
END_TEST

/* The stream's bytes equal those of the single frames. */
START_TEST(test_same_bytes)
{
    http_reply *stream = http_get(d, session_target(done, "frames?from=0"));
    http_expect(stream, 200);
    pl_record record;
    size_t at = 0;
    ck_assert_int_eq(pl_record_decode((unsigned char *)stream->body, stream->length, &record),
                     PL_RECORD_GOOD);
    at += pl_record_size(record.length);
    for (int k = 0; k <= LAST; k++) {
        char target[32];
        snprintf(target, sizeof target, "frames/%d", k);
        http_reply *r = http_get(d, session_target(done, target));
        ck_assert_uint_le(at + r->length, stream->length);
        ck_assert_mem_eq(stream->body + at, r->body, r->length);
        at += r->length;
        http_reply_free(r);
    }
    http_reply_free(stream);
}
END_TEST

START_TEST(test_stream_refusals)
{
    static const char *const bad[] = {
        "frames?from=-1",       "frames?from=x",  "frames?follow=maybe", "frames?form=0",
        "frames?from=1&from=2", "frames?limit=0", "frames?mode=some"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        http_reply *r = http_get(d, session_target(done, bad[i]));
        http_problem(r, 400, "bad_query");
        http_reply_free(r);
    }
}
END_TEST

/* From the first frame while it is made; late; from the middle: every frame exactly once. */
START_TEST(test_followers)
{
    char id[33];
    told early, late, middle;
    session_post_free(d, session_scene(4000, 100, ""), id);
    http_stream a = open_stream(id, 0, "&follow=1", &early);
    while (next_frame(&a, &early) && early.last < 5)
        ;
    http_stream b = open_stream(id, 0, "&follow=1", &late);
    http_stream c = open_stream(id, 20, "&follow=1", &middle);
    read_out(&c, &middle);
    read_out(&b, &late);
    read_out(&a, &early);
    ck_assert_int_eq(early.last, 40);
    ck_assert_int_eq(late.last, 40);
    ck_assert_int_eq(middle.last, 40);
    ck_assert_str_eq(early.reason, "succeeded");
    ck_assert_str_eq(late.reason, "succeeded");
    ck_assert_str_eq(middle.reason, "succeeded");
}
END_TEST

/* A stream may be opened before there is a frame, or a worker. */
START_TEST(test_follow_queued)
{
    char blocker[33], id[33];
    told t;
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
    session_post_free(d, session_scene(3, 1, ""), id);
    http_stream s = open_stream(id, 0, "&follow=1", &t);
    session_tell(d, blocker, "cancel");
    read_out(&s, &t);
    ck_assert_int_eq(t.last, 3);
    ck_assert_str_eq(t.reason, "succeeded");
}
END_TEST

/* Without follow a live session's stream ends after the committed frames; with it, at the cancel. */
START_TEST(test_live_streams)
{
    char id[33];
    told now, t;
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 3);
    http_stream s = open_stream(id, 0, "", &now);
    read_out(&s, &now);
    ck_assert_int_ge(now.last, 3);
    ck_assert_str_eq(now.reason, "limit");
    ck_assert_str_eq(now.state, "running");
    s = open_stream(id, now.last, "&follow=1", &t);
    ck_assert(next_frame(&s, &t));
    ck_assert(next_frame(&s, &t));
    session_tell(d, id, "cancel");
    read_out(&s, &t);
    ck_assert_str_eq(t.reason, "cancelled");
    ck_assert_int_eq(t.end_frame, t.last);
    json_t *session = session_show(d, id);
    ck_assert_int_eq(json_count(session, "progress/frame"), t.last);
    json_decref(session);
}
END_TEST

/* A damaged frame is a gap; the rest is there. */
START_TEST(test_gap)
{
    char id[33];
    session_run(d, session_scene(9, 1, ""), id);
    http_reply *whole = http_get(d, session_target(id, "frames/6"));
    FILE *log = fopen(session_path(d, id, "log/0001-0000.seg"), "r+e");
    ck_assert_ptr_nonnull(log);
    char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, log);
    char *record = memmem(bytes, size, whole->body, whole->length);
    ck_assert_ptr_nonnull(record);
    fseek(log, record - bytes + 41, SEEK_SET); /* the header's CRC */
    fputc(~record[41], log);
    fclose(log);
    http_reply *stream = http_get(d, session_target(id, "frames?from=4&follow=1"));
    static const int types[] = {PL_RECORD_HELLO, PL_RECORD_FRAME, PL_RECORD_FRAME, PL_RECORD_GAP,
                                PL_RECORD_FRAME, PL_RECORD_FRAME, PL_RECORD_FRAME, PL_RECORD_END};
    size_t at = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        pl_record r;
        const unsigned char *here = (unsigned char *)stream->body + at;
        ck_assert_int_eq(pl_record_decode(here, stream->length - at, &r), PL_RECORD_GOOD);
        ck_assert_int_eq(r.type, types[i]);
        if (r.type == PL_RECORD_GAP) {
            json_t *gap = json_loadb((char *)here + PL_RECORD_HEADER, (size_t)r.length, 0, NULL);
            ck_assert_int_eq(json_count(gap, "from"), 6);
            ck_assert_int_eq(json_count(gap, "to"), 6);
            ck_assert_str_eq(json_text(gap, "reason"), "corrupt");
            json_decref(gap);
        }
        at += pl_record_size(r.length);
    }
    ck_assert_uint_eq(at, stream->length);
    http_reply *lost = http_get(d, session_target(id, "frames/6"));
    http_problem(lost, 500, "corrupt");
    http_reply_free(lost);
    http_reply_free(stream);
    http_reply_free(whole);
}
END_TEST

/* HTTP/1.0 knows no chunks: the same bytes up to the connection's end. */
START_TEST(test_old_protocol)
{
    char text[300], target[128];
    snprintf(target, sizeof target, "%s", session_target(done, "frames?follow=1"));
    http_reply *now = http_get(d, target);
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
                     target, d->token);
    http_reply *old = http_raw(d, text, (size_t)n);
    http_expect(old, 200);
    ck_assert_ptr_null(http_header(old, "Transfer-Encoding"));
    ck_assert_uint_eq(old->length, now->length);
    ck_assert(memcmp(old->body, now->body, now->length) == 0);
    http_reply_free(old);
    http_reply_free(now);
}
END_TEST

/* Followers that leave in the middle: the session continues to its end. */
START_TEST(test_closing_cancels_nothing)
{
    char id[33];
    told t;
    session_post_free(d, session_scene(3000, 100, ""), id);
    for (int i = 0; i < 5; i++) {
        http_stream s = open_stream(id, 0, "&follow=1", &t);
        ck_assert(next_frame(&s, &t));
        http_stream_close(&s); /* in the middle of it */
    }
    session_await(d, id, "succeeded");
    http_stream s = open_stream(id, 0, "", &t);
    read_out(&s, &t);
    ck_assert_int_eq(t.last, 30);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: frames");
    TCase *tests = tcase_create("frames");
    tcase_set_timeout(tests, 180);
    tcase_add_unchecked_fixture(tests, start, stop_daemon);
    tcase_add_test(tests, test_topology);
    tcase_add_test(tests, test_topology_of_two);
    tcase_add_test(tests, test_frame_npy);
    tcase_add_test(tests, test_frame_record);
    tcase_add_test(tests, test_frame_double);
    tcase_add_test(tests, test_frame_refusals);
    tcase_add_loop_test(tests, test_ranges, 0, sizeof ranges / sizeof *ranges);
    tcase_add_test(tests, test_same_bytes);
    tcase_add_test(tests, test_stream_refusals);
    tcase_add_test(tests, test_followers);
    tcase_add_test(tests, test_follow_queued);
    tcase_add_test(tests, test_live_streams);
    tcase_add_test(tests, test_gap);
    tcase_add_test(tests, test_old_protocol);
    tcase_add_test(tests, test_closing_cancels_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
