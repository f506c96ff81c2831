/* The daemon's n-th allocation fails, for n = 1, 2, ... from a POST over the session's run and stream to its removal.
 * The daemon keeps running, accepted sessions succeed, and nothing is left over. Allocations of libraries count too.
 * `check` tries a few n, PLIANT_LONG=1 all.
 */
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

enum { CHECKED = 24, RESTARTED = 10 };

static void start(void)
{
    static const char *const options[] = {"--cores", "2", "--restart-delays", "1,1,1", NULL};
    starving_begin();
    daemon_fixture_start(d, options);
}

static void stop(void)
{
    daemon_fixture_stop(d);
    starving_end();
}

/* ---- requests that may fail ---- */

/* Status of the reply; 0 if the connection was closed before its end. */
static int ask(const char *method, const char *target, const char *more, const char *body)
{
    int status = starving_ask(d, method, target, more, body);
    ck_assert_msg(status == 0 || (status >= 200 && status < 300) || status == 404 ||
                      status == 409 || status == 500 || status == 503,
                  "%s %s: %d %s", method, target, status, starving_answer);
    return status;
}

static int ask_of(const char *method, const char *id, const char *rest)
{
    char target[128];
    snprintf(target, sizeof target, "/v1/sessions/%s%s", id, rest);
    return ask(method, target, "", "");
}

/* True with the id of the accepted session. After an incomplete reply, looks for it in the list. */
static bool post(char id[33])
{
    char *scene = session_scene(3, 1, "");
    int status = ask("POST", "/v1/sessions", "Content-Type: application/json\r\n", scene);
    free(scene);
    if (status == 0) {
        starving_arm(0, 0);
        ck_assert_int_eq(ask("GET", "/v1/sessions", "", ""), 200);
    }
    const char *at = status == 201 || status == 0 ? strstr(starving_answer, "\"id\":\"") : NULL;
    ck_assert_msg(status != 201 || at, "%s", starving_answer);
    return at && sscanf(at + 6, "%32[0-9a-f]", id) == 1;
}

/* ---- one n ---- */

static void check_alive(int64_t n, const char *when)
{
    ck_assert_msg(kill(d->pid, 0) == 0, "%s: dead after allocation %lld failed", when,
                  (long long)n);
}

static void check_nothing_left(int64_t n)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        ask("GET", "/v1/sessions", "", "");
        bool empty = strstr(starving_answer, "\"items\":[]") && daemon_fixture_sessions(d) == 0 &&
                     daemon_fixture_entries(d, "incoming") == 0;
        if (empty)
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "%lld: left over: %s, %d, %d", (long long)n,
                      starving_answer, daemon_fixture_sessions(d),
                      daemon_fixture_entries(d, "incoming"));
    }
}

/* Waits until the session has ended, ignoring failed requests. */
static void await_end(const char *id, int64_t n)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        if (ask_of("GET", id, "") == 200 && strstr(starving_answer, "\"state\":\"succeeded\""))
            return;
        ck_assert_msg(!strstr(starving_answer, "\"state\":\"failed\"") &&
                          !strstr(starving_answer, "\"state\":\"rejected\""),
                      "%lld: %s", (long long)n, starving_answer);
        check_alive(n, "run");
        ck_assert_msg(daemon_fixture_clock() < end, "%lld: it does not end: %s", (long long)n,
                      starving_answer);
    }
}

/* Runs a session from its POST to its removal; true if it was accepted. */
static bool live(int64_t n)
{
    char id[33];
    if (!post(id))
        return false;
    ask_of("GET", id, "/frames?follow=1");
    ask_of("GET", id, "/metrics");
    await_end(id, n);
    ask_of("DELETE", id, "");
    check_alive(n, "removal");
    starving_arm(0, 0);
    ask_of("DELETE", id, ""); /* if the first was rejected */
    return true;
}

static bool check_at(int64_t n, int64_t span)
{
    starving_arm(n, span);
    bool accepted = live(n);
    starving_arm(0, 0);
    check_alive(n, "POST");
    check_nothing_left(n);
    return accepted;
}

/* Counts the allocations of an undisturbed session; not of the first one, which needs more. */
static int64_t count_allocations(void)
{
    ck_assert(check_at(0, 0));
    starving_arm(STARVING_COUNT, 1);
    char id[33];
    ck_assert(post(id));
    await_end(id, 0);
    ask_of("DELETE", id, "");
    int64_t count = starving_counted();
    check_nothing_left(0);
    starving_arm(0, 0);
    return count;
}

START_TEST(test_session)
{
    if (daemon_fixture_sanitized())
        skip_test("session_memory: test_session: a sanitizer has an allocator of its own");
    int64_t count = count_allocations(), accepted = 0, refused = 0;
    int64_t step = is_long_form() ? 1 : count / CHECKED;
    for (int64_t n = 1, turn = 1; n <= count; n += step, turn++) {
        bool good = check_at(n, n % 4 == 3 ? 5 : 1);
        accepted += good;
        refused += !good;
        if (turn % RESTARTED == 0) { /* a restart must cope with the remains of failures */
            ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
            daemon_fixture_resume(d);
        }
    }
    ck_assert(accepted > 0 && refused > 0);
    ck_assert(check_at(0, 0));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");
    tcase_set_timeout(tests, is_long_form() ? 7200 : 300);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, test_session);
    return run_cases("memory of the daemon over a session", tests);
}
