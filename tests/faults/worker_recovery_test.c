/* A session that is killed, stopped or paused and restarted has the same bits as an uninterrupted one, whatever happens
 * to its checkpoints.
 */
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "tests/support/long_form.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A bar that swings down and hits the floor, so that the solver's contact history counts. */
#define FLOOR SESSION_FLOOR
enum { STEPS = 500 };

static session_fixture undisturbed;

static void create(session_fixture *f, int64_t steps, const char *more)
{
    char *scene = session_fixture_scene(steps, more);
    session_fixture_create(f, SESSION_IN_MEMORY, scene);
    free(scene);
}

static void setup(void)
{
    create(&undisturbed, STEPS, FLOOR);
    ck_assert_int_eq(session_fixture_run(&undisturbed, 1), 0);
    ck_assert_int_eq(session_fixture_frames(&undisturbed), STEPS + 1);
}

static void teardown(void)
{
    session_fixture_destroy(&undisturbed);
}

/* A run that was killed in its middle with two checkpoints behind it. */
static void create_killed(session_fixture *f)
{
    session_create_killed(f, STEPS, FLOOR);
}

static void check_whole(const session_fixture *f, int attempt)
{
    pl_exit e = session_fixture_exit(f);
    ck_assert_str_eq(e.state, "succeeded");
    ck_assert_int_eq(e.attempt, attempt);
    ck_assert_int_eq(e.frames, STEPS);
    ck_assert_int_eq(session_fixture_frames(f), STEPS + 1);
    ck_assert_int_eq(session_compare(f, &undisturbed), -1);
    ck_assert(session_compare_once(f));
}

static void finish_whole(session_fixture *f, int attempt)
{
    ck_assert_int_eq(session_fixture_run(f, attempt), 0);
    check_whole(f, attempt);
    session_fixture_destroy(f);
}

/* ---- killed ---- */

/* No committed frame is lost by a kill, and readers never see fewer than before. PLIANT_LONG=1: a
 * hundred kills of a longer run. */
START_TEST(test_killed_at_random_moments)
{
    bool longer = is_long_form();
    int kills = longer ? 100 : 10, steps = longer ? 20 * STEPS : STEPS, attempt = 1;
    session_fixture f, whole;
    create(&whole, steps, FLOOR);
    ck_assert_int_eq(session_fixture_run(&whole, 1), 0);
    create(&f, steps, FLOOR);
    srand((unsigned)time(NULL));
    for (int64_t before = 0; attempt <= kills; attempt++) {
        pid_t pid = session_fixture_start_often(&f, attempt);
        nanosleep(&(struct timespec){.tv_nsec = rand() % 60000000}, NULL);
        kill(pid, SIGKILL);
        int status = session_fixture_wait(pid);
        ck_assert(status == 128 + SIGKILL || status == 0);
        int64_t frames = session_fixture_frames(&f);
        ck_assert_int_ge(frames, before);
        before = frames;
    }
    ck_assert_int_eq(session_fixture_run(&f, attempt), 0);
    ck_assert_str_eq(session_fixture_exit(&f).state, "succeeded");
    ck_assert_int_eq(session_fixture_frames(&f), steps + 1);
    ck_assert_int_eq(session_compare(&f, &whole), -1);
    ck_assert(session_compare_once(&f));
    session_fixture_destroy(&f);
    session_fixture_destroy(&whole);
}
END_TEST

/* Leftovers of a kill during a write are removed. */
START_TEST(test_leftovers)
{
    session_fixture f;
    create_killed(&f);
    session_fixture_write(&f, "checkpoint-A.bin.4711.3.tmp", "PLC1half", 8);
    session_fixture_write(&f, "head.json.4711.9.tmp", "{", 1);
    session_fixture_write(&f, "mine.tmp", "keep", 4);
    ck_assert_int_eq(session_fixture_run(&f, 2), 0);
    ck_assert(!session_fixture_has(&f, "checkpoint-A.bin.4711.3.tmp"));
    ck_assert(!session_fixture_has(&f, "head.json.4711.9.tmp"));
    ck_assert(session_fixture_has(&f, "mine.tmp"));
    check_whole(&f, 2);
    session_fixture_destroy(&f);
}
END_TEST

/* Killed after the last frame and before exit.json: the next attempt has nothing to add. */
START_TEST(test_killed_before_exit)
{
    session_fixture f;
    create(&f, STEPS, FLOOR);
    ck_assert_int_eq(session_fixture_run_often(&f, 1), 0);
    unlinkat(f.directory, "exit.json", 0);
    finish_whole(&f, 2);
}
END_TEST

static uint64_t tail_length(const session_fixture *f)
{
    struct stat st;
    ck_assert_int_eq(fstatat(f->directory, "log/0001-0000.seg", &st, 0), 0);
    return (uint64_t)st.st_size;
}

/* The last record cut in its middle, or (after a power cut) zeros where its bytes should be. */
START_TEST(test_torn_tail)
{
    session_fixture f;
    create_killed(&f);
    static const char zeros[512];
    int fd = openat(f.directory, "log/0001-0000.seg", O_RDWR);
    uint64_t length = tail_length(&f);
    if (_i == 0)
        ck_assert_int_eq(ftruncate(fd, (off_t)length - 300), 0);
    else
        ck_assert_int_eq(pwrite(fd, zeros, sizeof zeros, (off_t)(length - 600)), sizeof zeros);
    close(fd);
    finish_whole(&f, 2);
}
END_TEST

/* A committed frame with damaged bytes stays a gap; everything around it is unchanged. */
START_TEST(test_damaged_frame_stays_a_gap)
{
    session_fixture f;
    create_killed(&f);
    pl_checkpoint c;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &c), PL_OK);
    /* After both checkpoints are gone, every frame is computed again. */
    unlinkat(f.directory, pl_checkpoint_name(0), 0);
    unlinkat(f.directory, pl_checkpoint_name(1), 0);
    session_tamper(&f, 7, PL_LOG_FRAME, 100, 'x', false);
    session_tamper(&f, 8, PL_LOG_METRICS, 3, 'x', false);
    ck_assert_int_eq(session_fixture_run(&f, 2), 0);
    check_whole(&f, 2);
    pl_log_reader *r;
    char *payload;
    uint64_t size;
    ck_assert_int_eq(pl_log_reader_open(f.directory, &r), PL_OK);
    ck_assert_int_eq(pl_log_read(r, 7, PL_LOG_FRAME, &payload, &size), PL_LOG_CORRUPT);
    ck_assert_int_eq(pl_log_read(r, 8, PL_LOG_METRICS, &payload, &size), PL_LOG_CORRUPT);
    pl_log_reader_close(r);
    session_fixture_destroy(&f);
}
END_TEST

/* ---- checkpoints ---- */

typedef enum damage { CUT, FLIP_HEADER, FLIP_PAYLOAD, EMPTIED, GONE, DAMAGES } damage;

static void harm(const session_fixture *f, int slot, damage how)
{
    const char *name = pl_checkpoint_name(slot);
    char *bytes;
    size_t size;
    ck_assert_int_eq(pl_file_read(f->directory, name, 1 << 24, &bytes, &size), PL_OK);
    if (how == GONE)
        unlinkat(f->directory, name, 0);
    bytes[how == FLIP_HEADER ? 20 : size - 100] ^= how == CUT ? 0 : 4;
    if (how != GONE)
        session_fixture_write(f, name, bytes, how == CUT ? size - 9 : how == EMPTIED ? 0 : size);
    free(bytes);
}

/* The newest checkpoint is damaged: the previous one is used. Then both are: the run restarts at frame 0. */
START_TEST(test_damaged_checkpoints)
{
    damage how = (damage)(_i / 2);
    bool both = _i % 2;
    session_fixture f;
    create_killed(&f);
    pl_checkpoint newest, other;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &newest), PL_OK);
    ck_assert_int_eq(pl_checkpoint_peek(f.directory, 1 - newest.slot, &other), PL_OK);
    ck_assert_int_lt(other.frame, newest.frame);
    harm(&f, newest.slot, how);
    if (both)
        harm(&f, other.slot, how);
    ck_assert_int_eq(session_fixture_run(&f, 2), 0);
    char wanted[80];
    snprintf(wanted, sizeof wanted, "from the checkpoint of frame %lld by", (long long)other.frame);
    ck_assert(session_said(&f, both ? "computed again from frame 0" : wanted));
    ck_assert(session_said(&f, "is damaged and is skipped") == (how != GONE));
    check_whole(&f, 2);
    session_fixture_destroy(&f);
}
END_TEST

/* A checkpoint of a frame that the log does not have is of no use. */
START_TEST(test_checkpoint_ahead_of_the_log)
{
    session_fixture f;
    create_killed(&f);
    pl_checkpoint c;
    void *payload;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &c), PL_OK);
    ck_assert_int_eq(pl_checkpoint_read(f.directory, c.slot, 1 << 24, &c, &payload), PL_OK);
    c.frame = STEPS + 5;
    ck_assert_int_eq(pl_checkpoint_write(f.directory, c.slot, &c, payload), PL_OK);
    free(payload);
    ck_assert_int_eq(session_fixture_run(&f, 2), 0);
    ck_assert(session_said(&f, "which the log has lost"));
    check_whole(&f, 2);
    session_fixture_destroy(&f);
}
END_TEST

/* A checkpoint that cannot be written is logged, and the session does not fail. */
START_TEST(test_unwritable_checkpoints)
{
    session_fixture f;
    create(&f, STEPS, FLOOR);
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++) {
        ck_assert_int_eq(mkdirat(f.directory, pl_checkpoint_name(slot), 0750), 0);
        int fd = openat(f.directory, pl_checkpoint_name(slot), O_RDONLY);
        ck_assert_int_eq(mkdirat(fd, "full", 0750), 0);
        close(fd);
    }
    ck_assert_int_eq(session_fixture_run_often(&f, 1), 0);
    ck_assert(session_said(&f, "checkpoint of frame 0 not written"));
    check_whole(&f, 1);
    session_fixture_destroy(&f);
}
END_TEST

/* ---- stopped and paused ---- */

/* Frames of seven steps: the signal may come in the middle of one. */
START_TEST(test_stopped_and_resumed)
{
    enum { FRAMES = 150 };
    session_fixture f, whole;
    create(&whole, 7 * FRAMES, FLOOR ", \"output\": {\"every\": 7}");
    ck_assert_int_eq(session_fixture_run(&whole, 1), 0);
    create(&f, 7 * FRAMES, FLOOR ", \"output\": {\"every\": 7}");
    int attempt = 1, status = 6;
    for (int64_t frames = 5; frames < FRAMES && status == 6; attempt++, frames += 35) {
        pid_t pid = session_fixture_start(&f, attempt);
        ck_assert(session_fixture_await(&f, frames));
        kill(pid, SIGTERM);
        status = session_fixture_wait(pid);
        pl_exit e = session_fixture_exit(&f);
        ck_assert(status == 0 || status == 6);
        ck_assert_str_eq(e.state, status == 6 ? "stopped" : "succeeded");
        ck_assert_int_eq(e.frames, session_fixture_frames(&f) - 1);
        ck_assert(!session_fixture_has(&f, "exit.reserve"));
        pl_checkpoint c;
        ck_assert(status == 0 || (pl_checkpoint_newest(f.directory, &c) == PL_OK &&
                                  c.frame == e.frames && c.attempt == attempt));
    }
    if (status == 6)
        ck_assert_int_eq(session_fixture_run(&f, attempt), 0);
    ck_assert_int_eq(session_fixture_frames(&f), FRAMES + 1);
    ck_assert_int_eq(session_compare(&f, &whole), -1);
    ck_assert(session_compare_once(&f));
    session_fixture_destroy(&f);
    session_fixture_destroy(&whole);
}
END_TEST

START_TEST(test_paused_and_resumed)
{
    session_fixture f;
    ck_assert_int_eq(session_create_ended(&f, STEPS, FLOOR, 30, "{\"action\": \"pause\"}"), 7);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "paused");
    ck_assert_int_lt(e.frames, STEPS);
    pl_checkpoint c;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &c), PL_OK);
    ck_assert_int_eq(c.frame, e.frames);
    ck_assert(c.control_end > 0);
    /* Begun again while it is paused, it stays so and loses nothing. */
    ck_assert_int_eq(session_fixture_run(&f, 2), 7);
    ck_assert_int_eq(session_fixture_exit(&f).frames, e.frames);
    ck_assert_int_eq(session_fixture_frames(&f), e.frames + 1);
    session_fixture_control(&f, "{\"action\": \"resume\"}");
    finish_whole(&f, 3);
}
END_TEST

/* A cancel outlives the attempt it was sent to, has precedence over a resume, and keeps the frames. */
START_TEST(test_cancelled_at_the_start)
{
    session_fixture f;
    create_killed(&f);
    int64_t frames = session_fixture_frames(&f);
    session_fixture_control(&f, "{\"action\": \"cancel\"}");
    session_fixture_control(&f, "{\"action\": \"pause\"}");
    session_fixture_control(&f, "{\"action\": \"resume\"}");
    ck_assert_int_eq(session_fixture_run(&f, 2), 4);
    ck_assert_str_eq(session_fixture_exit(&f).state, "cancelled");
    ck_assert_int_eq(session_fixture_exit(&f).frames, frames - 1);
    ck_assert_int_eq(session_fixture_frames(&f), frames);
    session_fixture_destroy(&f);
}
END_TEST

/* The checkpoint stores the seconds of running, so that the limit applies to all attempts together. */
START_TEST(test_time_limit_over_attempts)
{
    session_fixture f;
    static const char limit[] = ", \"resources\": {\"time_limit\": 5000}";
    ck_assert_int_eq(session_create_ended(&f, STEPS, limit, 30, NULL), 6);
    pl_checkpoint c;
    void *payload;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &c), PL_OK);
    ck_assert(c.seconds > 0);
    ck_assert_int_eq(pl_checkpoint_read(f.directory, c.slot, 1 << 24, &c, &payload), PL_OK);
    c.seconds = 6000;
    ck_assert_int_eq(pl_checkpoint_write(f.directory, c.slot, &c, payload), PL_OK);
    free(payload);
    int64_t frames = session_fixture_frames(&f);
    ck_assert_int_eq(session_fixture_run(&f, 2), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_TIMEOUT);
    ck_assert(e.seconds > 6000);
    ck_assert_int_eq(session_fixture_frames(&f), frames);
    session_fixture_destroy(&f);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("recovery");
    tcase_set_timeout(tc, 180);
    tcase_add_unchecked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_killed_at_random_moments);
    tcase_add_test(tc, test_leftovers);
    tcase_add_test(tc, test_killed_before_exit);
    tcase_add_loop_test(tc, test_torn_tail, 0, 2);
    tcase_add_test(tc, test_damaged_frame_stays_a_gap);
    tcase_add_loop_test(tc, test_damaged_checkpoints, 0, 2 * DAMAGES);
    tcase_add_test(tc, test_checkpoint_ahead_of_the_log);
    tcase_add_test(tc, test_unwritable_checkpoints);
    tcase_add_test(tc, test_stopped_and_resumed);
    tcase_add_test(tc, test_paused_and_resumed);
    tcase_add_test(tc, test_cancelled_at_the_start);
    tcase_add_test(tc, test_time_limit_over_attempts);
    Suite *suite = suite_create("worker_recovery");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
