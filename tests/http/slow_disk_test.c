/* A disk that does not respond for one session delays only that session: the daemon continues with heartbeats, with
 * other sessions and with requests. A 201 waits for the disk, and so do results of a later check. The disks are
 * preload/slow_disk.c and preload/slow_sync.c. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char gate[64];

/* A daemon in which the first opening of such a file waits once the gate is closed. */
static void start_with(const char *file)
{
    static const char *const options[] = {"--cores", "2", NULL};
    snprintf(gate, sizeof gate, "/tmp/pliant-gate-%d", (int)getpid());
    daemon_fixture_preload("libslow_disk.so");
    setenv("PLIANT_SLOW_FILE", file, 1);
    setenv("PLIANT_SLOW_GATE", gate, 1);
    daemon_fixture_start(d, options);
    unsetenv("LD_PRELOAD");
}

static void close_gate(void)
{
    int fd = open(gate, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void await_held(void)
{
    struct stat st;
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    do {
        daemon_fixture_nap();
        ck_assert_int_eq(stat(gate, &st), 0);
        ck_assert_msg(daemon_fixture_clock() < end, "no thread opened the file");
    } while (st.st_size == 0);
}

static char broken[64];

/* A daemon whose syncs of directories wait at the gate, and fail while there is a file `broken`. */
static void start_with_syncs(void)
{
    static const char *const options[] = {"--cores", "2", NULL};
    snprintf(gate, sizeof gate, "/tmp/pliant-gate-%d", (int)getpid());
    snprintf(broken, sizeof broken, "/tmp/pliant-broken-%d", (int)getpid());
    daemon_fixture_preload("libslow_sync.so");
    setenv("PLIANT_SYNC_GATE", gate, 1);
    setenv("PLIANT_SYNC_BROKEN", broken, 1);
    daemon_fixture_start(d, options);
    unsetenv("LD_PRELOAD");
}

static void end(void)
{
    unlink(gate);
    unlink(broken);
    daemon_fixture_stop(d);
}

/* The thread that reads logs waits: a long poll is still ended by the tick, and another session runs to its end. */
START_TEST(test_log)
{
    char held[33], other[33];
    start_with(".seg");
    close_gate();
    session_post_free(d, session_scene_endless(""), held);
    await_held();
    char target[80];
    snprintf(target, sizeof target, "/v1/sessions/%s?wait=1", held);
    http_reply *r = http_get(d, target);
    http_expect(r, 200);
    http_reply_free(r);
    session_run(d, session_scene(2, 1, ""), other);
    unlink(gate);
    session_await_frame(d, held, 1);
    session_tell(d, held, "cancel");
    session_await(d, held, "cancelled");
    end();
}
END_TEST

/* The supervisor waits for the exit.json of an adopted session: a pause is still answered, and carried out later. */
START_TEST(test_exit)
{
    char held[33];
    start_with("exit.json");
    session_post_free(d, session_scene_endless(""), held);
    session_await_frame(d, held, 1);
    ck_assert_int_ne(daemon_fixture_end(d, SIGKILL), 0);
    daemon_fixture_resume(d);
    session_await(d, held, "running");
    close_gate();
    await_held();
    session_tell(d, held, "pause");
    unlink(gate);
    session_await(d, held, "paused");
    end();
}
END_TEST

static void *post_held(void *context)
{
    char *scene = session_scene(1, 1, ", \"resources\": {\"hold\": true}");
    *(http_reply **)context = http_post(d, "/v1/sessions", scene);
    free(scene);
    return NULL;
}

static void expect_sessions(int64_t count)
{
    http_reply *list = http_get(d, "/v1/sessions");
    http_expect(list, 200);
    ck_assert_int_eq((int64_t)json_array_size(json_at(list->json, "items")), count);
    http_reply_free(list);
}

/* Nobody sees the session before it is durable. */
START_TEST(test_created)
{
    pthread_t poster;
    http_reply *r = NULL;
    start_with_syncs();
    close_gate();
    ck_assert_int_eq(pthread_create(&poster, NULL, post_held, &r), 0);
    await_held();
    expect_sessions(0);
    ck_assert_ptr_null(r);
    unlink(gate);
    pthread_join(poster, NULL);
    http_expect(r, 201);
    http_reply_free(r);
    expect_sessions(1);
    end();
}
END_TEST

static void write_broken(const char *text)
{
    FILE *file = fopen(broken, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* If its files cannot be synced together they are synced one by one; if that fails, there is no session. */
START_TEST(test_broken)
{
    http_reply *r = NULL;
    start_with_syncs();
    write_broken("");
    post_held(&r);
    http_expect(r, 201);
    http_reply_free(r);
    write_broken("x");
    post_held(&r);
    http_problem(r, 503, "disk_error");
    http_reply_free(r);
    expect_sessions(1);
    ck_assert_int_eq(daemon_fixture_sessions(d), 1);
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    end();
}
END_TEST

/* A check that the POST did not wait for: a box of a million tetrahedra, so that the gate is closed before it ends. */
START_TEST(test_checked_later)
{
    static const char scene[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1}, \"resources\": {\"hold\": true},"
        " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [56, 56, 56]}}}]}";
    start_with_syncs();
    http_reply *r = http_call(d, "POST", "/v1/sessions",
                              "Content-Type: application/json\r\nPrefer: wait=0\r\n", scene,
                              sizeof scene - 1);
    http_expect(r, 201);
    close_gate();
    char id[33];
    snprintf(id, sizeof id, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    await_held();
    json_t *shown = session_show(d, id);
    ck_assert_str_eq(json_text(shown, "state"), "checking");
    json_decref(shown);
    unlink(gate);
    session_await(d, id, "paused");
    end();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("slow disk");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, test_log);
    tcase_add_test(tests, test_exit);
    tcase_add_test(tests, test_created);
    tcase_add_test(tests, test_broken);
    tcase_add_test(tests, test_checked_later);
    return run_cases("slow disk", tests);
}
