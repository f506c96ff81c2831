/* pliant watch with and without a terminal: its output, and that the terminal is restored however it ends. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

static struct {
    int terminal, side; /* ours, and the program's, which we keep open too */
    pid_t pid;
    struct termios before;
    char said[1 << 18];
    size_t size;
} on;

static const char *program(void)
{
    const char *build = getenv("PLIANT_BUILD");
    static char path[400];
    snprintf(path, sizeof path, "%s/pliant", build ? build : "build");
    return path;
}

static void start(void)
{
    struct winsize size = {.ws_row = 12, .ws_col = 120};
    on.size = 0;
    ck_assert_int_eq(openpty(&on.terminal, &on.side, NULL, NULL, &size), 0);
    ck_assert_int_eq(tcgetattr(on.side, &on.before), 0);
    on.pid = fork();
    if (on.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("TERM", "xterm", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        setenv("PLIANT_CONFIG", pliant_path("config"), 1);
        for (int s = 1; s < 32; s++) /* the test runner's handlers are not for this one */
            signal(s, SIG_DFL);
        close(on.terminal);
        login_tty(on.side);
        execl(program(), "pliant", "--state", pliant_fixture.state, "watch", "--interval", "0.1",
              NULL);
        _exit(127);
    }
}

/* Read on until the words are there; false after a while without. */
static bool await_words(const char *words)
{
    for (double end = daemon_fixture_clock() + 60; daemon_fixture_clock() < end;) {
        struct pollfd watched = {.fd = on.terminal, .events = POLLIN};
        if (on.size > sizeof on.said / 2) { /* it redraws ten times a second */
            size_t kept = sizeof on.said / 4;
            memmove(on.said, on.said + on.size - kept, kept);
            on.size = kept;
        }
        if (poll(&watched, 1, 50) == 1) {
            ssize_t n = read(on.terminal, on.said + on.size, sizeof on.said - 1 - on.size);
            on.size += n > 0 ? (size_t)n : 0;
        }
        on.said[on.size] = 0;
        if (strstr(on.said, words))
            return true;
    }
    return false;
}

/* Its status as of waitpid, with the terminal as before. */
static int await_end(void)
{
    int status;
    struct termios after;
    ck_assert_msg(await_words("\x1b[?25h\x1b[?1049l"), "%s", on.said);
    ck_assert_int_eq(waitpid(on.pid, &status, 0), on.pid);
    ck_assert_int_eq(tcgetattr(on.side, &after), 0);
    ck_assert_uint_eq(after.c_lflag, on.before.c_lflag);
    close(on.side);
    close(on.terminal);
    return status;
}

START_TEST(a_table_until_q)
{
    char id[40];
    snprintf(id, sizeof id, "%.8s  ", pliant_submit(100000));
    start();
    ck_assert_msg(await_words("\x1b[?1049h\x1b[?25l"), "%s", on.said);
    ck_assert_msg(await_words(id) && await_words("small bar") && await_words("running"), "%s",
                  on.said);
    ck_assert_msg(await_words("▁"), "no bars: %s", on.said);
    struct termios during;
    ck_assert_int_eq(tcgetattr(on.side, &during), 0);
    ck_assert_uint_eq(during.c_lflag & (ICANON | ECHO), 0);
    ck_assert_int_eq((int)write(on.terminal, "q", 1), 1);
    int status = await_end();
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(pliant("cancel %.8s", id), 0); /* it went on */
}
END_TEST

START_TEST(a_signal_gives_the_terminal_back)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT};
    start();
    ck_assert_msg(await_words("q quits"), "%s", on.said);
    ck_assert_int_eq(kill(on.pid, signals[_i]), 0);
    int status = await_end();
    if (_i < 2) {
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 130);
    } else {
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), signals[_i]);
    }
}
END_TEST

/* When stopped, it gives the terminal back to the shell, and takes it again when continued. */
START_TEST(it_can_be_stopped)
{
    int status;
    struct termios stopped;
    start();
    ck_assert(await_words("q quits"));
    ck_assert_int_eq(kill(on.pid, SIGTSTP), 0);
    ck_assert(await_words("\x1b[?25h\x1b[?1049l"));
    ck_assert_int_eq(waitpid(on.pid, &status, WUNTRACED), on.pid);
    ck_assert(WIFSTOPPED(status));
    ck_assert_int_eq(tcgetattr(on.side, &stopped), 0);
    ck_assert_uint_eq(stopped.c_lflag, on.before.c_lflag);
    on.size = 0;
    ck_assert_int_eq(kill(on.pid, SIGCONT), 0);
    ck_assert(await_words("\x1b[?1049h"));
    ck_assert(await_words("q quits"));
    ck_assert_int_eq((int)write(on.terminal, "q", 1), 1);
    ck_assert_int_eq(await_end(), 0);
}
END_TEST

/* An unavailable daemon is reported as such, and found again. */
START_TEST(a_daemon_may_go)
{
    start();
    ck_assert(await_words("no session"));
    ck_assert_int_eq(daemon_fixture_end(&pliant_fixture, SIGTERM), 0);
    ck_assert_msg(await_words("trying again"), "%s", on.said);
    daemon_fixture_resume(&pliant_fixture);
    on.size = 0;
    ck_assert_msg(await_words("q quits"), "%s", on.said);
    ck_assert_int_eq((int)write(on.terminal, "q", 1), 1);
    ck_assert_int_eq(await_end(), 0);
}
END_TEST

START_TEST(text_where_there_is_no_terminal)
{
    char id[40];
    snprintf(id, sizeof id, "%s", pliant_submit(3));
    ck_assert_msg(pliant("watch %s --interval 0.1", id) == 0, "%s", pliant_err);
    ck_assert_ptr_null(strchr(pliant_out, '\x1b'));
    ck_assert_ptr_nonnull(strstr(pliant_out, "succeeded"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "3/3"));
    ck_assert_int_eq(pliant("watch --once --json"), 0);
    ck_assert_int_eq(strncmp(pliant_out, "{\"sessions\":[{\"id\":\"", 20), 0);
    ck_assert_int_eq(pliant("watch 00000000000000000000000000000000 --once"), 5);
    ck_assert_int_eq(pliant("watch --interval 0"), 2);
    ck_assert_int_eq(pliant("--server http://127.0.0.1:1 watch"), 3);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("watch");
    tcase_set_timeout(c, 180);
    tcase_add_checked_fixture(c, pliant_setup, pliant_teardown);
    tcase_add_test(c, a_table_until_q);
    tcase_add_loop_test(c, a_signal_gives_the_terminal_back, 0, 6);
    tcase_add_test(c, it_can_be_stopped);
    tcase_add_test(c, a_daemon_may_go);
    tcase_add_test(c, text_where_there_is_no_terminal);
    return run_cases("pliant watch", c);
}
