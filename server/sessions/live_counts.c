#include "server/sessions/live_counts.h"

#include "server/sessions/sessions_locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pl_live_count *find(pl_live_count *all, size_t count, const char *user)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].user, user) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

static bool add(pl_live_count **all, size_t *count, const pl_session *s)
{
    pl_live_count *u = find(*all, *count, s->owner);
    if (!u && (*count & (*count - 1)) == 0) { /* the array is full at each power of two */
        pl_live_count *grown = realloc(*all, (*count ? 2 * *count : 1) * sizeof *grown);
        if (!grown) {
            return false;
        }
        *all = grown;
    }
    if (!u) {
        u = &(*all)[(*count)++];
        *u = (pl_live_count){0};
        snprintf(u->user, sizeof u->user, "%s", s->owner);
    }
    u->sessions[s->state]++;
    return true;
}

pl_live_count *pl_live_counts(pl_sessions *t, size_t *count)
{
    pl_live_count *all = NULL;
    bool good = true;
    *count = 0;
    pl_sessions_lock(t);
    for (size_t i = 0; good && i < t->count; i++) {
        const pl_session *s = t->order[i];
        good = pl_state_terminal((pl_session_state)s->state) || add(&all, count, s);
    }
    pl_sessions_unlock(t);
    return all;
}
