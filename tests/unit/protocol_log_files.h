/* protocol_log_files.h - a log in a temporary directory, whose frames say which they are. */
#ifndef PLIANT_TESTS_UNIT_PROTOCOL_LOG_FILES_H
#define PLIANT_TESTS_UNIT_PROTOCOL_LOG_FILES_H

#include "protocol/log/log.h"

#include "tests/unit/protocol_files.h"

enum { VERTICES = 3 };

static temporary t;
static const char *const seg_name = "log/0001-0000.seg";

static inline void setup(void)
{
    temporary_create(&t);
}

static inline void teardown(void)
{
    temporary_destroy(&t);
}

/* Frame k has values that no other frame has. */
static inline pl_status append(pl_log_writer *w, int64_t k)
{
    float values[3 * VERTICES];
    char metrics[64];
    pl_frame_header header = {
        PL_DTYPE_F32, PL_FIELD_POSITION, VERTICES, 0.5 * (double)k, (uint64_t)k, 0, 0};
    for (int i = 0; i < 3 * VERTICES; i++)
        values[i] = (float)(1000 * k + i);
    int n = snprintf(metrics, sizeof metrics, "{\"frame\":%lld}", (long long)k);
    return pl_log_append(w, k, &header, values, metrics, (size_t)n);
}

static inline void assert_frame(const char *payload, uint64_t length, int64_t k)
{
    pl_frame_header header;
    float value;
    ck_assert(pl_frame_header_decode((const unsigned char *)payload, length, &header));
    ck_assert_uint_eq(header.count, VERTICES);
    ck_assert_uint_eq(header.step, (uint64_t)k);
    ck_assert(header.time == 0.5 * (double)k);
    for (int i = 0; i < 3 * VERTICES; i++) {
        memcpy(&value, payload + PL_FRAME_HEADER + 4 * i, 4);
        ck_assert(value == (float)(1000 * k + i));
    }
}

static inline void assert_metrics(const char *payload, uint64_t length, int64_t k)
{
    char expected[64];
    snprintf(expected, sizeof expected, "{\"frame\":%lld}", (long long)k);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_str_eq(payload, expected);
}

/* Read both parts of frame k; whatever is read must be right. Verdict of the worse one. */
static inline pl_log_outcome read_frame(pl_log_reader *r, int64_t k)
{
    char *payload;
    uint64_t length;
    pl_log_outcome frame = pl_log_read(r, k, PL_LOG_FRAME, &payload, &length);
    if (frame == PL_LOG_OK) {
        assert_frame(payload, length, k);
        free(payload);
    }
    pl_log_outcome metrics = pl_log_read(r, k, PL_LOG_METRICS, &payload, &length);
    if (metrics == PL_LOG_OK) {
        assert_metrics(payload, length, k);
        free(payload);
    }
    return frame > metrics ? frame : metrics;
}

static inline pl_log_reader *open_reader(void)
{
    pl_log_reader *r;
    ck_assert_int_eq(pl_log_reader_open(t.fd, &r), PL_OK);
    return r;
}

static inline pl_log_writer *open_writer(int32_t attempt, int64_t first)
{
    pl_log_writer *w;
    ck_assert_int_eq(pl_log_writer_open(t.fd, attempt, first, "{\"epoch\":true}", &w), PL_OK);
    return w;
}

static inline void write_frames(pl_log_writer *w, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++)
        ck_assert_int_eq(append(w, k), PL_OK);
}

static inline void assert_readable(int64_t frames)
{
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(pl_log_reader_refresh(r), frames);
    for (int64_t k = 0; k < frames; k++)
        ck_assert_int_eq(read_frame(r, k), PL_LOG_OK);
    ck_assert_int_eq(read_frame(r, frames), PL_LOG_NOT_YET);
    ck_assert_int_eq(read_frame(r, -1), PL_LOG_NOT_YET);
    pl_log_reader_close(r);
}

static inline void assert_epoch(pl_log_reader *r, int64_t frame, const char *expected)
{
    char *text;
    uint64_t length;
    ck_assert_int_eq(pl_log_epoch(r, frame, &text, &length), PL_LOG_OK);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_str_eq(text, expected);
    free(text);
}

#endif
