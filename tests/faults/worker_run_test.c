/* The worker on one session directory: a whole run read back, and every way a run ends early by
 * someone's wish.
 */
#include "protocol/text/json.h"
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NX = 10, NY = 2, NZ = 2, VERTICES = (NX + 1) * (NY + 1) * (NZ + 1) };

/* Vertex v of the fixture's box: x fastest, 4 x 1 x 1 m about the origin. */
static void box_vertex(int v, double x[3])
{
    int i = v % (NX + 1), j = v / (NX + 1) % (NY + 1), k = v / (NX + 1) / (NY + 1);
    x[0] = 4.0 * i / NX - 2.0;
    x[1] = 1.0 * j / NY - 0.5;
    x[2] = 1.0 * k / NZ - 0.5;
}

static pl_log_reader *reader_of(const session_fixture *f)
{
    pl_log_reader *reader;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &reader), PL_OK);
    return reader;
}

/* Frame k and its metrics, whole and about each other. */
static void check_frame(pl_log_reader *reader, int64_t k, uint32_t dtype)
{
    char *frame, *metrics;
    uint64_t length;
    ck_assert_int_eq(pl_log_read(reader, k, PL_LOG_FRAME, &frame, &length), PL_LOG_OK);
    pl_frame_header header;
    ck_assert(pl_frame_header_decode((unsigned char *)frame, length, &header));
    ck_assert_uint_eq(header.dtype, dtype);
    ck_assert_uint_eq(header.count, VERTICES);
    ck_assert_uint_eq(header.step, (uint64_t)k);
    ck_assert_double_eq_tol(header.time, 0.01 * (double)k, 1e-12);
    size_t value = dtype == PL_DTYPE_F32 ? 4 : 8;
    ck_assert_uint_eq(length, PL_FRAME_HEADER + 3 * VERTICES * value);
    for (int v = 0; v < VERTICES; v++) {
        double rest[3];
        box_vertex(v, rest);
        /* Frame 0 is at rest; the pinned side stays there. */
        for (int c = 0; c < 3 && (k == 0 || v % (NX + 1) == 0); c++) {
            const char *at = frame + PL_FRAME_HEADER + (size_t)(3 * v + c) * value;
            float single;
            double wide;
            memcpy(&single, at, 4);
            memcpy(&wide, at, value);
            ck_assert_double_eq_tol(value == 4 ? (double)single : wide, rest[c], 1e-6);
        }
    }
    ck_assert_int_eq(pl_log_read(reader, k, PL_LOG_METRICS, &metrics, &length), PL_LOG_OK);
    pl_json *m = pl_json_parse(metrics, length, NULL);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(pl_json_integer(m, "frame", -1), k);
    ck_assert_int_eq(pl_json_integer(m, "inverted", -1), 0);
    ck_assert_double_eq_tol(pl_json_number(m, "time", -1), 0.01 * (double)k, 1e-12);
    ck_assert_ptr_nonnull(pl_json_at(m, "reactions/pins/wall"));
    /* Writing is measured from frame 1 on: there is nothing before frame 0. */
    const pl_json *output = pl_json_at(m, "ms/output");
    ck_assert(k == 0 ? pl_json_is_null(output) : pl_json_number(output, "", 0) > 0);
    pl_json_free(m);
    free(metrics);
    free(frame);
}

static void run_and_read(const char *more, uint32_t dtype)
{
    session_fixture f;
    session_fixture_bar(&f, 12, more);
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    pl_log_reader *reader = reader_of(&f);
    ck_assert_int_eq(pl_log_reader_refresh(reader), 13);
    for (int64_t k = 0; k <= 12; k++)
        check_frame(reader, k, dtype);
    pl_log_reader_close(reader);

    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "succeeded");
    ck_assert_int_eq(e.attempt, 1);
    ck_assert_int_eq(e.frames, 12);
    ck_assert(e.seconds > 0);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_NONE);
    ck_assert(!pl_session_locked(f.directory));
    ck_assert(session_fixture_has(&f, "worker.log"));
    ck_assert(!session_fixture_has(&f, "exit.reserve"));
    session_fixture_destroy(&f);
}

START_TEST(test_run_reads_back)
{
    run_and_read("", PL_DTYPE_F32);
}
END_TEST

START_TEST(test_run_in_double)
{
    run_and_read(", \"output\": {\"precision\": \"double\"}", PL_DTYPE_F64);
}
END_TEST

/* A run of less than a second writes no checkpoint; one that goes on, long before --checkpoint-every, which is 10 s. */
START_TEST(test_first_checkpoint)
{
    session_fixture f;
    session_fixture_bar(&f, 2, "");
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    pl_checkpoint c;
    bool written = pl_checkpoint_newest(f.directory, &c) == PL_OK;
    ck_assert_msg(!written || session_fixture_exit(&f).seconds >= 1, "a checkpoint of frame %lld",
                  (long long)c.frame);
    session_fixture_destroy(&f);
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.1, \"pace\": \"realtime\"},"
        " \"materials\": {\"m\": {\"model\": \"neo_hookean\"}}, \"bodies\": [{\"name\": \"b\","
        " \"material\": \"m\", \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, "
        "1]}}}]}");
    pid_t pid = session_fixture_start(&f, 1);
    for (double end = session_fixture_clock() + 60; pl_checkpoint_newest(f.directory, &c) != PL_OK;
         usleep(10000))
        ck_assert(session_fixture_clock() < end);
    ck_assert_double_ge(c.seconds, 1);
    ck_assert_double_lt(c.seconds, 10);
    kill(pid, SIGKILL);
    session_fixture_wait(pid);
    session_fixture_destroy(&f);
}
END_TEST

/* The last frame holds the steps that are left, and its number is in exit.json. */
START_TEST(test_last_partial_frame)
{
    session_fixture f;
    session_fixture_bar(&f, 7, ", \"output\": {\"every\": 3}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    ck_assert_int_eq(session_fixture_frames(&f), 4);
    ck_assert_int_eq(session_fixture_exit(&f).frames, 3);
    pl_log_reader *reader = reader_of(&f);
    pl_log_reader_refresh(reader);
    char *frame;
    uint64_t length;
    pl_frame_header header;
    ck_assert_int_eq(pl_log_read(reader, 3, PL_LOG_FRAME, &frame, &length), PL_LOG_OK);
    ck_assert(pl_frame_header_decode((unsigned char *)frame, length, &header));
    ck_assert_uint_eq(header.step, 7);
    free(frame);
    pl_log_reader_close(reader);
    session_fixture_destroy(&f);
}
END_TEST

/* The segment opens with the epoch: who wrote it, on what. */
START_TEST(test_epoch_record)
{
    session_fixture f;
    session_fixture_bar(&f, 1, "");
    ck_assert_int_eq(session_fixture_run(&f, 3), 0);
    char *bytes;
    size_t size;
    ck_assert_int_eq(pl_file_read(f.directory, "log/0003-0000.seg", 1 << 20, &bytes, &size), PL_OK);
    pl_record record;
    ck_assert_int_eq(pl_record_decode((unsigned char *)bytes, size, &record), PL_RECORD_GOOD);
    ck_assert_uint_eq(record.type, PL_RECORD_EPOCH);
    ck_assert_uint_eq(record.attempt, 3);
    pl_json *epoch = pl_json_parse(bytes + PL_RECORD_HEADER, record.length, NULL);
    ck_assert_int_eq(pl_json_integer(epoch, "attempt", 0), 3);
    ck_assert_int_eq(pl_json_integer(epoch, "threads", 0), 1);
    ck_assert_str_eq(pl_json_string(epoch, "precision", ""), "double");
    ck_assert_str_eq(pl_json_string(epoch, "version", ""), PLIANT_VERSION);
    ck_assert_str_ne(pl_json_string(epoch, "isa", ""), "");
    ck_assert_ptr_nonnull(strstr(pl_json_string(epoch, "class", ""), "double"));
    pl_json_free(epoch);
    free(bytes);
    session_fixture_destroy(&f);
}
END_TEST

/* A damaged record, an unknown action and half a record stop nothing; a cancel after them does. */
START_TEST(test_cancel)
{
    session_fixture f;
    session_fixture_bar(&f, 1000000, "");
    session_fixture_control(&f, "{\"action\": \"juggle\"}");
    pid_t pid = session_fixture_start(&f, 1);
    ck_assert(session_fixture_await(&f, 3));
    FILE *control = fdopen(openat(f.directory, "control.log", O_WRONLY | O_APPEND), "a");
    fwrite("sixteen bad byte", 1, 16, control);
    fclose(control);
    int64_t before = session_fixture_frames(&f);
    ck_assert(session_fixture_await(&f, before + 3));
    session_fixture_control(&f, "{\"action\": \"cancel\"}");
    ck_assert_int_eq(session_fixture_wait(pid), 4);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "cancelled");
    ck_assert_int_eq(e.frames, session_fixture_frames(&f) - 1);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_NONE);
    session_fixture_destroy(&f);
}
END_TEST

START_TEST(test_time_limit)
{
    session_fixture f;
    session_fixture_bar(&f, 1000000, ", \"resources\": {\"time_limit\": 0.5}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "failed");
    ck_assert_int_eq(e.failure.code, PL_FAILURE_TIMEOUT);
    ck_assert_int_eq(e.failure.frame, e.frames);
    ck_assert_int_eq(e.frames, session_fixture_frames(&f) - 1);
    ck_assert_str_ne(e.failure.advice, "");
    session_fixture_destroy(&f);
}
END_TEST

/* SIGTERM leaves a log, and an exit.json that is not an end; the next attempt runs to the end and reports it. */
START_TEST(test_stop_and_attempt_again)
{
    session_fixture f;
    ck_assert_int_eq(session_create_ended(&f, 400, "", 3, NULL), 6);
    ck_assert_str_eq(session_fixture_exit(&f).state, "stopped");
    ck_assert_int_eq(session_fixture_exit(&f).frames, session_fixture_frames(&f) - 1);
    ck_assert(!session_fixture_has(&f, "exit.reserve"));
    ck_assert_int_ge(session_fixture_frames(&f), 3);
    ck_assert_int_eq(session_fixture_run(&f, 2), 0);
    ck_assert_int_eq(session_fixture_frames(&f), 401);
    ck_assert_int_eq(session_fixture_exit(&f).attempt, 2);
    session_fixture_destroy(&f);
}
END_TEST

/* Steps that succeeded only as two halves are reported, and are not failures. */
START_TEST(test_halved_steps)
{
    session_fixture f;
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.03, \"steps\": 16},"
        " \"solver\": {\"method\": \"admm\", \"iterations\": 33, \"tolerance\": 3.3e-3,"
        " \"on_not_converged\": \"fail\","
        " \"acceleration\": \"nesterov\", \"weight_scale\": 2},"
        " \"materials\": {\"m\": {\"young\": 5e5}},"
        " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [3, 3, 3]}}, \"initial\": {\"velocity\":"
        " [1, -1, 0]}, \"transform\": {\"translate\": [0, 0.52, 0]}}],"
        " \"obstacles\": [{\"plane\": {}, \"friction\": 0.3}]}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    ck_assert(session_said(&f, "1 steps taken as two halves each"));
    ck_assert(session_said(&f, "frames had steps taken as two halves"));
    session_fixture_destroy(&f);
}
END_TEST

/* A body pressed until its elements invert: the failure names step and place, the earlier frames stay, and another
 * attempt fails in the same way. */
START_TEST(test_numerical_failure)
{
    session_fixture f;
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.04, \"steps\": 12},"
        " \"solver\": {\"method\": \"quasi_newton\", \"iterations\": 60, \"tolerance\": 1e-8},"
        " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [5, 5, 5]}}, \"transform\":"
        " {\"translate\": [5, 0, 0]}}, {\"mesh\": {\"box\": {\"cells\": [4, 4, 4]}}}],"
        " \"pins\": [{\"body\": \"body-1\", \"select\": {\"side\": \"-x\"}}, {\"body\": \"body-1\","
        " \"select\": {\"side\": \"+x\"}, \"motion\": {\"velocity\": [-10, 0, 0]}}]}");
    pl_exit first = {0};
    for (int attempt = 1; attempt <= 2; attempt++) {
        ck_assert_int_eq(session_fixture_run(&f, attempt), 3);
        pl_exit e = session_fixture_exit(&f);
        ck_assert_str_eq(e.state, "failed");
        ck_assert_str_ne(e.failure.message, "");
        ck_assert_str_ne(e.failure.advice, "");
        ck_assert_int_ge(e.frames, 1);
        ck_assert_int_eq(e.failure.frame, e.frames);
        ck_assert_int_eq(e.failure.step, e.frames + 1);
        ck_assert_int_eq(session_fixture_frames(&f), e.frames + 1);
        if (attempt == 1)
            first = e;
        ck_assert_int_eq(e.failure.code, first.failure.code);
        ck_assert_int_eq(e.failure.step, first.failure.step);
        ck_assert_int_eq(e.failure.body, first.failure.body);
        ck_assert_int_eq(e.failure.element, first.failure.element);
    }
    ck_assert_int_eq(first.failure.code, PL_FAILURE_INVERTED);
    ck_assert_int_eq(first.failure.body, 1);
    ck_assert_int_ge(first.failure.element, 0);
    session_fixture_destroy(&f);
}
END_TEST

START_TEST(test_not_converged)
{
    session_fixture f;
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.05, \"steps\": 20},"
        " \"solver\": {\"iterations\": 2, \"tolerance\": 1e-9, \"on_not_converged\": \"fail\"},"
        " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [3, 3, 3]}}}],"
        " \"pins\": [{\"body\": \"body-0\", \"select\": {\"side\": \"-x\"}}]}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_NOT_CONVERGED);
    ck_assert_int_eq(e.failure.step, e.frames + 1);
    ck_assert_int_eq(e.failure.frame, e.frames);
    ck_assert_str_ne(e.failure.advice, "");
    session_fixture_destroy(&f);
}
END_TEST

/* A scene changed after its preflight fails with the place of the change. */
START_TEST(test_refused_scene)
{
    session_fixture f;
    session_fixture_create(&f, NULL, "{\"pliant\": 1, \"bodies\": 3}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "failed");
    ck_assert_int_eq(e.failure.code, PL_FAILURE_INTERNAL);
    ck_assert_int_eq(e.frames, -1);
    ck_assert_ptr_nonnull(strchr(e.failure.message, '/'));
    session_fixture_destroy(&f);
}
END_TEST

START_TEST(test_usage)
{
    static const char *const bad[][5] = {
        {NULL},
        {"--session", "/nonexistent", NULL},
        {"--session", "/nonexistent", "--attempt", "1", NULL},
        {"--attempt", "1", NULL},
        {"--attempt", "0", NULL},
        {"--session", ".", "--attempt", "1x", NULL},
        {"--juggle", NULL},
        {"--session", "/nonexistent", "--checkpoint-every", "-1", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(
            session_fixture_wait(session_fixture_spawn("pliant-worker", bad[i], NULL, NULL)), 2);
    static const char *const good[][2] = {{"--help", NULL}, {"--version", NULL}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_int_eq(
            session_fixture_wait(session_fixture_spawn("pliant-worker", good[i], NULL, NULL)), 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("run");
    tcase_set_timeout(tc, 180);
    tcase_add_test(tc, test_run_reads_back);
    tcase_add_test(tc, test_run_in_double);
    tcase_add_test(tc, test_first_checkpoint);
    tcase_add_test(tc, test_last_partial_frame);
    tcase_add_test(tc, test_epoch_record);
    tcase_add_test(tc, test_cancel);
    tcase_add_test(tc, test_time_limit);
    tcase_add_test(tc, test_stop_and_attempt_again);
    tcase_add_test(tc, test_halved_steps);
    tcase_add_test(tc, test_numerical_failure);
    tcase_add_test(tc, test_not_converged);
    tcase_add_test(tc, test_refused_scene);
    tcase_add_test(tc, test_usage);
    Suite *suite = suite_create("worker_run");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
