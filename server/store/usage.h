/* usage.h - who ran what, when and on how much: in the database a row for each run, kept for a month, and their
 * sums by day, user and group, kept for good. A run that lasts over midnight (UTC) is a row a day. What runs now is
 * in no table yet: it is counted from when it began (run/dispatcher.h, pl_dispatcher_each_running).
 */
#ifndef PLIANT_SERVER_STORE_USAGE_H
#define PLIANT_SERVER_STORE_USAGE_H

#include "server/store/store.h"

enum { PL_USAGE_DAY_MS = 86400000, PL_USAGE_KEPT_DAYS = 31 };

/* A session that ran without a break, or what sessions of one worker held together. Strings are lent. */
typedef struct pl_usage_span {
    const char *session;    /* id */
    const char *user;       /* its owner */
    const char *group;      /* "": none */
    int64_t from_ms, to_ms; /* since 1970 */
    int64_t cores;
    const char *gpu; /* UUID, or NULL: none */
    bool shared;     /* held for several sessions: no run of its own */
} pl_usage_span;

/* Queued, not waited for. The same run noted twice counts once. False where too much is queued: it is lost. */
bool pl_usage_note(pl_store *store, const pl_usage_span *span);

/* Bytes stored today, in place of an earlier sample: a JSON array of [user, group, bytes]. Waits for the commit. */
bool pl_usage_sample(pl_store *store, const char *bytes, int64_t now_ms);

/* Seconds from `from` to `to` as they count at `now`, halved each half_life: the integral of 2^((t-now)/half_life). */
double pl_usage_decayed(int64_t from_ms, int64_t to_ms, int64_t now_ms, double half_life_s);
/* Core-seconds and GPU-seconds of each user in each group as they count now. False where the database failed. */
typedef void (*pl_usage_see)(void *context, const char *user, const char *group,
                             double core_seconds, double gpu_seconds);
bool pl_usage_recall(pl_store *store, int64_t now_ms, double half_life_s, pl_usage_see see,
                     void *context);

/* Forget runs of more than a month ago; their days stay. */
void pl_usage_sweep(pl_store *store);

#endif
