#include "clients/cli/base/screen.h"

#include "clients/cli/base/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define TAKE "\x1b[?1049h\x1b[?25l"
#define GIVE "\x1b[?25h\x1b[?1049l"

static struct termios before, during;
static volatile sig_atomic_t taken;

/* These are called from signal handlers: only system calls are allowed. */
static void put(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDOUT_FILENO, text, size);
        if (n < 0 && errno != EINTR)
            return;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

static void take(void)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &during);
    put(TAKE, sizeof TAKE - 1);
    taken = 1;
}

static void give(void)
{
    if (taken) {
        taken = 0;
        put(GIVE, sizeof GIVE - 1);
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
}

static void end_by(int signal_number)
{
    give();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void stop_by(int signal_number)
{
    (void)signal_number;
    int kept = errno;
    give();
    raise(SIGSTOP);
    take(); /* it continues */
    errno = kept;
}

static void wake_by(int signal_number)
{
    (void)signal_number; /* poll returns, and the next picture has the new size */
}

bool pl_screen_open(void)
{
    static const int ends[] = {SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    during = before;
    during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    during.c_cc[VMIN] = 1;
    during.c_cc[VTIME] = 0;
    struct sigaction action = {.sa_handler = end_by};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &action, NULL);
    action.sa_handler = stop_by;
    sigaction(SIGTSTP, &action, NULL);
    action.sa_handler = wake_by;
    sigaction(SIGWINCH, &action, NULL);
    pl_interrupt_before_end(give);
    atexit(give);
    take();
    return true;
}

void pl_screen_close(void)
{
    give();
}

void pl_screen_size(int *rows, int *columns)
{
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
    *rows = known ? size.ws_row : 24;
    *columns = known ? size.ws_col : 80;
}

void pl_screen_draw(const char *text)
{
    put("\x1b[H", 3);
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        bool last = !line[length] || !line[length + 1];
        put(line, length);
        put("\x1b[K", 3); /* the rest of an earlier picture's line */
        if (!last)
            put("\r\n", 2);
        line += length + (line[length] == '\n');
    }
    put("\x1b[J", 3);
}

int pl_screen_key(double seconds)
{
    struct pollfd watched = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte = 0;
    if (poll(&watched, 1, (int)(1000 * seconds)) != 1)
        return 0;
    return read(STDIN_FILENO, &byte, 1) == 1 ? (unsigned char)byte : 'q'; /* input is closed */
}
