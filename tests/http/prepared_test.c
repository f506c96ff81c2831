/* Workers and checks started from a prepared process: they are like freshly started ones, and crash, are cancelled and
 * time out in the same way. Owners share none. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Text of /proc/PID/NAME; static, NULs as spaces. Empty if the process is gone. */
static const char *proc(pid_t pid, const char *name)
{
    static char texts[2][8192];
    static int turn;
    char path[64], *text = texts[turn = !turn];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof texts[0] - 1, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i + 1 < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[n] = 0;
    return text;
}

/* Field of /proc/PID/stat, from 3. */
static int stat_field(pid_t pid, int field)
{
    const char *at = strrchr(proc(pid, "stat"), ')');
    ck_assert_ptr_nonnull(at);
    at += 2;
    for (int i = 3; i < field; i++)
        at = strchr(at, ' ') + 1;
    return atoi(at);
}

/* Children of the daemon that wait to be forked from, into `found`; their number. */
static int prepared_processes(pid_t found[8])
{
    int count = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *e; (e = readdir(all));) {
        pid_t pid = atoi(e->d_name);
        if (pid > 0 && strstr(proc(pid, "cmdline"), " --prepared") &&
            stat_field(pid, 4) == d->pid && count < 8)
            found[count++] = pid;
    }
    closedir(all);
    return count;
}

static void start_four(void)
{
    static const char *const options[] = {"--cores", "4", NULL};
    daemon_fixture_start(d, options);
}

/* Three short sessions: from the second on there is a prepared worker, and a prepared check. */
static void warm(void)
{
    char id[33];
    for (int i = 0; i < 3; i++)
        session_run(d, session_scene(2, 1, ""), id);
}

static void post_endless(const char *more, char id[33], pid_t *worker)
{
    session_post_free(d, session_scene_endless(more), id);
    session_await_frame(d, id, 1);
    *worker = daemon_fixture_await_worker(id);
}

START_TEST(test_is_as_one_started_afresh)
{
    static const char *const options[] = {"--cores", "4", "--prepared", "0", NULL};
    char id[33], fresh[4][200], forked[4][200];
    pid_t worker, found[8];
    start_four();
    warm();
    ck_assert_int_eq(prepared_processes(found), 2);
    int64_t before = session_counter(d, "prepared_starts_total");
    for (int turn = 0; turn < 2; turn++) {
        char(*said)[200] = turn ? fresh : forked;
        post_endless("", id, &worker);
        if (!turn)
            ck_assert_int_ge(session_counter(d, "prepared_starts_total"), before + 1);
        ck_assert_int_eq(stat_field(worker, 4), d->pid);
        ck_assert_int_eq(stat_field(worker, 6), worker); /* a session of its own */
        ck_assert_ptr_nonnull(strstr(proc(worker, "cmdline"), id));
        /* Descriptors, limits, privileges, and whom the kernel takes first. */
        static const char *const files[] = {"status", "limits", "oom_score_adj"};
        static const char *const lines[] = {"\nSeccomp:", "\nMax open files", ""};
        for (int i = 0; i < 3; i++) {
            const char *at = strstr(proc(worker, files[i]), lines[i]);
            ck_assert_ptr_nonnull(at);
            snprintf(said[i], sizeof said[i], "%.*s", (int)strcspn(at + 1, "\n"),
                     *at == '\n' ? at + 1 : at);
        }
        const char *caps = strstr(proc(worker, "status"), "\nNoNewPrivs:");
        snprintf(said[3], sizeof said[3], "%.*s", (int)strcspn(caps + 1, "\n"), caps + 1);
        char path[64], target[256];
        for (int fd = 0; fd < 32; fd++) {
            snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)worker, fd);
            ssize_t n = readlink(path, target, sizeof target - 1);
            target[n > 0 ? n : 0] = 0;
            ck_assert_msg(!strstr(target, "socket:"), "descriptor %d is %s", fd, target);
        }
        session_tell(d, id, "cancel");
        session_await(d, id, "cancelled");
        if (!turn) {
            daemon_fixture_stop(d);
            daemon_fixture_start(d, options);
            warm();
            ck_assert_int_eq(prepared_processes(found), 0);
        }
    }
    ck_assert_int_eq(session_counter(d, "prepared_starts_total"), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_str_eq(fresh[i], forked[i]);
}
END_TEST

/* A frame of the first session, which started afresh, and of the last are the same to the bit. */
START_TEST(test_same_bits)
{
    char first[33], last[33];
    session_run(d, session_scene(3, 1, ""), first);
    warm();
    session_run(d, session_scene(3, 1, ""), last);
    ck_assert(session_same_frame(d, first, 3, last, 3));
}
END_TEST

START_TEST(test_killed_worker_goes_on)
{
    char id[33];
    pid_t worker, again;
    warm();
    post_endless("", id, &worker);
    ck_assert_int_eq(kill(worker, SIGKILL), 0);
    json_t *session;
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        session = session_show(d, id);
        if (json_count(session, "attempt") == 2)
            break;
        json_decref(session);
        ck_assert(daemon_fixture_clock() < end);
    }
    json_decref(session);
    again = daemon_fixture_await_worker(id);
    ck_assert_int_ne(again, worker);
    ck_assert_int_eq(session_counter(d, "workers_crashed_total"), 1);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

START_TEST(test_time_limit)
{
    char id[33];
    warm();
    session_post_free(d, session_scene_endless(", \"resources\": {\"time_limit\": 1}"), id);
    session_await(d, id, "failed");
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "failure/code"), "timeout");
    json_decref(session);
}
END_TEST

/* A prepared process that was killed, or does not answer, at most delays a start; its children continue. */
START_TEST(test_broken)
{
    char id[33];
    pid_t worker, found[8];
    warm();
    post_endless("", id, &worker);
    int signal = _i == 0 ? SIGKILL : SIGSTOP;
    for (int n = prepared_processes(found), i = 0; i < n; i++)
        ck_assert_int_eq(kill(found[i], signal), 0);
    warm();
    ck_assert(daemon_fixture_said(d, "did not start another"));
    ck_assert_int_eq(daemon_fixture_worker(id), worker);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

/* It ends with the daemon, even a killed one; the worker that it started does not, and is adopted. */
START_TEST(test_killed_daemon)
{
    char id[33];
    pid_t worker, found[8];
    warm();
    post_endless("", id, &worker);
    int count = prepared_processes(found);
    ck_assert_int_eq(count, 2);
    daemon_fixture_end(d, SIGKILL);
    for (int i = 0; i < count; i++)
        for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
             strstr(proc(found[i], "cmdline"), " --prepared"); daemon_fixture_nap())
            ck_assert_msg(daemon_fixture_clock() < end, "%d lives on", (int)found[i]);
    daemon_fixture_resume(d);
    ck_assert_int_eq(daemon_fixture_await_worker(id), worker);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

/* The program's load address in a process: the first address of its map. */
static unsigned long place(pid_t pid)
{
    return strtoul(proc(pid, "maps"), NULL, 16);
}

/* Two sessions of one owner have the same layout, because they come from one process. Another owner's differs, coming
 * from another process. */
START_TEST(test_owners_share_none)
{
    char id[3][33], anna[TENANT_SECRET], bert[TENANT_SECRET];
    pid_t worker[3], found[8];
    tenant_user(d, "anna");
    tenant_user(d, "bert");
    tenant_token(d, "anna", "read submit", anna, NULL);
    tenant_token(d, "bert", "read submit", bert, NULL);
    for (int i = 0; i < 3; i++) {
        snprintf(d->token, sizeof d->token, "%s", i < 2 ? anna : bert);
        warm();
        post_endless("", id[i], &worker[i]);
    }
    ck_assert_int_eq(prepared_processes(found), 4);
    ck_assert_uint_eq(place(worker[0]), place(worker[1]));
    ck_assert_uint_ne(place(worker[0]), place(worker[2]));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("prepared");
    TCase *tests = tcase_create("alike");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, NULL, stop_daemon);
    tcase_add_test(tests, test_is_as_one_started_afresh);
    suite_add_tcase(suite, tests);
    tests = tcase_create("ends");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_four, stop_daemon);
    tcase_add_test(tests, test_same_bits);
    tcase_add_test(tests, test_killed_worker_goes_on);
    tcase_add_test(tests, test_time_limit);
    tcase_add_loop_test(tests, test_broken, 0, 2);
    tcase_add_test(tests, test_killed_daemon);
    tcase_add_test(tests, test_owners_share_none);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
