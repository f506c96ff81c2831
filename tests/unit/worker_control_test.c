/* control.log as the worker reads it: pieces, damage, and commands that span the boundaries of reads. */
#include "protocol/log/record.h"
#include "server/worker/control_reader.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Allocations until one fails; none does below 1. They come through here by the linker (Makefile). */
static long until_failure = -1;
void *__real_malloc(size_t size);
void *__real_realloc(void *at, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *at, size_t size);

static bool fails(void)
{
    return until_failure > 0 && --until_failure == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *at, size_t size)
{
    return fails() ? NULL : __real_realloc(at, size);
}

static char directory[] = "/tmp/pliant-control-XXXXXX";
static int dir_fd;

static void open_directory(void)
{
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(dir_fd, 0);
}

static void remove_directory(void)
{
    unlinkat(dir_fd, "control.log", 0);
    close(dir_fd);
    rmdir(directory);
}

static void append(const void *bytes, size_t size)
{
    int fd = openat(dir_fd, "control.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ck_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* A record with this action, and whatever else it brings; its size. */
static size_t command(const char *action, unsigned char out[128])
{
    char *json = (char *)out + PL_RECORD_HEADER;
    memset(out, 0, 128);
    int length = snprintf(json, 128 - PL_RECORD_HEADER, "{\"action\": \"%s\"}", action);
    pl_record r = {.type = PL_RECORD_CONTROL,
                   .length = (uint64_t)length,
                   .payload_crc = pl_crc32c(0, json, (size_t)length)};
    pl_record_encode(&r, out);
    return pl_record_size(r.length);
}

/* A command is taken once its last byte is there, and the newest of pause and resume counts. */
START_TEST(test_pieces)
{
    unsigned char bytes[128];
    pl_control_reader c;
    pl_control_reader_init(&c, dir_fd);
    pl_control_reader_poll(&c);
    ck_assert(!c.cancelled && !c.paused);
    size_t size = command("pause", bytes);
    for (size_t at = 0; at < size; at++) {
        ck_assert(!c.paused);
        append(bytes + at, 1);
        pl_control_reader_poll(&c);
    }
    ck_assert(c.paused && !c.cancelled);
    append(bytes, command("resume", bytes));
    pl_control_reader_poll(&c);
    ck_assert(!c.paused);
    append(bytes, command("cancel", bytes));
    append(bytes, command("resume", bytes));
    pl_control_reader_poll(&c);
    ck_assert(c.cancelled);
    pl_control_reader_clear(&c);
}
END_TEST

/* Damage of any length up to where the command spans the first 64 KiB, then two windows of it: the command after it is
 * found. */
START_TEST(test_after_damage)
{
    static const size_t lengths[] = {8, 4096, 65536 - 64, 65536 - 8, 65536, 131072 - 8, 262144};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char bytes[128], *damage = calloc(1, lengths[i]);
        pl_control_reader c;
        unlinkat(dir_fd, "control.log", 0);
        append(damage, lengths[i]);
        free(damage);
        append(bytes, command("cancel", bytes));
        pl_control_reader_init(&c, dir_fd);
        pl_control_reader_poll(&c);
        ck_assert_msg(c.cancelled, "not found after %zu damaged bytes", lengths[i]);
        pl_control_reader_clear(&c);
    }
}
END_TEST

/* The n-th allocation fails, for every n: a cancel that there was no memory for, or a control, is taken at the next
 * look, though the file has not grown. */
START_TEST(test_no_memory)
{
    unsigned char bytes[128], nothing[65536] = {0};
    append(bytes, command("control\", \"id\": 1, \"control\": {}, \"x\": \"", bytes));
    append(bytes, command("cancel", bytes));
    append(nothing, sizeof nothing); /* two, as much as is looked at in one go */
    append(nothing, sizeof nothing);
    for (long n = 1, missed = 1; missed; n++) {
        pl_control_reader c;
        pl_control_reader_init(&c, dir_fd);
        until_failure = n;
        pl_control_reader_poll(&c);
        missed = until_failure == 0;
        until_failure = -1;
        pl_control_reader_poll(&c);
        ck_assert_msg(c.cancelled && c.newest == 1, "lost where allocation %ld fails", n);
        pl_control_item item;
        ck_assert(pl_control_reader_next(&c, &item));
        free(item.text);
        ck_assert_msg(!pl_control_reader_next(&c, &item), "twice where allocation %ld fails", n);
        pl_control_reader_clear(&c);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker control");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, open_directory, remove_directory);
    tcase_add_test(tests, test_pieces);
    tcase_add_test(tests, test_after_damage);
    tcase_add_test(tests, test_no_memory);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
