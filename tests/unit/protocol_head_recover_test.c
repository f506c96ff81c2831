/* The chain of segments without head.json: every committed frame is found again, and nothing that a
 * stale worker wrote. */
#include "protocol/log/head_recover.h"
#include "protocol/log/log.h"
#include "protocol/log/record.h"

#include "tests/unit/protocol_files.h"
#include "tests/support/suite.h"

#include <errno.h>

static temporary t;

static void setup(void)
{
    temporary_create(&t);
}
static void teardown(void)
{
    temporary_destroy(&t);
}

/* Frame k as `attempt` computes it: a stale worker's differs, so that it can be told. */
static void append(pl_log_writer *w, int32_t attempt, int64_t k)
{
    float values[6] = {(float)k, (float)attempt, 3, 4, 5, 6};
    pl_frame_header header = {PL_DTYPE_F32, PL_FIELD_POSITION, 2, 0, (uint64_t)k, 0, 0};
    ck_assert_int_eq(pl_log_append(w, k, &header, values, "{}", 2), PL_OK);
}

static const char epoch[] = "{\"epoch\":true}";

static pl_log_writer *open_writer(int32_t attempt, int64_t first)
{
    pl_log_writer *w;
    ck_assert_int_eq(pl_log_writer_open(t.fd, attempt, first, epoch, &w), PL_OK);
    return w;
}

static void write_frames(pl_log_writer *w, int32_t attempt, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++)
        append(w, attempt, k);
}

/* Attempt that wrote frame k; -1 a gap, -2 not there. */
static int32_t writer_of(pl_log_reader *r, int64_t k)
{
    char *payload;
    uint64_t length;
    float values[2];
    pl_log_outcome outcome = pl_log_read(r, k, PL_LOG_FRAME, &payload, &length);
    if (outcome != PL_LOG_OK)
        return outcome == PL_LOG_CORRUPT ? -1 : -2;
    memcpy(values, payload + PL_FRAME_HEADER, sizeof values);
    ck_assert(values[0] == (float)k);
    free(payload);
    return (int32_t)values[1];
}

/* With head.json damaged, then with it gone: frames 0 .. count - 1 with their writers. */
static void assert_recovered(const int32_t *writers, int64_t count)
{
    size_t size;
    char *head = take_file(t.fd, "head.json", &size);
    for (int gone = 0; gone < 2; gone++) {
        head[size / 2] ^= 4;
        if (gone)
            unlinkat(t.fd, "head.json", 0);
        else
            put_file(t.fd, "head.json", head, size);
        head[size / 2] ^= 4;
        pl_log_reader *r;
        ck_assert_int_eq(pl_log_reader_open(t.fd, &r), PL_OK);
        ck_assert(pl_log_reader_recovered(r));
        ck_assert_int_eq(pl_log_reader_refresh(r), count);
        for (int64_t k = 0; k < count; k++)
            ck_assert_msg(writer_of(r, k) == writers[k], "frame %lld: %d, expected %d",
                          (long long)k, writer_of(r, k), writers[k]);
        pl_log_reader_close(r);
    }
    put_file(t.fd, "head.json", head, size);
    free(head);
}

START_TEST(nothing_to_recover)
{
    pl_head head = {0};
    bool recovered = true;
    ck_assert_int_eq(pl_head_recover(t.fd, &head), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(mkdirat(t.fd, "log", 0700), 0);
    put_file(t.fd, "log/0001-0000.idx", "x", 1);
    put_file(t.fd, "log/1-0.seg", "x", 1);
    put_file(t.fd, "log/0001-0000.seg.1.1.tmp", "x", 1);
    ck_assert_int_eq(pl_head_load(t.fd, &head, &recovered), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert(!recovered);
    ck_assert_int_eq(pl_log_newest_attempt(t.fd), 0);
    put_file(t.fd, "log/0007-0000.seg", "x", 1); /* created, nothing written */
    ck_assert_int_eq(pl_head_load(t.fd, &head, &recovered), PL_OK);
    ck_assert(!recovered && head.segment_count == 0 && head.attempt == 7);
    pl_head_clear(&head);
}
END_TEST

START_TEST(attempts)
{
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 1, 0, 10);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    assert_recovered((int32_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 10);
    w = open_writer(2, 6); /* cuts the first one's last four */
    assert_recovered((int32_t[]){1, 1, 1, 1, 1, 1}, 6);
    write_frames(w, 2, 6, 8);
    assert_recovered((int32_t[]){1, 1, 1, 1, 1, 1, 2, 2}, 8);
    pl_log_writer *stale = w;
    w = open_writer(3, 8);
    write_frames(w, 3, 8, 9);
    write_frames(stale, 2, 8, 12); /* nobody reads these, and the head's loss changes nothing */
    assert_recovered((int32_t[]){1, 1, 1, 1, 1, 1, 2, 2, 3}, 9);
    pl_log_writer *superseded = w;
    w = open_writer(4, 8); /* at the same frame: the third one's are cut whole */
    write_frames(w, 4, 8, 10);
    assert_recovered((int32_t[]){1, 1, 1, 1, 1, 1, 2, 2, 4, 4}, 10);
    pl_head head;
    ck_assert_int_eq(pl_head_recover(t.fd, &head), PL_OK);
    ck_assert_int_eq(head.segment_count, 3);
    pl_head_clear(&head);
    ck_assert_int_eq(pl_log_writer_close(superseded), PL_INVALID);
    unlinkat(t.fd, "head.json", 0);
    ck_assert_int_eq(pl_log_writer_close(stale), PL_INVALID); /* stale without a head, too */
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    w = open_writer(5, 0); /* from the start again */
    write_frames(w, 5, 0, 2);
    assert_recovered((int32_t[]){5, 5}, 2);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
}
END_TEST

START_TEST(writer_goes_on)
{
    pl_head head;
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 1, 0, 4);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    put_file(t.fd, "head.json", "{", 1);
    ck_assert_int_eq(pl_log_writer_open(t.fd, 2, 9, NULL, &w), PL_INVALID);
    w = open_writer(2, 4);
    write_frames(w, 2, 4, 6);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_OK); /* and is whole again */
    ck_assert_int_eq(head.segment_count, 2);
    ck_assert_int_eq(head.segments[0].frames, 4);
    pl_head_clear(&head);
    assert_recovered((int32_t[]){1, 1, 1, 1, 2, 2}, 6);
}
END_TEST

/* Rolled segments: one lost in the middle, and one whose first records are damaged. */
START_TEST(lost_segments)
{
    enum { N = 3 * PL_SEGMENT_FRAMES + 5 };
    static int32_t writers[N];
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 1, 0, N);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    for (int k = 0; k < N; k++)
        writers[k] = 1;
    assert_recovered(writers, N);

    size_t size;
    char *second = take_file(t.fd, "log/0001-0001.seg", &size);
    second[40] ^= 1; /* the header of the epoch that each segment begins with */
    put_file(t.fd, "log/0001-0001.seg", second, size);
    assert_recovered(writers, N);
    /* The same for frame 4096; its metrics show its place. */
    second[pl_record_size(strlen(epoch)) + 40] ^= 1;
    put_file(t.fd, "log/0001-0001.seg", second, size);
    writers[PL_SEGMENT_FRAMES] = -1;
    assert_recovered(writers, N);
    free(second);

    ck_assert_int_eq(unlinkat(t.fd, "log/0001-0001.seg", 0), 0);
    for (int k = PL_SEGMENT_FRAMES; k < 2 * PL_SEGMENT_FRAMES; k++)
        writers[k] = -1;
    assert_recovered(writers, N);
    ck_assert_int_eq(unlinkat(t.fd, "log/0001-0000.seg", 0), 0);
    for (int k = 0; k < PL_SEGMENT_FRAMES; k++)
        writers[k] = -1;
    assert_recovered(writers, N);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/head_recover");
    TCase *tcase = tcase_create("head_recover");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, nothing_to_recover);
    tcase_add_test(tcase, attempts);
    tcase_add_test(tcase, writer_goes_on);
    tcase_add_test(tcase, lost_segments);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
