/* Sessions with a range of cores, while they run: they take what becomes idle, give it back where another session
 * waits, have the same bits all the same, and keep what they have over a restart of the daemon. */
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static daemon_fixture fixture;
static daemon_fixture *d = &fixture;

static void start(void)
{
    daemon_fixture_start(d, NULL);
}

static void stop(void)
{
    daemon_fixture_stop(d);
}

/* Of 3,456 tetrahedra, so that a second thread has work. */
static void post_wide(int64_t steps, const char *cores, char id[33])
{
    char scene[600];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld},"
             " \"solver\": {\"iterations\": 5, \"tolerance\": 0},"
             " \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"box\": {\"size\": [4, 1, 1],"
             " \"cells\": [16, 6, 6]}}}],"
             " \"pins\": [{\"select\": {\"side\": \"-x\"}}], \"resources\": {\"cores\": %s}}",
             (long long)steps, cores);
    session_post(d, scene, id);
}

static int64_t frame_of(const char *id)
{
    json_t *session = session_show(d, id);
    int64_t frame = json_count(session, "progress/frame");
    json_decref(session);
    return frame;
}

static void await_cores(const char *id, int64_t cores)
{
    int64_t has = -1;
    for (int i = 0; i < 12000 && has != cores; i++) {
        json_t *session = session_show(d, id);
        has = json_count(session, "resources/cores");
        json_decref(session);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    ck_assert_int_eq(has, cores);
}

static int count_in_log(const char *id, const char *text)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/log", id);
    int count = 0;
    for (const char *at = r->body; (at = strstr(at, text)); at += strlen(text))
        count++;
    http_reply_free(r);
    return count;
}

static void await_in_log(const char *id, const char *text)
{
    for (int i = 0; i < 12000 && count_in_log(id, text) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert_msg(count_in_log(id, text) == 1, "'%s' is not in the log once", text);
}

START_TEST(test_the_same_bits)
{
    char wide[33], other[33], narrow[33];
    session_post_free(d, session_scene_endless(""), other);
    session_await(d, other, "running");
    post_wide(10000000, "\"1-2\"", wide);
    session_await_frame(d, wide, 5);
    await_cores(wide, 1);
    session_tell(d, other, "cancel");
    await_cores(wide, 2);
    await_in_log(wide, "2 threads from step");
    session_await_frame(d, wide, frame_of(wide) + 5);
    session_post_free(d, session_scene_endless(""), other);
    session_await(d, other, "running");
    await_cores(wide, 1);
    await_in_log(wide, "1 threads from step");
    session_await_frame(d, wide, frame_of(wide) + 5);
    session_tell(d, wide, "cancel");
    session_await(d, wide, "cancelled");
    session_tell(d, other, "cancel");
    int64_t last = frame_of(wide);
    post_wide(last, "1", narrow);
    session_await(d, narrow, "succeeded");
    ck_assert(session_same_frame(d, wide, last, narrow, last));
    ck_assert(session_same_frame(d, wide, last / 2, narrow, last / 2));
}
END_TEST

/* A daemon that is killed does not know its sessions' cores by its database. */
START_TEST(test_restart)
{
    char wide[33], first[33], next[33];
    session_post_free(d, session_scene_endless(""), first);
    session_await(d, first, "running");
    post_wide(10000000, "\"1-2\"", wide);
    session_await_frame(d, wide, 1);
    session_tell(d, first, "cancel");
    await_in_log(wide, "2 threads from step");
    daemon_fixture_end(d, SIGKILL);
    daemon_fixture_resume(d);
    session_await(d, wide, "running");
    session_await_frame(d, wide, frame_of(wide) + 5);
    ck_assert_int_eq(count_in_log(wide, "2 threads from step"), 1); /* it was not asked again */
    await_cores(wide, 2);
    ck_assert_int_eq(session_counter(d, "cores_used"), 2);
    session_post_free(d, session_scene(2, 1, ""), next);
    session_await(d, next, "succeeded");
    await_cores(wide, 2);
    session_tell(d, wide, "cancel");
}
END_TEST

/* Two sessions that may have both cores share them. */
START_TEST(test_shared_evenly)
{
    char a[33], b[33];
    post_wide(10000000, "\"1-2\"", a);
    session_await(d, a, "running");
    await_cores(a, 2);
    post_wide(10000000, "\"1-2\"", b);
    session_await(d, b, "running");
    await_cores(a, 1);
    await_cores(b, 1);
    session_tell(d, a, "cancel");
    await_cores(b, 2);
    session_tell(d, b, "cancel");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("elastic");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_the_same_bits);
    tcase_add_test(cases, test_restart);
    tcase_add_test(cases, test_shared_evenly);
    return run_cases("elastic", cases);
}
