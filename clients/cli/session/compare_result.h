/* compare_result.h - results of several methods on one step: the worker's compare.ndjson, errors relative to a
 * reference, and where each method reached a given error.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_COMPARE_RESULT_H
#define PLIANT_CLIENTS_CLI_SESSION_COMPARE_RESULT_H

#include "protocol/text/json.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_compared_state {
    PL_COMPARED_WAITING,
    PL_COMPARED_DONE,
    PL_COMPARED_REFUSED,
    PL_COMPARED_FAILED
} pl_compared_state;

typedef struct pl_compared {
    const char *label; /* the caller's */
    pl_compared_state state;
    char reason[512];    /* of a rejection or failure */
    double ms, setup_ms; /* of the step without recording; of model and factor */
    bool touches;        /* bodies touch in this frame */
    int64_t count;       /* rows; row 0 is the initial guess */
    double *objective;   /* [count] malloc'ed; NaN where it is infinite */
    double *gradient_norm, *decrement;
    /* 0, 1, ..; ms since the step's start, corrected for the cost of recording */
    double *index, *time;
    double *error; /* relative; NaN: undefined */
} pl_compared;

typedef struct pl_compare_result {
    int32_t count, references;     /* entries; from `references` on they are alternatives */
    pl_compared *entries;          /* malloc'ed */
    int64_t approach, approach_of; /* steps on the way; -1: not started */
    int32_t current;               /* entry being computed; -1: none yet */
    bool ended;
    char trouble[512];  /* why the state could not be reached, or "" */
    int32_t reference;  /* the entry that defines e*; -1: none */
    double best, start; /* e* and e(x_0), J */
    bool touches;       /* of any entry */
} pl_compare_result;

/* Labels are kept by reference. False when out of memory. */
bool pl_compare_result_init(pl_compare_result *r, int32_t count, int32_t references,
                            const char *const *labels);
void pl_compare_result_clear(pl_compare_result *r);

/* Read a line of compare.ndjson. */
void pl_compare_result_take(pl_compare_result *r, const char *line, size_t length);

/* Call this when all lines have been read. e* is the reference's last objective, or the lowest objective of any method
 * that went lower; errors are |e(x_k) - e*| / |e(x_0) - e*|. If e lacks some constraints (`obstacles`, or contact
 * between bodies), iterates that violate them may go lower; then e* is the reference's. False if there is no reference,
 * or if it starts at the minimum. */
bool pl_compare_result_settle(pl_compare_result *r, bool obstacles);

/* The first row from which errors stay at most `error`; -1: none. Until constraints hold, iterates may pass e* on their
 * way. */
int64_t pl_compared_reach(const pl_compared *c, double error);

#endif
