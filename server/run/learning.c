#include "server/run/learning.h"

#include "server/schedule/run_times.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 4096, RUNS_OF_A_SIZE = 3 };
static const double buckets[PL_LEARNING_BUCKETS] = {0.25, 0.5, 0.8, 1.25, 2, 4, 8, 16};

struct pl_learning {
    pl_store *store;
    pthread_mutex_t mutex;
    pl_run_times *times;
    pl_learning_errors errors;
};

/* ---- kinds ---- */

/* Only one owner's runs, so that estimates do not reveal that another user has run a similar scene. */
static void own_kind(const char *owner, const pl_preflight *p, char out[2 * PL_RUN_TIMES_KIND])
{
    snprintf(out, 2 * PL_RUN_TIMES_KIND, "%s %s %lld %lld %.3e", owner, p->kind,
             (long long)p->vertices, (long long)p->tets, p->seconds_per_frame);
}

static void size_kind(const pl_preflight *p, char out[2 * PL_RUN_TIMES_KIND])
{
    snprintf(out, 2 * PL_RUN_TIMES_KIND, "* %s 2^%d", p->kind, ilogb((double)p->vertices + 1));
}

/* ---- the database ---- */

static void see(void *context, const char *const *columns)
{
    const pl_learning *l = context;
    if (columns[0] && columns[1] && columns[2]) {
        pl_run_times_put(l->times, columns[0], strtod(columns[1], NULL), atoll(columns[2]));
    }
}

static void keep(pl_learning *l, const char *kind, double ratio)
{
    char forgotten[PL_RUN_TIMES_KIND], mean[32];
    const pl_run_times_entry *e = pl_run_times_note(l->times, kind, ratio, forgotten);
    if (!e) {
        return;
    }
    snprintf(mean, sizeof mean, "%.17g", e->log_ratio);
    pl_store_digits runs = pl_store_number(e->runs);
    pl_store_note(l->store, &(pl_statement){"INSERT OR REPLACE INTO run_times VALUES(?1,?2,?3)",
                                            {kind, mean, runs.text},
                                            3});
    if (*forgotten) {
        pl_store_note(l->store,
                      &(pl_statement){"DELETE FROM run_times WHERE kind=?1", {forgotten}, 1});
    }
}

pl_learning *pl_learning_create(pl_store *store)
{
    pl_learning *l = calloc(1, sizeof *l);
    if (!l || !(l->times = pl_run_times_create(KINDS))) {
        free(l);
        return NULL;
    }
    l->store = store;
    pthread_mutex_init(&l->mutex, NULL);
    for (int i = 0; i < PL_LEARNING_BUCKETS; i++) {
        l->errors.most[i] = buckets[i];
    }
    pl_store_read(store, &(pl_statement){.sql = "SELECT kind, log_ratio, runs FROM run_times"}, see,
                  l);
    return l;
}

void pl_learning_destroy(pl_learning *l)
{
    if (l) {
        pl_run_times_destroy(l->times);
        pthread_mutex_destroy(&l->mutex);
    }
    free(l);
}

/* ---- using it ---- */

double pl_learning_ratio(pl_learning *l, const char *owner, const pl_preflight *p)
{
    char own[2 * PL_RUN_TIMES_KIND], size[2 * PL_RUN_TIMES_KIND];
    if (!l || !*p->kind) {
        return 1;
    }
    own_kind(owner, p, own);
    size_kind(p, size);
    pthread_mutex_lock(&l->mutex);
    double ratio = pl_run_times_ratio(l->times, own, 1);
    ratio = ratio > 0 ? ratio : pl_run_times_ratio(l->times, size, RUNS_OF_A_SIZE);
    pthread_mutex_unlock(&l->mutex);
    return ratio > 0 ? ratio : 1;
}

static void count(pl_learning_errors *e, double ratio)
{
    for (int i = 0; i < PL_LEARNING_BUCKETS; i++) {
        e->count[i] += ratio <= e->most[i];
    }
    e->runs++;
    e->sum += ratio;
}

void pl_learning_note(pl_learning *l, const char *owner, const pl_preflight *p, double seconds,
                      double first, double expected)
{
    char own[2 * PL_RUN_TIMES_KIND], size[2 * PL_RUN_TIMES_KIND];
    if (!l || !*p->kind || !(first > 0) || !(seconds > 0)) {
        return;
    }
    own_kind(owner, p, own);
    size_kind(p, size);
    pthread_mutex_lock(&l->mutex);
    if (expected > 0) {
        count(&l->errors, seconds / expected);
    }
    keep(l, own, seconds / first);
    keep(l, size, seconds / first);
    pthread_mutex_unlock(&l->mutex);
}

pl_learning_errors pl_learning_get_errors(pl_learning *l)
{
    pthread_mutex_lock(&l->mutex);
    pl_learning_errors errors = l->errors;
    pthread_mutex_unlock(&l->mutex);
    return errors;
}
