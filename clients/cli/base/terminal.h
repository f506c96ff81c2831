/* terminal.h - the terminal's abilities, and the one line that is updated in place. */
#ifndef PLIANT_CLIENTS_CLI_BASE_TERMINAL_H
#define PLIANT_CLIENTS_CLI_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

typedef struct pl_terminal {
    bool tty;    /* standard error is a terminal with cursor movement */
    bool colour; /* and NO_COLOR is not set */
    bool utf8;   /* the locale uses UTF-8 */
    int columns; /* 80 if unknown */
    bool live;   /* an unfinished updated line is on the screen */
} pl_terminal;

/* Query the environment about the stream (standard output or standard error). */
void pl_terminal_init(pl_terminal *t, FILE *stream);

/* Write `text` to `out`, exactly `columns` wide: cut if longer, padded with blanks if shorter. Characters that could
 * move the cursor or change colours become '?'. Each character counts as one column. */
void pl_terminal_cell(const char *text, int columns, char *out, size_t size);

typedef enum pl_style {
    PL_STYLE_PLAIN,
    PL_STYLE_BOLD,
    PL_STYLE_DIM,
    PL_STYLE_RED,
    PL_STYLE_GREEN,
    PL_STYLE_YELLOW,
    PL_STYLE_BLUE,
    PL_STYLE_MAGENTA,
    PL_STYLE_CYAN
} pl_style;
/* The escape sequence, or "" where colours are off. */
const char *pl_style_on(const pl_terminal *t, pl_style style);
const char *pl_style_off(const pl_terminal *t);

/* On a terminal "2026-11-28T00:20:00Z" becomes "5 min ago". Elsewhere, or if it is not a time, the text stays. */
void pl_terminal_ago(const pl_terminal *t, const char *time, char *out, size_t size);

/* Replace the updated line; finish it before anything else is printed. */
void pl_terminal_update(pl_terminal *t, const char *line);
void pl_terminal_finish(pl_terminal *t);

/* Ctrl-C: the first sets a flag that loops check; a second ends the program. */
void pl_interrupt_catch(void);
bool pl_interrupted(void);
/* Call this before a second Ctrl-C ends the program; only system calls are allowed in it. */
void pl_interrupt_before_end(void (*call)(void));
/* The second also kills this child, a pidfd, which is lent; -1: none. */
void pl_interrupt_kills(int pidfd);
/* Sleep, cut short by Ctrl-C. */
void pl_interruptible_sleep(double seconds);
double pl_monotonic_seconds(void);

#endif
