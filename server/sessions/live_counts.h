/* live_counts.h - number of unfinished sessions of each user, for /metrics. */
#ifndef PLIANT_SERVER_SESSIONS_LIVE_COUNTS_H
#define PLIANT_SERVER_SESSIONS_LIVE_COUNTS_H

#include "server/sessions/sessions.h"

typedef struct pl_live_count {
    char user[80];
    int64_t sessions[PL_STATE_COUNT];
} pl_live_count;

/* Users in order of their oldest unfinished session, malloc'ed; NULL with *count 0 if none or out of memory. */
pl_live_count *pl_live_counts(pl_sessions *sessions, size_t *count);

#endif
