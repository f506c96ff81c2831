/* A disk that does not answer for one session holds up that session alone: the daemon goes on with heartbeats,
 * with other sessions and with requests. The disk is preload/slow_disk.c. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
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

static void end(void)
{
    unlink(gate);
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

int main(void)
{
    TCase *tests = tcase_create("slow disk");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, test_log);
    tcase_add_test(tests, test_exit);
    return run_cases("slow disk", tests);
}
