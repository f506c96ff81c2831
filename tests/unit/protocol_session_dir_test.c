/* The session directory's documents, whole small files, and the lock. */
#include "protocol/log/session_dir.h"

#include "tests/unit/protocol_files.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static temporary t;

static void setup(void)
{
    temporary_create(&t);
}
static void teardown(void)
{
    temporary_destroy(&t);
}

START_TEST(files)
{
    char *text;
    size_t size;
    ck_assert_int_eq(pl_file_read(t.fd, "a", 100, &text, &size), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(pl_file_replace(t.fd, "a", "hello", 5, true), PL_OK);
    ck_assert_int_eq(pl_file_replace(t.fd, "a", "hello, world", 12, false), PL_OK);
    ck_assert_int_eq(pl_file_read(t.fd, "a", 12, &text, &size), PL_OK);
    ck_assert_uint_eq(size, 12);
    ck_assert_str_eq(text, "hello, world");
    free(text);
    ck_assert_int_eq(pl_file_read(t.fd, "a", 11, &text, &size), PL_IO);
    ck_assert_int_eq(errno, EFBIG);
    ck_assert_int_eq(pl_file_replace(t.fd, "a", NULL, 0, false), PL_OK);
    ck_assert_int_eq(pl_file_read(t.fd, "a", 0, &text, &size), PL_OK);
    ck_assert_uint_eq(size, 0);
    free(text);
    ck_assert_int_eq(mkdirat(t.fd, "sub", 0700), 0);
    ck_assert_int_eq(pl_file_replace(t.fd, "sub/b", "x", 1, true), PL_OK);
    ck_assert_int_eq(pl_file_read(t.fd, "sub", 10, &text, &size), PL_IO);
    ck_assert_int_eq(errno, EISDIR);
    ck_assert_int_eq(pl_file_replace(t.fd, "no/b", "x", 1, true), PL_IO);
    ck_assert_int_eq(mkfifoat(t.fd, "fifo", 0600), 0);
    ck_assert_int_eq(pl_file_read(t.fd, "fifo", 10, &text, &size), PL_IO); /* and does not hang */
    /* The kernel's files say 0 bytes and have more. */
    int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(pl_file_read(proc, "status", 1 << 20, &text, &size), PL_OK);
    ck_assert_uint_gt(size, 100);
    free(text);
    close(proc);
}
END_TEST

START_TEST(failed_replace_leaves_nothing)
{
    char *text;
    size_t size;
    ck_assert_int_eq(mkdirat(t.fd, "target", 0700), 0);
    put_file(t.fd, "target/x", "x", 1);
    ck_assert_int_eq(pl_file_replace(t.fd, "target", "data", 4, false), PL_IO);
    ck_assert_int_eq(pl_file_read(t.fd, "target/x", 10, &text, &size), PL_OK);
    free(text);
    int entries = 0;
    DIR *list = opendir(t.path);
    for (struct dirent *e; (e = readdir(list));)
        entries += e->d_name[0] != '.';
    closedir(list);
    ck_assert_int_eq(entries, 1);
}
END_TEST

START_TEST(head_written_and_read)
{
    pl_head head;
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    pl_segment segments[2] = {{1, 0, 0, 10, 4000, 0}, {2, 0, 10, -1, -1, 0}};
    ck_assert_int_eq(pl_head_write(t.fd, &(pl_head){2, 2, segments}), PL_OK);
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_OK);
    ck_assert_int_eq(head.attempt, 2);
    ck_assert_int_eq(head.segment_count, 2);
    ck_assert_mem_eq(head.segments, segments, sizeof segments);
    pl_head_clear(&head);
    ck_assert_int_eq(pl_head_write(t.fd, &(pl_head){1, 1, segments}), PL_INVALID);
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_OK);
    ck_assert_int_eq(head.attempt, 2);
    pl_head_clear(&head);
    ck_assert_int_eq(pl_head_write(t.fd, &(pl_head){2, 1, segments}), PL_OK);
    ck_assert_int_eq(pl_head_write(t.fd, &(pl_head){3, 0, NULL}), PL_OK);
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_OK);
    ck_assert_int_eq(head.segment_count, 0);
    pl_head_clear(&head);
}
END_TEST

START_TEST(head_must_make_sense)
{
    static const pl_segment chains[][2] = {
        {{1, 0, 0, -1, -1, 0}, {1, 1, 10, -1, -1, 0}},       /* open in the middle */
        {{1, 0, 0, 10, 4000, 0}, {1, 1, 11, -1, -1, 0}},     /* a hole */
        {{1, 0, -3, 10, 4000, 0}, {1, 1, 7, -1, -1, 0}},     /* no beginning */
        {{1, 0, 0, 10, 4000, 2}, {1, 1, 10, -1, -1, 2}},     /* the open one was thinned */
        {{1, 0, 0, 5000, 4000, 0}, {1, 1, 5000, -1, -1, 0}}, /* more frames than a segment has */
        {{1, -2, 0, 10, 4000, 0}, {1, 1, 10, -1, -1, 0}},
        {{1, 0, 0, 10, -4, 0}, {1, 1, 10, -1, -1, 0}},
    };
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        pl_head head = {1, 2, (pl_segment *)chains[i]};
        ck_assert_int_eq(pl_head_write(t.fd, &head), PL_OK);
        ck_assert_int_eq(pl_head_read(t.fd, &head), PL_IO);
        ck_assert_int_eq(errno, EBADMSG);
    }
}
END_TEST

/* The chain of a pruned log may begin late, and records what was thinned. */
START_TEST(head_of_a_pruned_log)
{
    static pl_segment segments[] = {{1, 4, 300, 100, 4000, 7}, {2, 0, 400, -1, -1, 0}};
    pl_head head;
    ck_assert_int_eq(pl_head_write(t.fd, &(pl_head){2, 2, segments}), PL_OK);
    ck_assert_int_eq(pl_head_read(t.fd, &head), PL_OK);
    ck_assert_mem_eq(head.segments, segments, sizeof segments);
    pl_head_clear(&head);
    size_t size;
    char *text = (char *)take_file(t.fd, "head.json", &size);
    ck_assert_ptr_nonnull(memmem(text, size, "\"format\":3", 10));
    free(text);
}
END_TEST

START_TEST(exits)
{
    pl_exit e = {.attempt = 3, .state = "succeeded", .frames = 120, .seconds = 4.25}, read;
    ck_assert_int_eq(pl_exit_read(t.fd, &read), PL_IO);
    ck_assert_int_eq(pl_exit_write(t.fd, &e), PL_OK);
    ck_assert_int_eq(pl_exit_read(t.fd, &read), PL_OK);
    ck_assert_int_eq(read.attempt, 3);
    ck_assert_str_eq(read.state, "succeeded");
    ck_assert(read.frames == 120 && read.seconds == 4.25);
    ck_assert_int_eq(read.failure.code, PL_FAILURE_NONE);
    for (int code = 1; code < PL_FAILURE_COUNT; code++) {
        e.failure = (pl_failure){.code = (pl_failure_code)code,
                                 .step = 7,
                                 .frame = 6,
                                 .body = -1,
                                 .element = 55,
                                 .vertex = -1,
                                 .message = "it \"broke\"",
                                 .advice = "smaller steps"};
        ck_assert_int_eq(pl_exit_write(t.fd, &e), PL_OK);
        ck_assert_int_eq(pl_exit_read(t.fd, &read), PL_OK);
        ck_assert_int_eq(read.failure.code, code);
        ck_assert(read.failure.step == 7 && read.failure.body == -1 && read.failure.element == 55);
        ck_assert_str_eq(read.failure.message, "it \"broke\"");
        ck_assert_str_eq(read.failure.advice, "smaller steps");
    }
    put_file(t.fd, "exit.json", "{\"format\":9}", 12);
    ck_assert_int_eq(pl_exit_read(t.fd, &read), PL_IO);
    ck_assert_int_eq(errno, EBADMSG);
}
END_TEST

START_TEST(preflight_written_and_read)
{
    pl_preflight_body bodies[2] = {{"bar", 2107, 0, 9072}, {"ball", 10, 2107, 20}};
    char *remarks[] = {"body 'bar' consists of 3 separate pieces"};
    pl_warning warnings[] = {{PL_WARNING_START_INSIDE, "begins in \"floor\"", 12, 40},
                             {PL_WARNING_ODD_SIZE, "127 m", 1, 2}};
    pl_preflight p = {.body_count = 2,
                      .bodies = bodies,
                      .vertices = 2117,
                      .tets = 9092,
                      .memory_bytes = 1e8,
                      .seconds_per_frame = 0.01,
                      .setup_seconds = 0.5,
                      .frame_bytes = 30000,
                      .warnings = {2, warnings},
                      .remark_count = 1,
                      .remarks = remarks},
                 read;
    pl_faults_add(&p.faults, "/pins/0", "empty_selection", "0 vertices", "at least 1", "");
    ck_assert_int_eq(pl_preflight_write(t.fd, &p), PL_OK);
    ck_assert_int_eq(pl_preflight_read(t.fd, &read), PL_OK);
    ck_assert_uint_eq(read.faults.total, 1);
    ck_assert_str_eq(read.faults.items[0].code, "empty_selection");
    ck_assert_int_eq(read.body_count, 2);
    ck_assert_str_eq(read.bodies[1].name, "ball");
    ck_assert_int_eq(read.bodies[1].first_vertex, 2107);
    ck_assert(read.vertices == 2117 && read.tets == 9092 && read.memory_bytes == 1e8);
    ck_assert(read.seconds_per_frame == 0.01 && read.frame_bytes == 30000);
    ck_assert_int_eq(read.warnings.count, 2);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(read.warnings.items[k].code, warnings[k].code);
        ck_assert_str_eq(read.warnings.items[k].detail, warnings[k].detail);
        ck_assert_int_eq(read.warnings.items[k].count, warnings[k].count);
        ck_assert_int_eq(read.warnings.items[k].of, warnings[k].of);
    }
    ck_assert_int_eq(read.remark_count, 1);
    ck_assert_str_eq(read.remarks[0], remarks[0]);
    pl_preflight_clear(&read);
    pl_faults_clear(&p.faults);
    put_file(t.fd, "preflight.json", "[]", 2);
    ck_assert_int_eq(pl_preflight_read(t.fd, &read), PL_IO);
}
END_TEST

/* A child that takes the lock, reports it, and lives until it is killed. */
static pid_t start_holder(void)
{
    int says[2];
    char byte;
    ck_assert_int_eq(pipe(says), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pl_session_lock(t.fd, true, &fd) != PL_OK || write(says[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(says[1]);
    ck_assert_int_eq(read(says[0], &byte, 1), 1);
    close(says[0]);
    return pid;
}

START_TEST(lock)
{
    int fd, second, status;
    ck_assert(!pl_session_locked(t.fd));
    ck_assert_int_eq(pl_session_lock(t.fd, false, &fd), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    pid_t holder = start_holder();
    ck_assert(pl_session_locked(t.fd));
    ck_assert_int_eq(pl_session_lock(t.fd, true, &fd), PL_INVALID);
    ck_assert(pl_session_locked(t.fd)); /* asking has not dropped it */
    kill(holder, SIGKILL);
    ck_assert_int_eq(waitpid(holder, &status, 0), holder);
    ck_assert(!pl_session_locked(t.fd));
    ck_assert_int_eq(pl_session_lock(t.fd, false, &fd), PL_OK);
    ck_assert(pl_session_locked(t.fd));
    ck_assert_int_eq(pl_session_lock(t.fd, true, &second), PL_INVALID); /* in one process too */
    close(fd);
    ck_assert(!pl_session_locked(t.fd));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/session_dir");
    TCase *tcase = tcase_create("session_dir");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, files);
    tcase_add_test(tcase, failed_replace_leaves_nothing);
    tcase_add_test(tcase, head_written_and_read);
    tcase_add_test(tcase, head_must_make_sense);
    tcase_add_test(tcase, head_of_a_pruned_log);
    tcase_add_test(tcase, exits);
    tcase_add_test(tcase, preflight_written_and_read);
    tcase_add_test(tcase, lock);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
