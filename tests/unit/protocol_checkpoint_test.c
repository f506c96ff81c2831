/* Checkpoints: they read back as written, damage is never mistaken for a state, and the newest good one is found. */
#include "protocol/log/checkpoint.h"
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

static const char payload[] = "the state of a run, to be gone on from";
enum { SIZE = sizeof payload, WHOLE = PL_CHECKPOINT_HEADER + SIZE + 4 };

static pl_checkpoint sample(int64_t frame, int32_t attempt)
{
    return (pl_checkpoint){.attempt = attempt,
                           .frame = frame,
                           .model_hash = 0xfedcba9876543210u,
                           .segment_attempt = 3,
                           .segment_number = 2,
                           .segment_end = 123456789,
                           .control_end = 4711,
                           .seconds = 12.5,
                           .numerics = "0.1.0 x86-64-v4 double SkylakeX",
                           .payload_size = SIZE};
}

static void put(int slot, int64_t frame, int32_t attempt)
{
    pl_checkpoint c = sample(frame, attempt);
    ck_assert_int_eq(pl_checkpoint_write(t.fd, slot, &c, payload), PL_OK);
}

static void assert_sample(const pl_checkpoint *c, int64_t frame, int32_t attempt)
{
    pl_checkpoint s = sample(frame, attempt);
    ck_assert_int_eq(c->attempt, s.attempt);
    ck_assert_int_eq(c->frame, s.frame);
    ck_assert_uint_eq(c->model_hash, s.model_hash);
    ck_assert_int_eq(c->segment_attempt, s.segment_attempt);
    ck_assert_int_eq(c->segment_number, s.segment_number);
    ck_assert_uint_eq(c->segment_end, s.segment_end);
    ck_assert_uint_eq(c->control_end, s.control_end);
    ck_assert(c->seconds == s.seconds);
    ck_assert_str_eq(c->numerics, s.numerics);
    ck_assert_uint_eq(c->payload_size, s.payload_size);
}

START_TEST(reads_back)
{
    pl_checkpoint c;
    void *bytes;
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++) {
        put(slot, 40 + slot, 7);
        ck_assert_int_eq(pl_checkpoint_read(t.fd, slot, 1 << 20, &c, &bytes), PL_OK);
        assert_sample(&c, 40 + slot, 7);
        ck_assert_int_eq(c.slot, slot);
        ck_assert_mem_eq(bytes, payload, SIZE);
        free(bytes);
        ck_assert_int_eq(pl_checkpoint_peek(t.fd, slot, &c), PL_OK);
        assert_sample(&c, 40 + slot, 7);
    }
    size_t size;
    free(take_file(t.fd, "checkpoint-A.bin", &size));
    ck_assert_uint_eq(size, WHOLE);
    free(take_file(t.fd, "checkpoint-B.bin", &size));
}
END_TEST

START_TEST(empty_payload)
{
    pl_checkpoint c = sample(0, 1);
    void *bytes;
    c.payload_size = 0;
    ck_assert_int_eq(pl_checkpoint_write(t.fd, 0, &c, NULL), PL_OK);
    ck_assert_int_eq(pl_checkpoint_read(t.fd, 0, 1 << 20, &c, &bytes), PL_OK);
    ck_assert_uint_eq(c.payload_size, 0);
    free(bytes);
}
END_TEST

START_TEST(limit_and_absence)
{
    pl_checkpoint c;
    void *bytes;
    ck_assert_int_eq(pl_checkpoint_read(t.fd, 0, 1 << 20, &c, &bytes), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(pl_checkpoint_peek(t.fd, 0, &c), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(pl_checkpoint_newest(t.fd, &c), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    put(0, 1, 1);
    ck_assert_int_eq(pl_checkpoint_read(t.fd, 0, WHOLE - 1, &c, &bytes), PL_IO);
    ck_assert_int_eq(errno, EFBIG);
    ck_assert_int_eq(pl_checkpoint_read(t.fd, 0, WHOLE, &c, &bytes), PL_OK);
    free(bytes);
    ck_assert_int_eq(mkdirat(t.fd, "checkpoint-B.bin", 0700), 0);
    ck_assert_int_eq(pl_checkpoint_peek(t.fd, 1, &c), PL_INVALID);
}
END_TEST

/* Every bit of every byte is covered by a CRC. */
START_TEST(flipped_bits)
{
    put(0, 5, 1);
    size_t size;
    char *bytes = take_file(t.fd, "checkpoint-A.bin", &size);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            pl_checkpoint c = {.frame = -77};
            const void *state = NULL;
            bytes[i] ^= (char)(1 << bit);
            ck_assert_int_eq(pl_checkpoint_decode(bytes, size, &c, &state), PL_INVALID);
            ck_assert_int_eq(pl_checkpoint_decode_header(bytes, size, &c),
                             i < PL_CHECKPOINT_HEADER ? PL_INVALID : PL_OK);
            ck_assert_ptr_null(state);
            bytes[i] ^= (char)(1 << bit);
        }
    free(bytes);
}
END_TEST

/* Cut at every byte, or with a byte too many. Buffers of the exact size: a read beyond is seen by
 * the address sanitizer. */
START_TEST(cut_anywhere)
{
    put(0, 5, 1);
    size_t size;
    char *bytes = take_file(t.fd, "checkpoint-A.bin", &size);
    for (size_t cut = 0; cut < size; cut++) {
        pl_checkpoint c;
        const void *state;
        char *exact = malloc(cut ? cut : 1);
        memcpy(exact, bytes, cut);
        ck_assert_int_eq(pl_checkpoint_decode(exact, cut, &c, &state), PL_INVALID);
        free(exact);
        put_file(t.fd, "checkpoint-A.bin", bytes, cut);
        ck_assert_int_eq(pl_checkpoint_peek(t.fd, 0, &c), PL_INVALID);
    }
    bytes = realloc(bytes, size + 1);
    bytes[size] = 0;
    pl_checkpoint c;
    const void *state;
    ck_assert_int_eq(pl_checkpoint_decode(bytes, size + 1, &c, &state), PL_INVALID);
    free(bytes);
}
END_TEST

/* Sealed nonsense: numbers that no worker writes, under a CRC that fits. */
START_TEST(hostile_headers)
{
    static const struct {
        size_t offset, size;
        unsigned char bytes[8];
    } cases[] = {
        {4, 4, {2, 0, 0, 0}},                                    /* a version of the future */
        {12, 4, {183, 0, 0, 0}},                                 /* another header */
        {8, 4, {255, 255, 255, 255}},                            /* attempt -1 */
        {16, 8, {0, 0, 0, 0, 0, 0, 0, 128}},                     /* frame below 0 */
        {56, 8, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}},                 /* NaN seconds */
        {56, 8, {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}},                 /* infinite */
        {160, 8, {255, 255, 255, 255, 255, 255, 255, 255}},      /* a payload of 2^64 - 1 */
        {160, 8, {1, 0, 0, 0, 16, 0, 0, 0}},                     /* beyond the limit */
        {64 + PL_CHECKPOINT_CLASS - 4, 4, {'x', 'x', 'x', 'x'}}, /* a name without end */
    };
    put(0, 5, 1);
    size_t size;
    char *good = take_file(t.fd, "checkpoint-A.bin", &size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pl_checkpoint c;
        const void *state;
        char bytes[WHOLE];
        memcpy(bytes, good, size);
        memcpy(bytes + cases[i].offset, cases[i].bytes, cases[i].size);
        uint32_t crc = pl_crc32c(0, bytes, PL_CHECKPOINT_HEADER - 4);
        memcpy(bytes + PL_CHECKPOINT_HEADER - 4, &crc, 4);
        crc = pl_crc32c(0, bytes, size - 4);
        memcpy(bytes + size - 4, &crc, 4);
        ck_assert_int_eq(pl_checkpoint_decode(bytes, size, &c, &state), PL_INVALID);
    }
    free(good);
}
END_TEST

START_TEST(newest)
{
    pl_checkpoint c;
    put(0, 10, 1);
    ck_assert_int_eq(pl_checkpoint_newest(t.fd, &c), PL_OK);
    ck_assert_int_eq(c.slot, 0);
    put(1, 11, 1);
    ck_assert_int_eq(pl_checkpoint_newest(t.fd, &c), PL_OK);
    ck_assert_int_eq(c.slot, 1);
    put(0, 11, 2);
    ck_assert_int_eq(pl_checkpoint_newest(t.fd, &c), PL_OK);
    assert_sample(&c, 11, 2);
    put_file(t.fd, "checkpoint-A.bin", "PLC1", 4);
    ck_assert_int_eq(pl_checkpoint_newest(t.fd, &c), PL_OK);
    assert_sample(&c, 11, 1);
    put_file(t.fd, "checkpoint-B.bin", "", 0);
    ck_assert_int_eq(pl_checkpoint_newest(t.fd, &c), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* A write that fails leaves the slot unchanged, and no temporary file. */
START_TEST(failed_write)
{
    put(0, 10, 1);
    pl_checkpoint c = sample(20, 1);
    ck_assert_int_eq(mkdirat(t.fd, "checkpoint-B.bin", 0700), 0);
    ck_assert_int_eq(mkdirat(t.fd, "checkpoint-B.bin/full", 0700), 0);
    ck_assert_int_eq(pl_checkpoint_write(t.fd, 1, &c, payload), PL_IO);
    ck_assert_int_eq(pl_checkpoint_newest(t.fd, &c), PL_OK);
    assert_sample(&c, 10, 1);
    char command[128];
    snprintf(command, sizeof command, "test -z \"$(ls %s | grep tmp)\"", t.path);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/checkpoint");
    TCase *tcase = tcase_create("checkpoint");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, reads_back);
    tcase_add_test(tcase, empty_payload);
    tcase_add_test(tcase, limit_and_absence);
    tcase_add_test(tcase, flipped_bits);
    tcase_add_test(tcase, cut_anywhere);
    tcase_add_test(tcase, hostile_headers);
    tcase_add_test(tcase, newest);
    tcase_add_test(tcase, failed_write);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
