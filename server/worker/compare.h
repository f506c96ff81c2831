/* compare.h - runs several methods on one step from the same state, and records every iteration.
 *
 * The session directory holds scene.json and, beside it, entry-0.json, entry-1.json, ...: the same scene with other
 * solver settings. Steps 1 .. step - 1 use scene.json's own method; then each entry computes the next step from the
 * state they reached. compare.ndjson reports the results, a line of JSON for each event as it happens:
 *
 *   {"event": "approach", "step": s, "of": n}
 *   {"event": "begin", "entry": k}
 *   {"event": "refused", "entry": k, "faults": [...]}
 *   {"event": "failed", "entry": k, "code", "message", "advice"}    k null: on the way there
 *   {"event": "done", "entry": k, "ms": of the step when nothing is recorded, "setup_ms",
 *    "rows": [[objective, gradient_norm, decrement, ms], ...]}
 *   {"event": "end"}
 *
 * Row 0 is the initial guess. The rows' ms include measuring objective and gradient, which a method may not otherwise
 * need; "ms" is from a second run without measuring. Entries from `references` on are alternatives: the first that
 * succeeds ends the list.
 */
#ifndef PLIANT_SERVER_WORKER_COMPARE_H
#define PLIANT_SERVER_WORKER_COMPARE_H

#include "server/worker/session_options.h"

typedef struct pl_compare_options {
    int64_t step;       /* >= 1 */
    int32_t entries;    /* >= 1 */
    int32_t references; /* first of the alternatives; INT32_MAX: none */
} pl_compare_options;

/* Takes over the process like pl_session_run. PL_WORKER_SUCCEEDED if the state was reached, regardless of the entries'
 * results. */
pl_worker_exit pl_compare_run(const pl_session_options *options, const pl_compare_options *compare);

#endif
