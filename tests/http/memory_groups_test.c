/* Workers in control groups of their own, made by the kernel that this runs on: one that exceeds its limit is killed
 * alone and told so, however it was started and whichever daemon watches it; no group is left behind. SKIP where the
 * daemon may make none.
 */
#include "protocol/log/memory_limit.h"
#include "tests/support/built_path.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/session_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 100000000, EATEN_MB = 700 };

static char bin[64], groups[PATH_MAX];
static bool able;

/* The real worker, but for scenes that are labelled an eater: that one waits for a file and takes more memory than it may, at once,
 * without a limit of its own. It is this very process, not a child of it. */
static const char script[] =
    "#!/bin/sh\n"
    "if grep -q '\"eater\"' \"$2/scene.json\"; then\n"
    "    while grep -q waits \"$2/scene.json\" && [ ! -e \"$2/go\" ]; do sleep 0.05; done\n"
    "    exec dd if=/dev/zero of=/dev/null bs=%dM count=1 2>/dev/null\n"
    "fi\n"
    "exec %s \"$@\"\n";

static void start_with(const char *const *options)
{
    daemon_fixture_start(d, options);
    able = daemon_fixture_groups(d, groups);
}

static void start(void)
{
    static const char *const options[] = {"--cores", "4", "--memory-groups", "auto", NULL};
    start_with(options);
}

static void start_with_eater(void)
{
    static const char *const options[] = {"--cores", "4", "--memory-groups", "auto", "--prepared",
                                          "0",       NULL};
    char path[BUILT_PATH_MAX], own[128], text[BUILT_PATH_MAX + sizeof script];
    strcpy(bin, "/tmp/pliant-eater-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(bin));
    snprintf(own, sizeof own, "%s/pliant-preflight", bin);
    ck_assert_int_eq(symlink(built_path("pliant-preflight", X_OK, path), own), 0);
    snprintf(own, sizeof own, "%s/pliant-worker", bin);
    int n = snprintf(text, sizeof text, script, EATEN_MB, built_path("pliant-worker", X_OK, path));
    int fd = open(own, O_WRONLY | O_CREAT, 0700);
    ck_assert_int_eq(write(fd, text, (size_t)n), n);
    close(fd);
    setenv("PLIANT_BINDIR", bin, 1);
    start_with(options);
    unsetenv("PLIANT_BINDIR");
}

static void stop_with_eater(void)
{
    static const char *const names[] = {"pliant-preflight", "pliant-worker"};
    char path[128];
    stop_daemon();
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", bin, names[i]);
        unlink(path);
    }
    rmdir(bin);
}

/* ---- groups ---- */

/* The group of an attempt; static. */
static const char *group_of(const char *id, int attempt)
{
    static char paths[4][PATH_MAX + 200];
    static int turn;
    char prefix[64], *path = paths[turn++ % 4];
    daemon_fixture_group_prefix(d, prefix);
    snprintf(path, sizeof paths[0], "%s/%s%s-%d", groups, prefix, id, attempt);
    return path;
}

/* All groups of the daemon's workers. */
static int count_groups(void)
{
    char prefix[64];
    int count = 0;
    daemon_fixture_group_prefix(d, prefix);
    DIR *all = opendir(groups);
    ck_assert_ptr_nonnull(all);
    for (struct dirent *e; (e = readdir(all));)
        count += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    closedir(all);
    return count;
}

static void await_groups(int wanted)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; count_groups() != wanted;
         daemon_fixture_nap())
        ck_assert_msg(daemon_fixture_clock() < end, "%d groups, not %d", count_groups(), wanted);
}

/* The first number of a file of either version; -1: none. */
static int64_t number_in(const char *group, const char *first, const char *second)
{
    const char *const names[] = {first, second};
    char path[PATH_MAX + 300];
    long long value = -1;
    for (int i = 0; i < 2 && value < 0; i++) {
        snprintf(path, sizeof path, "%s/%s", group, names[i]);
        FILE *file = fopen(path, "re");
        if (file && fscanf(file, "%lld", &value) != 1)
            value = -1;
        if (file)
            fclose(file);
    }
    return value;
}

static int64_t limit_of(const char *group)
{
    return number_in(group, "memory.limit_in_bytes", "memory.max");
}

/* The kernel's kills in it; -1: there is no such group. */
static int64_t kills_in(const char *group)
{
    static const char *const names[] = {"memory.oom_control", "memory.events"};
    char path[PATH_MAX + 300], line[128];
    long long kills = -1;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", group, names[i]);
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
            sscanf(line, "oom_kill %lld", &kills);
        if (file)
            fclose(file);
    }
    return kills;
}

/* Limits are whole pages. */
static void expect_limit(const char *group, double memory)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    int64_t wanted = (int64_t)pl_memory_limit_group((uint64_t)memory, 1);
    ck_assert_int_eq(limit_of(group) / page, wanted / page);
}

/* ---- sessions ---- */

#define RESOURCES ", \"resources\": {\"memory\": 100000000, \"cores\": 1}"

static void post_endless(char id[33], pid_t *worker)
{
    session_post_free(d, session_scene_endless(RESOURCES), id);
    session_await_frame(d, id, 1);
    *worker = daemon_fixture_await_worker(id);
}

/* Whether the group stands in the command line of a process. */
static bool was_told(pid_t pid, const char *group)
{
    char path[64], text[8192];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    return memmem(text, n, "--memory-group", 15) && memmem(text, n, group, strlen(group) + 1);
}

/* Killed for memory, twice, and nothing else is. */
static void expect_out_of_memory(const char *id)
{
    session_await(d, id, "failed");
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "failure/code"), "out_of_memory");
    ck_assert_ptr_nonnull(strstr(json_text(session, "failure/message"), "out of memory"));
    ck_assert_ptr_nonnull(strstr(json_text(session, "failure/advice"), "resources.memory"));
    ck_assert_int_eq(json_count(session, "attempt"), 2);
    json_decref(session);
}

START_TEST(test_killed_alone)
{
    char other[33], eater[33];
    pid_t worker;
    if (!able)
        skip_test("memory_groups: test_killed_alone: no control groups can be made");
    post_endless(other, &worker);
    ck_assert_int_eq(number_in(group_of(other, 1), "cgroup.procs", ""), worker);
    expect_limit(group_of(other, 1), LIMIT);
    ck_assert(was_told(worker, group_of(other, 1)));
    session_post_free(d, session_scene(2, 1, ", \"labels\": {\"kind\": \"eater\"}" RESOURCES),
                      eater);
    expect_out_of_memory(eater);
    ck_assert(daemon_fixture_said(d, "restarted with 1.5 times as much, 150 MB"));
    await_groups(1);
    json_t *session = session_show(d, other);
    ck_assert_int_eq(json_count(session, "attempt"), 1);
    session_await_frame(d, other, json_count(session, "progress/frame") + 1);
    json_decref(session);
    ck_assert_int_eq(daemon_fixture_worker(other), worker);
    ck_assert_int_eq(kills_in(group_of(other, 1)), 0);
    session_tell(d, other, "cancel");
    session_await(d, other, "cancelled");
    await_groups(0);
}
END_TEST

/* Its process, which a script is first. */
static pid_t await_eater(const char *id, int attempt)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        int64_t pid = number_in(group_of(id, attempt), "cgroup.procs", "");
        if (pid > 0)
            return (pid_t)pid;
        ck_assert_msg(daemon_fixture_clock() < end, "session %s has no worker", id);
    }
}

static pid_t post_waiting_eater(char id[33])
{
    session_post_free(
        d,
        session_scene(2, 1, ", \"labels\": {\"kind\": \"eater\", \"when\": \"waits\"}" RESOURCES),
        id);
    session_await(d, id, "running");
    return await_eater(id, 1);
}

static void let_eat(const char *id)
{
    ck_assert_int_eq(close(open(session_path(d, id, "go"), O_WRONLY | O_CREAT, 0600)), 0);
}

/* Killed by a stranger it has crashed, and has as much memory as before. */
START_TEST(test_second_limit)
{
    char eater[33];
    if (!able)
        skip_test("memory_groups: test_second_limit: no control groups can be made");
    pid_t worker = post_waiting_eater(eater);
    expect_limit(group_of(eater, 1), LIMIT);
    ck_assert_int_eq(kill(worker, SIGKILL), 0);
    await_eater(eater, 2);
    expect_limit(group_of(eater, 2), LIMIT);
    let_eat(eater);
    session_await(d, eater, "failed");
    json_t *session = session_show(d, eater);
    ck_assert_str_eq(json_text(session, "failure/code"), "out_of_memory");
    ck_assert_int_eq(json_count(session, "attempt"), 3);
    json_decref(session);
    await_groups(0);
}
END_TEST

/* One that is forked from a prepared process is in a group of its own; the prepared process is not. */
START_TEST(test_prepared)
{
    char id[33];
    pid_t worker;
    if (!able)
        skip_test("memory_groups: test_prepared: no control groups can be made");
    for (int i = 0; i < 3; i++)
        session_run(d, session_scene(2, 1, ""), id);
    await_groups(0);
    int64_t before = session_counter(d, "prepared_starts_total");
    post_endless(id, &worker);
    ck_assert_int_gt(session_counter(d, "prepared_starts_total"), before);
    ck_assert_int_eq(number_in(group_of(id, 1), "cgroup.procs", ""), worker);
    ck_assert_int_eq(count_groups(), 1);
    expect_limit(group_of(id, 1), LIMIT);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    await_groups(0);
    session_tell(d, id, "resume");
    session_await(d, id, "running");
    worker = daemon_fixture_await_worker(id);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
         number_in(group_of(id, 2), "cgroup.procs", "") != worker; daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    await_groups(0);
}
END_TEST

/* The next daemon finds the group of a worker that it takes up, and removes it at the worker's end; those of sessions
 * that have ended meanwhile at once; another daemon's never. */
START_TEST(test_adopted)
{
    char id[33], foreign[PATH_MAX + 100], left[PATH_MAX + 200];
    pid_t worker;
    if (!able)
        skip_test("memory_groups: test_adopted: no control groups can be made");
    post_endless(id, &worker);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    snprintf(foreign, sizeof foreign, "%s/pliant-1.%d-0123456789abcdef0123456789abcdef-1", groups,
             (int)getpid());
    snprintf(left, sizeof left, "%s", group_of("0123456789abcdef0123456789abcdef", 1));
    ck_assert_int_eq(mkdir(foreign, 0755), 0);
    ck_assert_int_eq(mkdir(left, 0755), 0);
    daemon_fixture_resume(d);
    await_groups(1);
    ck_assert_int_eq(access(foreign, F_OK), 0);
    rmdir(foreign);
    ck_assert_int_eq(daemon_fixture_worker(id), worker);
    ck_assert_int_eq(number_in(group_of(id, 1), "cgroup.procs", ""), worker);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    await_groups(0);
}
END_TEST

/* The kernel killed it while no daemon watched: its group says so to the next one. */
START_TEST(test_killed_unwatched)
{
    char id[33];
    if (!able)
        skip_test("memory_groups: test_killed_unwatched: no control groups can be made");
    post_waiting_eater(id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    let_eat(id);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; kills_in(group_of(id, 1)) != 1;
         daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    daemon_fixture_resume(d);
    expect_out_of_memory(id);
    await_groups(0);
}
END_TEST

/* A process that takes too much in the group of another; the kernel kills it there. */
static void eat_in(const char *group)
{
    char procs[PATH_MAX + 300], bs[32];
    int status;
    snprintf(procs, sizeof procs, "%s/cgroup.procs", group);
    snprintf(bs, sizeof bs, "bs=%dM", EATEN_MB);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int fd = open(procs, O_WRONLY);
        if (write(fd, "0", 1) == 1)
            execlp("dd", "dd", "if=/dev/zero", "of=/dev/null", "count=1", bs, (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Of a worker that an earlier daemon started nobody has the status; its group says what it died of. */
START_TEST(test_adopted_killed)
{
    char id[33];
    pid_t worker;
    if (!able)
        skip_test("memory_groups: test_adopted_killed: no control groups can be made");
    post_endless(id, &worker);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    eat_in(group_of(id, 1));
    ck_assert_int_ge(kills_in(group_of(id, 1)), 1);
    kill(worker, SIGKILL); /* version 2 has killed it with the other */
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; limit_of(group_of(id, 2)) < 0;
         daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    ck_assert(daemon_fixture_said(d, "out of memory; restarted with 1.5 times as much, 150 MB"));
    expect_limit(group_of(id, 2), 1.5 * LIMIT);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    await_groups(0);
}
END_TEST

/* A worker whose group cannot be made, for a stranger is in one of its name, runs without. */
START_TEST(test_one_without)
{
    char id[33], procs[PATH_MAX + 300];
    pid_t worker;
    if (!able)
        skip_test("memory_groups: test_one_without: no control groups can be made");
    post_endless(id, &worker);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    ck_assert_int_eq(mkdir(group_of(id, 2), 0755), 0);
    pid_t stranger = fork();
    ck_assert_int_ge(stranger, 0);
    if (stranger == 0)
        for (;;)
            pause();
    snprintf(procs, sizeof procs, "%s/cgroup.procs", group_of(id, 2));
    FILE *file = fopen(procs, "w");
    fprintf(file, "%d", (int)stranger);
    ck_assert_int_eq(fclose(file), 0);
    session_tell(d, id, "resume");
    session_await(d, id, "running");
    worker = daemon_fixture_await_worker(id);
    ck_assert(!was_told(worker, group_of(id, 2)));
    ck_assert_int_eq(number_in(group_of(id, 2), "cgroup.procs", ""), stranger);
    ck_assert(daemon_fixture_said(d, "its worker is limited by RLIMIT_DATA only: "));
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
    for (int i = 0; i < 400 && rmdir(group_of(id, 2)) != 0; i++)
        daemon_fixture_nap();
    await_groups(0);
}
END_TEST

/* The worker's own limit comes first, so that it can say what it did: in a group that it entered by itself. */
START_TEST(test_own_limit_first)
{
    char group[PATH_MAX + 200];
    session_fixture f;
    if (!able)
        skip_test("memory_groups: test_own_limit_first: no control groups can be made");
    if (daemon_fixture_sanitized())
        skip_test("memory_groups: test_own_limit_first: a sanitizer maps terabytes");
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 2},"
        " \"materials\": {\"m\": {\"model\": \"neo_hookean\"}},"
        " \"bodies\": [{\"name\": \"b\", \"material\": \"m\","
        " \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [60, 60, 60]}}}]}");
    snprintf(group, sizeof group, "%s", group_of("fedcba9876543210fedcba9876543210", 1));
    ck_assert_int_eq(mkdir(group, 0755), 0);
    const char *const arguments[] = {"--session",      f.path,     "--attempt", "1",
                                     "--memory",       "20000000", "--threads", "1",
                                     "--memory-group", group,      NULL};
    int status =
        session_fixture_wait(session_fixture_spawn("pliant-worker", arguments, NULL, NULL));
    ck_assert_int_eq(status, 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_OUT_OF_MEMORY);
    ck_assert_int_eq(kills_in(group), 0);
    int64_t most = number_in(group, "memory.max_usage_in_bytes", "memory.peak");
    ck_assert_msg(most < 0 ||
                      (most > 20000000 && most < (int64_t)pl_memory_limit_group(20000000, 1)),
                  "%lld", (long long)most);
    rmdir(group);
    session_fixture_destroy(&f);
}
END_TEST

START_TEST(test_off)
{
    static const char *const options[] = {"--memory-groups", "off", NULL};
    char id[33];
    pid_t worker;
    daemon_fixture_stop(d);
    start_with(options);
    ck_assert(!able);
    ck_assert(daemon_fixture_said(d, "limited by RLIMIT_DATA only: --memory-groups is off"));
    post_endless(id, &worker);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

/* A daemon that may make no groups: as nobody. `said` is its standard error; its status, or -1: it went on. */
static int run_as_nobody(const char *mode, char *said, size_t size)
{
    char path[BUILT_PATH_MAX], folder[64] = "/tmp/pliant-nobody-XXXXXX", state[96];
    const char *program = built_path("pliantd", X_OK, path);
    int ends[2], status;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 0777), 0);
    snprintf(state, sizeof state, "%s/state", folder);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(126);
        execl(program, program, "--listen", "127.0.0.1:0", "--state", state, "--gpus", "none",
              "--memory-groups", mode, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t at = 0;
    said[0] = 0;
    /* Until it has said that it went on, or has ended. */
    for (ssize_t got; !strstr(said, "RLIMIT_DATA only") && at + 1 < size &&
                      (got = read(ends[0], said + at, size - 1 - at)) > 0;) {
        at += (size_t)got;
        said[at] = 0;
    }
    bool goes_on = strstr(said, "RLIMIT_DATA only");
    if (goes_on)
        kill(pid, SIGTERM);
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    char *remove[] = {"rm", "-rf", folder, NULL};
    pid_t cleaner = fork();
    if (cleaner == 0) {
        execvp("rm", remove);
        _exit(127);
    }
    waitpid(cleaner, NULL, 0);
    return goes_on ? -1 : WEXITSTATUS(status);
}

START_TEST(test_must)
{
    char said[4096];
    if (geteuid() != 0)
        skip_test("memory_groups: test_must: only root can become nobody");
    ck_assert_int_eq(run_as_nobody("on", said, sizeof said), 1);
    ck_assert_msg(strstr(said, "--memory-groups on: cannot create control groups for workers"),
                  "%s", said);
    ck_assert_int_eq(run_as_nobody("auto", said, sizeof said), -1);
    ck_assert_int_eq(run_as_nobody("perhaps", said, sizeof said), 2);
    ck_assert_msg(strstr(said, "--memory-groups: got 'perhaps', expected auto, on or off"), "%s",
                  said);
}
END_TEST

int main(void)
{
    TCase *real = tcase_create("workers"), *eater = tcase_create("eaters"),
          *none = tcase_create("none");
    tcase_add_checked_fixture(real, start, stop_daemon);
    tcase_add_test(real, test_prepared);
    tcase_add_test(real, test_adopted);
    tcase_add_test(real, test_adopted_killed);
    tcase_add_test(real, test_one_without);
    tcase_add_test(real, test_own_limit_first);
    tcase_add_test(real, test_off);
    tcase_add_checked_fixture(eater, start_with_eater, stop_with_eater);
    tcase_add_test(eater, test_killed_alone);
    tcase_add_test(eater, test_second_limit);
    tcase_add_test(eater, test_killed_unwatched);
    tcase_add_test(none, test_must);
    Suite *s = suite_create("memory groups of workers");
    suite_add_tcase(s, real);
    suite_add_tcase(s, eater);
    suite_add_tcase(s, none);
    return run_suite(s);
}
