/* The scheduler behind the daemon's requests, with small real sessions: users take turns, no core is idle beside a
 * session that fits, the queue reserves places for other users, ranges of cores, preemption with the same bits,
 * holding, and sessions after sessions. */
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static daemon_fixture fixture;
static daemon_fixture *d = &fixture;

static void start(void) {}

static void stop(void)
{
    daemon_fixture_stop(d);
}

static void begin(const char *cores, const char *option, const char *value)
{
    const char *options[] = {"--cores", cores, option, value, NULL};
    daemon_fixture_start(d, options);
}

static void user_token(const char *name, char secret[80])
{
    char id[40];
    tenant_user(d, name);
    tenant_token(d, name, "submit,read", secret, id);
}

/* Posts as a user; returns the status and, for 201, the id. */
static int post_as(const char *secret, char *scene, char id[33])
{
    http_reply *r = tenant_call(d, secret, "POST", "/v1/sessions", "Prefer: wait=60\r\n", scene);
    int status = r->status;
    if (status == 201) {
        snprintf(id, 33, "%s", json_text(r->json, "id"));
    } else {
        snprintf(id, 33, "%.32s", json_text(r->json, "type") + strlen("/problems/"));
    }
    free(scene);
    http_reply_free(r);
    return status;
}

static const char *state_of(const char *id)
{
    static char state[16];
    json_t *session = session_show(d, id);
    snprintf(state, sizeof state, "%s", json_text(session, "state"));
    json_decref(session);
    return state;
}

/* A user's many sessions do not delay the next user until all have run. */
START_TEST(test_users_take_turns)
{
    enum { MANY = 20 };
    char a[80], b[80], blocker[33], ids[MANY][33], other[33];
    begin("1", NULL, NULL);
    user_token("anna", a);
    user_token("bob", b);
    ck_assert_int_eq(post_as(a, session_scene_endless(""), blocker), 201);
    session_await(d, blocker, "running");
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(post_as(a, session_scene(3, 1, ""), ids[i]), 201);
    }
    ck_assert_int_eq(post_as(b, session_scene(3, 1, ""), other), 201);
    json_t *waits = session_show(d, other);
    ck_assert_int_eq(json_count(waits, "queue/position"), 1);
    ck_assert_str_eq(json_text(waits, "queue/code"), "cores");
    json_decref(waits);
    json_t *behind = session_show(d, ids[MANY - 1]);
    ck_assert_int_eq(json_count(behind, "queue/position"), MANY + 1);
    ck_assert_str_eq(json_text(behind, "queue/code"), "turn");
    ck_assert_uint_eq(strlen(json_text(behind, "queue/estimated_start")), 20);
    json_decref(behind);
    session_tell(d, blocker, "cancel");
    session_await(d, other, "succeeded");
    ck_assert_str_ne(state_of(ids[MANY - 1]), "succeeded");
    session_await(d, ids[MANY - 1], "succeeded");
}
END_TEST

/* Two cores, one busy: a session of two cores waits, and one-core sessions behind it run. */
START_TEST(test_no_core_is_idle)
{
    char busy[33], large[33], small[33];
    begin("2", NULL, NULL);
    session_post_free(d, session_scene_endless(""), busy);
    session_await(d, busy, "running");
    session_post_free(d, session_scene(2, 1, ", \"resources\": {\"cores\": 2}"), large);
    session_post_free(d, session_scene(2, 1, ""), small);
    session_await(d, small, "succeeded");
    json_t *waits = session_show(d, large);
    ck_assert_str_eq(json_text(waits, "state"), "queued");
    ck_assert_str_eq(json_text(waits, "queue/reason"), "waits for 2 cores: 1 of 2 free");
    json_decref(waits);
    session_tell(d, busy, "cancel");
    session_await(d, large, "succeeded");
}
END_TEST

/* A user who has filled their part of the queue is told so, and the next user finds a place. */
START_TEST(test_places_for_others)
{
    char a[80], b[80], c[80], id[33], running[33];
    begin("1", "--max-sessions-queued", "8");
    user_token("anna", a);
    user_token("bob", b);
    user_token("carol", c);
    ck_assert_int_eq(post_as(a, session_scene_endless(""), running), 201);
    session_await(d, running, "running");
    int taken = 0, status;
    while ((status = post_as(a, session_scene(2, 1, ""), id)) == 201) {
        taken++;
    }
    ck_assert_int_eq(status, 429);
    ck_assert_str_eq(id, "queue_share");
    ck_assert_int_eq(taken, 6);
    ck_assert_int_eq(post_as(b, session_scene(2, 1, ""), id), 201);
    /* The last place is for a user without any. */
    ck_assert_int_eq(post_as(b, session_scene(2, 1, ""), id), 429);
    ck_assert_str_eq(id, "queue_share");
    ck_assert_int_eq(post_as(c, session_scene(2, 1, ""), id), 201);
    session_tell(d, running, "cancel");
}
END_TEST

/* A range gets what is free: two cores of two, then one of one; all give the same bits. */
START_TEST(test_ranges)
{
    char alone[33], beside[33], one[33], busy[33];
    begin("2", NULL, NULL);
    session_post_free(d, session_scene(4, 1, ", \"resources\": {\"cores\": \"1-4\"}"), alone);
    session_await(d, alone, "succeeded");
    session_post_free(d, session_scene_endless(""), busy);
    session_await(d, busy, "running");
    session_post_free(d, session_scene(4, 1, ", \"resources\": {\"cores\": \"1-2\"}"), beside);
    session_await(d, beside, "succeeded");
    session_post_free(d, session_scene(4, 1, ""), one);
    session_await(d, one, "succeeded");
    json_t *wide = session_show(d, alone), *narrow = session_show(d, beside);
    ck_assert_int_eq(json_count(wide, "resources/cores"), 2);
    ck_assert_str_eq(json_text(wide, "resources/range"), "1-4");
    ck_assert_int_eq(json_count(narrow, "resources/cores"), 1);
    json_decref(wide);
    json_decref(narrow);
    ck_assert(session_same_frame(d, alone, 4, one, 4));
    ck_assert(session_same_frame(d, beside, 4, one, 4));
    session_tell(d, busy, "cancel");
}
END_TEST

/* A preemptible session yields its core to another, continues from its checkpoint and ends with the same bits. */
START_TEST(test_preemption)
{
    char yielding[33], urgent[33];
    begin("1", NULL, NULL);
    session_post_free(d, session_scene(2000, 1, ", \"resources\": {\"preemptible\": true}"),
                      yielding);
    session_await_frame(d, yielding, 20);
    session_post_free(d, session_scene(2, 1, ""), urgent);
    session_check_preempted(d, yielding, urgent, session_scene(2000, 1, ""), 2000);
}
END_TEST

/* A held session waits for its owner, also over a restart; one after another waits for that. */
START_TEST(test_hold_and_after)
{
    char held[33], last[33], more[120];
    begin("2", NULL, NULL);
    session_post_free(d, session_scene(2, 1, ", \"resources\": {\"hold\": true}"), held);
    ck_assert_str_eq(state_of(held), "paused");
    snprintf(more, sizeof more, ", \"resources\": {\"after\": [\"%s\"]}", held);
    session_post_free(d, session_scene(2, 1, more), last);
    json_t *waits = session_show(d, last);
    ck_assert_str_eq(json_text(waits, "queue/reason"),
                     "waits for 1 session of resources.after to end");
    ck_assert_str_eq(json_text(waits, "queue/code"), "after");
    json_decref(waits);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    ck_assert_str_eq(state_of(held), "paused");
    ck_assert_str_eq(state_of(last), "queued");
    session_tell(d, held, "resume");
    session_await(d, held, "succeeded");
    session_await(d, last, "succeeded");
}
END_TEST

/* Another user's session gets the same reply as a missing one. */
START_TEST(test_after_anothers)
{
    char a[80], b[80], own[33], unused[33], more[120], got[2][600];
    begin("1", NULL, NULL);
    user_token("anna", a);
    user_token("bob", b);
    ck_assert_int_eq(post_as(a, session_scene(1, 1, ""), own), 201);
    const char *ids[] = {own, "0123456789abcdef0123456789abcdef"};
    for (int i = 0; i < 2; i++) {
        snprintf(more, sizeof more, ", \"resources\": {\"after\": [\"%s\"]}", ids[i]);
        char *scene = session_scene(1, 1, more);
        http_reply *r = tenant_call(d, b, "POST", "/v1/sessions", NULL, scene);
        const json_t *fault = http_fault(http_problem(r, 422, "invalid_scene"),
                                         "/resources/after/0");
        snprintf(got[i], sizeof got[i], "%s %s %s", json_text(fault, "code"),
                 json_text(fault, "expected"), json_text(fault, "hint"));
        free(scene);
        http_reply_free(r);
    }
    ck_assert_str_eq(got[0], got[1]);
    ck_assert_ptr_nonnull(strstr(got[0], "no_such_session"));
    snprintf(more, sizeof more, ", \"resources\": {\"after\": [\"%s\"]}", own);
    ck_assert_int_eq(post_as(a, session_scene(1, 1, more), unused), 201);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("scheduling");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_users_take_turns);
    tcase_add_test(cases, test_no_core_is_idle);
    tcase_add_test(cases, test_places_for_others);
    tcase_add_test(cases, test_ranges);
    tcase_add_test(cases, test_preemption);
    tcase_add_test(cases, test_hold_and_after);
    tcase_add_test(cases, test_after_anothers);
    return run_cases("scheduling", cases);
}
