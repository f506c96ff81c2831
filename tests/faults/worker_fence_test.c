/* A worker that was taken for dead: another attempt has run to its end meanwhile. Nobody reads what the late one still
 * writes; it notices and leaves. The lock does not help here: it is removed, as on a file system without locks.
 */
#include "protocol/log/checkpoint.h"
#include "protocol/log/record.h"
#include "protocol/log/session_dir.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 400 };

static void create(session_fixture *f, const char *more)
{
    char *scene = session_fixture_scene(STEPS, more);
    session_fixture_create(f, SESSION_IN_MEMORY, scene);
    free(scene);
}

/* CRC of a file of the directory; 0 if it does not exist. */
static uint32_t file_crc(const session_fixture *f, const char *name)
{
    char *bytes;
    size_t size;
    if (pl_file_read(f->directory, name, 1 << 28, &bytes, &size) != PL_OK)
        return 0;
    uint32_t crc = pl_crc32c((uint32_t)size, bytes, size);
    free(bytes);
    return crc;
}

/* What anybody reads: the small files, and the committed bytes of each segment in head.json. */
static uint32_t read_bytes(const session_fixture *f)
{
    static const char *const names[] = {"head.json",        "exit.json",   "checkpoint-A.bin",
                                        "checkpoint-B.bin", "control.log", "scene.json"};
    uint32_t crc = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t one = file_crc(f, names[i]);
        crc = pl_crc32c(crc, &one, sizeof one);
    }
    pl_head head;
    ck_assert_int_eq(pl_head_read(f->directory, &head), PL_OK);
    for (int64_t i = 0; i < head.segment_count; i++) {
        char name[64], *bytes;
        size_t size;
        snprintf(name, sizeof name, "log/%04d-%04d.seg", head.segments[i].attempt,
                 head.segments[i].number);
        ck_assert_int_eq(pl_file_read(f->directory, name, 1 << 28, &bytes, &size), PL_OK);
        ck_assert_int_ge(head.segments[i].length, 0);
        ck_assert_uint_le((uint64_t)head.segments[i].length, size);
        crc = pl_crc32c(crc, bytes, (size_t)head.segments[i].length);
        free(bytes);
    }
    pl_head_clear(&head);
    return crc;
}

/* Stopped during its first steps, continued after attempt 2 has ended. With a signal sent meanwhile, it is asked to
 * write a checkpoint and an exit.json that belong to the other attempt. */
START_TEST(test_stale_worker)
{
    session_fixture f, whole;
    bool signalled = _i % 2;
    create(&whole, "");
    ck_assert_int_eq(session_fixture_run(&whole, 1), 0);
    create(&f, "");
    pid_t late = session_fixture_start_often(&f, 1);
    ck_assert(session_fixture_await(&f, 3));
    nanosleep(&(struct timespec){.tv_nsec = _i * 3700000}, NULL);
    bool ended = !session_fixture_freeze(late),
         over = ended || session_fixture_has(&f, "exit.json");
    int64_t frames = session_fixture_frames(&f);
    ck_assert_int_eq(unlinkat(f.directory, "lock", 0), 0);
    ck_assert_int_eq(session_fixture_run_often(&f, 2), 0);
    ck_assert_int_ge(session_fixture_frames(&f), frames);
    uint32_t before = read_bytes(&f);
    struct stat at_stop, at_end;
    ck_assert_int_eq(fstatat(f.directory, "log/0001-0000.seg", &at_stop, 0), 0);
    if (signalled)
        kill(late, SIGTERM);
    kill(late, SIGCONT);
    int status = session_fixture_wait(late);
    ck_assert(status == 5 || (over && status == 0));
    ck_assert_uint_eq(read_bytes(&f), before);
    /* It ended at its next check: with the frame in progress, or without. A frame takes 2.3 KB. */
    ck_assert_int_eq(fstatat(f.directory, "log/0001-0000.seg", &at_end, 0), 0);
    ck_assert_int_lt(at_end.st_size, at_stop.st_size + 5000);
    ck_assert(over || session_said(&f, "a newer attempt has begun: attempt 1 ends"));
    pl_exit e = session_fixture_exit(&f);
    ck_assert_int_eq(e.attempt, 2);
    ck_assert_int_eq(session_compare(&f, &whole), -1);
    ck_assert(session_compare_once(&f));
    session_fixture_destroy(&f);
    session_fixture_destroy(&whole);
}
END_TEST

/* The same while the newer attempt is still at work: the late one does not end it. */
START_TEST(test_stale_beside_a_live_one)
{
    session_fixture f, whole;
    pid_t late = 0;
    create(&whole, "");
    ck_assert_int_eq(session_fixture_run(&whole, 1), 0);
    for (int tries = 0; tries < 20 && !late; tries++) { /* it may be over before it is stopped */
        create(&f, "");
        late = session_fixture_start_often(&f, 1);
        ck_assert(session_fixture_await(&f, 3));
        if (!session_fixture_freeze(late) || session_fixture_has(&f, "exit.json")) {
            kill(late, SIGKILL);
            session_fixture_wait(late);
            session_fixture_destroy(&f);
            late = 0;
        }
    }
    ck_assert_int_gt(late, 0);
    ck_assert_int_eq(unlinkat(f.directory, "lock", 0), 0);
    pid_t next = session_fixture_start_often(&f, 2);
    pl_head head = {0};
    for (double end = session_fixture_clock() + 60; head.attempt != 2;) {
        ck_assert(session_fixture_clock() < end);
        pl_head_clear(&head);
        (void)pl_head_read(f.directory, &head);
    }
    pl_head_clear(&head);
    kill(late, SIGCONT);
    ck_assert_int_eq(session_fixture_wait(late), 5);
    ck_assert_int_eq(session_fixture_wait(next), 0);
    ck_assert_int_eq(session_compare(&f, &whole), -1);
    ck_assert(session_compare_once(&f));
    session_fixture_destroy(&f);
    session_fixture_destroy(&whole);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("fence");
    tcase_set_timeout(tc, 180);
    tcase_add_loop_test(tc, test_stale_worker, 0, 8);
    tcase_add_test(tc, test_stale_beside_a_live_one);
    Suite *suite = suite_create("worker_fence");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
