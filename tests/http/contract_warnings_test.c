/* Warnings of a session over HTTP: from the check before it runs, and from its frames while it runs and at its end, in
 * document, list and events; the same after a restart of the daemon or loss of its database.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A cube that is 87 m across, held and pulled, by a method that stops early. */
#define ODD                                                                                        \
    "{\"pliant\": 1, \"time\": {\"step\": 0.01, %s}, \"solver\": {\"method\": \"admm\","           \
    " \"iterations\": 2, \"tolerance\": 1e-9}, \"bodies\": [{\"mesh\": {\"box\": {\"cells\":"      \
    " [%d, %d, %d]}}, \"transform\": {\"scale\": 50}}], \"pins\": [{\"select\": {\"side\":"        \
    " \"-x\"}}]}"

static void post_odd(const char *time, int cells, char id[33])
{
    char scene[512];
    snprintf(scene, sizeof scene, ODD, time, cells, cells, cells);
    session_post(d, scene, id);
}

/* One in the list of a document; NULL: it is not there. */
static json_t *warning(json_t *session, const char *code)
{
    size_t i;
    json_t *item;
    const json_t *list = json_at(session, "warnings");
    ck_assert(json_is_array(list));
    json_array_foreach(list, i, item) if (strcmp(json_text(item, "code"), code) == 0) return item;
    return NULL;
}

START_TEST(test_before_it_runs)
{
    char id[33], busy[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), busy);
    post_odd("\"steps\": 5", 2, id);
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "state"), "queued");
    ck_assert_uint_eq(json_array_size(json_at(session, "warnings")), 1);
    json_t *w = warning(session, "odd_size");
    ck_assert_ptr_nonnull(w);
    ck_assert_ptr_nonnull(strstr(json_text(w, "detail"), "86.6 m"));
    ck_assert_int_eq(json_count(w, "count"), 1);
    ck_assert_int_eq(json_count(w, "of"), 1);
    json_decref(session);
    session = session_show(d, busy);
    ck_assert_uint_eq(json_array_size(json_at(session, "warnings")), 0);
    json_decref(session);
    session_tell(d, busy, "cancel");
    session_await(d, id, "succeeded");
}
END_TEST

START_TEST(test_at_its_end)
{
    char id[33];
    post_odd("\"steps\": 7", 2, id);
    session_await(d, id, "succeeded");
    json_t *before = session_show(d, id);
    ck_assert_uint_eq(json_array_size(json_at(before, "warnings")), 2);
    json_t *w = warning(before, "unconverged");
    ck_assert_int_eq(json_count(w, "count"), 7);
    ck_assert_int_eq(json_count(w, "of"), 7);
    http_reply *r = http_get(d, "/v1/sessions");
    ck_assert(json_equal(json_at(r->json, "items/0/warnings"), json_at(before, "warnings")));
    http_reply_free(r);
    r = http_get(d, "/v1/events?since=0");
    ck_assert_ptr_nonnull(strstr(r->body, "unconverged"));
    http_reply_free(r);
    /* Of the row, and of the directory alone. */
    for (int reindex = 0; reindex < 2; reindex++) {
        ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
        if (reindex) {
            char said[512];
            ck_assert_int_eq(unlink(daemon_fixture_path(d, "pliant.db")), 0);
            ck_assert_int_eq(daemon_fixture_command(d, (const char *const[]){"--reindex", NULL},
                                                    said, sizeof said),
                             0);
        }
        daemon_fixture_resume(d);
        json_t *after = session_show(d, id);
        ck_assert(json_equal(json_at(after, "warnings"), json_at(before, "warnings")));
        json_decref(after);
    }
    json_decref(before);
}
END_TEST

/* Warnings are reported before its end; a daemon killed meanwhile continues to report them. */
START_TEST(test_while_it_runs)
{
    char id[33];
    int64_t seen = 0;
    post_odd("\"duration\": 1e5", 8, id);
    session_await(d, id, "running");
    for (int round = 0; round < 3; round++) {
        int64_t count = seen;
        for (int look = 0; look < 3000 && count <= seen; look++, daemon_fixture_nap()) {
            json_t *session = session_show(d, id);
            json_t *w = warning(session, "unconverged");
            count = w ? json_count(w, "count") : 0;
            ck_assert_str_eq(json_text(session, "state"), "running");
            json_decref(session);
        }
        ck_assert_int_gt(count, seen);
        seen = count;
        if (round == 1) {
            daemon_fixture_end(d, SIGKILL);
            daemon_fixture_resume(d);
        }
    }
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    json_t *session = session_show(d, id);
    ck_assert_int_eq(json_count(warning(session, "unconverged"), "count"),
                     json_count(session, "progress/frame"));
    json_decref(session);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("contract_warnings");
    TCase *t = tcase_create("warnings");
    tcase_add_checked_fixture(t, start_daemon, stop_daemon);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_before_it_runs);
    tcase_add_test(t, test_at_its_end);
    tcase_add_test(t, test_while_it_runs);
    suite_add_tcase(s, t);
    return run_suite(s);
}
