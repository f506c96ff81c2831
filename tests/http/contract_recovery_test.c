/* Workers that die, daemons that end or are killed: sessions and their frames stay, running sessions continue, and
 * every end is reported.
 */
#include "protocol/log/log.h"
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static http_stream follow(const char *id, int64_t from)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=%lld&follow=1", id,
             (long long)from);
    return http_stream_open(d, target, NULL);
}

/* Read a stream to its end: every frame from `next` on, once. Returns the last. */
static int64_t read_out(http_stream *s, int64_t next, char reason[32])
{
    pl_record record;
    char *payload;
    reason[0] = 0;
    while (http_stream_record(s, &record, &payload)) {
        ck_assert_str_eq(reason, "");
        if (record.type == PL_RECORD_FRAME) {
            ck_assert_int_eq((int64_t)record.frame, next++);
        } else if (record.type == PL_RECORD_END) {
            json_t *end = json_loads(payload, 0, NULL);
            snprintf(reason, 32, "%s", json_text(end, "reason"));
            json_decref(end);
        } else {
            ck_assert_int_eq(record.type, PL_RECORD_HELLO);
        }
        free(payload);
    }
    http_stream_close(s);
    return next - 1;
}

/* All frames of an ended session; the last. */
static int64_t read_all(const char *id)
{
    char reason[32];
    http_stream s = follow(id, 0);
    int64_t last = read_out(&s, 0, reason);
    ck_assert_str_ne(reason, "");
    return last;
}

/* ---- the worker dies ---- */

/* Kill one worker after the other until the session is over. Returns how many it took. */
static int kill_until_over(const char *id)
{
    int killed = 0;
    pid_t before = 0;
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        bool over = strcmp(json_text(session, "state"), "failed") == 0;
        const char *waits = json_text(session, "queue/reason");
        if (strncmp(waits, "restarts in", 11) == 0)
            ck_assert_msg(strstr(waits, "signal 9") && strstr(waits, "of 4)"), "%s", waits);
        json_decref(session);
        if (over)
            return killed;
        ck_assert(daemon_fixture_clock() < end);
        pid_t worker = daemon_fixture_worker(id);
        if (worker > 0 && worker != before && kill(worker, SIGKILL) == 0) {
            before = worker;
            killed++;
        }
    }
}

/* Three restarts without a new checkpoint, then the session fails with all known details; a follower misses and repeats
 * no frame. */
START_TEST(test_killed_worker)
{
    char id[33], other[33], reason[32];
    session_post_free(d, session_scene_endless(""), id);
    session_post_free(d, session_scene_endless(""), other);
    session_await_frame(d, id, 3);
    session_await_frame(d, other, 1);
    http_stream s = follow(id, 0);
    ck_assert_int_eq(kill_until_over(id), 4);
    int64_t last = read_out(&s, 0, reason);
    ck_assert_str_eq(reason, "failed");
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "reason"), "worker_crashed");
    ck_assert_str_eq(json_text(session, "failure/code"), "worker_crashed");
    ck_assert_ptr_nonnull(strstr(json_text(session, "failure/message"), "signal 9"));
    ck_assert_str_ne(json_text(session, "failure/advice"), "");
    ck_assert_int_eq(json_count(session, "failure/signal"), 9);
    ck_assert_ptr_nonnull(strstr(json_text(session, "failure/log"), "pliant-worker"));
    ck_assert(json_object_get(json_at(session, "failure"), "step") != NULL);
    ck_assert_int_eq(json_count(session, "failure/frame"), last);
    ck_assert_int_eq(json_count(session, "progress/frame"), last);
    ck_assert_int_eq(json_count(session, "attempt"), 4);
    json_decref(session);
    ck_assert_int_eq(read_all(id), last);
    /* The neighbour does not notice, and its core is free again. */
    session = session_show(d, other);
    session_await_frame(d, other, json_count(session, "progress/frame") + 2);
    json_decref(session);
    session_run(d, session_scene(2, 1, ""), id);
    ck_assert_int_eq(session_counter(d, "workers_crashed_total"), 4);
}
END_TEST

/* One crash is nothing that anyone sees but in the number of the attempt. */
START_TEST(test_restarted_worker)
{
    char id[33];
    session_post_free(d, session_scene(20000, 100, ""), id);
    session_await_frame(d, id, 2);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(id), SIGKILL), 0);
    session_await(d, id, "succeeded");
    ck_assert_int_eq(read_all(id), 200);
    json_t *session = session_show(d, id);
    ck_assert_int_eq(json_count(session, "attempt"), 2);
    ck_assert_int_eq(json_count(session, "progress/frame"), 200);
    json_decref(session);
}
END_TEST

/* SIGTERM from outside is not a crash: the session continues from a checkpoint at once, any number of times. */
START_TEST(test_stopped_worker)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    for (int64_t attempt = 1; attempt <= 6; attempt++) {
        session_await_frame(d, id, 1);
        kill(daemon_fixture_await_worker(id), SIGTERM);
        for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
            json_t *session = session_show(d, id);
            int64_t now = json_count(session, "attempt");
            bool running = strcmp(json_text(session, "state"), "running") == 0;
            json_decref(session);
            if (running && now > attempt)
                break;
            ck_assert(daemon_fixture_clock() < end);
        }
    }
    json_t *session = session_show(d, id);
    int64_t frame = json_count(session, "progress/frame");
    json_decref(session);
    session_await_frame(d, id, frame + 2);
}
END_TEST

/* ---- a scripted worker ---- */

static char bin[300];

/* Programs in a folder of our own: the real ones, but a worker that notes its arguments and leaves the
 * exit.json that lies ready for its attempt. */
static void start_with_puppet(void)
{
    char real[600], path[700];
    static const char script[] = "#!/bin/sh\n"
                                 "echo \"$@\" > \"$2/arguments-$4\"\n"
                                 "cp \"${0%/*}/exit-$4.json\" \"$2/exit.tmp\"\n"
                                 "mv \"$2/exit.tmp\" \"$2/exit.json\"\n"
                                 "exit 3\n";
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1);
    ck_assert_int_gt(n, 0);
    real[n] = 0;
    for (int up = 0; up < 3; up++)
        *strrchr(real, '/') = 0;
    if (getenv("PLIANT_BUILD"))
        snprintf(real, sizeof real, "%s", getenv("PLIANT_BUILD"));
    snprintf(bin, sizeof bin, "/tmp/pliant-puppet-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(bin));
    snprintf(path, sizeof path, "%s/pliant-preflight", bin);
    strcat(real, "/pliant-preflight");
    ck_assert_int_eq(symlink(real, path), 0);
    snprintf(path, sizeof path, "%s/pliant-worker", bin);
    int fd = open(path, O_WRONLY | O_CREAT, 0700);
    ck_assert_int_eq(write(fd, script, sizeof script - 1), (ssize_t)sizeof script - 1);
    close(fd);
    int dir_fd = open(bin, O_RDONLY | O_DIRECTORY);
    for (int attempt = 1; attempt <= 3; attempt++) {
        pl_exit e = {.attempt = attempt, .state = "failed", .frames = -1};
        e.failure = (pl_failure){PL_FAILURE_OUT_OF_MEMORY, -1, -1, -1, -1, -1, "too small", ""};
        ck_assert_int_eq(pl_exit_write(dir_fd, &e), PL_OK);
        snprintf(path, sizeof path, "exit-%d.json", attempt);
        ck_assert_int_eq(renameat(dir_fd, "exit.json", dir_fd, path), 0);
    }
    close(dir_fd);
    setenv("PLIANT_BINDIR", bin, 1);
    daemon_fixture_start(d, NULL);
    unsetenv("PLIANT_BINDIR");
}

static void stop_puppet(void)
{
    static const char *const names[] = {"pliant-preflight", "pliant-worker", "exit-1.json",
                                        "exit-2.json", "exit-3.json"};
    char path[700];
    daemon_fixture_stop(d);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", bin, names[i]);
        unlink(path);
    }
    rmdir(bin);
}

/* The number after --memory of an attempt; 0 if there was no such attempt. */
static double memory_of(const char *id, int attempt)
{
    char name[32], line[1024];
    snprintf(name, sizeof name, "arguments-%d", attempt);
    FILE *file = fopen(session_path(d, id, name), "re");
    if (!file)
        return 0;
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    const char *memory = strstr(line, "--memory ");
    ck_assert_ptr_nonnull(memory);
    ck_assert_ptr_nonnull(strstr(line, "--checkpoint-every 10"));
    return strtod(memory + 9, NULL);
}

/* One retry with 1.5 times the memory, then it fails. */
START_TEST(test_out_of_memory)
{
    char id[33], asked[33];
    session_post_free(d, session_scene(2, 1, ""), id);
    session_await(d, id, "failed");
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "failure/code"), "out_of_memory");
    ck_assert_int_eq(json_count(session, "attempt"), 2);
    double estimate = (double)json_count(session, "resources/memory") / 1.5;
    json_decref(session);
    ck_assert_double_eq_tol(memory_of(id, 1), 4 * estimate + 0x1p30, 16);
    ck_assert_double_eq_tol(memory_of(id, 2), 1.5 * memory_of(id, 1), 2);
    ck_assert_double_eq(memory_of(id, 3), 0);
    session_post_free(d, session_scene(2, 1, ", \"resources\": {\"memory\": 400000000}"), asked);
    session_await(d, asked, "failed");
    ck_assert_double_eq(memory_of(asked, 1), 4e8);
    ck_assert_double_eq(memory_of(asked, 2), 6e8);
}
END_TEST

/* ---- the daemon ends ---- */

static const int ways[] = {SIGTERM, SIGKILL};

/* Ended sessions are unchanged; a running one continues under the next daemon; a waiting one then runs. */
START_TEST(test_restart)
{
    char ended[33], running[33], waiting[33], reason[32];
    int signal = ways[_i];
    session_run(d, session_scene(4, 1, ""), ended);
    json_t *before = session_show(d, ended);
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), running);
    session_await_frame(d, running, 2);
    session_post_free(d, session_scene(3, 1, ""), waiting);
    pid_t worker = daemon_fixture_await_worker(running);
    http_stream s = follow(running, 0);
    ck_assert_int_eq(daemon_fixture_end(d, signal), signal == SIGTERM ? 0 : 128 + SIGKILL);
    if (signal == SIGTERM) { /* the stream is told; its last bytes are still in flight */
        ck_assert_int_ge(read_out(&s, 0, reason), 2);
        ck_assert_str_eq(reason, "shutdown");
    } else {
        http_stream_close(&s);
    }
    ck_assert_int_eq(kill(worker, 0), 0);
    daemon_fixture_resume(d);
    json_t *after = session_show(d, ended);
    ck_assert(json_equal(before, after));
    ck_assert_int_eq(read_all(ended), 4);
    json_decref(before);
    json_decref(after);
    after = session_show(d, running);
    ck_assert_str_eq(json_text(after, "state"), "running");
    ck_assert_int_eq(daemon_fixture_await_worker(running), worker);
    session_await_frame(d, running, json_count(after, "progress/frame") + 2);
    json_decref(after);
    after = session_show(d, waiting);
    ck_assert_str_eq(json_text(after, "state"), "queued");
    json_decref(after);
    s = follow(running, 1);
    session_tell(d, running, "cancel");
    ck_assert_int_ge(read_out(&s, 1, reason), 4);
    ck_assert_str_eq(reason, "cancelled");
    session_await(d, running, "cancelled");
    session_await(d, waiting, "succeeded");
    ck_assert_int_eq(read_all(waiting), 3);
}
END_TEST

/* Post it, with 20 frames, and stop its worker halfway; if it had already ended, try another. */
static pid_t post_stopped(char id[33])
{
    for (int tries = 0; tries < 20; tries++) {
        pid_t worker = 0;
        session_post_free(d, session_scene(2000, 100, ""), id);
        for (bool over = false; !over && worker == 0; daemon_fixture_nap()) {
            json_t *session = session_show(d, id);
            over = strcmp(json_text(session, "state"), "succeeded") == 0;
            json_decref(session);
            worker = daemon_fixture_worker(id);
        }
        if (worker > 0 && kill(worker, SIGSTOP) == 0 &&
            access(session_path(d, id, "exit.json"), F_OK) != 0)
            return worker;
        if (worker > 0)
            kill(worker, SIGCONT);
    }
    ck_abort_msg("no worker could be stopped in its middle");
    return 0;
}

/* The next daemon finds what a worker did while no daemon was running. */
START_TEST(test_end_without_daemon)
{
    char finished[33], killed[33];
    session_post_free(d, session_scene_endless(""), killed);
    session_await_frame(d, killed, 2);
    pid_t worker = post_stopped(finished); /* until no daemon is there */
    ck_assert_int_eq(daemon_fixture_end(d, ways[_i]), ways[_i] == SIGTERM ? 0 : 128 + SIGKILL);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(killed), SIGKILL), 0);
    ck_assert_int_eq(kill(worker, SIGCONT), 0);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; kill(worker, 0) == 0;
         daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    daemon_fixture_resume(d);
    session_await(d, finished, "succeeded");
    ck_assert_int_eq(read_all(finished), 20);
    session_await(d, killed, "running");
    json_t *session = session_show(d, killed);
    ck_assert_int_eq(json_count(session, "attempt"), 2);
    json_decref(session);
    session_await_frame(d, killed, 2);
    /* That does not count as a crash: four more fail the session. */
    ck_assert_int_eq(kill_until_over(killed), 4);
}
END_TEST

/* An adopted worker that is killed is noticed as well, and started again. */
START_TEST(test_adopted_worker_dies)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 2);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "state"), "running");
    json_decref(session);
    pid_t worker = daemon_fixture_await_worker(id);
    ck_assert_int_eq(kill(worker, SIGKILL), 0);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        session = session_show(d, id);
        int64_t attempt = json_count(session, "attempt");
        json_decref(session);
        if (attempt == 2)
            break;
        ck_assert(daemon_fixture_clock() < end);
    }
    session_await(d, id, "running");
    ck_assert_int_ne(daemon_fixture_await_worker(id), worker);
}
END_TEST

static void start_wide(void)
{
    static const char *const options[] = {"--cores", "8", NULL};
    daemon_fixture_start(d, options);
}

/* Sessions that wait while a new daemon takes up those whose workers are gone are started when it has taken up all:
 * once, each with its own cores. */
START_TEST(test_nothing_starts_too_early)
{
    enum { RUN = 8, WAIT = 4, ALL = RUN + WAIT };
    char ids[ALL][33];
    pid_t workers[RUN];
    for (int i = 0; i < ALL; i++)
        session_post_free(d, session_scene_endless(""), ids[i]);
    for (int i = 0; i < RUN; i++)
        workers[i] = daemon_fixture_await_worker(ids[i]);
    for (int i = RUN; i < ALL; i++)
        session_await(d, ids[i], "queued");
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    for (int i = 0; i < RUN; i++)
        kill(workers[i], SIGKILL);
    daemon_fixture_resume(d);
    for (int i = RUN; i < ALL; i++) {
        session_await_frame(d, ids[i], 0);
        json_t *session = session_show(d, ids[i]);
        ck_assert_int_eq(json_count(session, "attempt"), 1);
        json_decref(session);
    }
    ck_assert_int_eq(session_counter(d, "workers_crashed_total"), RUN);
    for (int i = 0; i < ALL; i++)
        session_tell(d, ids[i], "cancel");
    for (int i = 0; i < ALL; i++)
        session_await(d, ids[i], "cancelled");
    ck_assert_int_eq(session_counter(d, "cores_used"), 0);
}
END_TEST

/* Incomplete directories are removed at the start, and a session without a directory is reported. */
START_TEST(test_storage)
{
    char kept[33], blocker[33], queued[33], moved[600];
    session_run(d, session_scene(2, 1, ""), kept);
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
    session_post_free(d, session_scene(2, 1, ""), queued);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    snprintf(moved, sizeof moved, "%s", daemon_fixture_path(d, "incoming/%s", queued));
    ck_assert_int_eq(rename(session_path(d, queued, ""), moved), 0);
    daemon_fixture_resume(d);
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    json_t *session = session_show(d, queued);
    ck_assert_str_eq(json_text(session, "state"), "failed");
    ck_assert_str_eq(json_text(session, "reason"), "storage_lost");
    json_decref(session);
    ck_assert_int_eq(read_all(kept), 2);
    session_tell(d, blocker, "cancel");
    session_await(d, blocker, "cancelled");
}
END_TEST

/* One daemon per state: the second one says so and ends. */
START_TEST(test_second_daemon)
{
    char exe[64], program[512];
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)d->pid);
    ssize_t n = readlink(exe, program, sizeof program - 1);
    ck_assert_int_gt(n, 0);
    program[n] = 0;
    pid_t pid = fork();
    if (pid == 0) {
        freopen("/dev/null", "w", stderr);
        execl(program, program, "--listen", "127.0.0.1:0", "--state", d->state, (char *)NULL);
        _exit(127);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    http_reply *r = http_get(d, "/v1/sessions");
    http_expect(r, 200);
    http_reply_free(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: recovery");
    TCase *tests = tcase_create("recovery");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_killed_worker);
    tcase_add_test(tests, test_restarted_worker);
    tcase_add_test(tests, test_stopped_worker);
    tcase_add_loop_test(tests, test_restart, 0, 2);
    tcase_add_loop_test(tests, test_end_without_daemon, 0, 2);
    tcase_add_test(tests, test_adopted_worker_dies);
    tcase_add_test(tests, test_storage);
    tcase_add_test(tests, test_second_daemon);
    suite_add_tcase(suite, tests);
    tests = tcase_create("many");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_wide, stop_daemon);
    tcase_add_test(tests, test_nothing_starts_too_early);
    suite_add_tcase(suite, tests);
    tests = tcase_create("puppet");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_with_puppet, stop_puppet);
    tcase_add_test(tests, test_out_of_memory);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
