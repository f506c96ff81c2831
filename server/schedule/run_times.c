#include "server/schedule/run_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_weight = 0.2; /* of the newest run: roughly the last five count */
static const double farthest = 6.9;     /* largest logarithm: a factor of a thousand */

struct pl_run_times {
    pl_run_times_entry *entries; /* [most] */
    size_t count, most;
    int64_t uses;
};

pl_run_times *pl_run_times_create(size_t most)
{
    pl_run_times *h = calloc(1, sizeof *h);
    if (h && !(h->entries = calloc(most ? most : 1, sizeof *h->entries))) {
        free(h);
        return NULL;
    }
    if (h) {
        h->most = most ? most : 1;
    }
    return h;
}

void pl_run_times_destroy(pl_run_times *h)
{
    if (h) {
        free(h->entries);
    }
    free(h);
}

static pl_run_times_entry *find(pl_run_times *h, const char *kind)
{
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->entries[i].kind, kind) == 0) {
            h->entries[i].used = ++h->uses;
            return &h->entries[i];
        }
    }
    return NULL;
}

static pl_run_times_entry *oldest(pl_run_times *h)
{
    pl_run_times_entry *found = &h->entries[0];
    for (size_t i = 1; i < h->count; i++) {
        found = h->entries[i].used < found->used ? &h->entries[i] : found;
    }
    return found;
}

static pl_run_times_entry *make(pl_run_times *h, const char *kind, char *forgotten)
{
    pl_run_times_entry *e = h->count < h->most ? &h->entries[h->count++] : oldest(h);
    strcpy(forgotten, e->kind);
    *e = (pl_run_times_entry){.used = ++h->uses};
    strcpy(e->kind, kind);
    return e;
}

const pl_run_times_entry *pl_run_times_note(pl_run_times *h, const char *kind, double ratio,
                                            char forgotten[PL_RUN_TIMES_KIND])
{
    forgotten[0] = 0;
    if (!(ratio > 0) || isinf(ratio) || strlen(kind) >= PL_RUN_TIMES_KIND) {
        return NULL;
    }
    pl_run_times_entry *e = find(h, kind);
    e = e ? e : make(h, kind, forgotten);
    double weight = fmax(1.0 / (double)++e->runs, least_weight);
    double logarithm = fmax(-farthest, fmin(log(ratio), farthest));
    e->log_ratio += weight * (logarithm - e->log_ratio);
    return e;
}

void pl_run_times_put(pl_run_times *h, const char *kind, double log_ratio, int64_t runs)
{
    char forgotten[PL_RUN_TIMES_KIND];
    if (strlen(kind) >= PL_RUN_TIMES_KIND || runs < 1 || !(fabs(log_ratio) <= farthest)) {
        return;
    }
    pl_run_times_entry *e = find(h, kind);
    e = e ? e : make(h, kind, forgotten);
    e->log_ratio = log_ratio;
    e->runs = runs;
}

double pl_run_times_ratio(pl_run_times *h, const char *kind, int64_t least)
{
    const pl_run_times_entry *e = find(h, kind);
    return e && e->runs >= least ? exp(e->log_ratio) : 0;
}
