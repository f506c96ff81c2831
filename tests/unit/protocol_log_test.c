/* The log: committed data reads back bit for bit, whatever happens to the files around it, and damage is never mistaken
 * for data. */
#include "tests/unit/protocol_log_files.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

START_TEST(read_while_written)
{
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(pl_log_reader_refresh(r), 0);
    pl_log_writer *w = open_writer(1, 0);
    ck_assert_int_eq(pl_log_reader_refresh(r), 0);
    for (int64_t k = 0; k < 100; k++) {
        ck_assert_int_eq(append(w, k), PL_OK);
        ck_assert_int_eq(read_frame(r, k), PL_LOG_NOT_YET);
        ck_assert_int_eq(pl_log_reader_refresh(r), k + 1);
        ck_assert_int_eq(read_frame(r, k), PL_LOG_OK);
        ck_assert_int_eq(read_frame(r, k / 2), PL_LOG_OK);
    }
    ck_assert_int_eq(append(w, 99), PL_INVALID);
    ck_assert_int_eq(append(w, 101), PL_INVALID);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(pl_log_reader_refresh(r), 100);
    for (int64_t k = 0; k < 100; k++)
        ck_assert_int_eq(read_frame(r, k), PL_LOG_OK);
    pl_log_reader_close(r);
}
END_TEST

START_TEST(range_is_the_record_as_it_lies)
{
    pl_log_writer *w = open_writer(7, 0);
    write_frames(w, 0, 3);
    pl_log_reader *r = open_reader();
    pl_log_range range;
    ck_assert_int_eq(pl_log_find(r, 1, PL_LOG_FRAME, &range), PL_LOG_OK);
    ck_assert_uint_eq(range.offset % 8, 0);
    ck_assert_uint_eq(range.size, pl_record_size(PL_FRAME_HEADER + 12 * VERTICES));
    unsigned char bytes[256];
    ck_assert_int_eq(pread(range.fd, bytes, range.size, (off_t)range.offset), range.size);
    pl_record record;
    ck_assert_int_eq(pl_record_decode(bytes, range.size, &record), PL_RECORD_GOOD);
    ck_assert_uint_eq(record.attempt, 7);
    ck_assert_uint_eq(record.seq, 1);
    ck_assert_uint_eq(record.payload_crc, pl_crc32c(0, bytes + PL_RECORD_HEADER, record.length));
    assert_frame((const char *)bytes + PL_RECORD_HEADER, record.length, 1);
    pl_log_reader_close(r);
    pl_log_writer_close(w);
}
END_TEST

/* Segments roll at 4096 frames; a reader that follows and one that comes late agree. */
START_TEST(segments_roll)
{
    enum { FRAMES = 2 * PL_SEGMENT_FRAMES + 100 };
    pl_log_reader *r = open_reader();
    pl_log_writer *w = open_writer(1, 0);
    for (int64_t k = 0; k < FRAMES; k++) {
        ck_assert_int_eq(append(w, k), PL_OK);
        if (k % 97 == 0 || k % PL_SEGMENT_FRAMES < 2 || k % PL_SEGMENT_FRAMES > 4093) {
            ck_assert_int_eq(pl_log_reader_refresh(r), k + 1);
            ck_assert_int_eq(read_frame(r, k), PL_LOG_OK);
            ck_assert_int_eq(read_frame(r, k / 3), PL_LOG_OK);
        }
    }
    pl_head head;
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_OK);
    ck_assert_int_eq(head.segment_count, 3);
    ck_assert_int_eq(head.segments[0].frames, PL_SEGMENT_FRAMES);
    ck_assert_int_eq(head.segments[2].frames, -1);
    pl_head_clear(&head);
    assert_readable(FRAMES);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    assert_readable(FRAMES);
    ck_assert_int_eq(pl_log_reader_refresh(r), FRAMES);
    pl_log_reader_close(r);
}
END_TEST

/* A big frame fills segments by bytes. */
START_TEST(segments_roll_by_bytes)
{
    enum { COUNT = 1000000 };
    pl_log_writer *w = open_writer(1, 0);
    float *values = calloc(3 * COUNT, sizeof *values);
    pl_frame_header header = {PL_DTYPE_F32, PL_FIELD_POSITION, COUNT, 0, 0, 0, 0};
    for (int64_t k = 0; k < 7; k++) {
        values[0] = (float)k;
        ck_assert_int_eq(pl_log_append(w, k, &header, values, "{}", 2), PL_OK);
    }
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(pl_log_reader_refresh(r), 7);
    for (int64_t k = 0; k < 7; k++) {
        char *payload;
        uint64_t length;
        float first;
        ck_assert_int_eq(pl_log_read(r, k, PL_LOG_FRAME, &payload, &length), PL_LOG_OK);
        ck_assert_uint_eq(length, PL_FRAME_HEADER + 12 * (uint64_t)COUNT);
        memcpy(&first, payload + PL_FRAME_HEADER, 4);
        ck_assert(first == (float)k);
        free(payload);
    }
    pl_head head;
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_OK);
    ck_assert_int_eq(head.segment_count, 2);
    ck_assert_int_eq(head.segments[0].frames, 5);
    pl_head_clear(&head);
    pl_log_reader_close(r);
    pl_log_writer_close(w);
    free(values);
}
END_TEST

/* ---- damage ---- */

static const char *const idx_name = "log/0001-0000.idx";

/* Three frames by a worker that was killed: the segment is open, nothing is sealed. */
static void killed_after_three(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pl_log_writer *w = open_writer(1, 0);
        write_frames(w, 0, 3);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* Ends of the committed frames in the segment. */
static void frame_ends(uint64_t ends[3])
{
    pl_log_reader *r = open_reader();
    for (int64_t k = 0; k < 3; k++) {
        pl_log_range range;
        ck_assert_int_eq(pl_log_find(r, k, PL_LOG_METRICS, &range), PL_LOG_OK);
        ends[k] = range.offset + range.size;
    }
    pl_log_reader_close(r);
}

/* Cut the segment at every byte, with the index whole, gone, or cut in the middle of an entry:
 * exactly the frames that end before the cut are there. */
START_TEST(torn_segment)
{
    uint64_t ends[3];
    size_t size, idx_size;
    killed_after_three();
    frame_ends(ends);
    char *seg = take_file(t.fd, seg_name, &size), *idx = take_file(t.fd, idx_name, &idx_size);
    ck_assert_uint_eq(idx_size, 3 * PL_INDEX_ENTRY);
    ck_assert_uint_eq(size, ends[2]);
    for (size_t cut = 0; cut <= size; cut++) {
        int64_t whole = (cut >= ends[0]) + (cut >= ends[1]) + (cut >= ends[2]);
        put_file(t.fd, seg_name, seg, cut);
        put_file(t.fd, idx_name, idx, idx_size);
        assert_readable(whole);
        put_file(t.fd, idx_name, idx, PL_INDEX_ENTRY + 20);
        assert_readable(whole);
        unlinkat(t.fd, idx_name, 0);
        assert_readable(whole);
    }
    free(seg);
    free(idx);
}
END_TEST

/* Power loss: the tail has its length but reads as zeros from some byte on. */
START_TEST(zeroed_tail)
{
    uint64_t ends[3];
    size_t size;
    killed_after_three();
    frame_ends(ends);
    char *seg = take_file(t.fd, seg_name, &size);
    unlinkat(t.fd, idx_name, 0);
    for (size_t cut = ends[1] + 1; cut < ends[2] - 8; cut++) {
        memset(seg + cut, 0, size - cut);
        put_file(t.fd, seg_name, seg, size);
        pl_log_reader *r = open_reader();
        ck_assert_int_ge(pl_log_reader_refresh(r), 2);
        ck_assert_int_eq(read_frame(r, 0), PL_LOG_OK);
        ck_assert_int_eq(read_frame(r, 1), PL_LOG_OK);
        ck_assert_int_ne(read_frame(r, 2), PL_LOG_OK);
        pl_log_reader_close(r);
        free(seg);
        put_file(t.fd, seg_name, "", 0);
        temporary_destroy(&t);
        temporary_create(&t);
        killed_after_three();
        seg = take_file(t.fd, seg_name, &size);
        unlinkat(t.fd, idx_name, 0);
        cut += 6;
    }
    free(seg);
}
END_TEST

/* Flip a bit of every byte of the segment. read_frame asserts that what reads well is right; the
 * frames that do not hold the byte are readable. */
static void flip_each_byte(bool with_index, bool sealed)
{
    uint64_t ends[3];
    size_t size;
    if (sealed) {
        pl_log_writer *w = open_writer(1, 0);
        write_frames(w, 0, 3);
        ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    } else {
        killed_after_three();
    }
    frame_ends(ends);
    char *seg = take_file(t.fd, seg_name, &size);
    if (!with_index)
        unlinkat(t.fd, idx_name, 0);
    for (size_t i = 0; i < size; i++) {
        int64_t hit = (i >= ends[0]) + (i >= ends[1]), bad = 0;
        seg[i] ^= (char)(1 << (i % 8));
        put_file(t.fd, seg_name, seg, size);
        pl_log_reader *r = open_reader();
        int64_t frames = pl_log_reader_refresh(r);
        ck_assert(frames == 3 || (!sealed && frames == 2 && hit == 2));
        for (int64_t k = 0; k < 3; k++) {
            pl_log_outcome outcome = read_frame(r, k);
            ck_assert(outcome == PL_LOG_OK || k == hit);
            ck_assert(outcome == PL_LOG_OK ||
                      outcome == (k < frames ? PL_LOG_CORRUPT : PL_LOG_NOT_YET));
            bad += outcome != PL_LOG_OK;
        }
        /* At the end of an open segment without an index, damage is a torn tail. */
        ck_assert(with_index || sealed || hit != 2 || bad == 0 || frames == 2);
        /* Only the epoch record and padding may be hit without anybody noticing. */
        bool epoch = i < PL_RECORD_HEADER + 16;
        ck_assert(bad == 1 || epoch || i % 8 >= 3);
        pl_log_reader_close(r);
        seg[i] ^= (char)(1 << (i % 8));
    }
    free(seg);
}

START_TEST(flipped_bits_open)
{
    flip_each_byte(true, false);
}
END_TEST
START_TEST(flipped_bits_open_without_index)
{
    flip_each_byte(false, false);
}
END_TEST
START_TEST(flipped_bits_sealed)
{
    flip_each_byte(true, true);
}
END_TEST
START_TEST(flipped_bits_sealed_without_index)
{
    flip_each_byte(false, true);
}
END_TEST

/* The index is a witness, not the truth: any damage to it costs nothing. */
/* Only the last frame's metrics are lost, and there is no index: the frame itself is still read. */
START_TEST(last_metrics_lost)
{
    char *payload;
    uint64_t ends[3], length;
    size_t size;
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 3);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    frame_ends(ends);
    char *seg = take_file(t.fd, seg_name, &size);
    seg[ends[2] - pl_record_size(strlen("{\"frame\":2}"))] ^= 1;
    put_file(t.fd, seg_name, seg, size);
    free(seg);
    unlinkat(t.fd, idx_name, 0);
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(pl_log_reader_refresh(r), 3);
    ck_assert_int_eq(pl_log_read(r, 2, PL_LOG_METRICS, &payload, &length), PL_LOG_CORRUPT);
    ck_assert_int_eq(pl_log_read(r, 2, PL_LOG_FRAME, &payload, &length), PL_LOG_OK);
    assert_frame(payload, length, 2);
    free(payload);
    pl_log_reader_close(r);
}
END_TEST

START_TEST(damaged_index)
{
    size_t size;
    killed_after_three();
    char *idx = take_file(t.fd, idx_name, &size);
    for (size_t i = 0; i < size; i++) {
        idx[i] ^= 0x40;
        put_file(t.fd, idx_name, idx, size);
        assert_readable(3);
        idx[i] ^= 0x40;
        put_file(t.fd, idx_name, idx, i);
        assert_readable(3);
    }
    memset(idx, 0, size);
    put_file(t.fd, idx_name, idx, size);
    assert_readable(3);
    unlinkat(t.fd, idx_name, 0);
    assert_readable(3);
    ck_assert_int_eq(pl_log_reindex(t.fd), 3);
    char *rebuilt = take_file(t.fd, idx_name, &size);
    ck_assert_uint_eq(size, 3 * PL_INDEX_ENTRY);
    assert_readable(3);
    free(rebuilt);
    free(idx);
}
END_TEST

/* An index with valid entries for other places in the segment misleads nobody. */
START_TEST(shifted_index)
{
    size_t size;
    killed_after_three();
    char *idx = take_file(t.fd, idx_name, &size);
    memmove(idx, idx + PL_INDEX_ENTRY, size - PL_INDEX_ENTRY);
    put_file(t.fd, idx_name, idx, size - PL_INDEX_ENTRY);
    assert_readable(3);
    free(idx);
}
END_TEST

/* The index goes while a reader follows; the writer writes on into nowhere. */
START_TEST(index_deleted_under_a_reader)
{
    pl_log_writer *w = open_writer(1, 0);
    pl_log_reader *r = open_reader();
    write_frames(w, 0, 2);
    ck_assert_int_eq(pl_log_reader_refresh(r), 2);
    unlinkat(t.fd, idx_name, 0);
    for (int64_t k = 2; k < 50; k++) {
        ck_assert_int_eq(append(w, k), PL_OK);
        ck_assert_int_eq(pl_log_reader_refresh(r), k + 1);
        ck_assert_int_eq(read_frame(r, k), PL_LOG_OK);
    }
    assert_readable(50);
    pl_log_writer_close(w);
    assert_readable(50);
    pl_log_reader_close(r);
}
END_TEST

START_TEST(segment_file_missing)
{
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, PL_SEGMENT_FRAMES + 3);
    pl_log_writer_close(w);
    unlinkat(t.fd, seg_name, 0);
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(pl_log_reader_refresh(r), PL_SEGMENT_FRAMES + 3);
    ck_assert_int_eq(read_frame(r, 5), PL_LOG_CORRUPT);
    ck_assert_int_eq(read_frame(r, PL_SEGMENT_FRAMES), PL_LOG_OK);
    pl_log_reader_close(r);
}
END_TEST

START_TEST(damaged_head)
{
    static const char *const heads[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"format\":2,\"attempt\":1,\"segments\":[]}",
        "{\"format\":1,\"attempt\":1,\"segments\":[{}]}",
        "{\"format\":1,\"attempt\":1,\"segments\":[{\"attempt\":1,\"number\":0,"
        "\"first_frame\":5,\"frames\":-1,\"length\":-1}]}"};
    killed_after_three();
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        put_file(t.fd, "head.json", heads[i], strlen(heads[i]));
        assert_readable(3); /* the segments determine the chain */
    }
    pl_log_writer *w = open_writer(2, 3); /* and a new attempt continues from there */
    write_frames(w, 3, 5);
    assert_readable(5);
    pl_log_writer_close(w);
}
END_TEST

/* ---- attempts ---- */

START_TEST(attempts_chain)
{
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 10);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    w = open_writer(2, 6); /* continues inside a sealed segment */
    assert_readable(6);
    write_frames(w, 6, 12);
    assert_readable(12);
    pl_log_writer *killed = w;
    w = open_writer(3, 12); /* continues after an open one, as after a crash */
    write_frames(w, 12, 20);
    assert_readable(20);
    pl_log_writer *none;
    ck_assert_int_eq(pl_log_writer_open(t.fd, 4, 25, NULL, &none), PL_INVALID);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    assert_readable(20);
    /* Nobody reads what the stale worker still writes, and it cannot publish. */
    write_frames(killed, 12, 15);
    assert_readable(20);
    ck_assert_int_eq(pl_log_writer_close(killed), PL_INVALID);
    assert_readable(20);
    w = open_writer(5, 0); /* from the start again */
    write_frames(w, 0, 1);
    assert_readable(1);
    pl_log_writer_close(w);
}
END_TEST

START_TEST(stale_attempt_refused)
{
    pl_log_writer *w = open_writer(4, 0), *stale;
    write_frames(w, 0, 5);
    ck_assert_int_eq(pl_log_writer_open(t.fd, 3, 0, NULL, &stale), PL_INVALID);
    assert_readable(5);
    pl_log_writer_close(w);
    pl_head older = {.attempt = 3};
    ck_assert_int_eq(pl_head_write(t.fd, &older), PL_INVALID);
    assert_readable(5);
}
END_TEST

/* A reader that has followed the old attempt goes over to the new one. */
START_TEST(reader_follows_the_new_attempt)
{
    pl_log_writer *w = open_writer(1, 0);
    write_frames(w, 0, 10);
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(read_frame(r, 9), PL_LOG_OK);
    pl_log_writer *next = open_writer(2, 4);
    ck_assert_int_eq(pl_log_reader_refresh(r), 4);
    write_frames(next, 4, 6);
    ck_assert_int_eq(pl_log_reader_refresh(r), 6);
    pl_log_range range;
    ck_assert_int_eq(pl_log_find(r, 5, PL_LOG_FRAME, &range), PL_LOG_OK);
    ck_assert_uint_eq(range.record.attempt, 2);
    ck_assert_int_eq(pl_log_find(r, 3, PL_LOG_FRAME, &range), PL_LOG_OK);
    ck_assert_uint_eq(range.record.attempt, 1);
    pl_log_reader_close(r);
    pl_log_writer_close(next);
    pl_log_writer_close(w);
}
END_TEST

/* A continuing attempt removes only a torn tail, however the previous one ended. */
START_TEST(goes_on_after_the_last_frame)
{
    pl_log_writer *w = open_writer(1, PL_LOG_CONTINUE);
    ck_assert_int_eq(pl_log_writer_next(w), 0);
    write_frames(w, 0, 5);
    pl_log_writer *next = open_writer(2, PL_LOG_CONTINUE); /* after an open segment */
    ck_assert_int_eq(pl_log_writer_next(next), 5);
    assert_readable(5);
    write_frames(next, 5, 8);
    assert_readable(8);
    ck_assert_int_eq(pl_log_writer_close(next), PL_OK);
    next = open_writer(3, PL_LOG_CONTINUE); /* after a sealed one */
    ck_assert_int_eq(pl_log_writer_next(next), 8);
    ck_assert_int_eq(pl_log_writer_close(next), PL_OK);
    next = open_writer(4, PL_LOG_CONTINUE); /* after one without a frame */
    write_frames(next, 8, 9);
    assert_readable(9);
    ck_assert_int_eq(pl_log_writer_close(next), PL_OK);
    ck_assert_int_eq(pl_log_writer_close(w), PL_INVALID);
    assert_readable(9);
}
END_TEST

/* The open segment of a killed worker, cut at every byte, or damaged in its last frame. */
START_TEST(goes_on_after_a_torn_tail)
{
    uint64_t ends[3];
    size_t size, idx_size;
    killed_after_three();
    frame_ends(ends);
    char *seg = take_file(t.fd, seg_name, &size), *idx = take_file(t.fd, idx_name, &idx_size);
    for (size_t cut = ends[0] - 8; cut <= size; cut += 8) {
        temporary_destroy(&t);
        temporary_create(&t);
        killed_after_three();
        int64_t whole = (cut >= ends[0]) + (cut >= ends[1]) + (cut >= ends[2]);
        put_file(t.fd, seg_name, seg, cut);
        pl_log_writer *w = open_writer(2, PL_LOG_CONTINUE);
        ck_assert_int_eq(pl_log_writer_next(w), whole);
        write_frames(w, whole, 5);
        assert_readable(5);
        ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
        assert_readable(5);
    }
    temporary_destroy(&t);
    temporary_create(&t);
    killed_after_three();
    seg[ends[2] - 14] ^= 1; /* in the payload: header and index say that it is there */
    put_file(t.fd, seg_name, seg, size);
    pl_log_writer *w = open_writer(2, PL_LOG_CONTINUE);
    ck_assert_int_eq(pl_log_writer_next(w), 2);
    write_frames(w, 2, 4);
    assert_readable(4);
    pl_log_writer_close(w);
    free(seg);
    free(idx);
}
END_TEST

START_TEST(epochs)
{
    pl_log_writer *w;
    ck_assert_int_eq(pl_log_writer_open(t.fd, 1, 0, "{\"class\":\"a\"}", &w), PL_OK);
    write_frames(w, 0, PL_SEGMENT_FRAMES + 2);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(pl_log_writer_open(t.fd, 2, PL_LOG_CONTINUE, "{\"class\":\"b\"}", &w), PL_OK);
    ck_assert_int_eq(pl_log_append_epoch(w, "{\"event\":\"more\"}"), PL_OK);
    write_frames(w, PL_SEGMENT_FRAMES + 2, PL_SEGMENT_FRAMES + 4);
    ck_assert_int_eq(pl_log_append_epoch(w, "{\"event\":\"between\"}"), PL_OK);
    write_frames(w, PL_SEGMENT_FRAMES + 4, PL_SEGMENT_FRAMES + 5);
    assert_readable(PL_SEGMENT_FRAMES + 5);
    pl_log_reader *r = open_reader();
    assert_epoch(r, 0, "{\"class\":\"a\"}");
    assert_epoch(r, PL_SEGMENT_FRAMES + 1, "{\"class\":\"a\"}");
    assert_epoch(r, PL_SEGMENT_FRAMES + 2, "{\"class\":\"b\"}");
    char *text;
    uint64_t length;
    ck_assert_int_eq(pl_log_epoch(r, PL_SEGMENT_FRAMES + 5, &text, &length), PL_LOG_NOT_YET);
    put_file(t.fd, seg_name, "not a record", 12);
    ck_assert_int_eq(pl_log_epoch(r, 0, &text, &length), PL_LOG_CORRUPT);
    pl_log_reader_close(r);
    pl_log_writer_close(w);
}
END_TEST

static bool collect_note(void *context, const char *payload, uint64_t length)
{
    char *all = context;
    ck_assert_uint_eq(strlen(payload), length);
    strcat(all, payload);
    return true;
}

static void assert_notes(pl_log_reader *r, int64_t frame, const char *expected)
{
    char all[256] = "";
    ck_assert_int_eq(pl_log_notes(r, frame, collect_note, all), PL_LOG_OK);
    ck_assert_str_eq(all, expected);
}

/* Notes belong to the frame after them: also if the segment is rolled in between, but not if the worker ended before
 * the frame. */
START_TEST(notes_before_frames)
{
    pl_log_writer *w;
    ck_assert_int_eq(pl_log_writer_open(t.fd, 1, 0, "{\"a\":1}", &w), PL_OK);
    write_frames(w, 0, 3);
    ck_assert_int_eq(pl_log_append_epoch(w, "{\"b\":1}"), PL_OK);
    ck_assert_int_eq(pl_log_append_epoch(w, "{\"b\":2}"), PL_OK);
    write_frames(w, 3, PL_SEGMENT_FRAMES);
    ck_assert_int_eq(pl_log_append_epoch(w, "{\"c\":1}"), PL_OK);
    write_frames(w, PL_SEGMENT_FRAMES, PL_SEGMENT_FRAMES + 1);
    ck_assert_int_eq(pl_log_append_epoch(w, "{\"lost\":1}"), PL_OK);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(pl_log_writer_open(t.fd, 2, PL_LOG_CONTINUE, "{\"d\":1}", &w), PL_OK);
    write_frames(w, PL_SEGMENT_FRAMES + 1, PL_SEGMENT_FRAMES + 3);
    pl_log_reader *r = open_reader();
    assert_notes(r, 0, "{\"a\":1}");
    assert_notes(r, 2, "");
    assert_notes(r, 3, "{\"b\":1}{\"b\":2}");
    assert_notes(r, 4, "");
    assert_notes(r, PL_SEGMENT_FRAMES,
                 "{\"a\":1}{\"c\":1}"); /* each segment begins with its attempt's */
    assert_notes(r, PL_SEGMENT_FRAMES + 1, "{\"d\":1}");
    assert_notes(r, PL_SEGMENT_FRAMES + 2, "");
    char all[8];
    ck_assert_int_eq(pl_log_notes(r, PL_SEGMENT_FRAMES + 3, collect_note, all), PL_LOG_NOT_YET);
    pl_log_reader_close(r);
    pl_log_writer_close(w);
}
END_TEST

/* A writer learns that it was superseded; and a head of an older attempt, renamed late, is corrected by the newer
 * one. */
START_TEST(fenced)
{
    pl_log_writer *old = open_writer(1, 0);
    write_frames(old, 0, 3);
    ck_assert(!pl_log_writer_fenced(old));
    ck_assert(!pl_log_writer_fenced(old));
    size_t size;
    char *late = take_file(t.fd, "head.json", &size);
    pl_log_writer *w = open_writer(2, PL_LOG_CONTINUE);
    ck_assert(pl_log_writer_fenced(old));
    ck_assert(!pl_log_writer_fenced(w));
    write_frames(w, 3, 6);
    ck_assert_int_eq(pl_file_replace(t.fd, "head.json", late, size, false), PL_OK);
    ck_assert(!pl_log_writer_fenced(w));
    assert_readable(6);
    ck_assert(pl_log_writer_fenced(old));
    pl_log_writer_close(w);
    pl_log_writer_close(old);
    assert_readable(6);
    free(late);
}
END_TEST

/* ---- a full disk ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit on file size simulates a full disk: writes fall short, then fail. For every limit inside the third frame: two
 * frames are readable, and the third can be retried. */
START_TEST(full_disk)
{
    signal(SIGXFSZ, SIG_IGN);
    uint64_t ends[3];
    killed_after_three();
    frame_ends(ends);
    for (uint64_t limit = ends[1]; limit < ends[2]; limit += 13) {
        temporary_destroy(&t);
        temporary_create(&t);
        pl_log_writer *w = open_writer(1, 0);
        write_frames(w, 0, 2);
        limit_files(limit);
        ck_assert_int_eq(append(w, 2), PL_IO);
        ck_assert_int_eq(errno, EFBIG);
        limit_files(RLIM_INFINITY);
        size_t size;
        free(take_file(t.fd, seg_name, &size));
        ck_assert_uint_eq(size, ends[1]);
        assert_readable(2);
        write_frames(w, 2, 4);
        assert_readable(4);
        pl_log_writer_close(w);
        assert_readable(4);
    }
}
END_TEST

/* An index that lost its beginning is passed over. */
START_TEST(index_truncated_under_the_writer)
{
    pl_log_writer *w = open_writer(1, 0);
    for (int64_t k = 0; k < 40; k++) {
        char idx[96];
        snprintf(idx, sizeof idx, "%s/%s", t.path, idx_name);
        if (k == 10)
            ck_assert_int_eq(truncate(idx, 0), 0);
        ck_assert_int_eq(append(w, k), PL_OK);
        assert_readable(k + 1);
    }
    pl_log_writer_close(w);
    assert_readable(40);
}
END_TEST

static atomic_bool stop_syncing;

static void *sync_on(void *writer)
{
    while (!atomic_load(&stop_syncing))
        ck_assert_int_eq(pl_log_sync(writer), PL_OK);
    return NULL;
}

START_TEST(sync_from_another_thread)
{
    pthread_t thread;
    pl_log_writer *w = open_writer(1, 0);
    atomic_store(&stop_syncing, false);
    ck_assert_int_eq(pthread_create(&thread, NULL, sync_on, w), 0);
    write_frames(w, 0, 3 * PL_SEGMENT_FRAMES);
    atomic_store(&stop_syncing, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    assert_readable(3 * PL_SEGMENT_FRAMES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/log");
    TCase *tcase = tcase_create("log");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, read_while_written);
    tcase_add_test(tcase, range_is_the_record_as_it_lies);
    tcase_add_test(tcase, segments_roll);
    tcase_add_test(tcase, segments_roll_by_bytes);
    tcase_add_test(tcase, torn_segment);
    tcase_add_test(tcase, zeroed_tail);
    tcase_add_test(tcase, flipped_bits_open);
    tcase_add_test(tcase, flipped_bits_open_without_index);
    tcase_add_test(tcase, flipped_bits_sealed);
    tcase_add_test(tcase, flipped_bits_sealed_without_index);
    tcase_add_test(tcase, last_metrics_lost);
    tcase_add_test(tcase, damaged_index);
    tcase_add_test(tcase, shifted_index);
    tcase_add_test(tcase, index_deleted_under_a_reader);
    tcase_add_test(tcase, segment_file_missing);
    tcase_add_test(tcase, damaged_head);
    tcase_add_test(tcase, attempts_chain);
    tcase_add_test(tcase, stale_attempt_refused);
    tcase_add_test(tcase, reader_follows_the_new_attempt);
    tcase_add_test(tcase, goes_on_after_the_last_frame);
    tcase_add_test(tcase, goes_on_after_a_torn_tail);
    tcase_add_test(tcase, epochs);
    tcase_add_test(tcase, notes_before_frames);
    tcase_add_test(tcase, fenced);
    tcase_add_test(tcase, full_disk);
    tcase_add_test(tcase, index_truncated_under_the_writer);
    tcase_add_test(tcase, sync_from_another_thread);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
