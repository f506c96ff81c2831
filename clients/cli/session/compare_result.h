/* compare_result.h - what came of several methods on one step: the worker's compare.ndjson read
 * back, errors relative to a reference, and where each method reached which error.
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
    char reason[512];    /* of a refusal or failure */
    double ms, setup_ms; /* of the step with nothing recorded; of model and factor */
    bool touches;        /* bodies touch in the frame */
    int64_t count;       /* rows; row 0 is the initial guess */
    double *objective;   /* [count] malloc'ed; NaN where it is infinite */
    double *gradient_norm, *decrement;
    double *index, *time; /* 0, 1, ..; ms since the step's start, as if nothing was recorded */
    double *error;        /* relative; NaN where there is none */
} pl_compared;

typedef struct pl_compare_result {
    int32_t count, references;     /* entries; from `references` on they are alternatives */
    pl_compared *entries;          /* malloc'ed */
    int64_t approach, approach_of; /* steps on the way; -1 before */
    int32_t current;               /* entry at work, -1 before */
    bool ended;
    char trouble[512];  /* what kept it from reaching the state, or "" */
    int32_t reference;  /* the entry that e* is from; -1: none */
    double best, start; /* e* and e(x_0), J */
    bool touches;       /* of any entry */
} pl_compare_result;

/* Labels are kept by reference. False when out of memory. */
bool pl_compare_result_init(pl_compare_result *r, int32_t count, int32_t references,
                            const char *const *labels);
void pl_compare_result_clear(pl_compare_result *r);

/* Take a line of compare.ndjson in. */
void pl_compare_result_take(pl_compare_result *r, const char *line, size_t length);

/* Once all is in: e* is the reference's last objective, or lower where a method went lower; errors
 * are |e(x_k) - e*| / |e(x_0) - e*|. With constraints that e does not contain, `obstacles` or contact between
 * bodies, iterates that break them may lie below: then e* is the reference's. False where there is no
 * reference, or it starts at the minimum. */
bool pl_compare_result_settle(pl_compare_result *r, bool obstacles);

/* The first row from which on errors are at most `error`: without constraints that hold, iterates may pass e* on
 * their way. -1: none. */
int64_t pl_compared_reach(const pl_compared *c, double error);

#endif
