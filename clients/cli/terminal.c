#include "clients/cli/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

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
    if (interrupted)
        _exit(128 + signal_number);
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

bool pl_interrupted(void)
{
    return interrupted != 0;
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
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
