/* Reads of the table: a session as a document, lists, a user's usage. */
#include "server/base/clock.h"
#include "server/sessions/session_view.h"
#include "server/sessions/sessions_locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a webhook that `reader` (NULL: the daemon itself) may see. */
static unsigned webhook_for(const pl_principal *reader, const pl_session *s)
{
    return !reader || pl_principal_access(reader, s->id, s->owner, s->group) >= PL_ACCESS_MANAGE
               ? PL_VIEW_WEBHOOK
               : 0;
}

size_t pl_sessions_place(const pl_sessions *t, int64_t created_us)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->order[middle]->created_us < created_us) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

enum { STAMPS_AHEAD_US = 1000000 }; /* most that simultaneous requests can cause */

/* True if a session in the table has this stamp. */
static bool is_stamped(const pl_sessions *t, int64_t stamp)
{
    size_t place = pl_sessions_place(t, stamp);
    return place < t->count && t->order[place]->created_us == stamp;
}

/* A stamp far ahead was given while the clock was ahead; later sessions get the present time. */
int64_t pl_sessions_stamp(pl_sessions *t)
{
    pthread_mutex_lock(&t->mutex);
    int64_t now = pl_clock_us(), last = t->last_stamp;
    int64_t next = now > last || last - now > STAMPS_AHEAD_US ? now : last + 1;
    while (is_stamped(t, next)) {
        next++;
    }
    t->last_stamp = next;
    pthread_mutex_unlock(&t->mutex);
    return next;
}

char *pl_sessions_encode(pl_sessions *t, pl_session *s, const pl_principal *reader)
{
    pl_json_writer w = {0};
    pthread_mutex_lock(&t->mutex);
    pl_sessions_encode_locked(t, s, PL_VIEW_METADATA | webhook_for(reader, s), &w);
    pthread_mutex_unlock(&t->mutex);
    return pl_json_finish(&w, NULL);
}

/* Requirements on a key for its session to be listed. */
typedef struct wanted {
    pl_search_key key;
    bool owner; /* only of key.owner */
    /* a reader who sees only their own sessions and those of groups; 0: sees anybody's */
    uint32_t reader;
} wanted;

static wanted wanted_of(const pl_list_query *q)
{
    const pl_principal *p = q->principal;
    wanted w = {.key = {.owner = pl_search_hash(q->whose)}, .owner = q->whose != NULL};
    w.reader = p->session[0] || p->scopes & PL_SCOPE_ADMIN ? 0 : pl_search_hash(p->user);
    pl_signature_add(&w.key.name, q->name);
    for (int i = 0; i < q->labels.count; i++) {
        pl_signature_add(&w.key.labels, q->labels.terms[i]);
    }
    return w;
}

static bool may_be_listed(const pl_search_key *key, const wanted *w)
{
    return (!w->owner || key->owner == w->key.owner) &&
           (!w->reader || key->owner == w->reader || key->group) &&
           pl_signature_has(&key->name, &w->key.name) &&
           pl_signature_has(&key->labels, &w->key.labels);
}

static bool listed(const pl_session *s, const pl_list_query *q)
{
    return pl_principal_access(q->principal, s->id, s->owner, s->group) != PL_ACCESS_NONE &&
           (q->state < 0 || s->state == q->state) && (!q->name || strstr(s->name, q->name)) &&
           (!q->whose || strcmp(s->owner, q->whose) == 0) &&
           pl_label_filter_fits(&q->labels, s->labels);
}

char *pl_sessions_list(pl_sessions *t, const pl_list_query *q)
{
    pl_json_writer w = {0};
    wanted want = wanted_of(q);
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    pthread_mutex_lock(&t->mutex);
    int64_t found = 0, last = 0;
    bool more = false;
    bool none = q->state >= 0 && atomic_load(&t->counts[q->state]) == 0;
    for (size_t i = none ? 0 : pl_sessions_place(t, q->before); i-- > 0;) {
        const pl_session *s = t->order[i];
        if (!may_be_listed(&t->keys[i], &want) || !listed(s, q)) {
            continue;
        }
        if (found == q->limit) {
            more = true;
            break;
        }
        pl_sessions_encode_locked(t, s, webhook_for(q->principal, s), &w);
        last = s->created_us;
        found++;
    }
    pthread_mutex_unlock(&t->mutex);
    pl_json_end_array(&w);
    if (more) {
        char cursor[24];
        snprintf(cursor, sizeof cursor, "%lld", (long long)last);
        pl_json_set_string(&w, "next", cursor);
    } else {
        pl_json_set_null(&w, "next");
    }
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

static pl_limits usage(pl_sessions *t, const char *user, const char *group)
{
    pl_limits used = {{0}};
    uint32_t hash = pl_search_hash(user ? user : group);
    pthread_mutex_lock(&t->mutex);
    for (size_t i = 0; i < t->count; i++) {
        if ((user ? t->keys[i].owner : t->keys[i].group) != hash) {
            continue;
        }
        const pl_session *s = t->order[i];
        pl_session_state state = (pl_session_state)s->state;
        bool theirs = user ? strcmp(s->owner, user) == 0 : s->group && !strcmp(s->group, group);
        if (pl_state_terminal(state) || !theirs) {
            continue;
        }
        bool runs = state == PL_STATE_RUNNING;
        used.value[PL_LIMIT_SESSIONS]++;
        used.value[PL_LIMIT_QUEUED] += state == PL_STATE_CHECKING || state == PL_STATE_QUEUED;
        used.value[PL_LIMIT_RUNNING] += runs;
        used.value[PL_LIMIT_CORES] += runs ? s->cores : 0;
        used.value[PL_LIMIT_GPUS] += runs && s->gpu_memory > 0;
    }
    pthread_mutex_unlock(&t->mutex);
    return used;
}

pl_limits pl_sessions_usage(pl_sessions *t, const char *user)
{
    return usage(t, user, NULL);
}

pl_limits pl_sessions_group_usage(pl_sessions *t, const char *group)
{
    return usage(t, NULL, group);
}

void pl_sessions_account(pl_sessions *t, const pl_session *s, char user[PL_NAME_MAX + 1],
                         char group[PL_NAME_MAX + 1])
{
    pthread_mutex_lock(&t->mutex);
    snprintf(user, PL_NAME_MAX + 1, "%s", s->owner);
    snprintf(group, PL_NAME_MAX + 1, "%s", s->group ? s->group : "");
    pthread_mutex_unlock(&t->mutex);
}

char *pl_sessions_name(pl_sessions *t, const pl_principal *principal, const char *id)
{
    char *name = NULL;
    pthread_mutex_lock(&t->mutex);
    const pl_session *s = pl_sessions_find_locked(t, id);
    if (s && pl_principal_access(principal, s->id, s->owner, s->group) != PL_ACCESS_NONE) {
        name = strdup(s->name);
    }
    pthread_mutex_unlock(&t->mutex);
    return name;
}

pl_session **pl_sessions_all(pl_sessions *t, size_t *count)
{
    pthread_mutex_lock(&t->mutex);
    pl_session **all = malloc((t->count + 1) * sizeof *all);
    *count = all ? t->count : 0;
    for (size_t i = 0; i < *count; i++) {
        all[i] = t->order[i];
        pl_session_acquire(all[i]);
    }
    pthread_mutex_unlock(&t->mutex);
    return all;
}
