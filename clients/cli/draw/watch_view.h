/* watch_view.h - sessions as a text table: state, progress, frame rate, time left, and the residuals of the last frames
 * as a row of bars.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_WATCH_VIEW_H
#define PLIANT_CLIENTS_CLI_DRAW_WATCH_VIEW_H

#include "clients/cli/base/terminal.h"

#include "protocol/text/json.h"

#include <stdint.h>

enum { PL_WATCH_BARS = 24, PL_WATCH_ROWS = 200 };

typedef struct pl_watch_row {
    char id[33], name[128], state[12], note[160]; /* note: why it waits, or why it failed */
    int64_t frame, frames;                        /* frame -1: none yet; frames -1: no end */
    double rate;                                  /* frames per second; NaN: unknown */
    double bars[PL_WATCH_BARS];                   /* residuals, the newest last; NaN: none */
    int bar_count;
    int64_t bars_of; /* the frame of the last bar; -1: not requested yet */
} pl_watch_row;

/* Read a session's document into the row; the bars stay unchanged. */
void pl_watch_take(const pl_json *session, pl_watch_row *row);
/* Read the bars from the lines of GET .../metrics?buckets=N. */
void pl_watch_take_buckets(const char *lines, size_t size, pl_watch_row *row);
/* Sort: running sessions first, then paused or waiting ones, then ended ones; newest first within each. */
void pl_watch_sort(pl_watch_row *rows, int count);
bool pl_watch_over(const pl_watch_row *row);

/* The table, malloc'ed: a header, then at most `most` rows of at most `columns` characters; NULL: out of memory. */
char *pl_watch_table(const pl_watch_row *rows, int count, int most, int columns,
                     const pl_terminal *t);
/* {"sessions": [...]} on one line, malloc'ed. */
char *pl_watch_json(const pl_watch_row *rows, int count);

#endif
