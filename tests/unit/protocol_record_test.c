/* Records, their checksum, and SHA-256. */
#include "protocol/log/record.h"
#include "protocol/text/sha256.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The definition: one bit at a time. */
static uint32_t crc32c_by_bits(const unsigned char *p, size_t n)
{
    uint32_t c = ~0u;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            c = (c >> 1) ^ (c & 1 ? 0x82F63B78u : 0);
    }
    return ~c;
}

START_TEST(crc_vectors)
{
    unsigned char zeros[32] = {0}, ones[32];
    memset(ones, 0xFF, sizeof ones);
    /* RFC 3720, B.4 */
    ck_assert_uint_eq(pl_crc32c(0, zeros, 32), 0x8A9136AAu);
    ck_assert_uint_eq(pl_crc32c(0, ones, 32), 0x62A8AB43u);
    ck_assert_uint_eq(pl_crc32c(0, "123456789", 9), 0xE3069283u);
    ck_assert_uint_eq(pl_crc32c(0, "", 0), 0);
}
END_TEST

/* Both ways of computing it, at every length and alignment, whole and in two pieces. */
START_TEST(crc_agrees)
{
    unsigned char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 197 + (i >> 3));
    for (size_t from = 0; from < 9; from++) {
        for (size_t n = 0; n + from <= sizeof bytes; n++) {
            uint32_t expected = crc32c_by_bits(bytes + from, n);
            ck_assert_uint_eq(pl_crc32c(0, bytes + from, n), expected);
            ck_assert_uint_eq(pl_crc32c_portable(0, bytes + from, n), expected);
            size_t half = n / 3;
            uint32_t first = pl_crc32c(0, bytes + from, half);
            ck_assert_uint_eq(pl_crc32c(first, bytes + from + half, n - half), expected);
            ck_assert_uint_eq(pl_crc32c_portable(first, bytes + from + half, n - half), expected);
        }
    }
}
END_TEST

static const pl_record example = {.type = PL_RECORD_METRICS,
                                  .flags = 0,
                                  .attempt = 3,
                                  .seq = 0x0102030405060708,
                                  .frame = 12,
                                  .length = 77,
                                  .payload_crc = 0xDEADBEEF};

START_TEST(header_layout)
{
    unsigned char b[PL_RECORD_HEADER];
    pl_record r;
    pl_record_encode(&example, b);
    ck_assert_mem_eq(b, "PLR1\x01\x00\x03\x00\x00\x00\x00\x00\x03\x00\x00\x00", 16);
    ck_assert_mem_eq(b + 16, "\x08\x07\x06\x05\x04\x03\x02\x01\x0C\0\0\0\0\0\0\0", 16);
    ck_assert_mem_eq(b + 32, "\x4D\0\0\0\0\0\0\0", 8);
    ck_assert_mem_eq(b + 44, "\xEF\xBE\xAD\xDE", 4);
    ck_assert_int_eq(pl_record_decode(b, sizeof b, &r), PL_RECORD_GOOD);
    ck_assert(r.type == example.type && r.attempt == 3 && r.seq == example.seq);
    ck_assert(r.frame == 12 && r.length == 77 && r.payload_crc == 0xDEADBEEF);
    for (size_t n = 0; n < sizeof b; n++)
        ck_assert_int_eq(pl_record_decode(b, n, &r), PL_RECORD_SHORT);
    ck_assert_uint_eq(pl_record_size(77), 48 + 80);
    ck_assert_uint_eq(pl_record_size(80), 48 + 80);
    ck_assert_uint_eq(pl_record_size(0), 48);
}
END_TEST

/* Every flipped bit of a header is detected, except in the payload's CRC, which the payload reveals. */
START_TEST(header_bits)
{
    unsigned char b[PL_RECORD_HEADER];
    pl_record r;
    pl_record_encode(&example, b);
    for (size_t bit = 0; bit < 44 * 8; bit++) {
        b[bit / 8] ^= (unsigned char)(1 << (bit % 8));
        ck_assert_int_eq(pl_record_decode(b, sizeof b, &r), PL_RECORD_CORRUPT);
        b[bit / 8] ^= (unsigned char)(1 << (bit % 8));
    }
}
END_TEST

START_TEST(header_bounds)
{
    unsigned char b[PL_RECORD_HEADER];
    pl_record r = example;
    r.length = PL_RECORD_MAX_PAYLOAD;
    pl_record_encode(&r, b);
    ck_assert_int_eq(pl_record_decode(b, sizeof b, &r), PL_RECORD_GOOD);
    r.length = PL_RECORD_MAX_PAYLOAD + 1;
    pl_record_encode(&r, b);
    ck_assert_int_eq(pl_record_decode(b, sizeof b, &r), PL_RECORD_CORRUPT);
    pl_record_encode(&example, b);
    b[4] = 2; /* another version, by one who knows its CRC */
    uint32_t crc = pl_crc32c(0, b, 40);
    memcpy(b + 40, &crc, 4);
    ck_assert_int_eq(pl_record_decode(b, sizeof b, &r), PL_RECORD_FOREIGN);
}
END_TEST

START_TEST(frame_header)
{
    unsigned char b[PL_FRAME_HEADER];
    pl_frame_header h = {PL_DTYPE_F64, PL_FIELD_POSITION, 5, 0.25, 9, 0, 0}, out;
    pl_frame_header_encode(&h, b);
    ck_assert(pl_frame_header_decode(b, PL_FRAME_HEADER + 5 * 24, &out));
    ck_assert(out.dtype == PL_DTYPE_F64 && out.count == 5 && out.time == 0.25 && out.step == 9);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 5 * 24 - 1, &out));
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 5 * 12, &out));
    ck_assert(!pl_frame_header_decode(b, 31, &out));
    h.count = UINT64_MAX / 24 + 2; /* the product wraps round to something small */
    pl_frame_header_encode(&h, b);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + h.count * 24, &out));
    h = (pl_frame_header){3, PL_FIELD_POSITION, 5, 0, 0, 0, 0};
    pl_frame_header_encode(&h, b);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 5 * 12, &out));
    h = (pl_frame_header){PL_DTYPE_F32, 0, 5, 0, 0, 0, 0};
    pl_frame_header_encode(&h, b);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER, &out));
}
END_TEST

/* Element values come after those of the vertices; their number follows from the remaining length. */
START_TEST(elements)
{
    unsigned char b[PL_FRAME_HEADER];
    pl_frame_header h = {PL_DTYPE_F32, PL_FIELD_POSITION | PL_FIELD_STRESS, 5, 0, 0, 7, 0}, out;
    pl_frame_header_encode(&h, b);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 2 * 5 * 12 + 7 * 12, &out));
    h.fields |= PL_FIELD_ELEMENT_STRESS;
    pl_frame_header_encode(&h, b);
    ck_assert(pl_frame_header_decode(b, PL_FRAME_HEADER + 2 * 5 * 12 + 7 * 12, &out));
    ck_assert(out.elements == 7 && out.count == 5 && pl_frame_fields(&out) == 2);
    ck_assert(pl_frame_header_decode(b, PL_FRAME_HEADER + 2 * 5 * 12, &out) && out.elements == 0);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 2 * 5 * 12 + 7 * 12 - 4, &out));
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 2 * 5 * 12 - 12, &out));
    h.fields = PL_FIELD_ELEMENT_STRESS; /* of no vertex: positions are always stored */
    pl_frame_header_encode(&h, b);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 7 * 12, &out));
    h = (pl_frame_header){PL_DTYPE_U16, PL_FIELD_POSITION | PL_FIELD_ELEMENT_STRESS, 5, 0, 0, 7, 0};
    pl_frame_header_encode(&h, b);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 48 + 5 * 6 + 7 * 6, &out));
}
END_TEST

/* Contact points come last. Their number is in the header, so that both they and elements can have any number. */
START_TEST(contacts)
{
    enum { VERTICES = 5 * 12, ELEMENTS = 7 * 12, POINTS = 3 * 36 };
    unsigned char b[PL_FRAME_HEADER];
    pl_frame_header h = {PL_DTYPE_F32, PL_FIELD_POSITION | PL_FIELD_ELEMENT_STRESS, 5, 0, 0, 7, 3},
                    out;
    pl_frame_header_encode(&h, b);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + VERTICES + POINTS, &out));
    h.fields |= PL_FIELD_CONTACTS;
    pl_frame_header_encode(&h, b);
    ck_assert(pl_frame_header_decode(b, PL_FRAME_HEADER + VERTICES + ELEMENTS + POINTS, &out));
    ck_assert(out.count == 5 && out.elements == 7 && out.contacts == 3);
    ck_assert_uint_eq(pl_frame_fields(&out), 1);
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + VERTICES + POINTS - 12, &out));
    h = (pl_frame_header){PL_DTYPE_F64, PL_FIELD_CONTACTS, 5, 0, 0, 0, 3}; /* alone */
    pl_frame_header_encode(&h, b);
    ck_assert(pl_frame_header_decode(b, PL_FRAME_HEADER + 3 * 64, &out));
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 3 * 64 - 8, &out));
    ck_assert(!pl_frame_header_decode(b, PL_FRAME_HEADER + 4 * 64, &out));
    h = (pl_frame_header){PL_DTYPE_U16, PL_FIELD_POSITION | PL_FIELD_CONTACTS, 5, 0, 0, 0, 3};
    pl_frame_header_encode(&h, b);
    ck_assert(pl_frame_header_decode(b, PL_FRAME_HEADER + 48 + 5 * 6 + POINTS, &out));
}
END_TEST

START_TEST(sha256)
{
    char hex[65], *million = malloc(1000000);
    pl_sha256_hex("abc", 3, hex); /* FIPS 180-4 */
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    pl_sha256_hex("", 0, hex);
    ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    memset(million, 'a', 1000000);
    pl_sha256 *s = pl_sha256_create();
    for (size_t at = 0, n = 1; at < 1000000; at += n, n = n * 3 < 1000000 - at ? n * 3 : 1)
        pl_sha256_update(s, million + at, n);
    pl_sha256_finish(s, hex);
    ck_assert_str_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/record");
    TCase *tcase = tcase_create("record");
    tcase_add_test(tcase, crc_vectors);
    tcase_add_test(tcase, crc_agrees);
    tcase_add_test(tcase, header_layout);
    tcase_add_test(tcase, header_bits);
    tcase_add_test(tcase, header_bounds);
    tcase_add_test(tcase, frame_header);
    tcase_add_test(tcase, elements);
    tcase_add_test(tcase, contacts);
    tcase_add_test(tcase, sha256);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
