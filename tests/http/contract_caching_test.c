/* Responses that never change have tags, so that nobody fetches them twice; changing ones are marked as such. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static http_reply *get_with(const char *target, const char *accept, const char *name,
                            const char *value)
{
    char headers[600];
    snprintf(headers, sizeof headers, "Accept: %s\r\n%s%s%s%s", accept, name ? name : "",
             name ? ": " : "", name ? value : "", name ? "\r\n" : "");
    return http_call(d, "GET", target, headers, NULL, 0);
}

/* The form's tag; checks that it gives 304, and nothing else, in If-None-Match. */
static void check_tagged(const char *target, const char *accept, const char *caching, char tag[200])
{
    char list[520];
    http_reply *r = get_with(target, accept, NULL, NULL);
    http_expect(r, 200);
    const char *etag = http_header(r, "ETag");
    ck_assert_msg(etag && etag[0] == '"', "%s: %s", target, etag ? etag : "no ETag");
    ck_assert_str_eq(http_header(r, "Cache-Control"), caching);
    snprintf(tag, 200, "%s", etag);
    http_reply_free(r);
    const char *const having[] = {"%s", "W/%s", "\"other\", %s", "%s,\"x\"", "*"};
    for (size_t i = 0; i < sizeof having / sizeof *having; i++) {
        const char *place = strstr(having[i], "%s");
        int before = place ? (int)(place - having[i]) : (int)strlen(having[i]);
        snprintf(list, sizeof list, "%.*s%s%s", before, having[i], place ? tag : "",
                 place ? place + 2 : "");
        r = get_with(target, accept, "If-None-Match", list);
        ck_assert_msg(r->status == 304, "%s %s: %d", target, list, r->status);
        ck_assert_uint_eq(r->length, 0);
        ck_assert_str_eq(http_header(r, "ETag"), tag);
        ck_assert_str_eq(http_header(r, "Cache-Control"), caching);
        http_reply_free(r);
    }
    snprintf(list, sizeof list, "\"%.*sx\"", (int)strlen(tag) - 2, tag + 1);
    const char *const lacking[] = {"\"\"", "\"x", "x", list};
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        r = get_with(target, accept, "If-None-Match", lacking[i]);
        ck_assert_msg(r->status == 200, "%s %s: %d", target, lacking[i], r->status);
        http_reply_free(r);
    }
}

START_TEST(test_immutable)
{
    static const struct {
        const char *below, *accept;
    } parts[] = {
        {"/topology", "*/*"},
        {"/topology?array=triangles", "*/*"},
        {"/topology?array=tets", "*/*"},
        {"/scene", "*/*"},
        {"/scene?form=effective", "*/*"},
        {"/frames/0", "application/vnd.pliant.frames"},
        {"/frames/0", "application/x-npy"},
        {"/frames/1", "application/x-npy"},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    char ids[2][33], tags[2 * PARTS][200];
    for (int s = 0; s < 2; s++) {
        session_run(d, session_scene(2, 1, ""), ids[s]);
        for (int i = 0; i < PARTS; i++) {
            char target[128];
            snprintf(target, sizeof target, "/v1/sessions/%s%s", ids[s], parts[i].below);
            check_tagged(target, parts[i].accept, "private, max-age=31536000, immutable",
                         tags[s * PARTS + i]);
        }
    }
    /* Strong: two forms never share a tag. */
    for (int i = 0; i < 2 * PARTS; i++)
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(tags[i], tags[k]);
}
END_TEST

/* Caches revalidate exports of ended sessions by their tag, and keep neither exports of running sessions nor parts. */
START_TEST(test_exports)
{
    char id[33], target[128], tag[200];
    session_run(d, session_scene(2, 1, ""), id);
    snprintf(target, sizeof target, "/v1/sessions/%s/export?format=npz", id);
    check_tagged(target, "*/*", "private, no-cache", tag);
    static const char *const numbers[] = {"probes", "metrics?buckets=2"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char other[200], of[128];
        snprintf(of, sizeof of, "/v1/sessions/%s/%s", id, numbers[i]);
        check_tagged(of, "*/*", "private, no-cache", other);
        ck_assert_str_ne(other, tag);
    }
    snprintf(target, sizeof target, "/v1/sessions/%s/export?format=npz&offset=8", id);
    http_reply *r = get_with(target, "*/*", "If-Match", tag);
    http_expect(r, 200);
    ck_assert_str_eq(http_header(r, "Cache-Control"), "no-store");
    http_reply_free(r);
}
END_TEST

/* With --shared-cache, a cache may keep replies to share links and signed addresses until these expire, but no replies
 * to tokens. */
START_TEST(test_shared)
{
    static const char *const options[] = {"--cores", "2", "--shared-cache", "100000", NULL},
                             *const allowed[] = {"--cores", "2", "--shared-cache", "600", NULL};
    char id[33], target[128], cookie[300], said[300], body[200];
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_eq(daemon_fixture_command(d, options, said, sizeof said), 2);
    daemon_fixture_start(d, allowed);
    session_run(d, session_scene(1, 1, ""), id);
    snprintf(target, sizeof target, "/v1/sessions/%s/links", id);
    http_reply *r = http_post(d, target, "{\"expires_in\": 120}");
    http_expect(r, 201);
    snprintf(cookie, sizeof cookie, "X-No-Authorization: 1\r\nCookie: pliant_link=%s\r\n",
             json_text(r->json, "secret"));
    http_reply_free(r);
    static const struct {
        const char *below, *shared, *own;
    } parts[] = {
        {"scene", "public, max-age=31536000, s-maxage=%d, immutable",
         "private, max-age=31536000, immutable"},
        {"frames/1", "public, max-age=31536000, s-maxage=%d, immutable",
         "private, max-age=31536000, immutable"},
        {"metrics?buckets=2", "public, max-age=0, s-maxage=%d, must-revalidate",
         "private, no-cache"},
        {"export?format=npz", "public, max-age=0, s-maxage=%d, must-revalidate",
         "private, no-cache"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int seconds = 0;
        snprintf(target, sizeof target, "/v1/sessions/%s/%s", id, parts[i].below);
        r = http_get(d, target);
        ck_assert_str_eq(http_header(r, "Cache-Control"), parts[i].own);
        http_reply_free(r);
        r = http_call(d, "GET", target, cookie, NULL, 0);
        http_expect(r, 200);
        ck_assert_int_eq(sscanf(http_header(r, "Cache-Control"), parts[i].shared, &seconds), 1);
        ck_assert_msg(seconds > 0 && seconds <= 120, "%d s", seconds); /* the link's end */
        ck_assert_str_eq(http_header(r, "Vary"), "Accept, Cookie");
        http_reply_free(r);
    }
    snprintf(body, sizeof body, "{\"path\": \"/v1/sessions/%s/frames/1\"}", id);
    snprintf(target, sizeof target, "/v1/sessions/%s/sign", id);
    r = http_post(d, target, body);
    http_expect(r, 200);
    const char *path = strstr(json_text(r->json, "url"), "/v1/");
    http_reply *of = http_call(d, "GET", path, "X-No-Authorization: 1\r\n", NULL, 0);
    int seconds = 0;
    http_expect(of, 200);
    ck_assert_int_eq(sscanf(http_header(of, "Cache-Control"), parts[0].shared, &seconds), 1);
    ck_assert_msg(seconds > 0 && seconds <= 60, "%d s", seconds);
    http_reply_free(of);
    http_reply_free(r);
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    r = http_call(d, "GET", target, cookie, NULL, 0);
    ck_assert_str_eq(http_header(r, "Cache-Control"), "no-store");
    http_reply_free(r);
}
END_TEST

START_TEST(test_revalidated)
{
    static const char *const targets[] = {"/v1/capabilities", "/openapi.json"};
    char tag[200];
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        check_tagged(targets[i], "*/*", "no-cache", tag);
}
END_TEST

/* Changing responses and errors must not be stored. */
START_TEST(test_not_stored)
{
    static const char *const below[] = {"", "/frames/latest", "/log", "/frames/99", "/nothing"};
    char id[33];
    session_run(d, session_scene(1, 1, ""), id);
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        http_reply *r = http_getf(d, "/v1/sessions/%s%s", id, below[i]);
        ck_assert_str_eq(http_header(r, "Cache-Control"), "no-store");
        http_reply_free(r);
    }
    http_reply *r = http_get(d, "/v1/sessions");
    ck_assert_str_eq(http_header(r, "Cache-Control"), "no-store");
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("caching");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_immutable);
    tcase_add_test(tests, test_exports);
    tcase_add_test(tests, test_shared);
    tcase_add_test(tests, test_revalidated);
    tcase_add_test(tests, test_not_stored);
    return run_cases("contract: caching", tests);
}
