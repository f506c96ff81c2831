/* The daemon's n-th allocation fails, for n = 1, 2, ... until a request needs no more of them: it continues to answer,
 * its replies are well-formed, and nothing half-made stays. The libraries' allocations fail too. */
#include "tests/support/long_form.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char ended[33], paused[33];

static const char probed[] =
    "{\"pliant\": 1, \"name\": \"cube\", \"labels\": {\"a\": \"b\"}, \"time\": {\"step\": 0.01, "
    "\"steps\": 2}, "
    "\"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [3, 3, 3]}}}], "
    "\"output\": {\"probes\": [{\"name\": \"k\", \"quantity\": \"kinetic\"}]}}";

static void start(void)
{
    starving_begin();
    daemon_fixture_start(d, NULL);
    unsetenv("LD_PRELOAD");
    session_run(d, strdup(probed), ended);
    session_post_free(d, session_scene_endless(""), paused);
    session_await(d, paused, "running");
    session_tell(d, paused, "pause");
    session_await(d, paused, "paused");
}

static void stop(void)
{
    daemon_fixture_stop(d);
    starving_end();
}

static int ask(const char *method, const char *target, const char *more, const char *body)
{
    return starving_ask(d, method, target, more, body);
}

static void check_sane(const char *what, int64_t n)
{
    ck_assert_msg(kill(d->pid, 0) == 0, "%s: dead after allocation %lld failed", what,
                  (long long)n);
    http_reply *r = http_get(d, "/v1/sessions?limit=500");
    ck_assert_msg(r->status == 200, "%s, %lld: %d", what, (long long)n, r->status);
    http_reply_free(r);
}

/* {E}, {P}: ids of the ended and of the paused session. */
static const struct {
    const char *method, *target, *more, *body;
} requests[] = {
    {"GET", "/v1/sessions/{E}", "", ""},
    {"GET", "/v1/sessions?label=a=b&name=u", "", ""},
    {"GET", "/v1/sessions/{E}/topology", "", ""},
    {"GET", "/v1/sessions/{E}/scene?form=effective", "", ""},
    {"GET", "/v1/sessions/{E}/frames/1", "Accept: application/x-npy\r\n", ""},
    {"GET", "/v1/sessions/{E}/frames?from=0&dtype=u16&vertices=surface", "", ""},
    {"GET", "/v1/sessions/{E}/export?format=vtu&offset=9", "", ""},
    {"GET", "/v1/sessions/{E}/metrics?from=0", "Accept: text/event-stream\r\n", ""},
    {"GET", "/v1/events?since=0", "", ""},
    {"GET", "/v1/me", "", ""},
    {"GET", "/v1/meshes", "", ""},
    {"GET", "/v1/queue", "", ""},
    {"GET", "/v1/devices", "", ""},
    {"GET", "/v1/usage", "", ""},
    {"GET", "/v1/webhook-secret", "", ""},
    {"GET", "/problems/not_yet", "", ""},
    {"GET", "/metrics", "", ""},
    {"GET", "/v1/sessions?nmae=x", "", ""},
    {"PATCH", "/v1/sessions/{P}", "Content-Type: application/json\r\n",
     "{\"name\": \"n\", \"labels\": {\"c\": \"d\"}, \"metadata\": {\"x\": [1]}, \"priority\": -1, "
     "\"webhook\": {\"url\": \"http://a/\"}}"},
    {"POST", "/v1/sessions/{P}/controls", "Content-Type: application/json\r\n",
     "{\"gravity\": [0, -1, 0]}"},
    {"POST", "/v1/sessions/{P}/resume", "", ""},
    {"POST", "/v1/sessions/{P}/pause", "", ""},
    {"POST", "/v1/tokens", "Content-Type: application/json\r\n", "{\"scopes\": \"read\"}"},
    {"POST", "/v1/validate", "Content-Type: application/json\r\n", "{\"pliant\": 1, \"bodys\": 3}"},
    {"POST", "/v1/sessions", "Content-Type: application/json\r\nIdempotency-Key: k\r\n",
     "{\"pliant\": 1, \"time\": {\"steps\": 1}, \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, "
     "1, 1]}}}], \"labels\": {\"a\": \"b\"}}"},
};
enum { REQUESTS = sizeof requests / sizeof *requests };

static void put_ids(const char *from, char out[160])
{
    const char *brace = strchr(from, '{');
    if (brace)
        snprintf(out, 160, "%.*s%s%s", (int)(brace - from), from, brace[1] == 'E' ? ended : paused,
                 brace + 3);
    else
        snprintf(out, 160, "%s", from);
}

/* All of it or nothing; removed again for the next one. */
static void check_patched(int status, int64_t n)
{
    json_t *session = session_show(d, paused);
    bool done = strcmp(json_text(session, "name"), "n") == 0;
    ck_assert_msg(done || status != 200, "%lld: not patched", (long long)n);
    ck_assert_str_eq(json_text(session, "name"), done ? "n" : "cube");
    ck_assert_uint_eq(json_object_size(json_at(session, "labels")), done ? 1 : 0);
    ck_assert_uint_eq(json_object_size(json_at(session, "metadata")), done ? 1 : 0);
    ck_assert_int_eq(json_count(session, "priority"), done ? -1 : 0);
    ck_assert_str_eq(json_text(session, "webhook/url"), done ? "http://a/" : "");
    json_decref(session);
    char target[96];
    static const char undo[] = "{\"name\": \"cube\", \"labels\": null, \"metadata\": null, "
                               "\"priority\": null, \"webhook\": null}";
    snprintf(target, sizeof target, "/v1/sessions/%s", paused);
    http_reply *r = http_call(d, "PATCH", target, "Content-Type: application/json\r\n", undo,
                              sizeof undo - 1);
    http_expect(r, 200);
    http_reply_free(r);
}

/* Each has a different number, from 1, and acknowledged ones exist. */
static void check_controls(int64_t answered)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/controls?limit=500", paused);
    http_reply *r = http_get(d, target);
    http_expect(r, 200);
    const json_t *items = json_at(r->json, "items");
    ck_assert_int_ge((int64_t)json_array_size(items), answered);
    for (size_t i = 0; i < json_array_size(items); i++)
        ck_assert_int_eq(json_count(json_array_get(items, i), "control_id"), (int64_t)i + 1);
    http_reply_free(r);
}

static void step_one_frame(void)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/step", paused);
    http_reply *r = http_post(d, target, NULL);
    http_expect(r, 202);
    session_await_frame(d, paused, json_count(r->json, "until"));
    session_await(d, paused, "paused");
    http_reply_free(r);
}

/* A successful reply is complete. */
START_TEST(test_whole)
{
    static const struct {
        const char *target, *more;
    } rows[] = {
        {"/v1/sessions/{P}/controls", ""},
        {"/v1/sessions/{E}/metrics?from=0", ""},
        {"/v1/sessions/{E}/metrics?buckets=1", ""},
        {"/v1/sessions/{E}/probes", "Accept: text/csv\r\n"},
        {"/v1/sessions/{E}/probes", "Accept: application/x-ndjson\r\n"},
        {"/v1/sessions/{E}", ""},
        {"/v1/sessions?label=a=b", ""},
        {"/v1/tokens", ""},
        {"/v1/sessions/{E}/export?format=npz", ""},
        {"/v1/sessions/{E}/export?format=vtu", ""},
        {"/v1/sessions/{E}/export?format=glb", ""},
        {"/v1/sessions/{E}/export?format=csv", ""},
    };
    char target[160], control[96];
    if (daemon_fixture_sanitized())
        skip_test("memory: test_whole: a sanitizer has an allocator of its own");
    snprintf(control, sizeof control, "/v1/sessions/%s/controls", paused);
    for (int k = 0; k < 3; k++) {
        http_reply_free(http_post(d, control, "{\"gravity\": [0, -1, 0]}"));
        http_reply_free(http_post(d, "/v1/tokens", "{\"scopes\": \"read\"}"));
        step_one_frame(); /* the control's */
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int served = 0, refused = 0;
        put_ids(rows[i].target, target);
        ck_assert_int_eq(ask("GET", target, rows[i].more, ""), 200);
        size_t length = starving_length;
        char *whole = malloc(length + 1);
        memcpy(whole, starving_answer, length + 1);
        for (int64_t n = 1, quiet = 0; quiet < 2; n += is_long_form() || n < 80 ? 1 : 1 + n / 12) {
            starving_arm(n, 1);
            int status = ask("GET", target, rows[i].more, "");
            quiet = starving_failures() == 0 ? quiet + 1 : 0;
            starving_arm(0, 0);
            if (status == 200)
                ck_assert_msg(starving_length == length &&
                                  memcmp(starving_answer, whole, length) == 0,
                              "%s, %lld: %s, not %s", target, (long long)n, starving_answer, whole);
            served += status == 200;
            refused += status == 500 || status == 503;
            ck_assert_int_lt(n, 10000);
        }
        ck_assert_msg(served > 0 && refused > 0, "%s: %d, %d", target, served, refused);
        free(whole);
    }
}
END_TEST

START_TEST(test_request)
{
    char target[160], what[200];
    put_ids(requests[_i].target, target);
    snprintf(what, sizeof what, "%s %s", requests[_i].method, target);
    if (daemon_fixture_sanitized())
        skip_test("memory: %s: a sanitizer has an allocator of its own", what);
    int64_t served = 0;
    for (int64_t n = 1, quiet = 0; quiet < 3; n += is_long_form() || n < 40 ? 1 : 1 + n / 12) {
        starving_arm(n, n % 4 == 3 ? 3 : 1);
        int status = ask(requests[_i].method, target, requests[_i].more, requests[_i].body);
        quiet = starving_failures() == 0 ? quiet + 1 : 0;
        starving_arm(0, 0);
        served += status >= 200 && status < 300;
        if (strcmp(requests[_i].method, "PATCH") == 0)
            check_patched(status, n);
        if (strstr(target, "/controls"))
            check_controls(served);
        ck_assert_msg(status == 0 || status >= 200, "%s, %lld: %d", what, (long long)n, status);
        check_sane(what, n);
        ck_assert_int_lt(n, 100000);
    }
    ck_assert(served > 0 || strstr(target, "nmae") || strstr(requests[_i].body, "bodys"));
    /* Nothing half-made: listed sessions have directories, and vice versa. */
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
         daemon_fixture_entries(d, "incoming") > 0; daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    http_reply *r = http_get(d, "/v1/sessions?limit=500");
    ck_assert_int_eq((int)json_array_size(json_at(r->json, "items")), daemon_fixture_sessions(d));
    /* One key makes one session. */
    ck_assert_int_eq(daemon_fixture_sessions(d), strstr(requests[_i].more, "Key: k") ? 3 : 2);
    http_reply_free(r);
    r = http_call(d, requests[_i].method, target, requests[_i].more, requests[_i].body,
                  strlen(requests[_i].body));
    bool full = is_long_form() && strstr(target, "tokens"); /* the most allowed */
    ck_assert_msg(full || r->status / 100 == (served > 0 ? 2 : 4), "%s: %d %.500s", what, r->status,
                  r->body);
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");
    tcase_set_timeout(tests, is_long_form() ? 600 : 180);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_loop_test(tests, test_request, 0, REQUESTS);
    tcase_add_test(tests, test_whole);
    return run_cases("memory of the daemon", tests);
}
