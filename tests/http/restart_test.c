/* A stream across restarts of the daemon, read by real programs: curl in a loop that asks for the next
 * frame each time, and `pliant follow`, which does that by itself. No frame is missed or repeated.
 */
#include "protocol/log/session_dir.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 150, EVERY = 50 };

/* Start a program with its output in a file of the fixture's directory. */
static pid_t launch(const char *const *argv, const char *out, const char *err)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chdir(d->directory) == 0 && freopen(out, "w", stdout) && freopen(err, "w", stderr))
            execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    return pid;
}

static char *read_whole(const char *name, size_t *size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", d->directory, name);
    FILE *file = fopen(path, "re");
    char *bytes = calloc(1, 8 << 20);
    *size = file ? fread(bytes, 1, (8 << 20) - 1, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Runs some 2 s, a frame each 10 ms. */
static void post(char id[33])
{
    session_post_free(d, session_scene(FRAMES * EVERY, EVERY, ""), id);
}

/* ---- curl ---- */

/* The whole records in a stream of records: the frames from *next on, each once, into `all`. */
static bool take_records(const unsigned char *bytes, size_t size, int64_t *next, uint32_t *crcs)
{
    bool ended = false;
    for (size_t at = 0; size - at >= PL_RECORD_HEADER;) {
        pl_record r;
        ck_assert_int_eq(pl_record_decode(bytes + at, size - at, &r), PL_RECORD_GOOD);
        uint64_t whole = pl_record_size(r.length);
        if (whole > size - at)
            break; /* cut here: it is asked for again */
        uint32_t crc = pl_crc32c(0, bytes + at + PL_RECORD_HEADER, r.length);
        ck_assert_uint_eq(crc, r.payload_crc);
        if (r.type == PL_RECORD_FRAME) {
            ck_assert_int_eq((int64_t)r.frame, *next);
            crcs[(*next)++] = crc;
        }
        ended = r.type == PL_RECORD_END &&
                !memmem(bytes + at, whole, "shutdown", strlen("shutdown"));
        at += whole;
    }
    return ended;
}

static pid_t start_curl(const char *id, int64_t from)
{
    char url[160], token[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/sessions/%s/frames?follow=1&from=%lld",
             d->port, id, (long long)from);
    snprintf(token, sizeof token, "Authorization: Bearer %s", d->token);
    return launch((const char *[]){"curl", "-sN", "-H", token, url, NULL}, "stream", "stream.err");
}

START_TEST(test_curl)
{
    static const int ways[] = {SIGKILL, SIGTERM};
    char id[33], reference[33];
    static uint32_t crcs[FRAMES + 1], wanted[FRAMES + 1];
    int64_t next = 0;
    bool ended = false;
    session_run(d, session_scene(FRAMES * EVERY, EVERY, ""), reference);
    post(id);
    for (int restart = 0; !ended; restart++) {
        size_t size;
        int status;
        pid_t curl = start_curl(id, next);
        if (restart < 4) {
            session_await_frame(d, id, next + 20 < FRAMES ? next + 20 : FRAMES);
            daemon_fixture_end(d, ways[restart % 2]);
        }
        waitpid(curl, &status, 0);
        char *bytes = read_whole("stream", &size);
        ended = take_records((unsigned char *)bytes, size, &next, crcs);
        free(bytes);
        if (restart < 4)
            daemon_fixture_resume(d);
        ck_assert_int_lt(restart, 50);
    }
    ck_assert_int_eq(next, FRAMES + 1);
    /* The same frames as those of an undisturbed session. */
    size_t size;
    int status;
    next = 0;
    waitpid(start_curl(reference, 0), &status, 0);
    char *bytes = read_whole("stream", &size);
    ck_assert(take_records((unsigned char *)bytes, size, &next, wanted));
    ck_assert_int_eq(memcmp(crcs, wanted, sizeof wanted), 0);
    free(bytes);
}
END_TEST

/* ---- pliant follow ---- */

static void pliant_path(char out[600])
{
    char exe[64];
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)d->pid);
    ssize_t n = readlink(exe, out, 580);
    ck_assert_int_gt(n, 0);
    out[n] = 0;
    strcpy(strrchr(out, '/'), "/pliant");
}

static int64_t size_of(const char *name)
{
    size_t size;
    free(read_whole(name, &size));
    return (int64_t)size;
}

static int64_t streams(const char *unused)
{
    return session_counter(d, "streams");
}

static void await_count(int64_t (*count)(const char *), const char *of, int64_t least)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; count(of) < least;
         daemon_fixture_nap())
        ck_assert_msg(daemon_fixture_clock() < end, "nobody follows");
}

/* The address is another after each restart; it is found again in the state directory. */
START_TEST(test_follow)
{
    char blocker[33], id[33], program[600];
    size_t size;
    int status;
    pliant_path(program);
    /* It begins once both have reported that it is queued; then each has a stream. */
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
    post(id);
    const char *const lines[] = {program, "--state", d->state, "metrics", id, "--follow", NULL};
    const char *const bar[] = {program, "--state", d->state, "follow", id, NULL};
    pid_t pliant = launch(lines, "lines", "lines.err"), shown = launch(bar, "bar", "bar.err");
    await_count(size_of, "lines.err", 1);
    await_count(size_of, "bar.err", 1);
    session_tell(d, blocker, "cancel");
    await_count(streams, NULL, 2);
    session_await_frame(d, id, 20);
    for (int i = 0; i < 2; i++) {
        daemon_fixture_end(d, i ? SIGKILL : SIGTERM);
        daemon_fixture_resume(d);
    }
    ck_assert_int_eq(waitpid(pliant, &status, 0), pliant);
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(waitpid(shown, &status, 0), shown);
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    char *text = read_whole("lines", &size), *rest = text, *line;
    int64_t next = 0;
    while ((line = strsep(&rest, "\n"))) {
        json_t *value = json_loads(line, 0, NULL);
        if (value && !json_object_get(value, "event"))
            ck_assert_int_eq(json_count(value, "frame"), next++);
        json_decref(value);
    }
    ck_assert_int_eq(next, FRAMES + 1);
    free(text);
    text = read_whole("bar.err", &size);
    ck_assert_ptr_nonnull(strstr(text, "connection lost after frame"));
    ck_assert_ptr_nonnull(strstr(text, "succeeded"));
    free(text);
}
END_TEST

/* ---- a daemon that takes its workers with it ---- */

START_TEST(test_stop_workers)
{
    static const char *const options[] = {"--cores", "2", "--on-exit", "stop", NULL};
    char id[33], paused[33];
    daemon_fixture_stop(d);
    daemon_fixture_start(d, options);
    session_post_free(d, session_scene_endless(""), id);
    session_post_free(d, session_scene_endless(""), paused);
    session_await_frame(d, id, 3);
    (void)daemon_fixture_await_worker(id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_eq(daemon_fixture_worker(id), 0);
    daemon_fixture_resume(d);
    session_await(d, id, "running");
    json_t *session = session_show(d, id);
    int64_t frame = json_count(session, "progress/frame");
    ck_assert_int_ge(frame, 3);
    ck_assert_int_eq(json_count(session, "attempt"), 2);
    json_decref(session);
    session_await_frame(d, id, frame + 2);
    ck_assert(daemon_fixture_said(d, "told to stop"));
}
END_TEST

/* ---- the lock of a killed daemon ---- */

/* A process that has a copy of the lock's descriptor until `over`, as a child that a killed daemon had just begun. */
static pid_t hold_lock(bool (*over)(void))
{
    int fd, state = open(d->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(pl_session_lock(state, false, &fd), PL_OK);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (!over())
            daemon_fixture_nap();
        _exit(0);
    }
    close(fd);
    ck_assert(pl_session_locked(state));
    close(state);
    return pid;
}

static void await_end(pid_t holder)
{
    int status;
    ck_assert_int_eq(waitpid(holder, &status, 0), holder);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool was_met(void)
{
    return daemon_fixture_said(d, "lock is held");
}

START_TEST(test_lock_of_the_killed)
{
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    pid_t holder = hold_lock(was_met);
    daemon_fixture_resume(d);
    await_end(holder);
    ck_assert(!daemon_fixture_said(d, "another daemon uses"));
}
END_TEST

static bool was_told(void)
{
    return access(daemon_fixture_path(d, "tenants.changed"), F_OK) == 0;
}

/* A command that takes such a lock for a daemon's is done when it is let go of. */
START_TEST(test_command_beside_the_killed)
{
    static const char *const create[] = {"user", "create", "alice", NULL};
    char said[4096];
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    pid_t holder = hold_lock(was_told);
    ck_assert_int_eq(daemon_fixture_command(d, create, said, sizeof said), 0);
    await_end(holder);
    daemon_fixture_resume(d);
    ck_assert(!was_told());
    http_reply *r = http_get(d, "/v1/users");
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "items/0/name"), "alice");
    http_reply_free(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("restart");
    TCase *tests = tcase_create("restart");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_curl);
    tcase_add_test(tests, test_follow);
    tcase_add_test(tests, test_stop_workers);
    tcase_add_test(tests, test_lock_of_the_killed);
    tcase_add_test(tests, test_command_beside_the_killed);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
