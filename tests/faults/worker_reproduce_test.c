/* Recomputed frames are compared with stored ones: a changed frame, checkpoint or model is found. Another numerics
 * class is not a failure, and is recorded.
 */
#include "engine/model/hash.h"
#include "protocol/log/checkpoint.h"
#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 500 };

static void create_killed(session_fixture *f)
{
    session_create_killed(f, STEPS, SESSION_FLOOR);
}

/* ---- tampered ---- */

static void check_not_reproducible(const session_fixture *f, int64_t good, int64_t frames)
{
    pl_exit e = session_fixture_exit(f);
    ck_assert_str_eq(e.state, "failed");
    ck_assert_int_eq(e.failure.code, PL_FAILURE_NOT_REPRODUCIBLE);
    ck_assert_int_eq(e.failure.frame, good);
    ck_assert_str_ne(e.failure.advice, "");
    ck_assert_int_eq(e.frames, frames - 1);
    ck_assert_int_eq(session_fixture_frames(f), frames);
}

/* A frame that was changed and sealed again. */
START_TEST(test_tampered_frame)
{
    session_fixture f;
    create_killed(&f);
    int64_t frames = session_fixture_frames(&f);
    unlinkat(f.directory, pl_checkpoint_name(0), 0);
    unlinkat(f.directory, pl_checkpoint_name(1), 0);
    if (_i == 0)
        session_tamper(&f, 11, PL_LOG_FRAME, PL_FRAME_HEADER + 500, 1, true);
    else
        session_tamper(&f, 11, PL_LOG_METRICS, 34, '9', true); /* a digit of its time */
    ck_assert_int_eq(session_fixture_run(&f, 2), 3);
    check_not_reproducible(&f, 10, frames);
    session_fixture_destroy(&f);
}
END_TEST

/* A frame of the log's that the checkpoint is of. */
START_TEST(test_checkpoint_unlike_its_frame)
{
    session_fixture f;
    create_killed(&f);
    int64_t frames = session_fixture_frames(&f);
    pl_checkpoint c;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &c), PL_OK);
    session_tamper(&f, c.frame, PL_LOG_FRAME, PL_FRAME_HEADER + 600, 1, true);
    ck_assert_int_eq(session_fixture_run(&f, 2), 3);
    check_not_reproducible(&f, c.frame - 1, frames);
    session_fixture_destroy(&f);
}
END_TEST

/* The scene was changed under a run. */
START_TEST(test_changed_model)
{
    session_fixture f;
    create_killed(&f);
    int64_t frames = session_fixture_frames(&f);
    char *scene = session_fixture_scene(STEPS, SESSION_FLOOR), *density = strstr(scene, "1000}");
    memcpy(density, "1001", 4);
    session_fixture_write(&f, "scene.json", scene, strlen(scene));
    free(scene);
    ck_assert_int_eq(session_fixture_run(&f, 2), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_INTERNAL);
    ck_assert_ptr_nonnull(strstr(e.failure.message, "changed"));
    ck_assert_int_eq(session_fixture_frames(&f), frames);
    session_fixture_destroy(&f);
}
END_TEST

/* A checkpoint whose state was changed in a bit of a position or of a velocity, and sealed again: its own frame shows
 * the first, the next frame the second. */
START_TEST(test_tampered_checkpoint)
{
    /* engine/step/saved_state.c: 5 words of header, the last its checksum, the step, x, v. */
    enum { CHECKSUM = 32, BODY = 40, STATE = 48, VERTEX = 50 };
    session_fixture f;
    create_killed(&f);
    int64_t frames = session_fixture_frames(&f);
    pl_checkpoint c;
    void *payload;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &c), PL_OK);
    ck_assert_int_eq(pl_checkpoint_read(f.directory, c.slot, 1 << 24, &c, &payload), PL_OK);
    unsigned char *bytes = payload;
    size_t coordinate = STATE + (_i == 0 ? 0 : 99 * 24) + VERTEX * 24;
    bytes[coordinate + (_i == 0 ? 5 : 6)] ^=
        1; /* beyond the precision of stored frames it is not */
    uint64_t sum = pl_hash(pl_hash(PL_HASH_START, bytes, CHECKSUM), bytes + BODY,
                           (size_t)c.payload_size - BODY);
    memcpy(bytes + CHECKSUM, &sum, sizeof sum);
    ck_assert_int_eq(pl_checkpoint_write(f.directory, c.slot, &c, payload), PL_OK);
    free(payload);
    ck_assert_int_eq(session_fixture_run(&f, 2), 3);
    check_not_reproducible(&f, _i == 0 ? c.frame - 1 : c.frame, frames);
    session_fixture_destroy(&f);
}
END_TEST

/* ---- another numerics class ---- */

static void oldest_kernels(void)
{
    setenv("PLIANT_ISA", "x86-64-v2", 1);
}

static int run_with_oldest_kernels(const session_fixture *f, int attempt)
{
    char number[16];
    snprintf(number, sizeof number, "%d", attempt);
    const char *const arguments[] = {"--session", f->path, "--attempt", number,
                                     "--threads", "1",     NULL};
    return session_fixture_wait(
        session_fixture_spawn("pliant-worker", arguments, oldest_kernels, NULL));
}

/* The class that the attempt which wrote a frame had. */
static void class_of(const session_fixture *f, int64_t frame, char out[PL_CHECKPOINT_CLASS])
{
    pl_log_reader *r;
    char *text;
    uint64_t length;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &r), PL_OK);
    ck_assert_int_eq(pl_log_epoch(r, frame, &text, &length), PL_LOG_OK);
    pl_json *epoch = pl_json_parse(text, length, NULL);
    snprintf(out, PL_CHECKPOINT_CLASS, "%s", pl_json_string(epoch, "class", ""));
    pl_json_free(epoch);
    free(text);
    pl_log_reader_close(r);
}

/* Frames of another class are kept and not compared: even a tampered one is not blamed on the machine. The new class
 * writes the following frames, and the log says where it begins. */
START_TEST(test_numerics_changed)
{
    session_fixture f;
    char before[PL_CHECKPOINT_CLASS], after[PL_CHECKPOINT_CLASS];
    create_killed(&f);
    int64_t frames = session_fixture_frames(&f);
    char was = session_tamper(&f, frames - 1, PL_LOG_FRAME, PL_FRAME_HEADER + 500, 1, true);
    class_of(&f, 0, before);
    int status = run_with_oldest_kernels(&f, 2);
    class_of(&f, STEPS, after);
    if (strcmp(before, after) == 0) {
        printf("SKIP worker_reproduce: test_numerics_changed: one instruction set only\n");
        session_fixture_destroy(&f);
        return;
    }
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(session_fixture_frames(&f), STEPS + 1);
    ck_assert(session_compare_once(&f));
    char *bytes;
    size_t size;
    ck_assert_int_eq(pl_file_read(f.directory, "log/0002-0000.seg", 1 << 28, &bytes, &size), PL_OK);
    char expected[512];
    snprintf(expected, sizeof expected,
             "{\"event\":\"numerics_changed\",\"from\":\"%s\",\"to\":\"%s\"}", before, after);
    ck_assert_ptr_nonnull(memmem(bytes, size, expected, strlen(expected)));
    free(bytes);
    /* A third attempt, of the first class again and from the first class's checkpoint, holds nothing
     * against the frames of the second. */
    session_tamper(&f, STEPS, PL_LOG_FRAME, PL_FRAME_HEADER + 500, 1, true);
    pl_checkpoint c;
    ck_assert_int_eq(pl_checkpoint_newest(f.directory, &c), PL_OK);
    ck_assert_str_eq(c.numerics, before);
    session_tamper(&f, frames - 1, PL_LOG_FRAME, PL_FRAME_HEADER + 500, was, true);
    ck_assert_int_eq(session_fixture_run(&f, 3), 0);
    ck_assert(session_said(&f, "were written by another numerics class and are not compared"));
    session_fixture_destroy(&f);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("reproduce");
    tcase_set_timeout(tc, 180);
    tcase_add_loop_test(tc, test_tampered_frame, 0, 2);
    tcase_add_test(tc, test_checkpoint_unlike_its_frame);
    tcase_add_loop_test(tc, test_tampered_checkpoint, 0, 2);
    tcase_add_test(tc, test_changed_model);
    tcase_add_test(tc, test_numerics_changed);
    Suite *suite = suite_create("worker_reproduce");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
