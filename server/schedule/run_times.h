/* run_times.h - the ratio of actual to expected running time for each kind of run, with more weight on later runs. The
 * caller names the kinds. No clock and no database.
 */
#ifndef PLIANT_SERVER_SCHEDULE_RUN_TIMES_H
#define PLIANT_SERVER_SCHEDULE_RUN_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_RUN_TIMES_KIND = 160 };

typedef struct pl_run_times_entry {
    char kind[PL_RUN_TIMES_KIND];
    double log_ratio; /* a mean */
    int64_t runs;
    int64_t used; /* the least recently used entry makes room for a new one */
} pl_run_times_entry;

typedef struct pl_run_times pl_run_times;

pl_run_times *pl_run_times_create(size_t most); /* so many kinds; NULL: out of memory */
void pl_run_times_destroy(pl_run_times *times);
/* Records that a run took `ratio` times the expected time. Returns the kind's entry, lent; `forgotten` becomes the kind
 * that it replaced, or "". Returns NULL and changes nothing if the ratio is not positive or the kind is too long. */
const pl_run_times_entry *pl_run_times_note(pl_run_times *times, const char *kind, double ratio,
                                            char forgotten[PL_RUN_TIMES_KIND]);
/* Restores an entry that was stored. */
void pl_run_times_put(pl_run_times *times, const char *kind, double log_ratio, int64_t runs);
/* The ratio of a kind; 0 if fewer than `least` of its runs are known. */
double pl_run_times_ratio(pl_run_times *times, const char *kind, int64_t least);

#endif
