/* usage.h - usage of the machine in the database: a row for each run, kept for a month, and sums by day, user and
 * group, kept for good. A run over midnight (UTC), or with a changing number of cores, is several rows. Running
 * sessions are in no table yet (run/dispatcher.h, pl_dispatcher_each_running).
 */
#ifndef PLIANT_SERVER_STORE_USAGE_H
#define PLIANT_SERVER_STORE_USAGE_H

#include "server/store/store.h"

enum { PL_USAGE_DAY_MS = 86400000, PL_USAGE_KEPT_DAYS = 31 };

/* A session's uninterrupted run, or resources that sessions of one worker held together. Strings are lent. */
typedef struct pl_usage_span {
    const char *session;    /* id */
    const char *user;       /* its owner */
    const char *group;      /* "": none */
    int64_t from_ms, to_ms; /* since 1970 */
    int64_t cores;
    const char *gpu; /* UUID, or NULL: none */
    bool shared;     /* held for several sessions: not a run itself */
} pl_usage_span;

/* Queue a row without waiting. A run noted twice counts once. False, and the row is lost, if too much is queued. */
bool pl_usage_note(pl_store *store, const pl_usage_span *span);

/* Store today's sample of bytes, a JSON array of [user, group, bytes], replacing an earlier one. Waits for the
 * commit. */
bool pl_usage_sample(pl_store *store, const char *bytes, int64_t now_ms);

/* Seconds from `from` to `to` weighted as of `now`, halved every half_life: the integral of 2^((t-now)/half_life). */
double pl_usage_decayed(int64_t from_ms, int64_t to_ms, int64_t now_ms, double half_life_s);
/* Core-seconds and GPU-seconds of each user in each group, decayed until now. False if the database failed. */
typedef void (*pl_usage_see)(void *context, const char *user, const char *group,
                             double core_seconds, double gpu_seconds);
bool pl_usage_recall(pl_store *store, int64_t now_ms, double half_life_s, pl_usage_see see,
                     void *context);

/* Deletes runs older than a month; the sums by day stay. */
void pl_usage_sweep(pl_store *store);

#endif
