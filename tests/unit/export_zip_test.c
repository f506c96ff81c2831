/* .npy headers and stored zip archives, read back by the formats' own rules, and by what unpacks a
 * daemon's. */
#include "clients/cli/base/unzip.h"
#include "protocol/export/npy.h"
#include "protocol/export/zip.h"

#include "tests/support/sink_memory.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <zlib.h>

static uint64_t number(const unsigned char *at, int width)
{
    uint64_t value = 0;
    for (int i = width - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

START_TEST(header_is_padded_and_says_the_shape)
{
    char header[PL_NPY_HEADER_MAX];
    size_t size = pl_npy_header(&(pl_npy_shape){"<f4", 3, {121, 2673, 3}}, header);
    ck_assert_uint_eq(size % 64, 0);
    ck_assert_int_eq(memcmp(header, "\x93NUMPY\x01\x00", 8), 0);
    ck_assert_uint_eq(number((unsigned char *)header + 8, 2), size - 10);
    ck_assert_int_eq(header[size - 1], '\n');
    const char *dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (121, 2673, 3,), }";
    ck_assert_int_eq(strncmp(header + 10, dict, strlen(dict)), 0);
    pl_npy_header(&(pl_npy_shape){"<f8", 1, {7}}, header);
    ck_assert_ptr_nonnull(strstr(header + 10, "'shape': (7,)"));
    ck_assert_uint_eq(pl_npy_bytes(&(pl_npy_shape){"<f8", 2, {7, 3}}), 168);
}
END_TEST

START_TEST(int32_array_reads_back)
{
    const int32_t tets[] = {0, 1, 2, 3, 4, 5, 6, 2000000000};
    char bytes[PL_NPY_HEADER_MAX + sizeof tets];
    size_t size = pl_npy_header(&(pl_npy_shape){"<i4", 2, {2, 4}}, bytes);
    memcpy(bytes + size, tets, sizeof tets);
    size += sizeof tets;
    int32_t *back;
    int64_t rows;
    ck_assert_int_eq(pl_npy_read_int32(bytes, size, 4, &back, &rows), PL_OK);
    ck_assert_int_eq(rows, 2);
    ck_assert_int_eq(memcmp(back, tets, sizeof tets), 0);
    free(back);
    ck_assert_int_eq(pl_npy_read_int32(bytes, size, 3, &back, &rows), PL_INVALID);
    ck_assert_int_eq(pl_npy_read_int32(bytes, size - 1, 4, &back, &rows), PL_INVALID);
    ck_assert_int_eq(pl_npy_read_int32(bytes, 9, 4, &back, &rows), PL_INVALID);
    bytes[10 + 12] = 'x'; /* '<i4' becomes something else */
    ck_assert_int_eq(pl_npy_read_int32(bytes, size, 4, &back, &rows), PL_INVALID);
}
END_TEST

/* ---- archives ---- */

static const char streamed[] = "what comes piece by piece, its sum after it";
static const char first_half[] = "one half of a file, ", second_half[] = "and the other";
static const char *const names[] = {"whole_0.vtu", "streamed.npy", "whole_1.vtu"};
enum { MEMBERS = 3 };

/* A whole member of two pieces, one of which occurs in both; between them a streamed one. */
static pl_status write_archive(pl_text *kept, uint64_t zip64_from, size_t missing)
{
    pl_outlet out = {.write = sink_memory_write, .context = kept};
    pl_span_sum sum = {0};
    const pl_span spans[] = {{first_half, sizeof first_half - 1, &sum},
                             {second_half, sizeof second_half - 1, NULL}};
    pl_zip z;
    pl_zip_open(&z, &out);
    z.zip64_from = zip64_from;
    pl_zip_add(&z, names[0], spans, 2);
    pl_zip_begin(&z, names[1], sizeof streamed);
    pl_zip_write(&z, streamed, 20);
    pl_zip_write(&z, streamed + 20, sizeof streamed - 20 - missing);
    pl_zip_end(&z);
    pl_zip_add(&z, names[2], spans, 2);
    pl_status status = pl_zip_finish(&z);
    ck_assert(pl_outlet_flush(&out));
    ck_assert(sum.known);
    ck_assert_uint_eq(kept->length, out.position);
    pl_zip_clear(&z);
    return status;
}

/* A member's directory entry, compared with its local header, data and descriptor. */
static const unsigned char *check_member(const unsigned char *z, const unsigned char *d, int i,
                                         bool zip64)
{
    ck_assert_uint_eq(number(d, 4), 0x02014b50);
    uint64_t flags = number(d + 8, 2), crc = number(d + 16, 4);
    uint64_t length = number(d + 24, 4), offset = number(d + 42, 4);
    uint64_t name = number(d + 28, 2), extra = number(d + 30, 2);
    ck_assert_uint_eq(flags, i == 1 ? 8 : 0);
    ck_assert_uint_eq(name, strlen(names[i]));
    ck_assert_int_eq(memcmp(d + 46, names[i], name), 0);
    if (zip64) {
        const unsigned char *x = d + 46 + name;
        ck_assert_uint_eq(number(x, 2), 1);
        ck_assert_uint_eq(length, 0xffffffffu);
        length = number(x + 4, 8);
        if (offset == 0xffffffffu)
            offset = number(x + 20, 8);
    }
    const unsigned char *local = z + offset;
    ck_assert_uint_eq(number(local, 4), 0x04034b50);
    ck_assert_uint_eq(number(local + 6, 2), flags);
    ck_assert_uint_eq(number(local + 8, 2), 0); /* stored */
    const unsigned char *data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
    ck_assert_uint_eq(crc32(0, data, (uInt)length), crc);
    if (i == 1) {
        ck_assert_uint_eq(number(data + length, 4), 0x08074b50);
        ck_assert_uint_eq(number(data + length + 4, 4), crc);
        ck_assert_uint_eq(number(data + length + 8, zip64 ? 8 : 4), length);
        ck_assert_mem_eq(data, streamed, sizeof streamed);
    } else {
        ck_assert_uint_eq(number(local + 14, 4), crc);
        ck_assert_mem_eq(data, first_half, sizeof first_half - 1);
        ck_assert_mem_eq(data + sizeof first_half - 1, second_half, sizeof second_half - 1);
        ck_assert_uint_eq(length, sizeof first_half - 1 + sizeof second_half - 1);
    }
    return d + 46 + name + extra;
}

static void check_archive(const pl_text *kept, bool zip64)
{
    const unsigned char *z = (const unsigned char *)kept->text, *end = z + kept->length - 22;
    ck_assert_uint_eq(number(end, 4), 0x06054b50);
    ck_assert_uint_eq(number(end + 10, 2), MEMBERS);
    uint64_t start = number(end + 16, 4);
    if (zip64) {
        ck_assert_uint_eq(start, 0xffffffffu);
        ck_assert_uint_eq(number(end - 20, 4), 0x07064b50);
        const unsigned char *end64 = z + number(end - 12, 8);
        ck_assert_uint_eq(number(end64, 4), 0x06064b50);
        ck_assert_uint_eq(number(end64 + 32, 8), MEMBERS);
        start = number(end64 + 48, 8);
    }
    const unsigned char *d = z + start;
    for (int i = 0; i < MEMBERS; i++)
        d = check_member(z, d, i, zip64);
    ck_assert(d <= end);
}

START_TEST(archive_is_a_stored_zip)
{
    pl_text kept = {0};
    ck_assert_int_eq(write_archive(&kept, 0xffffffffu, 0), PL_OK);
    check_archive(&kept, false);
    free(kept.text);
}
END_TEST

START_TEST(large_archive_is_zip64)
{
    pl_text kept = {0};
    ck_assert_int_eq(write_archive(&kept, 30, 0), PL_OK); /* as if 30 bytes were 4 GiB */
    check_archive(&kept, true);
    free(kept.text);
}
END_TEST

START_TEST(archive_of_many_members_says_how_many)
{
    pl_text kept = {0};
    pl_outlet out = {.write = sink_memory_write, .context = &kept};
    pl_zip z;
    pl_zip_open(&z, &out);
    for (int i = 0; i < 65535; i++)
        pl_zip_add(&z, "x", NULL, 0);
    ck_assert_int_eq(pl_zip_finish(&z), PL_OK);
    pl_outlet_flush(&out);
    pl_zip_clear(&z);
    const unsigned char *bytes = (const unsigned char *)kept.text, *end = bytes + kept.length - 22;
    ck_assert_uint_eq(number(end + 10, 2), 0xffff);
    ck_assert_uint_eq(number(end - 20, 4), 0x07064b50);
    ck_assert_uint_eq(number(bytes + number(end - 12, 8) + 32, 8), 65535);
    free(kept.text);
}
END_TEST

START_TEST(archive_that_lacks_bytes_is_told)
{
    pl_text kept = {0};
    ck_assert_int_eq(write_archive(&kept, 0xffffffffu, 1), PL_INVALID);
    free(kept.text);
}
END_TEST

/* ---- unpacking ---- */

static bool unpack_begin(void *context, const char *name)
{
    pl_text_printf(context, "[%s:", name);
    return true;
}

static bool unpack_end(void *context)
{
    pl_text_put(context, "]");
    return true;
}

static pl_text archive_of(const char *const *list, int count)
{
    pl_text kept = {0};
    pl_outlet out = {.write = sink_memory_write, .context = &kept};
    pl_zip z;
    pl_zip_open(&z, &out);
    for (int i = 0; i < count; i++)
        pl_zip_add(&z, list[i], &(pl_span){list[i], strlen(list[i]), NULL}, i != 1);
    ck_assert_int_eq(pl_zip_finish(&z), PL_OK);
    pl_outlet_flush(&out);
    pl_zip_clear(&z);
    return kept;
}

static pl_unzip unpack(const pl_text *archive, size_t piece, pl_text *seen)
{
    pl_unzip z = {
        .begin = unpack_begin, .write = sink_memory_write, .end = unpack_end, .context = seen};
    for (size_t at = 0; at < archive->length; at += piece) {
        size_t n = archive->length - at < piece ? archive->length - at : piece;
        if (!pl_unzip_feed(&z, archive->text + at, n))
            break;
    }
    return z;
}

START_TEST(archive_is_unpacked_from_pieces_of_any_size)
{
    static const char *const list[] = {"a_000000.obj", "empty.obj", "a.pvd"};
    pl_text archive = archive_of(list, 3);
    for (size_t piece = 1; piece < archive.length + 2; piece++) {
        pl_text seen = {0};
        pl_unzip z = unpack(&archive, piece, &seen);
        ck_assert(z.done && !z.broken);
        ck_assert_str_eq(seen.text, "[a_000000.obj:a_000000.obj][empty.obj:][a.pvd:a.pvd]");
        free(seen.text);
    }
    archive.length = 60; /* cut off */
    pl_text seen = {0};
    ck_assert(!unpack(&archive, 7, &seen).done);
    free(seen.text);
    free(archive.text);
}
END_TEST

START_TEST(names_lead_nowhere_else)
{
    static const char *const bad[] = {"../a.obj", "/etc/a", "a/b.obj", ".hidden"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        pl_text archive = archive_of(&bad[k], 1), seen = {0};
        ck_assert(unpack(&archive, 1000, &seen).broken);
        ck_assert_uint_eq(seen.length, 0);
        free(archive.text);
    }
    pl_text page = {0}, seen = {0};
    pl_text_put(&page, "<!DOCTYPE html><title>502</title> and more than thirty bytes of it");
    ck_assert(unpack(&page, 5, &seen).broken);
    free(page.text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("export_zip");
    TCase *t = tcase_create("zip");
    tcase_add_test(t, header_is_padded_and_says_the_shape);
    tcase_add_test(t, int32_array_reads_back);
    tcase_add_test(t, archive_is_a_stored_zip);
    tcase_add_test(t, large_archive_is_zip64);
    tcase_add_test(t, archive_of_many_members_says_how_many);
    tcase_add_test(t, archive_that_lacks_bytes_is_told);
    tcase_add_test(t, archive_is_unpacked_from_pieces_of_any_size);
    tcase_add_test(t, names_lead_nowhere_else);
    suite_add_tcase(s, t);
    return run_suite(s);
}
