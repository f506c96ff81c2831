/* What never changes is tagged so that nobody fetches it twice, and what changes says so. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
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

/* The form's tag; that it is answered by 304 and nothing else where it stands in If-None-Match. */
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

START_TEST(test_revalidated)
{
    static const char *const targets[] = {"/v1/capabilities", "/openapi.json"};
    char tag[200];
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        check_tagged(targets[i], "*/*", "no-cache", tag);
}
END_TEST

/* What changes is not stored, nor is a refusal. */
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
    tcase_add_test(tests, test_revalidated);
    tcase_add_test(tests, test_not_stored);
    return run_cases("contract: caching", tests);
}
