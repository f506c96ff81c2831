/* progress.h - a session's progress, as text. */
#ifndef PLIANT_CLIENTS_CLI_BASE_PROGRESS_H
#define PLIANT_CLIENTS_CLI_BASE_PROGRESS_H

#include "clients/cli/base/terminal.h"

#include "protocol/log/metrics_json.h"

typedef struct pl_progress {
    int64_t frames;             /* last frame of the run; 0: not known */
    pl_metrics_digest latest;   /* frame < 0: none yet */
    double ms_frame;            /* smoothed; NaN: not known */
    double last_plain, started; /* monotonic s */
    int64_t last_plain_frame;
    int64_t noted, halved; /* frames seen after frame 0; those of them with a halved step */
} pl_progress;

enum { PL_PROGRESS_TEXT = 512 };

void pl_progress_init(pl_progress *p, int64_t frames);
/* Add a frame's metrics. */
void pl_progress_note(pl_progress *p, const pl_metrics_digest *digest);
/* The largest residual that the method computes, where the solver stopped; NaN: none. */
double pl_progress_residual(const pl_metrics_digest *digest);

/* "72/120  60%  residual 3.1e-07  ..." without bar or colour. */
void pl_progress_plain(const pl_progress *p, char out[PL_PROGRESS_TEXT]);
/* The same with a bar, cut to fit `t->columns`. */
void pl_progress_line(const pl_progress *p, const pl_terminal *t, char out[PL_PROGRESS_TEXT]);

/* Show it: in place on a terminal, otherwise as a line at most every 2 s. */
void pl_progress_show(pl_progress *p, pl_terminal *t);
/* Print the last state as a finished line. */
void pl_progress_end(pl_progress *p, pl_terminal *t);

/* A sentence about what was hard for the solver without being a warning; "" if nothing was. */
void pl_progress_hardship(const pl_progress *p, char out[PL_PROGRESS_TEXT]);

/* "0:04", "12:30", "1:02:03". */
void pl_duration_text(double seconds, char out[24]);
/* "1.5 MiB" and the like. */
void pl_bytes_text(double bytes, char out[24]);

#endif
