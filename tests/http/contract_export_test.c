/* GET /v1/sessions/{id}/export: each format, errors, damaged or pruned frames, concurrency limits, and readers that
 * leave. tests/python/exports_test reads the files with other programs. */
#include "protocol/export/export.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 6, VERTICES = 64 };

static uint64_t number(const char *at, int width)
{
    uint64_t value = 0;
    for (int i = width - 1; i >= 0; i--)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

/* ---- formats ---- */

static http_reply *get_export(const char *id, const char *query)
{
    return http_getf(d, "/v1/sessions/%s/export?format=%s", id, query);
}

START_TEST(test_formats)
{
    static const struct {
        const char *query, *type, *file, *magic;
    } rows[] = {
        {"npz", "application/zip", "cube.npz", "PK\x03\x04"},
        {"vtu", "application/zip", "cube.zip", "PK\x03\x04"},
        {"obj&every=2", "application/zip", "cube.zip", "PK\x03\x04"},
        {"pc2", "application/octet-stream", "cube.pc2", "POINTCACHE2"},
        {"mdd&prefix=my%20box", "application/octet-stream", "my_box.mdd", ""},
        {"glb", "model/gltf-binary", "cube.glb", "glTF"},
        {"csv", "text/csv", "cube.csv", "seq,frame,"},
        {"usda", "model/vnd.usda", "cube.usda", "#usda 1.0\n"},
        {"vtu&frame=last", "application/octet-stream", "cube_000006.vtu", "<?xml"},
        {"obj&frame=2", "model/obj", "cube_000002.obj", "v "},
        {"ply&every=3", "application/zip", "cube.zip", "PK\x03\x04"},
        {"ply&frame=last", "application/octet-stream", "cube_000006.ply", "ply\n"},
        {"obj&frame=first", "model/obj", "cube_000000.obj", "v "},
    };
    char id[33], disposition[128], target[128];
    session_run(d, session_scene(STEPS, 1, ""), id);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        http_reply *r = get_export(id, rows[k].query), *again = get_export(id, rows[k].query);
        http_expect(r, 200);
        ck_assert(r->chunked && r->ended);
        ck_assert_str_eq(http_header(r, "Content-Type"), rows[k].type);
        ck_assert_str_eq(http_header(r, "Cache-Control"), "private, no-cache");
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", rows[k].file);
        ck_assert_str_eq(http_header(r, "Content-Disposition"), disposition);
        ck_assert_int_eq(memcmp(r->body, rows[k].magic, strlen(rows[k].magic)), 0);
        ck_assert_uint_eq(r->length, again->length);
        ck_assert_mem_eq(r->body, again->body, r->length);
        snprintf(target, sizeof target, "/v1/sessions/%s/export?format=%s", id, rows[k].query);
        http_reply *head = http_call(d, "HEAD", target, NULL, NULL, 0);
        http_expect(head, 200);
        ck_assert_uint_eq(head->length, 0);
        ck_assert_str_eq(http_header(head, "Content-Disposition"), disposition);
        ck_assert_str_eq(http_header(head, "Pliant-Frames"), http_header(r, "Pliant-Frames"));
        http_reply_free(r);
        http_reply_free(again);
        http_reply_free(head);
    }
    while (session_counter(d, "exports") > 0)
        daemon_fixture_nap();
}
END_TEST

/* Each format is produced for clients that accept only its media type. */
START_TEST(test_accepted_type)
{
    static const char *const rows[][2] = {{"csv", "text/csv"},
                                          {"glb", "model/gltf-binary"},
                                          {"usda", "model/vnd.usda"},
                                          {"obj&frame=0", "model/obj"},
                                          {"npz", "application/zip"}};
    char id[33], target[128];
    session_run(d, session_scene(1, 1, ""), id);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        snprintf(target, sizeof target, "/v1/sessions/%s/export?format=%s", id, rows[k][0]);
        char accept[64];
        snprintf(accept, sizeof accept, "Accept: %s\r\n", rows[k][1]);
        http_reply *r = http_call(d, "GET", target, accept, NULL, 0);
        http_expect(r, 200);
        ck_assert_str_eq(http_header(r, "Content-Type"), rows[k][1]);
        http_reply_free(r);
    }
}
END_TEST

/* Capabilities list every format with its properties. */
START_TEST(test_capabilities)
{
    char id[33], query[64];
    session_run(d, session_scene(1, 1, ""), id);
    http_reply *c = http_get(d, "/v1/capabilities");
    const json_t *formats = json_at(c->json, "exports");
    ck_assert_uint_eq(json_array_size(formats), PL_EXPORT_FORMATS);
    for (size_t k = 0; k < PL_EXPORT_FORMATS; k++) {
        const json_t *format = json_array_get(formats, k);
        const char *name = json_text(format, "name"), *type = json_text(format, "media_type");
        bool series = json_is_true(json_at(format, "series"));
        ck_assert_str_eq(name, pl_export_describe((pl_export_format)k)->name);
        http_reply *all = get_export(id, name);
        http_expect(all, 200);
        ck_assert_str_eq(http_header(all, "Content-Type"), series ? "application/zip" : type);
        snprintf(query, sizeof query, "%s&frame=last", name);
        http_reply *one = get_export(id, query);
        http_expect(one, series ? 200 : 400);
        if (series)
            ck_assert_str_eq(http_header(one, "Content-Type"), type);
        snprintf(query, sizeof query, "%s&vertices=surface", name);
        http_reply *part = get_export(id, query);
        http_expect(part, json_is_true(json_at(format, "bodies")) ? 200 : 400);
        http_reply_free(all);
        http_reply_free(one);
        http_reply_free(part);
    }
    http_reply_free(c);
}
END_TEST

/* The numbers in a .pc2 equal those of the frames. */
START_TEST(test_values)
{
    char id[33];
    session_run(d, session_scene(STEPS, 1, ""), id);
    http_reply *r = get_export(id, "pc2&from=1&every=2&to=5");
    http_expect(r, 200);
    ck_assert_str_eq(http_header(r, "Pliant-Frames"), "3");
    ck_assert_uint_eq(number(r->body + 16, 4), VERTICES);
    ck_assert_uint_eq(number(r->body + 28, 4), 3);
    ck_assert_uint_eq(r->length, 32 + 3 * VERTICES * 12);
    for (int k = 0; k < 3; k++) {
        http_reply *frame = http_get_as(d,
                                        session_target(id, k == 0   ? "frames/1"
                                                           : k == 1 ? "frames/3"
                                                                    : "frames/5"),
                                        "application/x-npy");
        ck_assert_mem_eq(r->body + 32 + k * VERTICES * 12, frame->body + 128, VERTICES * 12);
        http_reply_free(frame);
    }
    http_reply_free(r);
}
END_TEST

static http_reply *get_rest(const char *id, const char *query, const char *tag)
{
    char target[128], header[128];
    snprintf(target, sizeof target, "/v1/sessions/%s/export?format=%s", id, query);
    snprintf(header, sizeof header, "If-Match: %s\r\n", tag);
    return http_call(d, "GET", target, header, NULL, 0);
}

/* The missing rest of an interrupted export, if it is still the same. */
START_TEST(test_offset)
{
    static const char *const others[] = {"npz&from=1&offset=9",           "npz&to=5&offset=9",
                                         "npz&vertices=surface&offset=9", "pc2&offset=9",
                                         "npz&every=2&offset=9",          "npz&body=cube&offset=9"};
    char id[33], query[64];
    session_run(d, session_scene(STEPS, 1, ""), id);
    http_reply *whole = get_export(id, "npz");
    const char *tag = http_header(whole, "ETag");
    for (size_t at = 1; at <= whole->length; at = 3 * at) {
        snprintf(query, sizeof query, "npz&offset=%zu", at);
        http_reply *rest = get_rest(id, query, tag);
        http_expect(rest, 200);
        ck_assert_uint_eq(rest->length, whole->length - at);
        ck_assert_mem_eq(rest->body, whole->body + at, rest->length);
        http_reply_free(rest);
    }
    snprintf(query, sizeof query, "npz&offset=%zu", whole->length);
    http_reply *rest = get_rest(id, query, tag);
    http_expect(rest, 200);
    ck_assert_uint_eq(rest->length, 0);
    http_reply_free(rest);
    char bytes[48];
    snprintf(query, sizeof query, "npz&offset=%zu", whole->length + 1);
    snprintf(bytes, sizeof bytes, "from 0 to %zu,", whole->length);
    rest = get_rest(id, query, tag);
    const json_t *fault = http_fault(http_problem(rest, 416, "past_the_end"), "/query/offset");
    ck_assert_ptr_nonnull(strstr(json_text(fault, "expected"), bytes));
    ck_assert_str_eq(http_header(rest, "ETag"), tag);
    http_reply_free(rest);
    snprintf(query, sizeof query, "export?format=npz&offset=%zu", whole->length + 1);
    rest = http_call(d, "HEAD", session_target(id, query), NULL, NULL, 0);
    ck_assert_int_eq(rest->status, 416);
    http_reply_free(rest);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        rest = get_rest(id, others[k], tag);
        http_problem(rest, 412, "changed_meanwhile");
        http_reply_free(rest);
    }
    http_reply_free(whole);
    whole = get_export(id, "pc2&from=0&to=2"); /* as many frames, and others */
    rest = get_rest(id, "pc2&from=1&to=3&offset=9", http_header(whole, "ETag"));
    http_problem(rest, 412, "changed_meanwhile");
    http_reply_free(rest);
    http_reply_free(whole);
}
END_TEST

/* `prefix` only applies to the files of a series; an interrupted download of another session is not resumed. */
START_TEST(test_offset_and_name)
{
    static const struct {
        const char *query;
        bool named;
    } rows[] = {{"npz", false}, {"vtu&frame=3", false}, {"vtu", true}, {"obj", true}};
    char id[33], other[33], target[64], query[64];
    session_run(d, session_scene(STEPS, 1, ""), id);
    session_run(d, session_scene(STEPS, 1, ""), other);
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    http_reply *before[4];
    for (int k = 0; k < 4; k++)
        http_expect(before[k] = get_export(id, rows[k].query), 200);
    http_reply *r = http_call(d, "PATCH", target, "Content-Type: application/json\r\n",
                              "{\"name\": \"dice\"}", 16);
    http_expect(r, 200);
    http_reply_free(r);
    for (int k = 0; k < 4; k++) {
        snprintf(query, sizeof query, "%s&offset=9", rows[k].query);
        r = get_rest(id, query, http_header(before[k], "ETag"));
        if (rows[k].named) {
            http_problem(r, 412, "changed_meanwhile");
            ck_assert_str_ne(http_header(r, "ETag"), http_header(before[k], "ETag"));
        } else {
            http_expect(r, 200);
            ck_assert_uint_eq(r->length, before[k]->length - 9);
            ck_assert_mem_eq(r->body, before[k]->body + 9, r->length);
        }
        http_reply_free(r);
        r = get_rest(other, query, http_header(before[k], "ETag"));
        http_problem(r, 412, "changed_meanwhile");
        http_reply_free(r);
        http_reply_free(before[k]);
    }
}
END_TEST

/* A running session is exported up to its newest frame. */
START_TEST(test_running)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 3);
    http_reply *r = get_export(id, "pc2");
    http_expect(r, 200);
    uint64_t frames = number(r->body + 28, 4);
    ck_assert_uint_ge(frames, 4);
    ck_assert_uint_eq(r->length, 32 + frames * VERTICES * 12);
    http_reply_free(r);
    r = get_export(id, "pc2&from=100000000");
    http_problem(r, 404, "not_yet");
    http_reply_free(r);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

/* ---- what cannot be ---- */

START_TEST(test_refusals)
{
    static const struct {
        const char *query, *pointer;
    } rows[] = {{"", "/query/format"},
                {"stl", "/query/format"},
                {"npz&frame=2", "/query/frame"},
                {"vtu&frame=x", "/query/frame"},
                {"obj&frame=-1", "/query/frame"},
                {"vtu&prefix=..%2Fx", "/query/prefix"},
                {"vtu&prefix=.x", "/query/prefix"},
                {"vtu&prefix=a%0Ab", "/query/prefix"},
                {"vtu&prefix=", "/query/prefix"},
                {"npz&every=0", "/query/every"},
                {"npz&from=x", "/query/from"},
                {"npz&frames=2", "/query/frames"},
                {"npz&vertices=inner", "/query/vertices"},
                {"csv&vertices=surface", "/query/vertices"},
                {"csv&body=cube", "/query/body"},
                {"npz&body=", "/query/body"},
                {"npz&offset=-1", "/query/offset"}};
    char id[33];
    session_run(d, session_scene(2, 1, ""), id);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        http_reply *r = get_export(id, rows[k].query);
        ck_assert_msg(http_fault(http_problem(r, 400, "bad_query"), rows[k].pointer) != NULL,
                      "%s: %s", rows[k].query, r->body);
        http_reply_free(r);
    }
    http_reply *r = http_get(d, session_target(id, "export"));
    http_problem(r, 400, "bad_query");
    http_reply_free(r);
    r = get_export(id, "npz&body=cubes");
    http_problem(r, 404, "no_such_body");
    http_reply_free(r);
    r = get_export(id, "npz&from=3");
    http_problem(r, 404, "no_such_frame");
    http_reply_free(r);
    r = get_export(id, "npz&from=2&to=1");
    http_problem(r, 404, "no_such_frame");
    http_reply_free(r);
    r = get_export("00000000000000000000000000000000", "npz");
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
}
END_TEST

START_TEST(test_no_frames)
{
    char running[33], waiting[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), running);
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), waiting);
    http_reply *r = get_export(waiting, "npz");
    http_problem(r, 409, "no_frames");
    http_reply_free(r);
    session_tell(d, waiting, "cancel");
    session_tell(d, running, "cancel");
    session_await(d, running, "cancelled");
}
END_TEST

/* Exports hold the kept frames; a format with one time step cannot skip any. */
START_TEST(test_pruned)
{
    char id[33], *scene = session_scene(400, 1, ""), *more = NULL;
    char *at = strstr(scene, "\"every\": 1");
    ck_assert_int_gt(asprintf(&more, "%.*s\"retention\": {\"last\": 40, \"every\": 100}, %s",
                              (int)(at - scene), scene, at),
                     0);
    free(scene);
    session_run(d, more, id);
    http_reply *r = get_export(id, "pc2");
    http_problem(r, 409, "not_exportable");
    http_reply_free(r);
    r = get_export(id, "mdd");
    http_expect(r, 200);
    uint64_t frames = __builtin_bswap32((uint32_t)number(r->body, 4));
    ck_assert(frames > 40 && frames < 100);
    ck_assert_uint_eq(r->length, 8 + frames * (4 + VERTICES * 12));
    float last;
    uint32_t bits = __builtin_bswap32((uint32_t)number(r->body + 8 + 4 * (frames - 1), 4));
    memcpy(&last, &bits, sizeof last);
    ck_assert_double_eq_tol((double)last, 4.0, 1e-5);
    http_reply_free(r);
    r = get_export(id, "pc2&every=100");
    http_expect(r, 200);
    ck_assert_uint_eq(number(r->body + 28, 4), 5);
    http_reply_free(r);
}
END_TEST

/* ---- damage ---- */

/* Flip a byte of frame k's record as it lies in the log. */
static void damage(const char *id, const char *frame, size_t at)
{
    static char bytes[1 << 17];
    http_reply *whole = http_get(d, session_target(id, frame));
    FILE *log = fopen(session_path(d, id, "log/0001-0000.seg"), "r+e");
    ck_assert_ptr_nonnull(log);
    size_t size = fread(bytes, 1, sizeof bytes, log);
    char *record = memmem(bytes, size, whole->body, whole->length);
    ck_assert_ptr_nonnull(record);
    fseek(log, (long)(record - bytes) + (long)at, SEEK_SET);
    fputc(~record[at], log);
    fclose(log);
    http_reply_free(whole);
}

/* False where its end was missing. */
static bool read_export(const char *id, const char *query, size_t *size)
{
    char target[128];
    snprintf(target, sizeof target, "/v1/sessions/%s/export?format=%s", id, query);
    http_connection *c = http_open(d);
    http_ask(c, d, target, NULL);
    http_reply *r = http_read_head(c);
    http_expect(r, 200);
    bool whole = http_read_body(c, r);
    *size = r->length;
    http_reply_free(r);
    http_close(c);
    return whole;
}

START_TEST(test_damaged_values)
{
    char id[33];
    size_t size, less;
    session_run(d, session_scene(9, 1, ""), id);
    ck_assert(read_export(id, "obj", &size));
    damage(id, "frames/4", 200);
    /* Its header is good: the damage is found only when the frame is reached, after the count was sent. */
    ck_assert(!read_export(id, "npz", &less));
    ck_assert(!read_export(id, "pc2", &less));
    ck_assert(read_export(id, "pc2&from=5", &less));
    ck_assert(read_export(id, "obj", &less));
    ck_assert_uint_lt(less, size);
    ck_assert(!read_export(id, "obj&frame=4", &less));
    ck_assert(daemon_fixture_said(d, "frame 4 is damaged"));
}
END_TEST

START_TEST(test_damaged_record)
{
    char id[33];
    size_t size;
    session_run(d, session_scene(9, 1, ""), id);
    damage(id, "frames/4", 41); /* of the header's CRC */
    http_reply *r = get_export(id, "npz");
    http_expect(r, 200);
    ck_assert_str_eq(http_header(r, "Pliant-Frames"), "9");
    http_reply_free(r);
    r = get_export(id, "pc2");
    http_problem(r, 409, "not_exportable");
    http_reply_free(r);
    ck_assert(read_export(id, "vtu", &size));
}
END_TEST

/* Displacements of a .vtu count from frame 0: without it the export is another. */
START_TEST(test_damaged_start)
{
    char id[33];
    session_run(d, session_scene(9, 1, ""), id);
    http_reply *whole = get_export(id, "vtu&from=2&to=4"), *points = get_export(id, "mdd&from=2");
    http_expect(whole, 200);
    damage(id, "frames/0", 200);
    http_reply *r = get_rest(id, "vtu&from=2&to=4&offset=9", http_header(whole, "ETag"));
    http_problem(r, 412, "changed_meanwhile");
    http_reply_free(r);
    r = get_rest(id, "mdd&from=2&offset=9", http_header(points, "ETag"));
    http_expect(r, 200);
    http_reply_free(r);
    r = get_export(id, "vtu&from=2&to=4");
    http_expect(r, 200);
    ck_assert_uint_lt(r->length, whole->length);
    http_reply_free(r);
    http_reply_free(whole);
    http_reply_free(points);
}
END_TEST

/* ---- readers ---- */

/* 60 frames of 9261 vertices: as .vtu or .obj more than the buffers between hold. */
static void run_large(const char *secret, char id[33])
{
    static const char scene[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 60}, \"solver\": {\"method\": "
        "\"gradient_descent\", \"iterations\": 1}, \"bodies\": [{\"mesh\": {\"box\": {\"size\": "
        "[1, 1, 1], \"cells\": [20, 20, 20]}}}]}";
    http_reply *r = secret ? tenant_call(d, secret, "POST", "/v1/sessions", NULL, scene)
                           : http_post(d, "/v1/sessions", scene);
    http_expect(r, 201);
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    session_await(d, id, "succeeded");
}

static http_connection *begin(const char *id, const char *format, const char *secret)
{
    char target[128], header[TENANT_SECRET + 40] = "";
    snprintf(target, sizeof target, "/v1/sessions/%s/export?format=%s", id, format);
    if (secret)
        snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", secret);
    http_connection *c = http_open(d);
    http_ask(c, d, target, secret ? header : NULL);
    return c;
}

static http_connection *begin_well(const char *id, const char *format, const char *secret)
{
    http_connection *c = begin(id, format, secret);
    http_reply *r = http_read_head(c);
    http_expect(r, 200);
    http_reply_free(r);
    return c;
}

static void check_refused(const char *id, const char *secret, int status, const char *code)
{
    http_connection *c = begin(id, "vtu", secret);
    http_reply *r = http_read_head(c);
    ck_assert_int_eq(r->status, status);
    ck_assert_ptr_nonnull(http_header(r, "Retry-After"));
    ck_assert(http_read_body(c, r));
    ck_assert_ptr_nonnull(strstr(r->body, code));
    http_reply_free(r);
    http_close(c);
}

static void start_narrow(void)
{
    static const char *const options[] = {"--exports", "3", "--cores", "2", NULL};
    daemon_fixture_start(d, options);
}

START_TEST(test_how_many)
{
    char mine[33], theirs[33], secret[TENANT_SECRET];
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", secret, NULL);
    run_large(NULL, mine);
    run_large(secret, theirs);
    http_connection *first = begin_well(mine, "vtu", NULL), *second = begin_well(mine, "vtu", NULL);
    check_refused(mine, NULL, 429, "too_many_exports");
    http_connection *third = begin_well(theirs, "vtu", secret);
    check_refused(theirs, secret, 503, "busy");
    ck_assert_int_eq(session_counter(d, "exports"), 3);
    http_close(first); /* goes in the middle */
    while (session_counter(d, "exports") > 2)
        daemon_fixture_nap();
    first = begin_well(mine, "obj", NULL);
    http_close(first);
    http_close(second);
    /* The third export's session is deleted during the export. Nobody reads, and the daemon does not wait for its idle
     * timeout of 30 s. */
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s", theirs);
    http_reply *r = http_call(d, "DELETE", target, NULL, NULL, 0);
    http_expect(r, 204);
    http_reply_free(r);
    for (double end = daemon_fixture_clock() + 25; session_counter(d, "exports") > 0;
         daemon_fixture_nap())
        ck_assert_msg(daemon_fixture_clock() < end, "an export outlives its session");
    http_close(third);
}
END_TEST

/* Far more than the buffer holds: it wraps around, and each frame comes out as stored. */
static void check_large(const char *id)
{
    enum { VERTEX_BYTES = 12, FRAME = 9261 * VERTEX_BYTES };
    char rest[32];
    http_reply *r = get_export(id, "pc2");
    http_expect(r, 200);
    ck_assert_uint_eq(r->length, 32 + 61 * FRAME);
    for (int k = 0; k <= 60; k++) {
        snprintf(rest, sizeof rest, "frames/%d", k);
        http_reply *frame = http_get_as(d, session_target(id, rest), "application/x-npy");
        http_expect(frame, 200);
        ck_assert_uint_eq(frame->length, 128 + FRAME);
        ck_assert_msg(memcmp(r->body + 32 + k * FRAME, frame->body + 128, FRAME) == 0,
                      "frame %d is not as it was stored", k);
        http_reply_free(frame);
    }
    http_reply_free(r);
}

START_TEST(test_end_of_daemon)
{
    char id[33];
    run_large(NULL, id);
    http_connection *c = begin_well(id, "vtu", NULL);
    double before = daemon_fixture_clock();
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_double_lt(daemon_fixture_clock() - before, 20);
    http_close(c);
    daemon_fixture_resume(d);
    check_large(id);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("contract_export");
    TCase *t = tcase_create("formats");
    tcase_add_unchecked_fixture(t, start_daemon, stop_daemon);
    tcase_set_timeout(t, 180);
    tcase_add_test(t, test_formats);
    tcase_add_test(t, test_accepted_type);
    tcase_add_test(t, test_capabilities);
    tcase_add_test(t, test_values);
    tcase_add_test(t, test_offset);
    tcase_add_test(t, test_offset_and_name);
    tcase_add_test(t, test_running);
    tcase_add_test(t, test_refusals);
    tcase_add_test(t, test_no_frames);
    tcase_add_test(t, test_pruned);
    tcase_add_test(t, test_damaged_values);
    tcase_add_test(t, test_damaged_record);
    tcase_add_test(t, test_damaged_start);
    suite_add_tcase(s, t);
    t = tcase_create("readers");
    tcase_add_checked_fixture(t, start_narrow, stop_daemon);
    tcase_set_timeout(t, 180);
    tcase_add_test(t, test_how_many);
    tcase_add_test(t, test_end_of_daemon);
    suite_add_tcase(s, t);
    return run_suite(s);
}
