/* The worker without resources: a full disk, a file size limit, memory, and numbers outside the range of the stored
 * type.
 */
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "server/worker/frame_writer.h"
#include "server/worker/session_scene.h"
#include "tests/support/session_compare.h"
#include "tests/support/session_writer.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_FILE = 256 << 10 };

static void limit_file_size(void)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){SMALL_FILE, SMALL_FILE});
}

/* Failed with code "disk", and every frame that exit.json speaks of reads back. */
static void check_disk_failure(const session_fixture *f)
{
    pl_exit e = session_fixture_exit(f);
    ck_assert_str_eq(e.state, "failed");
    ck_assert_int_eq(e.failure.code, PL_FAILURE_DISK);
    ck_assert_str_ne(e.failure.advice, "");
    ck_assert_int_ge(e.frames, 10);
    ck_assert_int_eq(e.failure.frame, e.frames);
    pl_log_reader *reader;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &reader), PL_OK);
    ck_assert_int_eq(pl_log_reader_refresh(reader), e.frames + 1);
    for (int64_t k = 0; k <= e.frames; k++) {
        char *payload;
        uint64_t length;
        ck_assert_int_eq(pl_log_read(reader, k, PL_LOG_FRAME, &payload, &length), PL_LOG_OK);
        free(payload);
    }
    pl_log_reader_close(reader);
}

static void allow_no_files(void)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
}

/* A run that ends before its log is open fails like any other: no crash, and no file of warnings. */
START_TEST(test_log_that_cannot_be_opened)
{
    session_fixture f;
    session_fixture_bar(&f, 5, "");
    const char *const arguments[] = {"--session", f.path, "--attempt", "1", NULL};
    pid_t pid = session_fixture_spawn("pliant-worker", arguments, allow_no_files, NULL);
    ck_assert_int_eq(session_fixture_wait(pid), 9); /* exit.json cannot be written either */
    ck_assert(!session_fixture_has(&f, "warnings.json"));
    ck_assert_int_eq(session_fixture_run(&f, 2), 0);
    session_fixture_destroy(&f);
}
END_TEST

START_TEST(test_file_size_limit)
{
    session_fixture f;
    session_fixture_bar(&f, 1000000, "");
    const char *const arguments[] = {"--session", f.path, "--attempt", "1", "--threads", "1", NULL};
    pid_t pid = session_fixture_spawn("pliant-worker", arguments, limit_file_size, NULL);
    ck_assert_int_eq(session_fixture_wait(pid), 3);
    check_disk_failure(&f);
    struct stat st;
    ck_assert_int_eq(fstatat(f.directory, "log/0001-0000.seg", &st, 0), 0);
    ck_assert_int_le(st.st_size, SMALL_FILE);
    session_fixture_destroy(&f);
}
END_TEST

/* A small file system of our own, in a mount namespace that ends with the test's process. */
static bool mount_small(char *place, const char *size)
{
    ck_assert_ptr_nonnull(mkdtemp(place));
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", place, "tmpfs", 0, size) == 0;
}

START_TEST(test_full_disk)
{
    char place[] = "/tmp/pliant-full-XXXXXX";
    if (!mount_small(place, "size=512k,mode=0777")) {
        printf("SKIP worker_disk: test_full_disk: no file system can be mounted here\n");
        rmdir(place);
        return;
    }
    session_fixture f;
    char *scene = session_fixture_scene(1000000, "");
    session_fixture_create(&f, place, scene);
    free(scene);
    ck_assert_int_eq(session_fixture_run(&f, 1), 3);
    check_disk_failure(&f);
    /* No temporary file is left behind on a disk that has no room for it. */
    ck_assert(!session_fixture_has(&f, "exit.reserve"));
    session_fixture_destroy(&f);
    umount(place);
    rmdir(place);
}
END_TEST

/* The disk has room for the log and one checkpoint of a state, but not for a second: that is logged, the first stays,
 * and the session pauses as requested. */
START_TEST(test_no_room_for_a_checkpoint)
{
    char place[] = "/tmp/pliant-full-XXXXXX";
    if (!mount_small(place, "size=800k,mode=0777")) {
        printf("SKIP worker_disk: test_no_room_for_a_checkpoint: no file system can be mounted\n");
        rmdir(place);
        return;
    }
    session_fixture f;
    session_fixture_create(
        &f, place,
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 100000},"
        " \"output\": {\"every\": 50000}, \"materials\": {\"m\": {\"model\": \"neo_hookean\"}},"
        " \"bodies\": [{\"name\": \"b\", \"material\": \"m\","
        " \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [20, 20, 20]}}}]}");
    pid_t pid = session_fixture_start_often(&f, 1);
    pl_checkpoint first, after;
    for (double end = session_fixture_clock() + 60;
         pl_checkpoint_peek(f.directory, 0, &first) != PL_OK;)
        ck_assert(session_fixture_clock() < end);
    session_fixture_control(&f, "{\"action\": \"pause\"}");
    ck_assert_int_eq(session_fixture_wait(pid), 7);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "paused");
    ck_assert_int_eq(e.frames, 0);
    ck_assert(session_said(&f, "not written: No space left on device"));
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &after), PL_OK);
    ck_assert_int_eq(after.slot, 0);
    ck_assert(after.seconds == first.seconds);
    session_fixture_destroy(&f);
    umount(place);
    rmdir(place);
}
END_TEST

START_TEST(test_out_of_memory)
{
    session_fixture f;
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 2},"
        " \"materials\": {\"m\": {\"model\": \"neo_hookean\"}},"
        " \"bodies\": [{\"name\": \"b\", \"material\": \"m\","
        " \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [60, 60, 60]}}}]}");
    const char *const arguments[] = {"--session", f.path,      "--attempt", "1", "--memory",
                                     "20000000",  "--threads", "1",         NULL};
    int status =
        session_fixture_wait(session_fixture_spawn("pliant-worker", arguments, NULL, NULL));
#if defined(__SANITIZE_ADDRESS__)
    ck_assert_int_eq(status, 0); /* the limit is off: the sanitizer maps terabytes */
#else
    ck_assert_int_eq(status, 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_OUT_OF_MEMORY);
    ck_assert_ptr_nonnull(strstr(e.failure.advice, "memory"));
#endif
    session_fixture_destroy(&f);
}
END_TEST

/* A real state, poisoned: a position that is not finite, or beyond a float, is not a frame. Nothing of it reaches the
 * log, which continues with the next good one.
 */
START_TEST(test_not_finite)
{
    session_fixture f;
    session_fixture_bar(&f, 2, "");
    session_writer w;
    session_writer_open(&f, &w);

    static const double poison[] = {NAN, INFINITY, -INFINITY, 1e39, -1e300};
    double *x = (double *)pl_state_positions(w.state), good = x[3 * 71 + 2];
    pl_metrics metrics;
    for (size_t i = 0; i < sizeof poison / sizeof *poison; i++) {
        int64_t bad = -1, written;
        pl_state_measure(w.model, w.state, &metrics);
        x[3 * 71 + 2] = poison[i];
        ck_assert_int_eq(pl_frame_writer_begin(&w.frames, (int64_t)i, w.state, &metrics), PL_OK);
        ck_assert_int_eq(pl_frame_writer_append(&w.frames, true, &written, &bad), PL_FAILED);
        ck_assert_int_eq(written, -1);
        ck_assert_int_eq(bad, 71);
        ck_assert_int_eq(session_fixture_frames(&f), (int64_t)i);
        x[3 * 71 + 2] = good;
        ck_assert_int_eq(pl_frame_writer_begin(&w.frames, (int64_t)i, w.state, &metrics), PL_OK);
        ck_assert_int_eq(pl_frame_writer_append(&w.frames, false, &written, &bad), PL_OK);
        ck_assert_int_eq(written, (int64_t)i);
    }
    ck_assert_int_eq(pl_log_writer_close(w.log), PL_OK);
    session_writer_close(&w);
    session_fixture_destroy(&f);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("disk");
    tcase_set_timeout(tc, 180);
    tcase_add_test(tc, test_log_that_cannot_be_opened);
    tcase_add_test(tc, test_file_size_limit);
    tcase_add_test(tc, test_full_disk);
    tcase_add_test(tc, test_no_room_for_a_checkpoint);
    tcase_add_test(tc, test_out_of_memory);
    tcase_add_test(tc, test_not_finite);
    Suite *suite = suite_create("worker_disk");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
