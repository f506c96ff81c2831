/* The database is an index of the session directories: if lost, damaged, or with a flipped bit in a row, it is rebuilt
 * from them, and clients see no difference except idempotency keys.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the program by hand ---- */

static char program[512], said[8192];

static void learn_program(void)
{
    char exe[64];
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)d->pid);
    ssize_t n = readlink(exe, program, sizeof program - 1);
    ck_assert_int_gt(n, 0);
    program[n] = 0;
}

/* Run pliantd on the state with one option, to its end; returns its exit status. `said` gets its output. */
static int pliantd(const char *option)
{
    char path[300];
    int status;
    snprintf(path, sizeof path, "%s/said", d->directory);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        execl(program, program, "--listen", "127.0.0.1:0", "--state", d->state, option,
              (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, said, sizeof said - 1);
    said[n > 0 ? n : 0] = 0;
    close(fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void end_daemon(void)
{
    learn_program();
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
}

static bool kept_aside(void)
{
    DIR *state = opendir(d->state);
    bool found = false;
    for (struct dirent *e; (e = readdir(state));)
        found = found || strncmp(e->d_name, "pliant.db.damaged-", 18) == 0;
    closedir(state);
    return found;
}

/* ---- a client's view ---- */

/* A reply's body; malloc'ed. */
static char *body(const char *id, const char *what, size_t *length)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s%s", id, what);
    http_expect(r, 200);
    char *text = malloc(r->length + 1);
    memcpy(text, r->body, r->length + 1);
    *length = r->length;
    http_reply_free(r);
    return text;
}

/* All documents of a session: itself except times of change, frames and metrics. */
typedef struct view {
    json_t *session;
    char *frames, *metrics;
    size_t frames_length, metrics_length;
} view;

static view view_of(const char *id)
{
    view v = {.session = session_show(d, id)};
    json_object_del(v.session, "since");
    v.frames = body(id, "/frames", &v.frames_length);
    v.metrics = body(id, "/metrics", &v.metrics_length);
    return v;
}

static void expect_same(const char *id, view *before)
{
    view after = view_of(id);
    char *a = json_dumps(before->session, JSON_SORT_KEYS);
    char *b = json_dumps(after.session, JSON_SORT_KEYS);
    ck_assert_str_eq(a, b);
    ck_assert_uint_eq(before->frames_length, after.frames_length);
    ck_assert_int_eq(memcmp(before->frames, after.frames, after.frames_length), 0);
    ck_assert_str_eq(before->metrics, after.metrics);
    free(a);
    free(b);
    view *both[] = {before, &after};
    for (int i = 0; i < 2; i++) {
        json_decref(both[i]->session);
        free(both[i]->frames);
        free(both[i]->metrics);
    }
}

static void pause_at(const char *id, int64_t frame)
{
    session_await_frame(d, id, frame);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
}

/* ---- the tests ---- */

/* One session in each state that lasts. */
START_TEST(test_database_lost)
{
    char ended[33], paused[33], cancelled[33], waiting[33], blocker[33], withdrawn[33];
    session_run(d, session_scene(3, 1, ", \"metadata\": {\"note\": 1}"), ended);
    session_post_free(d, session_scene_endless(""), paused);
    pause_at(paused, 2);
    session_post_free(d, session_scene_endless(""), cancelled);
    session_await_frame(d, cancelled, 1);
    session_tell(d, cancelled, "cancel");
    session_await(d, cancelled, "cancelled");
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await_frame(d, blocker, 1);
    session_post_free(d, session_scene(2, 1, ""), waiting);
    char after[128];
    snprintf(after, sizeof after, ", \"resources\": {\"after\": [\"%s\", \"%s\"]}", ended, paused);
    session_post_free(d, session_scene(2, 1, after), withdrawn);
    session_tell(d, withdrawn, "cancel"); /* it never ran: no worker wrote down that it is over */
    const char *still[] = {ended, paused, cancelled, withdrawn};
    view before[4];
    for (int i = 0; i < 4; i++)
        before[i] = view_of(still[i]);
    size_t length;
    char *metrics = body(ended, "/metrics", &length);
    end_daemon();
    if (_i == 0) {
        unlink(daemon_fixture_path(d, "pliant.db"));
        unlink(daemon_fixture_path(d, "pliant.db-wal"));
        ck_assert_int_eq(pliantd("--no-auth"), 1); /* it does not start over on existing data */
        ck_assert_ptr_nonnull(strstr(said, "--reindex"));
        ck_assert_int_eq(daemon_fixture_sessions(d), 6);
    }
    ck_assert_int_eq(pliantd("--reindex"), 0);
    ck_assert_ptr_nonnull(
        strstr(said, "6 sessions: 1 queued 1 running 1 paused 1 succeeded 2 canc"));
    ck_assert_ptr_nonnull(strstr(said, "usage"));
    ck_assert_ptr_nonnull(strstr(said, "idempotency keys"));
    ck_assert_int_eq(kept_aside(), _i == 1);
    daemon_fixture_resume(d);
    for (int i = 0; i < 4; i++)
        expect_same(still[i], &before[i]);
    json_t *session = session_show(d, blocker);
    ck_assert_str_eq(json_text(session, "state"), "running");
    session_await_frame(d, blocker, json_count(session, "progress/frame") + 1);
    json_decref(session);
    http_reply *list = http_get(d, "/v1/sessions");
    const char *newest_first[] = {withdrawn, waiting, blocker, cancelled, paused, ended};
    for (int i = 0; i < 6; i++) {
        char path[32];
        snprintf(path, sizeof path, "items/%d/id", i);
        ck_assert_str_eq(json_text(list->json, path), newest_first[i]);
    }
    http_reply_free(list);
    session_tell(d, blocker, "cancel");
    session_await(d, waiting, "succeeded");
    int64_t at = 0;
    session = session_show(d, paused);
    at = json_count(session, "progress/frame");
    json_decref(session);
    session_tell(d, paused, "resume");
    session_await_frame(d, paused, at + 2);
    free(metrics);
}
END_TEST

/* What failed by the daemon's word is still failed. */
START_TEST(test_crashed_is_kept)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    for (pid_t last = 0;;) {
        json_t *session = session_show(d, id);
        bool over = strcmp(json_text(session, "state"), "failed") == 0;
        json_decref(session);
        if (over)
            break;
        pid_t worker = daemon_fixture_worker(id);
        if (worker > 0 && worker != last)
            kill(last = worker, SIGKILL);
        daemon_fixture_nap();
    }
    view before = view_of(id);
    end_daemon();
    ck_assert_int_eq(pliantd("--reindex"), 0);
    daemon_fixture_resume(d);
    expect_same(id, &before);
}
END_TEST

START_TEST(test_refuses_beside_a_daemon)
{
    learn_program();
    ck_assert_int_eq(pliantd("--reindex"), 1);
    ck_assert_ptr_nonnull(strstr(said, "another daemon uses"));
    ck_assert_int_eq(kept_aside(), 0);
}
END_TEST

/* ---- damage ---- */

/* Overwrite every occurrence of `from` in the database. Returns how many there were. */
static int replace_in_database(const char *from, const char *to)
{
    const char *path = daemon_fixture_path(d, "pliant.db");
    static char bytes[1 << 20];
    int fd = open(path, O_RDWR), found = 0;
    ssize_t n = read(fd, bytes, sizeof bytes);
    ck_assert_int_gt(n, 0);
    for (char *at = bytes; (at = memmem(at, (size_t)(bytes + n - at), from, strlen(from)));) {
        memcpy(at, to, strlen(to));
        found++;
    }
    ck_assert_int_eq(pwrite(fd, bytes, (size_t)n, 0), n);
    close(fd);
    return found;
}

/* A bit of a row's text is another: the database itself does not notice. */
START_TEST(test_flipped_bit)
{
    char id[33], other[33];
    session_run(d, session_scene(2, 1, ""), id);
    session_run(d, session_scene(2, 1, ""), other);
    view before = view_of(id), before_other = view_of(other);
    end_daemon();
    if (_i == 0) {
        ck_assert_int_ge(replace_in_database("succeeded", "succeedee"), 1);
    } else {
        char wrong[33];
        snprintf(wrong, sizeof wrong, "%s", id);
        wrong[5] ^= 1;
        ck_assert_int_ge(replace_in_database(id, wrong), 1);
    }
    daemon_fixture_resume(d);
    expect_same(id, &before);
    expect_same(other, &before_other);
    ck_assert_int_eq(daemon_fixture_sessions(d), 2);
    ck_assert(daemon_fixture_said(d, "was damaged and is rebuilt"));
}
END_TEST

START_TEST(test_damaged_pages)
{
    char id[33];
    session_run(d, session_scene(2, 1, ""), id);
    view before = view_of(id);
    end_daemon();
    static char garbage[8192];
    memset(garbage, 0x5a, sizeof garbage);
    int fd = open(daemon_fixture_path(d, "pliant.db"), O_WRONLY);
    ck_assert_int_gt(pwrite(fd, garbage, sizeof garbage, _i ? 4096 : 0), 0);
    close(fd);
    ck_assert_int_eq(pliantd("--no-auth"), 1);
    ck_assert_ptr_nonnull(strstr(said, "is damaged"));
    ck_assert_ptr_nonnull(strstr(said, "--reindex"));
    ck_assert_int_eq(pliantd("--reindex"), 0);
    ck_assert(kept_aside());
    daemon_fixture_resume(d);
    expect_same(id, &before);
}
END_TEST

/* Without sessions, too, a lost database is no new state: usage and users would be written over. */
START_TEST(test_no_sessions)
{
    end_daemon();
    daemon_fixture_lose_database(d);
    ck_assert_int_eq(pliantd("--no-auth"), 1);
    ck_assert_ptr_nonnull(strstr(said, "--reindex"));
    ck_assert_int_eq(pliantd("--reindex"), 0);
    daemon_fixture_resume(d);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reindex");
    TCase *tests = tcase_create("reindex");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_loop_test(tests, test_database_lost, 0, 2);
    tcase_add_test(tests, test_no_sessions);
    tcase_add_test(tests, test_crashed_is_kept);
    tcase_add_test(tests, test_refuses_beside_a_daemon);
    tcase_add_loop_test(tests, test_flipped_bit, 0, 2);
    tcase_add_loop_test(tests, test_damaged_pages, 0, 2);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
