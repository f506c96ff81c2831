/* learning.h - corrects estimates by past runs on this machine, stored in the database. Two runs of one owner are alike
 * if sizes, method and expected time of a frame are the same; runs of different owners, if the method is the same and
 * the number of vertices is similar. One mutex, taken last.
 */
#ifndef PLIANT_SERVER_RUN_LEARNING_H
#define PLIANT_SERVER_RUN_LEARNING_H

#include "protocol/log/session_dir.h"
#include "server/store/store.h"

typedef struct pl_learning pl_learning;

pl_learning *pl_learning_create(pl_store *store); /* NULL: out of memory */
void pl_learning_destroy(pl_learning *learning);

/* The factor for the preflight's times; 1 without similar runs, or with NULL. */
double pl_learning_ratio(pl_learning *learning, const char *owner, const pl_preflight *report);
/* Record a complete run: its `seconds`, the preflight's estimate `first`, and `expected`, the estimate that its owner
 * saw, s, or 0. */
void pl_learning_note(pl_learning *learning, const char *owner, const pl_preflight *report,
                      double seconds, double first, double expected);

/* Cumulative counts of runs by seconds / expected, the last of all runs. */
enum { PL_LEARNING_BUCKETS = 8 };
typedef struct pl_learning_errors {
    double most[PL_LEARNING_BUCKETS];
    int64_t count[PL_LEARNING_BUCKETS], runs;
    double sum;
} pl_learning_errors;
pl_learning_errors pl_learning_get_errors(pl_learning *learning);

#endif
