/* What a process in the sandbox can no longer do, and what it still can. Each test is its own process, so entering
 * affects only that test.
 */
#include "protocol/log/session_dir.h"
#include "server/worker/sandbox.h"
#include "tests/support/session_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char hash[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/* -1: none. */
static pl_sandbox_report enter(int directory)
{
    pl_sandbox_report report;
    ck_assert_int_eq(
        pl_sandbox_enter(&(pl_sandbox){.directories = &directory, .count = directory >= 0},
                         &report),
        PL_OK);
    return report;
}

/* Fails with one of the two errors of a denial. */
static void assert_refused(long result)
{
    int error = errno;
    ck_assert_int_eq(result, -1);
    ck_assert_msg(error == EACCES || error == EPERM, "refused with %s", strerror(error));
}

START_TEST(test_files)
{
    session_fixture own, other;
    session_fixture_bar(&own, 1, "");
    session_fixture_bar(&other, 1, "");
    char theirs[600];
    snprintf(theirs, sizeof theirs, "%s/scene.json", other.path);
    pid_t pid = fork();
    if (pid == 0) {
        if (!enter(own.directory).landlock)
            _exit(77);
        assert_refused(open(theirs, O_RDONLY));
        ck_assert_int_eq(errno, EACCES);
        assert_refused(open(other.path, O_RDONLY | O_DIRECTORY));
        assert_refused(openat(own.directory, "../../etc/passwd", O_RDONLY));
        assert_refused(open("/etc/passwd", O_RDONLY));
        assert_refused(open("/tmp/pliant-sandbox-file", O_WRONLY | O_CREAT, 0600));
        assert_refused(unlink(theirs));
        assert_refused(mkdirat(own.directory, "../pliant-sandbox-folder", 0700));
        assert_refused(open("/proc/1/environ", O_RDONLY));
        /* Its own directory, as log and exit.json need it. */
        char *text;
        size_t size;
        ck_assert_int_eq(pl_file_read(own.directory, "scene.json", 1 << 20, &text, &size), PL_OK);
        free(text);
        ck_assert_int_eq(pl_file_replace(own.directory, "exit.json", "{}", 2, true), PL_OK);
        ck_assert_int_eq(mkdirat(own.directory, "log", 0700), 0);
        int fd = openat(own.directory, "log/x", O_RDWR | O_CREAT, 0600);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, 10), 0);
        ck_assert_int_eq(unlinkat(own.directory, "log/x", 0), 0);
        _exit(0);
    }
    int status = session_fixture_wait(pid);
    if (status == 77)
        printf("SKIP sandbox: test_files: this kernel has no Landlock\n");
    else
        ck_assert_int_eq(status, 0);
    session_fixture_destroy(&own);
    session_fixture_destroy(&other);
}
END_TEST

/* The directories that share a worker are open, and no other beside them. */
START_TEST(test_files_of_several)
{
    session_fixture all[3];
    char *inside[3];
    for (int i = 0; i < 3; i++) {
        session_fixture_bar(&all[i], 1, "");
        ck_assert_int_gt(asprintf(&inside[i], "%s/scene.json", all[i].path), 0);
    }
    pid_t pid = fork();
    if (pid == 0) {
        const int two[] = {all[0].directory, all[1].directory};
        pl_sandbox_report report;
        ck_assert_int_eq(pl_sandbox_enter(&(pl_sandbox){.directories = two, .count = 2}, &report),
                         PL_OK);
        if (!report.landlock)
            _exit(77);
        for (int i = 0; i < 2; i++) {
            ck_assert_int_ge(open(inside[i], O_RDONLY), 0);
            ck_assert_int_eq(pl_file_replace(two[i], "exit.json", "{}", 2, true), PL_OK);
        }
        assert_refused(open(inside[2], O_RDONLY));
        assert_refused(unlink(inside[2]));
        assert_refused(open("/etc/passwd", O_RDONLY));
        _exit(0);
    }
    int status = session_fixture_wait(pid);
    if (status == 77)
        printf("SKIP sandbox: test_files_of_several: this kernel has no Landlock\n");
    else
        ck_assert_int_eq(status, 0);
    for (int i = 0; i < 3; i++) {
        free(inside[i]);
        session_fixture_destroy(&all[i]);
    }
}
END_TEST

/* With `gpu`, files that a GPU's driver reads are open; without it they are not. Everything else stays closed. */
START_TEST(test_files_of_a_gpu)
{
    session_fixture own;
    bool skipped = false;
    session_fixture_bar(&own, 1, "");
    for (int gpu = 0; gpu < 2; gpu++) {
        pid_t pid = fork();
        if (pid == 0) {
            pl_sandbox_report report;
            pl_sandbox options = {.directories = &own.directory, .count = 1, .gpu = gpu};
            ck_assert_int_eq(pl_sandbox_enter(&options, &report), PL_OK);
            if (!report.landlock)
                _exit(77);
            int fd = open("/proc/devices", O_RDONLY);
            ck_assert_int_eq(fd >= 0, gpu);
            assert_refused(open("/proc/devices", O_RDWR));
            assert_refused(open("/etc/passwd", O_RDONLY));
            assert_refused(open("/dev/zero", O_RDWR));
            assert_refused(socket(AF_UNIX, SOCK_STREAM, 0));
            _exit(0);
        }
        int status = session_fixture_wait(pid);
        skipped = status == 77;
        if (!skipped)
            ck_assert_int_eq(status, 0);
    }
    session_fixture_destroy(&own);
    if (skipped)
        skip_test("sandbox: test_files_of_a_gpu: this kernel has no Landlock");
}
END_TEST

START_TEST(test_calls)
{
    char *const arguments[] = {(char *)"/bin/true", NULL};
    pid_t parent = getppid();
    pl_sandbox_report report = enter(-1);
    ck_assert(report.seccomp);
    assert_refused(socket(AF_INET, SOCK_STREAM, 0));
    assert_refused(socket(AF_UNIX, SOCK_STREAM, 0));
    int pair[2];
    assert_refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    assert_refused(execv("/bin/true", arguments));
    assert_refused(kill(parent, 0));
    assert_refused(syscall(SYS_tgkill, parent, parent, 0));
    assert_refused(syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
    assert_refused(syscall(SYS_bpf, 0, NULL, 0));
    assert_refused(syscall(SYS_io_uring_setup, 1, NULL));
    assert_refused(syscall(SYS_unshare, 0));
    assert_refused(syscall(SYS_fchmod, 0, 0666));
    assert_refused(syscall(SYS_linkat, -1, "a", -1, "b", 0));
    ck_assert_int_eq(kill(getpid(), 0), 0);
#if !defined(__SANITIZE_ADDRESS__)
    assert_refused(ptrace(PTRACE_ATTACH, parent, NULL, NULL));
    assert_refused(fork());
#endif
}
END_TEST

static void *one_thread(void *argument)
{
    *(int *)argument = 1;
    return NULL;
}

/* A solver's needs: threads, memory, limits. Threads inherit the filter. */
START_TEST(test_still_works)
{
    enter(-1);
    for (int k = 0; k < 4; k++) {
        pthread_t thread;
        int ran = 0;
        ck_assert_int_eq(pthread_create(&thread, NULL, one_thread, &ran), 0);
        pthread_join(thread, NULL);
        ck_assert_int_eq(ran, 1);
    }
    int sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    ck_assert_int_eq(sum, 4950);
    char *large = malloc(64 << 20);
    ck_assert_ptr_nonnull(large);
    memset(large, 1, 64 << 20);
    free(large);
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    ck_assert_uint_eq(core.rlim_cur, 0);
}
END_TEST

START_TEST(test_inherited_descriptors)
{
    int fd = open("/etc/passwd", O_RDONLY);
    int high = dup2(fd, 700);
    close(STDIN_FILENO);
    pl_sandbox_close_inherited();
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    ck_assert_int_eq(fcntl(high, F_GETFD), -1);
    /* The next file must not become standard input. */
    ck_assert_int_ge(open("/dev/null", O_RDONLY), 3);
    ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFD), 0);
}
END_TEST

START_TEST(test_memory_limit)
{
#if !defined(__SANITIZE_ADDRESS__)
    enter(-1);
    ck_assert_int_eq(pl_sandbox_limit_memory((uint64_t)64 << 20, 1), PL_OK);
    ck_assert_ptr_null(malloc((size_t)1 << 30));
    free(malloc(1 << 20));
#endif
}
END_TEST

/* The same through the programs themselves: a session whose mesh is a link into another session. */
START_TEST(test_programs_keep_to_their_session)
{
    session_fixture own, other;
    char scene[1024], link[600], text[256] = "";
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1},"
             " \"materials\": {\"m\": {\"model\": \"neo_hookean\"}},"
             " \"bodies\": [{\"name\": \"b\", \"material\": \"m\", \"mesh\": {\"upload\":"
             " \"sha256:%s\", \"format\": \"gmsh\"}}]}",
             hash);
    session_fixture_create(&own, NULL, scene);
    session_fixture_bar(&other, 1, "");
    snprintf(link, sizeof link, "%s/scene.json", other.path);
    snprintf(text, sizeof text, "meshes/%s", hash);
    ck_assert_int_eq(symlinkat(link, own.directory, text), 0);

    ck_assert_int_eq(session_fixture_preflight(&own), 1);
    pl_preflight report;
    ck_assert_int_eq(pl_preflight_read(own.directory, &report), PL_OK);
    ck_assert_uint_eq(report.faults.count, 1);
    ck_assert_str_eq(report.faults.items[0].code, "mesh_unreadable");
    ck_assert_ptr_nonnull(strstr(report.faults.items[0].got, strerror(EACCES)));
    pl_preflight_clear(&report);

    ck_assert_int_eq(session_fixture_run(&own, 1), 3);
    pl_exit e = session_fixture_exit(&own);
    ck_assert_ptr_nonnull(strstr(e.failure.message, strerror(EACCES)));
    char *log;
    size_t size;
    ck_assert_int_eq(pl_file_read(own.directory, "worker.log", 1 << 20, &log, &size), PL_OK);
    ck_assert_ptr_nonnull(strstr(log, "seccomp"));
    free(log);
    session_fixture_destroy(&own);
    session_fixture_destroy(&other);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("sandbox");
    tcase_set_timeout(tc, 180);
    tcase_add_test(tc, test_files);
    tcase_add_test(tc, test_files_of_several);
    tcase_add_test(tc, test_files_of_a_gpu);
    tcase_add_test(tc, test_calls);
    tcase_add_test(tc, test_still_works);
    tcase_add_test(tc, test_inherited_descriptors);
    tcase_add_test(tc, test_memory_limit);
    tcase_add_test(tc, test_programs_keep_to_their_session);
    Suite *suite = suite_create("sandbox");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
