/* The disk of the state directory is full: running sessions pause and continue, nothing acknowledged is lost, and space
 * can be freed over HTTP. Uses a separate small file system. */
#include "tests/support/long_form.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const options[] = {
    "--cores", "2", "--disk-reserve", "2097152", "--checkpoint-every", "1", NULL};
static char place[64], ballast[80];

/* In a mount namespace that ends with the test's process. */
static bool mount_small(void)
{
    snprintf(place, sizeof place, "/tmp/pliant-full-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(place));
    snprintf(ballast, sizeof ballast, "%s/ballast", place);
    return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", place, "tmpfs", 0, "size=24m,mode=0777") == 0;
}

static bool begin(void)
{
    if (!mount_small()) {
        rmdir(place);
        return false;
    }
    setenv("TMPDIR", place, 1);
    daemon_fixture_start(d, options);
    return true;
}

static void end(void)
{
    daemon_fixture_stop(d);
    umount2(place, MNT_DETACH); /* test_each_write has a file of it mapped */
    rmdir(place);
}

/* Fill every remaining byte, except the reserve. */
static void fill(void)
{
    static const char block[4096];
    int fd = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    while (write(fd, block, sizeof block) == (ssize_t)sizeof block) {
    }
    ck_assert_int_eq(errno, ENOSPC);
    close(fd);
}

static void make_room(void)
{
    ck_assert_int_eq(unlink(ballast), 0);
}

static void await_ready(int status)
{
    double last = daemon_fixture_clock() + HTTP_PATIENCE_S;
    for (int got = 0; got != status; daemon_fixture_nap()) {
        http_reply *r = http_get(d, "/readyz");
        got = r->status;
        if (got == 503)
            ck_assert_msg(strstr(json_text(r->json, "detail"), "disk"), "%s", r->body);
        http_reply_free(r);
        ck_assert_msg(daemon_fixture_clock() < last, "not %d", status);
    }
}

static void check_frame(const char *id, int64_t k)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/frames/%lld", id, (long long)k);
    http_expect(r, 200);
    http_reply_free(r);
}

static void remove_session(const char *id)
{
    char target[80];
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    http_reply *r = http_call(d, "DELETE", target, NULL, NULL, 0);
    http_expect(r, 204);
    http_reply_free(r);
    session_await_gone(d, id);
}

static int64_t frame_of(const char *id)
{
    json_t *s = session_show(d, id);
    int64_t frame = json_count(s, "progress/frame");
    json_decref(s);
    return frame;
}

START_TEST(test_pause)
{
    char ended[33], runs[33];
    if (!begin())
        skip_test("full_disk: test_pause: no file system can be mounted here");
    session_run(d, session_scene(2, 1, ""), ended);
    session_post_free(d, session_scene_endless(""), runs);
    session_await_frame(d, runs, 2);
    ck_assert_int_gt(session_counter(d, "disk_free_bytes"), 1 << 20);
    ck_assert_int_gt(session_counter(d, "disk_reserve_bytes"), 1 << 20);
    ck_assert_int_eq(session_counter(d, "disk_full"), 0);
    fill();
    session_await(d, runs, "paused");
    int64_t frame = frame_of(runs);
    json_t *s = session_show(d, runs);
    ck_assert_str_eq(json_text(s, "paused/by"), "disk");
    ck_assert_str_eq(json_text(s, "reason"), "disk_full");
    ck_assert_ptr_nonnull(strstr(json_text(s, "message"), "disk"));
    json_decref(s);
    await_ready(503);
    ck_assert_int_eq(session_counter(d, "disk_full"), 1);
    char *scene = session_scene(2, 1, "");
    http_reply *r = http_post(d, "/v1/sessions", scene);
    http_problem(r, 507, "disk_full");
    http_reply_free(r);
    free(scene);
    remove_session(ended);
    make_room();
    await_ready(200);
    session_await_frame(d, runs, frame + 2);
    for (int64_t k = 0; k <= frame; k++)
        check_frame(runs, k);
    ck_assert_int_gt(session_counter(d, "disk_reserve_bytes"), 1 << 20);
    end();
}
END_TEST

/* Its owner pauses a session that the disk has paused: it does not continue by itself. Another one is cancelled
 * meanwhile. */
START_TEST(test_owner)
{
    char kept[33], ended[33];
    if (!begin())
        skip_test("full_disk: test_owner: no file system can be mounted here");
    session_post_free(d, session_scene_endless(""), kept);
    session_post_free(d, session_scene_endless(""), ended);
    session_await_frame(d, kept, 1);
    session_await_frame(d, ended, 1);
    fill();
    session_await(d, kept, "paused");
    session_await(d, ended, "paused");
    session_tell(d, kept, "pause");
    session_tell(d, ended, "cancel");
    session_await(d, ended, "cancelled");
    make_room();
    await_ready(200);
    json_t *s = session_show(d, kept);
    ck_assert_str_eq(json_text(s, "state"), "paused");
    ck_assert_str_eq(json_text(s, "paused/by"), "user");
    json_decref(s);
    session_tell(d, kept, "resume");
    session_await_frame(d, kept, frame_of(kept) + 1);
    end();
}
END_TEST

/* A daemon starts on a full disk, says so, and space is freed over HTTP. */
START_TEST(test_start)
{
    char ended[33], runs[33];
    if (!begin())
        skip_test("full_disk: test_start: no file system can be mounted here");
    session_run(d, session_scene(2, 1, ""), ended);
    session_post_free(d, session_scene_endless(""), runs);
    session_await_frame(d, runs, 2);
    fill();
    session_await(d, runs, "paused");
    daemon_fixture_end(d, SIGTERM);
    fill();
    d->unready = true;
    daemon_fixture_resume(d);
    await_ready(503);
    json_t *s = session_show(d, runs);
    ck_assert_str_eq(json_text(s, "state"), "paused");
    json_decref(s);
    remove_session(ended);
    make_room();
    await_ready(200);
    session_await_frame(d, runs, frame_of(runs) + 1);
    end();
}
END_TEST

/* ---- full at the n-th write ---- */

enum { LEFT, FULL, FAILED, CREDIT, DEVICE, NUMBERS, STEPS = 12 };

/* Of preload/full_disk.c. */
static _Atomic int64_t *disk;

static bool begin_counted(void)
{
    static char path[96];
    struct stat st;
    if (!mount_small())
        return false;
    ck_assert_int_eq(stat(place, &st), 0);
    snprintf(path, sizeof path, "%s/numbers", place);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_eq(ftruncate(fd, 8 * NUMBERS), 0);
    disk = mmap(NULL, 8 * NUMBERS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(disk, MAP_FAILED);
    close(fd);
    disk[DEVICE] = (int64_t)st.st_dev;
    setenv("TMPDIR", place, 1);
    setenv("PLIANT_FULL_DISK", path, 1);
    daemon_fixture_preload("libfull_disk.so");
    daemon_fixture_start(d, options);
    unsetenv("LD_PRELOAD");
    return true;
}

/* True with the session's id if it was accepted; otherwise the rejection is well-formed. */
static bool post(char id[33])
{
    char *scene = session_scene(STEPS, 1, "");
    http_reply *r = http_post(d, "/v1/sessions", scene);
    bool taken = r->status == 201;
    if (taken)
        snprintf(id, 33, "%s", json_text(r->json, "id"));
    else
        ck_assert_msg(r->status == 507 || r->status == 500, "status %d: %s", r->status, r->body);
    http_reply_free(r);
    free(scene);
    return taken;
}

/* Until it has ended or waits for room. */
static void await_rest(const char *id)
{
    for (double last = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        json_t *s = session_show(d, id);
        const char *state = json_text(s, "state"), *by = json_text(s, "paused/by");
        const char *code = json_text(s, "queue/code");
        bool rests = strcmp(state, "succeeded") == 0 || strcmp(by, "disk") == 0 ||
                     strcmp(code, "disk_full") == 0;
        ck_assert_msg(strcmp(state, "failed") != 0 && strcmp(state, "rejected") != 0, "%s: %s",
                      state, json_text(s, "message"));
        json_decref(s);
        if (rests)
            return;
        ck_assert_msg(daemon_fixture_clock() < last, "it neither ends nor pauses");
    }
}

static void check_whole(const char *id)
{
    session_await(d, id, "succeeded");
    for (int64_t k = 0; k <= STEPS; k++)
        check_frame(id, k);
}

/* A session's end is in the database a little later than it is seen; a request for usage waits for that. */
static void await_database(void)
{
    http_reply_free(http_get(d, "/v1/usage"));
}

enum { COUNTED = 3 };

/* How many writes a session takes, from its POST to its end: the least of a few, since the daemon's own periodic
 * writes may fall into one. */
static int64_t count_writes(void)
{
    int64_t least = INT64_MAX;
    for (int k = 0; k < COUNTED; k++) {
        const int64_t many = 1000000;
        char id[33];
        disk[LEFT] = many;
        ck_assert(post(id));
        session_await(d, id, "succeeded");
        await_database();
        int64_t writes = many - disk[LEFT];
        disk[LEFT] = 0;
        least = writes < least ? writes : least;
    }
    return least;
}

/* Whatever was answered with 201 is there, and ends as it should when there is room. */
static void fill_at(int64_t n)
{
    char id[33];
    disk[LEFT] = n;
    bool taken = post(id);
    if (taken) {
        await_rest(id);
        await_database();
    }
    disk[LEFT] = disk[FULL] = disk[CREDIT] = 0;
    await_ready(200);
    if (!taken)
        ck_assert(post(id));
    check_whole(id);
}

START_TEST(test_each_write)
{
    char first[33];
    if (!begin_counted())
        skip_test("full_disk: test_each_write: no file system can be mounted here");
    session_run(d, session_scene(STEPS, 1, ""), first);
    int64_t writes = count_writes(), turns = is_long_form() ? 4 * writes : 5, failed = 0;
    ck_assert_int_gt(writes, 8);
    for (int64_t i = 0; i < turns; i++) {
        fill_at(1 + i * (writes - 1) / (turns > 1 ? turns - 1 : 1));
        failed += disk[FAILED] > 0;
        disk[FAILED] = 0;
    }
    /* Writes take fewer turns when more changes share a transaction; the last may then come when it is over. */
    ck_assert_int_ge(failed, 3 * turns / 4 - 1);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    check_whole(first);
    ck_assert_int_ge(daemon_fixture_sessions(d), turns + COUNTED + 1);
    end();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("full disk");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, test_pause);
    tcase_add_test(tests, test_owner);
    tcase_add_test(tests, test_start);
    tcase_add_test(tests, test_each_write);
    return run_cases("full disk", tests);
}
