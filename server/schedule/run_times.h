/* run_times.h - how long runs took by how long they were expected to take: a ratio for each kind of run, of which the later
 * runs count more. A kind is a text of the caller's. No clock and no store in it.
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
    int64_t used; /* the entry used longest ago is forgotten for a new one */
} pl_run_times_entry;

typedef struct pl_run_times pl_run_times;

pl_run_times *pl_run_times_create(size_t most); /* so many kinds; NULL: out of memory */
void pl_run_times_destroy(pl_run_times *times);
/* A run took `ratio` times what was expected. The kind's entry, lent; `forgotten` is the kind that went for it, "": none.
 * NULL, and nothing changes, for a ratio that is no positive number and a kind that is too long. */
const pl_run_times_entry *pl_run_times_note(pl_run_times *times, const char *kind, double ratio,
                                            char forgotten[PL_RUN_TIMES_KIND]);
/* As it was kept. */
void pl_run_times_put(pl_run_times *times, const char *kind, double log_ratio, int64_t runs);
/* The ratio of a kind; 0 where fewer than `least` runs of it are known. */
double pl_run_times_ratio(pl_run_times *times, const char *kind, int64_t least);

#endif
