/* sweep_run.h - one sweep: its definition, and the progress of its rows. sweeps.h says who may change it. */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_RUN_H
#define PLIANT_SERVER_SWEEPS_SWEEP_RUN_H

#include "protocol/sweep/sweep.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum pl_sweep_row_state {
    PL_ROW_WAITING,
    PL_ROW_LIVE, /* its session has not ended, as far as known */
    PL_ROW_SUCCEEDED,
    PL_ROW_FAILED,
    PL_ROW_REJECTED,
    PL_ROW_CANCELLED,
    PL_ROW_REFUSED, /* no session could be created from its scene */
    PL_ROW_DELETED, /* its session was deleted before it ended */
    PL_ROW_STOPPED, /* by the condition in stop_runs */
    PL_ROW_STATES
} pl_sweep_row_state;
const char *pl_sweep_row_state_name(pl_sweep_row_state state);

/* A row's outcome; texts and numbers are malloc'ed. All zeros: nothing is known. */
typedef struct pl_sweep_outcome {
    char *message;   /* why it failed or was rejected; NULL: nothing */
    char *warnings;  /* its session's, a JSON array; NULL: none */
    double *results; /* one each, NaN: missing; NULL: it has not ended */
} pl_sweep_outcome;

typedef struct pl_sweep_row {
    char session[33]; /* the newest; "": none yet */
    pl_sweep_row_state state;
    int32_t tries;
    int64_t since_us; /* sessions created earlier belong to earlier tries */
    bool adopted;     /* found by its session's labels at start */
    int64_t looked;   /* for the runner: records checked without stopping the run */
    pl_sweep_outcome outcome;
} pl_sweep_row;

/* Why no further row is started. */
typedef enum pl_sweep_halt { PL_HALT_NONE, PL_HALT_CANCELLED, PL_HALT_STOPPED } pl_sweep_halt;

/* End of a fit's search: the reason why it needs no more rows. */
typedef enum pl_fit_end {
    PL_FIT_OPEN, /* it may need more */
    PL_FIT_END_CONVERGED,
    PL_FIT_END_EXHAUSTED,
    PL_FIT_END_LOST,
} pl_fit_end;

typedef struct pl_sweep_run {
    struct pl_sweep_run *next;
    char id[33];
    char *owner, *group; /* NULL: none */
    bool admin;          /* posted with the scope admin */
    int64_t created_us;
    int64_t bytes; /* memory, about; the document counts four times, because it is parsed */
    pl_sweep plan; /* constant, except that a fit's rows are added under the table's mutex */
    _Atomic int references;
    /* under the table's mutex */
    pl_sweep_row *rows;
    pl_sweep_halt halt;
    pl_fit_end end;    /* end of a fit's search */
    bool gone;         /* deleted */
    int64_t due_ms;    /* on pl_monotonic_ms: no row starts earlier */
    char message[256]; /* why the next row waits; "": nothing */
} pl_sweep_run;

/* Create a sweep with one reference, in no table, from a document of so many bytes; takes the plan. NULL with errno:
 * out of memory. */
pl_sweep_run *pl_sweep_run_create(const char *id, const char *owner, const char *group,
                                  pl_sweep *plan, size_t length);
pl_sweep_run *pl_sweep_acquire(pl_sweep_run *s); /* returns it */
void pl_sweep_release(pl_sweep_run *s);          /* NULL is allowed */
void pl_sweep_outcome_clear(pl_sweep_outcome *outcome);

/* With the table's mutex held: the number of rows whose session has not ended; and whether anything is left to do. */
int64_t pl_sweep_live(const pl_sweep_run *s);
bool pl_sweep_open(const pl_sweep_run *s);
/* The row of a fit with the smallest misfit; -1: no run has succeeded. */
int64_t pl_sweep_best(const pl_sweep_run *s);

#endif
