#include "server/streams/export_slots.h"

#include "server/base/pool.h"
#include "server/http/principal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pl_exports {
    pl_counters *counters;
    pl_pool *pool;
    int most;
    pthread_mutex_t mutex; /* guards the rest; innermost */
    int running;
    char users[PL_EXPORTS_MAX][PL_NAME_MAX + 1]; /* users of the running exports */
};

pl_exports *pl_exports_create(pl_counters *counters, int most)
{
    pl_exports *x = calloc(1, sizeof *x);
    if (!x) {
        return NULL;
    }
    x->counters = counters;
    x->most = most;
    pthread_mutex_init(&x->mutex, NULL);
    x->pool = pl_pool_create("exports", most, (size_t)most);
    if (!x->pool) {
        pl_exports_destroy(x);
        return NULL;
    }
    return x;
}

void pl_exports_stop(pl_exports *x)
{
    if (x) {
        pl_pool_stop(x->pool);
    }
}

void pl_exports_destroy(pl_exports *x)
{
    if (x) {
        pl_pool_destroy(x->pool);
        pthread_mutex_destroy(&x->mutex);
        free(x);
    }
}

pl_export_slot pl_exports_enter(pl_exports *x, const char *user)
{
    int theirs = 0;
    pthread_mutex_lock(&x->mutex);
    for (int i = 0; i < x->running; i++) {
        theirs += strcmp(x->users[i], user) == 0;
    }
    pl_export_slot outcome = x->running >= x->most                 ? PL_EXPORT_SLOTS_TAKEN
                             : theirs >= pl_exports_most_of_one(x) ? PL_EXPORT_SLOTS_YOURS
                                                                   : PL_EXPORT_SLOT_FREE;
    if (outcome == PL_EXPORT_SLOT_FREE) {
        strcpy(x->users[x->running++], user);
    }
    pthread_mutex_unlock(&x->mutex);
    if (outcome == PL_EXPORT_SLOT_FREE) {
        atomic_fetch_add(&x->counters->exports_open, 1);
        atomic_fetch_add(&x->counters->exports_total, 1);
    }
    return outcome;
}

void pl_exports_leave(pl_exports *x, const char *user)
{
    pthread_mutex_lock(&x->mutex);
    for (int i = 0; i < x->running; i++) {
        if (strcmp(x->users[i], user) == 0) {
            memmove(x->users[i], x->users[--x->running], sizeof x->users[i]);
            break;
        }
    }
    pthread_mutex_unlock(&x->mutex);
    atomic_fetch_sub(&x->counters->exports_open, 1);
}

int pl_exports_most(const pl_exports *x)
{
    return x->most;
}

int pl_exports_most_of_one(const pl_exports *x)
{
    return (x->most + 1) / 2;
}

bool pl_exports_submit(pl_exports *x, void (*job)(void *context), void *context)
{
    return pl_pool_submit(x->pool, job, context);
}
