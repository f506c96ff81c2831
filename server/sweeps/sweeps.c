#include "server/sweeps/sweeps.h"

#include "server/base/clock.h"
#include "server/base/logger.h"
#include "server/sweeps/sweep_store.h"
#include "server/tenants/auth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pl_sweeps {
    pl_sweep_store store;
    pl_sessions *sessions;
    pthread_mutex_t mutex; /* guards all below */
    pl_sweep_run *first;   /* newest first */
};

void pl_sweeps_lock(pl_sweeps *t)
{
    pthread_mutex_lock(&t->mutex);
}

void pl_sweeps_unlock(pl_sweeps *t)
{
    pthread_mutex_unlock(&t->mutex);
}

pl_sessions *pl_sweeps_sessions(pl_sweeps *t)
{
    return t->sessions;
}

/* ---- one sweep ---- */

pl_access pl_sweep_access(const pl_principal *p, const pl_sweep_run *s)
{
    return pl_principal_access(p, s->id, s->owner, s->group);
}

void pl_sweep_set_halt(pl_sweeps *t, pl_sweep_run *s, pl_sweep_halt halt)
{
    s->halt = halt;
    s->message[0] = 0;
    if (!s->gone) {
        pl_sweep_store_halt(&t->store, s);
    }
}

void pl_sweep_set_row(pl_sweeps *t, pl_sweep_run *s, int64_t row, pl_sweep_row_state state,
                      pl_sweep_outcome *outcome)
{
    pl_sweep_row *r = &s->rows[row];
    pl_sweep_outcome_clear(&r->outcome);
    r->state = state;
    if (outcome) {
        r->outcome = *outcome;
        *outcome = (pl_sweep_outcome){0};
    }
    if (!s->gone) {
        pl_sweep_store_row(&t->store, s, row);
    }
}

int64_t pl_sweep_retry(pl_sweeps *t, pl_sweep_run *s)
{
    int64_t count = 0, now = pl_clock_us();
    for (int64_t i = 0; i < s->plan.row_count; i++) {
        pl_sweep_row_state state = s->rows[i].state;
        bool again = state > PL_ROW_SUCCEEDED && state != PL_ROW_STOPPED;
        if (again) {
            s->rows[i].since_us = now;
            pl_sweep_set_row(t, s, i, PL_ROW_WAITING, NULL);
        }
        count += again || (state == PL_ROW_WAITING && s->halt != PL_HALT_NONE);
    }
    count += s->plan.fit && s->halt != PL_HALT_NONE;
    if (count) {
        s->end = PL_FIT_OPEN;
        pl_sweep_set_halt(t, s, PL_HALT_NONE);
    }
    s->due_ms = 0;
    return count;
}

/* ---- the table ---- */

static void put_first(pl_sweeps *t, pl_sweep_run *s)
{
    pl_sweep_run **at = &t->first;
    while (*at && (*at)->created_us > s->created_us) {
        at = &(*at)->next;
    }
    s->next = *at;
    *at = s;
}

/* True if the owner may keep one more, of so many bytes. */
static bool has_room(pl_sweeps *t, const char *owner, int64_t bytes)
{
    int64_t count = 1;
    pl_sweeps_lock(t);
    for (const pl_sweep_run *s = t->first; s; s = s->next) {
        bool own = strcmp(s->owner, owner) == 0;
        count += own;
        bytes += own ? s->bytes : 0;
    }
    pl_sweeps_unlock(t);
    return count <= PL_SWEEPS_OF_USER_MAX && bytes <= PL_SWEEPS_BYTES_MAX;
}

pl_sweep_run *pl_sweeps_make(pl_sweeps *t, const pl_principal *owner, const char *group,
                             pl_sweep *plan, size_t length)
{
    char id[33];
    if (pl_random_id(id) != 0) {
        pl_sweep_clear(plan);
        errno = EIO;
        return NULL;
    }
    pl_sweep_run *s = pl_sweep_run_create(id, owner->user, group, plan, length);
    if (!s) {
        return NULL;
    }
    if (!has_room(t, s->owner, s->bytes)) {
        pl_sweep_release(s);
        errno = EDQUOT;
        return NULL;
    }
    s->admin = owner->scopes & PL_SCOPE_ADMIN;
    s->created_us = pl_sessions_stamp(t->sessions);
    return s;
}

bool pl_sweeps_add(pl_sweeps *t, pl_sweep_run *s, const char *text, const pl_kept_reply *kept)
{
    if (!pl_sweep_store_add(&t->store, s, text, kept)) {
        return false;
    }
    pl_sweeps_lock(t);
    put_first(t, pl_sweep_acquire(s));
    pl_sweeps_unlock(t);
    return true;
}

pl_sweep_run *pl_sweeps_find(pl_sweeps *t, const pl_principal *p, const char *id, pl_access *access)
{
    pl_sweep_run *found = NULL;
    pl_sweeps_lock(t);
    for (pl_sweep_run *s = t->first; s && !found; s = s->next) {
        found = strcmp(s->id, id) == 0 ? s : NULL;
    }
    *access = found ? pl_sweep_access(p, found) : PL_ACCESS_NONE;
    found = *access == PL_ACCESS_NONE ? NULL : pl_sweep_acquire(found);
    pl_sweeps_unlock(t);
    return found;
}

pl_sweep_run **pl_sweeps_all(pl_sweeps *t, size_t *count)
{
    size_t n = 0;
    pl_sweeps_lock(t);
    for (const pl_sweep_run *s = t->first; s; s = s->next) {
        n++;
    }
    pl_sweep_run **all = malloc((n + 1) * sizeof *all);
    *count = 0;
    for (pl_sweep_run *s = t->first; s && all; s = s->next) {
        all[(*count)++] = pl_sweep_acquire(s);
    }
    pl_sweeps_unlock(t);
    return all;
}

bool pl_sweeps_remove(pl_sweeps *t, pl_sweep_run *s)
{
    pl_sweeps_lock(t);
    bool ours = !s->gone;
    s->gone = true; /* nothing more is stored for it */
    pl_sweeps_unlock(t);
    if (ours && !pl_sweep_store_remove(&t->store, s)) {
        pl_sweeps_lock(t);
        s->gone = false;
        pl_sweeps_unlock(t);
        return false;
    }
    pl_sweeps_lock(t);
    for (pl_sweep_run **at = &t->first; ours && *at; at = &(*at)->next) {
        if (*at == s) {
            *at = s->next;
            pl_sweep_release(s);
            break;
        }
    }
    pl_sweeps_unlock(t);
    return true;
}

/* ---- up and down ---- */

static void take_loaded(void *context, pl_sweep_run *s)
{
    put_first(context, s);
}

pl_sweeps *pl_sweeps_create(const char *state, int state_fd, pl_store *store, pl_sessions *sessions)
{
    pl_sweeps *t = calloc(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    t->store = (pl_sweep_store){state, state_fd, store};
    t->sessions = sessions;
    pthread_mutex_init(&t->mutex, NULL);
    if (!pl_sweep_store_load(&t->store, sessions, take_loaded, t)) {
        pl_logf(PL_LEVEL_ERROR, "the sweeps could not be loaded");
        pl_sweeps_destroy(t);
        return NULL;
    }
    return t;
}

void pl_sweeps_destroy(pl_sweeps *t)
{
    if (!t) {
        return;
    }
    for (pl_sweep_run *s = t->first, *next; s; s = next) {
        next = s->next;
        pl_sweep_release(s);
    }
    pthread_mutex_destroy(&t->mutex);
    free(t);
}
