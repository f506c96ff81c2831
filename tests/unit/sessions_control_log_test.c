/* The daemon appends to control.log after cutting off a command torn by a killed daemon, so that the daemon and a
 * worker that saw the torn command find the next one. */
#include "protocol/log/record.h"
#include "server/sessions/control_log.h"
#include "server/worker/control_reader.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];
static int dir_fd;

static void begin(void)
{
    strcpy(directory, "/tmp/pliant-control-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
    unlinkat(dir_fd, "control.log", 0);
    close(dir_fd);
    rmdir(directory);
}

static size_t read_log(unsigned char *out, size_t room)
{
    int fd = openat(dir_fd, "control.log", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, out, room);
    ck_assert_int_ge(n, 0);
    close(fd);
    return (size_t)n;
}

static void write_log(const void *bytes, size_t size)
{
    int fd = openat(dir_fd, "control.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* Bytes of a single command. */
static size_t command(const char *action, unsigned char *out, size_t room)
{
    write_log("", 0);
    ck_assert_int_eq(pl_control_append(directory, action), 0);
    return read_log(out, room);
}

static bool is_paused(void)
{
    pl_control_state state;
    ck_assert_int_eq(pl_control_read(directory, &state), 0);
    return state.paused;
}

/* A worker reads a torn `log`, then a pause is appended at `expected`, which every reader finds. */
static void append_behind(const unsigned char *log, size_t size, size_t expected)
{
    unsigned char pause[256], now[4096];
    size_t length = command("pause", pause, sizeof pause);
    pl_control_reader worker;
    pl_control_reader_init(&worker, dir_fd);
    write_log(log, size);
    pl_control_reader_poll(&worker);
    ck_assert(!worker.paused && !is_paused());
    ck_assert_int_eq(pl_control_append(directory, "pause"), 0);
    ck_assert(is_paused());
    pl_control_reader_poll(&worker);
    ck_assert_msg(worker.paused, "the worker does not see it behind %zu bytes", size - expected);
    pl_control_reader_clear(&worker);
    ck_assert_uint_eq(read_log(now, sizeof now), expected + length);
    ck_assert_mem_eq(now, log, expected);
    ck_assert_mem_eq(now + expected, pause, length);
}

START_TEST(test_torn)
{
    unsigned char first[256], log[1024] = {0};
    size_t length = command("resume", first, sizeof first);
    memcpy(log, first, length);
    memcpy(log + length, first, length);
    for (size_t torn = 1; torn < length; torn++) {
        append_behind(log, length + torn, length);
        append_behind(first, torn, 0);
    }
}
END_TEST

/* The file has grown by the whole command, but its bytes did not reach the disk. */
START_TEST(test_zeros)
{
    unsigned char log[4096] = {0};
    size_t length = command("resume", log, sizeof log);
    for (size_t more = 1; more < 200; more++)
        append_behind(log, length + more, length);
    append_behind(log, sizeof log, length);
}
END_TEST

/* Damage before a whole command stays: no command behind it is lost. */
START_TEST(test_damage_stays)
{
    unsigned char log[1024] = {0};
    size_t length = command("resume", log, sizeof log);
    memcpy(log + length, log, length);
    log[PL_RECORD_HEADER + 2] ^= 1;
    append_behind(log, 2 * length, 2 * length);
    append_behind(log, 2 * length + 7, 2 * length);
}
END_TEST

/* A torn end longer than the part that is searched first. */
START_TEST(test_long)
{
    enum { SIZE = 300000 };
    unsigned char *log = calloc(1, SIZE + 256), now[256];
    size_t length = command("resume", log, 256);
    write_log(log, SIZE);
    ck_assert_int_eq(pl_control_append(directory, "pause"), 0);
    ck_assert(is_paused());
    ck_assert_uint_le(read_log(now, sizeof now), 3 * length);
    free(log);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("control log");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, test_torn);
    tcase_add_test(tests, test_zeros);
    tcase_add_test(tests, test_damage_stays);
    tcase_add_test(tests, test_long);
    return run_cases("control.log", tests);
}
