/* learning.h - estimates that learn: what runs took on this machine, by what the preflight expected. Kept in the database.
 * A run is like another of its owner's with the same sizes, method and expected time of a frame, or else like those of
 * anybody's with the same method and about as many elements. One mutex, taken last.
 */
#ifndef PLIANT_SERVER_RUN_LEARNING_H
#define PLIANT_SERVER_RUN_LEARNING_H

#include "protocol/log/session_dir.h"
#include "server/store/store.h"

typedef struct pl_learning pl_learning;

pl_learning *pl_learning_create(pl_store *store); /* NULL: out of memory */
void pl_learning_destroy(pl_learning *learning);

/* What the preflight's times are to be multiplied by; 1 where nothing is known of such runs, or with NULL. */
double pl_learning_ratio(pl_learning *learning, const char *owner, const pl_preflight *report);
/* A whole run took `seconds`, of which the preflight thought `first`; `expected` is what its owner was told, s, or 0. */
void pl_learning_note(pl_learning *learning, const char *owner, const pl_preflight *report,
                      double seconds, double first, double expected);

/* Runs by seconds / expected: at most `least`, ..., and all of them. */
enum { PL_LEARNING_BUCKETS = 8 };
typedef struct pl_learning_errors {
    double most[PL_LEARNING_BUCKETS];
    int64_t count[PL_LEARNING_BUCKETS], runs;
    double sum;
} pl_learning_errors;
pl_learning_errors pl_learning_get_errors(pl_learning *learning);

#endif
