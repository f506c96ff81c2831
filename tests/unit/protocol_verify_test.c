/* pl_verify on logs left by crashes and restarts: it reports no damage in good logs, and finds damage in open segments,
 * cut ones and those of several attempts. */
#include "protocol/log/log.h"
#include "protocol/log/verify.h"

#include "tests/unit/protocol_files.h"
#include "tests/support/suite.h"

static temporary t;

static void setup(void)
{
    temporary_create(&t);
}
static void teardown(void)
{
    temporary_destroy(&t);
}

static void write_frames(pl_log_writer *w, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        float values[6] = {(float)k, 2, 3, 4, 5, 6};
        pl_frame_header header = {PL_DTYPE_F32, PL_FIELD_POSITION, 2, 0, (uint64_t)k, 0, 0};
        ck_assert_int_eq(pl_log_append(w, k, &header, values, "{\"a\": 1}", 8), PL_OK);
    }
}

static pl_log_writer *open_writer(int32_t attempt, int64_t first)
{
    pl_log_writer *w;
    ck_assert_int_eq(pl_log_writer_open(t.fd, attempt, first, "{\"epoch\":true}", &w), PL_OK);
    return w;
}

/* Damages of the log and its head; the temporary directory has no scene, which is one as well. */
static size_t damages(const char *file, int64_t *frames, int64_t *lost)
{
    pl_verify_report report = {0};
    size_t count = 0;
    ck_assert_int_eq(pl_verify(t.fd, NULL, &report), PL_OK);
    for (size_t i = 0; i < report.count; i++) {
        const char *name = report.damages[i].file;
        if (strncmp(name, "log", 3) != 0 && strcmp(name, "head.json") != 0)
            continue;
        count++;
        ck_assert_msg(strcmp(name, file) == 0, "%s: %s", name, report.damages[i].what);
    }
    *frames = report.frames;
    *lost = report.frames_lost;
    pl_verify_report_clear(&report);
    return count;
}

static void assert_sound(int64_t frames)
{
    int64_t found, lost;
    ck_assert_uint_eq(damages("", &found, &lost), 0);
    ck_assert_int_eq(found, frames);
    ck_assert_int_eq(lost, 0);
}

static void cut(const char *name, size_t fewer)
{
    size_t size;
    char *bytes = take_file(t.fd, name, &size);
    put_file(t.fd, name, bytes, size - fewer);
    free(bytes);
}

static void flip(const char *name, size_t from_end)
{
    size_t size;
    char *bytes = take_file(t.fd, name, &size);
    bytes[size - from_end] ^= 1;
    put_file(t.fd, name, bytes, size);
    free(bytes);
}

START_TEST(nothing_yet)
{
    assert_sound(0);
}
END_TEST

/* A killed worker: its segment is open, and its unfinished write is not damage. */
START_TEST(torn_tail)
{
    int64_t frames, lost;
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 5);
    assert_sound(5);
    const size_t metrics = pl_record_size(8);
    cut("log/0001-0000.idx", PL_INDEX_ENTRY); /* as if killed before the index */
    cut("log/0001-0000.seg", metrics / 2);    /* and in the middle of the metrics */
    assert_sound(4);
    flip("log/0001-0000.idx", 3); /* of frame 3 */
    ck_assert_uint_eq(damages("log/0001-0000.idx", &frames, &lost), 1);
    ck_assert_int_eq(frames, 4);
    pl_log_writer_close(w);
}
END_TEST

/* Records listed in the index were committed: damage to them is not a torn tail. */
START_TEST(damaged_tail)
{
    int64_t frames, lost;
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 5);
    flip("log/0001-0000.seg", 3); /* in the payload of the last metrics */
    ck_assert_uint_eq(damages("log/0001-0000.seg", &frames, &lost), 1);
    ck_assert_int_eq(frames, 5);
    ck_assert_int_eq(lost, 1);
    pl_log_writer_close(w);
}
END_TEST

START_TEST(attempts)
{
    int64_t frames, lost;
    pl_log_writer *first = open_writer(1, 0);
    write_frames(first, 0, 6);
    pl_log_writer *second = open_writer(2, 4);
    write_frames(second, 4, 9);
    write_frames(first, 6, 8); /* stale: nobody reads it, and it is not damage */
    assert_sound(9);
    ck_assert_int_eq(pl_log_writer_close(second), PL_OK);
    ck_assert_int_eq(pl_log_writer_close(first), PL_INVALID);
    assert_sound(9);
    flip("log/0001-0000.seg", 3); /* the stale frame 7 */
    assert_sound(9);
    ck_assert_int_eq(unlinkat(t.fd, "log/0001-0000.seg", 0), 0);
    ck_assert_uint_eq(damages("log/0001-0000.seg", &frames, &lost), 1);
    ck_assert_int_eq(frames, 9);
    ck_assert_int_eq(lost, 4);
}
END_TEST

/* exit.json names frames that neither head nor segments have. */
START_TEST(fewer_than_the_end_tells)
{
    int64_t frames, lost;
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 5);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    pl_exit e = {.attempt = 1, .state = "succeeded", .frames = 4};
    ck_assert_int_eq(pl_exit_write(t.fd, &e), PL_OK);
    assert_sound(5);
    e.frames = 7;
    ck_assert_int_eq(pl_exit_write(t.fd, &e), PL_OK);
    ck_assert_uint_eq(damages("log", &frames, &lost), 1);
    e.attempt = 0; /* of an earlier attempt: says nothing about this one */
    ck_assert_int_eq(pl_exit_write(t.fd, &e), PL_OK);
    assert_sound(5);
}
END_TEST

/* A run of damage over several records names each frame that it costs. */
START_TEST(long_damage)
{
    int64_t frames, lost;
    size_t size;
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 9);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    char *bytes = take_file(t.fd, "log/0001-0000.seg", &size);
    memset(bytes + size / 3, 0x55, size / 3);
    put_file(t.fd, "log/0001-0000.seg", bytes, size);
    free(bytes);
    ck_assert_uint_ge(damages("log/0001-0000.seg", &frames, &lost), 4);
    ck_assert_int_eq(frames, 9);
    ck_assert_int_ge(lost, 3);
    ck_assert_int_le(lost, 5);
}
END_TEST

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
    (*(int *)context)++;
    ck_assert_uint_le(done, total);
    return false;
}

START_TEST(can_be_ended)
{
    int calls = 0;
    pl_verify_report report = {0};
    pl_verify_options options = {.progress = stop_at_once, .context = &calls};
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 9);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(pl_verify(t.fd, &options, &report), PL_FAILED);
    ck_assert_int_eq(calls, 1);
    pl_verify_report_clear(&report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/verify");
    TCase *tcase = tcase_create("verify");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, nothing_yet);
    tcase_add_test(tcase, torn_tail);
    tcase_add_test(tcase, damaged_tail);
    tcase_add_test(tcase, attempts);
    tcase_add_test(tcase, fewer_than_the_end_tells);
    tcase_add_test(tcase, long_damage);
    tcase_add_test(tcase, can_be_ended);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
