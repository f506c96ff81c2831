#include "clients/cli/base/terminal.h"

#include "engine/clock.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static void (*before_end)(void);
static volatile sig_atomic_t child = -1;

void pl_terminal_init(pl_terminal *t, FILE *stream)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    *t = (pl_terminal){.columns = 80};
    t->tty = isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
    t->colour = t->tty && !(no_colour && *no_colour);
    t->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (t->tty && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        t->columns = size.ws_col;
    else if (columns && atoi(columns) >= 20)
        t->columns = atoi(columns);
}

/* Length in bytes of the character that begins here; 0 if it must not be shown. */
static int character(const unsigned char *c)
{
    int n = c[0] < 0x80   ? 1
            : c[0] < 0xC2 ? 0
            : c[0] < 0xE0 ? 2
            : c[0] < 0xF0 ? 3
            : c[0] < 0xF5 ? 4
                          : 0;
    bool control = c[0] < 0x20 || c[0] == 0x7F || (c[0] == 0xC2 && c[1] < 0xA0);
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    return control ? 0 : n;
}

void pl_terminal_cell(const char *text, int columns, char *out, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;
    for (int i = 0; i < columns && used + 5 < size; i++) {
        int n = *at ? character(at) : 0;
        if (*at && n == 0)
            out[used++] = '?';
        else if (!*at)
            out[used++] = ' ';
        for (int k = 0; k < n; k++)
            out[used++] = (char)at[k];
        at += *at ? (n ? n : 1) : 0;
    }
    out[used] = 0;
}

const char *pl_style_on(const pl_terminal *t, pl_style style)
{
    static const char *const codes[] = {
        [PL_STYLE_PLAIN] = "",         [PL_STYLE_BOLD] = "\x1b[1m",
        [PL_STYLE_DIM] = "\x1b[2m",    [PL_STYLE_RED] = "\x1b[31m",
        [PL_STYLE_GREEN] = "\x1b[32m", [PL_STYLE_YELLOW] = "\x1b[33m",
        [PL_STYLE_BLUE] = "\x1b[34m",  [PL_STYLE_MAGENTA] = "\x1b[35m",
        [PL_STYLE_CYAN] = "\x1b[36m",
    };
    return t->colour ? codes[style] : "";
}

const char *pl_style_off(const pl_terminal *t)
{
    return t->colour ? "\x1b[0m" : "";
}

void pl_terminal_update(pl_terminal *t, const char *line)
{
    fprintf(stderr, "\r%s\x1b[K", line);
    fflush(stderr);
    t->live = true;
}

void pl_terminal_finish(pl_terminal *t)
{
    if (t->live)
        fputc('\n', stderr);
    t->live = false;
}

static void on_interrupt(int signal_number)
{
    if (interrupted) {
        if (before_end)
            before_end();
        if (child >= 0)
            pidfd_send_signal(child, SIGKILL, NULL, 0);
        _exit(128 + signal_number);
    }
    interrupted = 1;
}

void pl_interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void pl_interrupt_before_end(void (*call)(void))
{
    before_end = call;
}

bool pl_interrupted(void)
{
    return interrupted != 0;
}

void pl_interrupt_kills(int pidfd)
{
    child = pidfd;
}

void pl_interruptible_sleep(double seconds)
{
    struct timespec wait = {.tv_sec = (time_t)seconds};
    wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
    if (!interrupted)
        nanosleep(&wait, NULL); /* no restart: an interrupted sleep has done its work */
}

double pl_monotonic_seconds(void)
{
    return 1e-3 * pl_clock_ms();
}

/* ---- times ---- */

void pl_terminal_ago(const pl_terminal *t, const char *text, char *out, size_t size)
{
    static const struct {
        long seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    struct tm parts = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    long ago = end ? (long)(time(NULL) - timegm(&parts)) : -1;
    snprintf(out, size, "%s", text);
    if (!t->tty || ago < 0)
        return;
    if (ago == 0)
        snprintf(out, size, "now");
    for (size_t i = 0; ago > 0 && i < sizeof units / sizeof *units; i++) {
        if (ago >= units[i].seconds) {
            snprintf(out, size, "%ld %s ago", ago / units[i].seconds, units[i].name);
            return;
        }
    }
}
