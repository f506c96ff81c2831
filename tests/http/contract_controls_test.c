/* Controls and steps over HTTP: rejections with their place; a control is in effect at the next frame; and killing
 * worker or daemon loses none.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THINGS                                                                                     \
    ", \"materials\": {\"soft\": {\"young\": 1e5}, \"hard\": {\"lame\": {\"mu\": 1e5}}},"          \
    " \"obstacles\": [{\"name\": \"floor\", \"plane\": {\"normal\": [0, 1, 0], \"offset\": -9}}]," \
    " \"forces\": [{\"name\": \"wind\", \"wind\": {\"velocity\": [0, 0, 0]}}]"

static char *live_scene(int64_t steps)
{
    char *text;
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld},"
                 " \"solver\": {\"iterations\": 10},"
                 " \"bodies\": [{\"name\": \"bar\", \"material\": \"soft\", \"mesh\":"
                 " {\"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [10, 2, 2]}}}],"
                 " \"pins\": [{\"name\": \"hand\", \"select\": {\"side\": \"-x\"}}]" THINGS "}",
                 (long long)steps),
        0);
    return text;
}

static void submit(int64_t steps, char id[33])
{
    session_post_free(d, live_scene(steps), id);
}

static int64_t frame_of(const char *id)
{
    json_t *session = session_show(d, id);
    int64_t frame = json_count(session, "progress/frame");
    json_decref(session);
    return frame;
}

static http_reply *send_control(const char *id, const char *what)
{
    char target[96], text[1024];
    snprintf(target, sizeof target, "/v1/sessions/%s/controls", id);
    snprintf(text, sizeof text, "%s", what);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return http_post(d, target, text);
}

static int64_t control(const char *id, const char *what, int64_t *frame)
{
    http_reply *r = send_control(id, what);
    http_expect(r, 202);
    int64_t number = json_integer_value(json_object_get(r->json, "control_id"));
    const json_t *at = json_object_get(r->json, "frame");
    if (frame)
        *frame = json_is_null(at) ? -1 : json_integer_value(at);
    http_reply_free(r);
    return number;
}

/* The `control` of a frame's metrics, 0 if missing. */
static int64_t in_effect(const char *id, int64_t frame)
{
    char target[128];
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics?from=%lld&limit=1", id,
             (long long)frame);
    http_reply *r = http_get(d, target);
    http_expect(r, 200);
    const char *at = strstr(r->body, "\"control\":");
    int64_t number = at ? strtoll(at + 10, NULL, 10) : 0;
    http_reply_free(r);
    return number;
}

START_TEST(faults_are_located)
{
    static const struct {
        const char *body, *pointer, *code;
    } cases[] = {
        {"{}", "", "missing_key"},
        {"[]", "", "wrong_type"},
        {"{'gravty': [0, 0, 0]}", "/gravty", "unknown_key"},
        {"{'gravity': [0, 0]}", "/gravity", "wrong_type"},
        {"{'gravity': [0, 0, 1e9]}", "/gravity/2", "out_of_range"},
        {"{'pins': []}", "/pins", "out_of_range"},
        {"{'pins': [{'name': 'hnd', 'motion': {}}]}", "/pins/0/name", "unknown_name"},
        {"{'pins': [{'name': 'hand'}]}", "/pins/0/motion", "missing_key"},
        {"{'pins': [{'name': 'hand', 'motion': {'origin': [0, 0, 0]}}]}", "/pins/0/motion/origin",
         "conflict"},
        {"{'pins': [{'name': 'hand', 'motion': {}}, {'name': 'hand', 'motion': {}}]}",
         "/pins/1/name", "duplicate_name"},
        {"{'pins': [{'name': 'hand', 'motion': {'keyframes': [{'time': 1}, {'time': 1}]}}]}",
         "/pins/0/motion/keyframes/1/time", "out_of_order"},
        {"{'obstacles': [{'name': 'floor', 'motion': {'axis': [1, 0, 0]}}]}",
         "/obstacles/0/motion/degrees_per_second", "missing_key"},
        {"{'forces': [{'name': 'wind', 'pressure': 3}]}", "/forces/0/pressure", "conflict"},
        {"{'forces': [{'name': 'wind'}]}", "/forces/0", "missing_key"},
        {"{'materials': [{'name': 'hard', 'young': 1e5}]}", "/materials/0/young", "conflict"},
        {"{'materials': [{'name': 'soft', 'young': -1}]}", "/materials/0/young", "out_of_range"},
    };
    char id[33];
    submit(100000, id);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        http_reply *r = send_control(id, cases[i].body);
        http_problem(r, 422, "invalid_control");
        const json_t *fault = json_array_get(json_object_get(r->json, "faults"), 0);
        ck_assert_str_eq(json_text(fault, "pointer"), cases[i].pointer);
        ck_assert_str_eq(json_text(fault, "code"), cases[i].code);
        http_reply_free(r);
    }
    http_reply *r = send_control(id, "{");
    http_problem(r, 400, "bad_json");
    http_reply_free(r);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    r = send_control(id, "{'gravity': [0, 0, 0]}");
    http_problem(r, 409, "session_over");
    http_reply_free(r);
}
END_TEST

/* In effect after the frame in the reply, for a running session and for a paused one; and still, after worker and
 * daemon were killed. */
START_TEST(in_effect_and_kept)
{
    char id[33];
    int64_t told;
    submit(1000000, id);
    session_await_frame(d, id, 5);
    ck_assert_int_eq(control(id, "{'gravity': [0, 1, 0]}", &told), 1);
    int64_t begun = session_await_control(d, id, 1);
    ck_assert_int_gt(begun, told);
    ck_assert_int_eq(in_effect(id, begun - 1), 0);
    ck_assert_int_eq(in_effect(id, begun), 1);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    ck_assert_int_eq(control(id,
                             "{'pins': [{'name': 'hand', 'motion': {'velocity': [0, 0, 1]}}],"
                             " 'materials': [{'name': 'soft', 'young': 2e5}]}",
                             &told),
                     2);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    ck_assert_int_eq(control(id, "{'forces': [{'name': 'wind', 'velocity': [1, 0, 0]}]}", NULL), 3);
    session_tell(d, id, "resume");
    session_await_frame(d, id, told + 3);
    ck_assert_int_eq(in_effect(id, told), 1);
    ck_assert_int_eq(in_effect(id, told + 1), 3);
    http_reply *r = http_getf(d, "/v1/sessions/%s/controls?limit=2", id);
    http_expect(r, 200);
    ck_assert_int_eq(json_count(r->json, "next"), 2);
    ck_assert_int_eq(json_count(r->json, "items/0/frame"), begun);
    ck_assert_int_eq(json_count(r->json, "items/1/frame"), told + 1);
    ck_assert(json_real_value(json_at(r->json, "items/0/control/gravity/1")) == 1 ||
              json_integer_value(json_at(r->json, "items/0/control/gravity/1")) == 1);
    http_reply_free(r);
    r = http_getf(d, "/v1/sessions/%s/controls?cursor=2", id);
    http_expect(r, 200);
    ck_assert_int_eq((int64_t)json_array_size(json_object_get(r->json, "items")), 1);
    ck_assert_int_eq(json_count(r->json, "items/0/frame"), told + 1);
    http_reply_free(r);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

static http_reply *branch(const char *id, const char *body)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/branch", id);
    return http_post(d, target, body);
}

/* A branch without an edit repeats the session from its frame on, including controls; with an edit it diverges there.
 * Changes to fixed parts are rejected, and the other session is not changed. */
START_TEST(branches)
{
    char blocker[33], id[33], twin[33], other[33];
    /* Held from before its first frame, so that it is not over before its controls have come. */
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    submit(60, id);
    ck_assert_str_eq(session_tell(d, id, "pause"), "paused");
    control(id, "{'gravity': [0, 2, 0], 'materials': [{'name': 'soft', 'young': 3e5}]}", NULL);
    session_tell(d, blocker, "cancel");
    session_tell(d, id, "step?frames=2");
    session_await_frame(d, id, 2);
    session_await(d, id, "paused");
    control(id, "{'pins': [{'name': 'hand', 'motion': {'velocity': [0, 0.4, 0]}}]}", NULL);
    session_tell(d, id, "resume");
    session_await(d, id, "succeeded");
    http_reply *r = branch(id, "{\"frame\": 40}");
    http_expect(r, 201);
    ck_assert_int_eq(json_count(r->json, "progress/frames"), 20);
    snprintf(twin, sizeof twin, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    r = branch(id, "{\"frame\": 40, \"scene\": {\"name\": \"up\", \"gravity\": [0, 30, 0]}}");
    http_expect(r, 201);
    ck_assert_str_eq(json_text(r->json, "name"), "up");
    snprintf(other, sizeof other, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    session_await(d, twin, "succeeded");
    session_await(d, other, "succeeded");
    for (int64_t k = 0; k <= 20; k++)
        ck_assert(session_same_frame(d, id, 40 + k, twin, k));
    ck_assert(session_same_frame(d, id, 40, other, 0));
    ck_assert(!session_same_frame(d, id, 41, other, 1));
    /* Killed in between, it reaches the same frames. */
    r = branch(id, "{\"frame\": 40, \"scene\": {\"time\": {\"steps\": 1000000}}}");
    http_expect(r, 201);
    snprintf(twin, sizeof twin, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    session_await_frame(d, twin, 10);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(twin), SIGKILL), 0);
    session_await_frame(d, twin, 500);
    for (int64_t k = 0; k <= 20; k++)
        ck_assert(session_same_frame(d, id, 40 + k, twin, k));
    session_tell(d, twin, "cancel");
    session_await(d, twin, "cancelled");
    static const char *const refused[][2] = {
        {"{\"scene\": {\"bodies\": []}}", "/scene/bodies"},
        {"{\"scene\": {\"time\": {\"step\": 1}}}", "/scene/time/step"},
        {"{\"frame\": -1}", "/frame"},
        {"{\"fram\": 1}", "/fram"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        r = branch(id, refused[i][0]);
        ck_assert_ptr_nonnull(http_fault(http_problem(r, 422, "invalid_branch"), refused[i][1]));
        http_reply_free(r);
    }
    r = branch(id, "{\"frame\": 61}");
    http_problem(r, 404, "no_such_frame");
    http_reply_free(r);
    r = branch(id, "{\"frame\": 60}");
    http_problem(r, 422, "invalid_scene");
    http_reply_free(r);
}
END_TEST

/* Without an end: no last frame, a rate while it runs, and its probes as a table. */
START_TEST(endless_with_probes)
{
    char id[33];
    session_post(d,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"pace\": \"realtime\"},"
                 " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}}],"
                 " \"output\": {\"probes\": [{\"name\": \"a,\\\"b\", \"quantity\": \"kinetic\"},"
                 " {\"quantity\": \"objective\"}]}}",
                 id);
    session_await_frame(d, id, 250);
    json_t *session = session_show(d, id);
    ck_assert(json_is_null(json_at(session, "progress/frames")));
    double rate = json_number_value(json_at(session, "progress/rate"));
    ck_assert(rate > 0 && rate < 5); /* of a clock that may have stood still for a moment */
    json_decref(session);
    http_reply *r = http_getf(d, "/v1/sessions/%s/probes?from=1&limit=2", id);
    http_expect(r, 200);
    ck_assert_str_eq(http_header(r, "Pliant-Next"), "3");
    static const char begin[] = "frame,time,\"a,\"\"b\",probe-1\r\n1,0.01,";
    ck_assert_int_eq(strncmp(r->body, begin, strlen(begin)), 0);
    ck_assert_ptr_nonnull(strstr(r->body, "\r\n2,0.02,"));
    ck_assert_ptr_null(strstr(r->body, "\r\n3,"));
    http_reply_free(r);
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/probes?from=0&limit=1", id);
    r = http_get_as(d, target, "application/x-ndjson");
    http_expect(r, 200);
    json_t *line = json_loads(r->body, 0, NULL);
    ck_assert(json_number_value(json_at(line, "probes/a,\"b")) == 0);
    ck_assert(json_is_null(json_at(line, "probes/probe-1"))); /* nothing was solved */
    json_decref(line);
    http_reply_free(r);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

START_TEST(steps)
{
    char id[33];
    submit(1000000, id);
    session_await_frame(d, id, 2);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    int64_t at = frame_of(id);
    for (int i = 1; i <= 3; i++) {
        session_tell(d, id, i == 2 ? "step?frames=5" : "step");
        at += i == 2 ? 5 : 1;
        session_await_frame(d, id, at);
        session_await(d, id, "paused");
        ck_assert_int_eq(frame_of(id), at);
    }
    session_tell(d, id, "step?frames=1000000");
    session_tell(d, id, "resume");
    session_await_frame(d, id, at + 20);
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/step?frames=0", id);
    http_reply *r = http_post(d, target, NULL);
    http_problem(r, 400, "bad_query");
    http_reply_free(r);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("controls");
    tcase_add_checked_fixture(t, start_daemon, stop_daemon);
    tcase_set_timeout(t, 180);
    tcase_add_test(t, faults_are_located);
    tcase_add_test(t, in_effect_and_kept);
    tcase_add_test(t, steps);
    tcase_add_test(t, endless_with_probes);
    tcase_add_test(t, branches);
    return run_cases("controls", t);
}
