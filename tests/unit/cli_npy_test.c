/* .npy headers and .npz archives, read back by the formats' own rules. */
#include "clients/cli/npy.h"

#include "tests/unit/cli_files.h"
#include "tests/support/suite.h"

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
    ck_assert_int_eq(pl_npy_write(cli_path("t.npy"), &(pl_npy_shape){"<i4", 2, {2, 4}}, tets),
                     PL_OK);
    size_t size;
    char *bytes = (char *)cli_read("t.npy", &size);
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
    free(bytes);
}
END_TEST

/* Walk the archive from its end: directory, then each member's local header, size and CRC. */
static void check_archive(const unsigned char *z, size_t size, bool zip64)
{
    static const char *const names[] = {"positions.npy", "time.npy"};
    const unsigned char *end = z + size - 22;
    ck_assert_uint_eq(number(end, 4), 0x06054b50);
    ck_assert_uint_eq(number(end + 10, 2), 2);
    uint64_t start = number(end + 16, 4);
    if (zip64) {
        ck_assert_uint_eq(start, 0xffffffffu);
        ck_assert_uint_eq(number(end - 20, 4), 0x07064b50);
        const unsigned char *end64 = z + number(end - 12, 8);
        ck_assert_uint_eq(number(end64, 4), 0x06064b50);
        ck_assert_uint_eq(number(end64 + 32, 8), 2);
        start = number(end64 + 48, 8);
    }
    const unsigned char *d = z + start;
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(number(d, 4), 0x02014b50);
        uint64_t length = number(d + 24, 4), offset = number(d + 42, 4);
        uint64_t name = number(d + 28, 2), extra = number(d + 30, 2);
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
        ck_assert_uint_eq(number(local + 8, 2), 0); /* stored */
        ck_assert_uint_eq(number(local + 14, 4), number(d + 16, 4));
        const unsigned char *data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
        ck_assert_uint_eq(crc32(0, data, (uInt)length), number(d + 16, 4));
        ck_assert_int_eq(memcmp(data, "\x93NUMPY", 6), 0);
        d += 46 + name + extra;
    }
    ck_assert(d <= end);
}

static void write_archive(uint64_t zip64_from, bool short_by_one)
{
    pl_npz z;
    const float positions[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const double times[2] = {0, 0.5};
    ck_assert_int_eq(pl_npz_open(&z, cli_path("a.npz")), PL_OK);
    z.zip64_from = zip64_from;
    pl_npz_begin(&z, "positions", &(pl_npy_shape){"<f4", 3, {2, 2, 3}});
    pl_npz_write(&z, positions, 24);
    pl_npz_write(&z, positions + 6, short_by_one ? 20 : 24);
    pl_npz_end(&z);
    pl_npz_begin(&z, "time", &(pl_npy_shape){"<f8", 1, {2}});
    pl_npz_write(&z, times, sizeof times);
    pl_npz_end(&z);
    ck_assert_int_eq(pl_npz_commit(&z), short_by_one ? PL_INVALID : PL_OK);
}

START_TEST(archive_is_a_stored_zip)
{
    size_t size;
    write_archive(0xffffffffu, false);
    unsigned char *bytes = cli_read("a.npz", &size);
    check_archive(bytes, size, false);
    free(bytes);
}
END_TEST

START_TEST(large_archive_is_zip64)
{
    size_t size;
    write_archive(100, false); /* as if 100 bytes were 4 GiB */
    unsigned char *bytes = cli_read("a.npz", &size);
    check_archive(bytes, size, true);
    free(bytes);
}
END_TEST

START_TEST(archive_that_lacks_bytes_is_not_left)
{
    write_archive(0xffffffffu, true);
    ck_assert_int_ne(access(cli_path("a.npz"), F_OK), 0);
    char command[96];
    snprintf(command, sizeof command, "test -z \"$(ls -A '%s')\"", cli_folder);
    ck_assert_int_eq(system(command), 0); /* nor its temporary */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cli_npy");
    TCase *t = tcase_create("npy");
    tcase_add_checked_fixture(t, cli_folder_make, cli_folder_remove);
    tcase_add_test(t, header_is_padded_and_says_the_shape);
    tcase_add_test(t, int32_array_reads_back);
    tcase_add_test(t, archive_is_a_stored_zip);
    tcase_add_test(t, large_archive_is_zip64);
    tcase_add_test(t, archive_that_lacks_bytes_is_not_left);
    suite_add_tcase(s, t);
    return run_suite(s);
}
