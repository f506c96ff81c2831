#include "server/sessions/sessions.h"

#include "server/sessions/sessions_locked.h"
#include "protocol/text/json.h"
#include "server/sessions/events.h"
#include "server/base/logger.h"
#include "server/sessions/session_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

pl_row pl_session_row(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    pl_row row = pl_session_describe(s);
    pthread_mutex_unlock(&t->mutex);
    return row;
}

static void save(pl_sessions *t, const pl_session *s)
{
    pl_row row = pl_session_describe(s);
    if (row.id[0]) {
        pl_store_update(t->setup.store, &row);
    } else {
        atomic_fetch_add(&t->setup.counters->store_failures, 1);
        pl_logf(PL_LEVEL_ERROR, "session %s: out of memory: its row in the database is not written",
                s->id);
    }
}

void pl_sessions_encode_locked(const pl_sessions *t, const pl_session *s, unsigned parts,
                               pl_json_writer *w)
{
    pl_queue_place place = {.code = "", .start = -1};
    t->setup.queue->place(t->setup.context, s, &place);
    pl_session_view(s, &place, parts, w);
}

/* Add an event; listeners are woken after the mutex is released. */
static void tell(pl_sessions *t, pl_session *s, const char *type)
{
    pl_json_writer w = {0};
    pl_sessions_encode_locked(t, s, 0, &w); /* one text for all listeners */
    pl_events_push(t->setup.events, s, type, pl_json_finish(&w, NULL));
}

void pl_sessions_note_locked(pl_sessions *t, pl_session *s, const char *type)
{
    save(t, s);
    tell(t, s, type);
}

/* Wake the watchers of the session and of all events; without the mutex. */
static void wake(pl_sessions *t, pl_session *s)
{
    pl_session_wake(s);
    pl_events_wake(t->setup.events);
}

/* ---- the table ---- */

pl_sessions *pl_sessions_create(const pl_sessions_setup *setup)
{
    pl_sessions *t = calloc(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    t->setup = *setup;
    t->bucket_count = 1 << 14;
    t->buckets = calloc(t->bucket_count, sizeof(pl_session *));
    if (!t->buckets) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->mutex, NULL);
    return t;
}

void pl_sessions_destroy(pl_sessions *t)
{
    if (!t) {
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        pl_session_release(t->order[i]);
    }
    free(t->order);
    free(t->keys);
    free(t->buckets);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

/* Ids are random, so their digits serve as a hash. */
static pl_session **bucket(pl_sessions *t, const char *id)
{
    char digits[9];
    snprintf(digits, sizeof digits, "%.8s", id);
    return &t->buckets[strtoul(digits, NULL, 16) % t->bucket_count];
}

/* Keeps `order` sorted: requests may insert in a different order than they took their stamps. */
static bool insert_in_order(pl_sessions *t, pl_session *s)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 256;
        pl_session **order = realloc(t->order, capacity * sizeof *order);
        t->order = order ? order : t->order;
        pl_search_key *keys = order ? realloc(t->keys, capacity * sizeof *keys) : NULL;
        if (!keys) {
            return false;
        }
        t->keys = keys;
        t->capacity = capacity;
    }
    size_t i = t->count++;
    for (; i > 0 && t->order[i - 1]->created_us > s->created_us; i--) {
        t->order[i] = t->order[i - 1];
        t->keys[i] = t->keys[i - 1];
    }
    t->order[i] = s;
    t->keys[i] = pl_search_key_of(s);
    return true;
}

/* Add to the queue, or to the sessions that wait for their restart. The maximum delay bounds the effect of a clock that
 * was set back. */
static bool queue(pl_sessions *t, pl_session *s, int64_t delay_ms, bool first)
{
    int64_t longest = t->setup.longest_delay_ms;
    s->due_ms = 0;
    if (delay_ms > 0 && s->restart_ms > 0) {
        s->due_ms = pl_monotonic_ms() + (delay_ms < longest ? delay_ms : longest);
        return t->setup.queue->delay(t->setup.context, s);
    }
    s->restart_ms = 0;
    return t->setup.queue->push(t->setup.context, s, first);
}

/* Remove from the order, its bucket and the counts; false if it is missing. */
static bool take_out(pl_sessions *t, pl_session *s)
{
    size_t i = pl_sessions_place(t, s->created_us);
    if (i >= t->count || t->order[i] != s) {
        return false;
    }
    memmove(t->order + i, t->order + i + 1, (t->count - i - 1) * sizeof *t->order);
    memmove(t->keys + i, t->keys + i + 1, (t->count - i - 1) * sizeof *t->keys);
    t->count--;
    pl_session **link = bucket(t, s->id);
    while (*link != s) {
        link = &(*link)->bucket_next;
    }
    *link = s->bucket_next;
    atomic_fetch_sub(&t->counts[s->state], 1);
    return true;
}

bool pl_sessions_insert(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    bool good = insert_in_order(t, s);
    if (good) {
        pl_session **head = bucket(t, s->id);
        s->bucket_next = *head;
        *head = s;
        atomic_fetch_add(&t->counts[s->state], 1);
        if (s->state == PL_STATE_QUEUED) {
            good = queue(t, s, s->restart_ms - pl_clock_us() / 1000, false);
        }
        if (good) {
            pl_session_acquire(s);
        } else {
            take_out(t, s);
        }
    }
    bool fresh = good && atomic_load(t->setup.ready);
    if (fresh) { /* not for sessions loaded at the start */
        tell(t, s, "created");
    }
    pthread_mutex_unlock(&t->mutex);
    if (fresh) {
        wake(t, s);
        t->setup.queue->changed(t->setup.context, NULL);
    }
    return good;
}

pl_session *pl_sessions_find_locked(pl_sessions *t, const char *id)
{
    pl_session *s = *bucket(t, id);
    while (s && strcmp(s->id, id) != 0) {
        s = s->bucket_next;
    }
    return s;
}

pl_session *pl_sessions_find_any(pl_sessions *t, const char *id)
{
    if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32) {
        return NULL;
    }
    pthread_mutex_lock(&t->mutex);
    pl_session *s = pl_sessions_find_locked(t, id);
    if (s) {
        pl_session_acquire(s);
    }
    pthread_mutex_unlock(&t->mutex);
    return s;
}

pl_access pl_sessions_access(pl_sessions *t, const pl_principal *principal, const pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    pl_access access = pl_principal_access(principal, s->id, s->owner, s->group);
    pthread_mutex_unlock(&t->mutex);
    return access;
}

bool pl_sessions_may_follow(pl_sessions *t, const pl_principal *principal, pl_session *s,
                            _Atomic int64_t *seen)
{
    int64_t now = atomic_load(&s->regroups);
    if (!pl_principal_valid(principal)) {
        return false;
    }
    if (now != atomic_load(seen)) {
        if (pl_sessions_access(t, principal, s) < PL_ACCESS_VIEW) {
            return false;
        }
        atomic_store(seen, now);
    }
    return true;
}

pl_session *pl_sessions_find(pl_sessions *t, const pl_principal *principal, const char *id,
                             pl_access *access)
{
    pl_session *s = pl_sessions_find_any(t, id);
    pl_access has = s ? pl_sessions_access(t, principal, s) : PL_ACCESS_NONE;
    if (access) {
        *access = has;
    }
    if (s && has == PL_ACCESS_NONE) {
        pl_session_release(s);
        s = NULL;
    }
    return s;
}

void pl_sessions_remove(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    bool found = take_out(t, s);
    if (found) {
        t->setup.queue->remove(t->setup.context, s);
        atomic_store(&s->deleted, true);
        tell(t, s, "deleted");
    }
    pthread_mutex_unlock(&t->mutex);
    if (found) {
        wake(t, s);
        pl_session_release(s);
    }
}

/* ---- changes ---- */

static void enter(pl_sessions *t, pl_session *s, pl_session_state to, const pl_move *what)
{
    s->stalled = NULL;
    pl_session_set_text(&s->reason, what->reason);
    pl_session_set_text(&s->message, what->message);
    if (what->failure) {
        pl_session_set_text(&s->failure, what->failure);
    }
    if (what->bodies) {
        pl_session_set_text(&s->bodies, what->bodies);
    }
    if (what->warnings) {
        pl_session_set_text(&s->warnings, what->warnings);
    }
    if (what->memory > 0) {
        s->memory = what->memory;
    }
    if (what->memory_limit > 0) {
        s->memory_limit = what->memory_limit;
    }
    if (what->gpu_memory > 0) {
        s->gpu_memory = what->gpu_memory;
    }
    if (what->cores_most > 0 && s->cores_most == PL_CORES_OPEN) {
        s->cores_most = what->cores_most;
    }
    if (what->estimate > 0) {
        s->estimate = what->estimate;
    }
    if (what->recovery) {
        s->attempt = what->recovery->attempt;
        s->crashes = what->recovery->crashes;
        s->checkpoint = what->recovery->checkpoint;
        s->memory_retries = what->recovery->memory_retries;
        s->memory = what->recovery->memory;
        s->memory_limit = what->recovery->memory_limit;
    }
    /* The request is now fulfilled or impossible; except a removal. */
    pl_desire desire = pl_desire_parse(s->desired);
    if ((to == PL_STATE_PAUSED && desire == PL_DESIRE_PAUSED) ||
        (pl_state_terminal(to) && desire != PL_DESIRE_DELETED)) {
        pl_session_set_text(&s->desired, NULL);
    }
    pl_session_set_text(&s->paused_by, to != PL_STATE_PAUSED ? NULL
                                       : what->paused_by     ? what->paused_by
                                                             : "user");
    s->restart_ms = what->delay_ms > 0 ? pl_clock_us() / 1000 + what->delay_ms : 0;
    s->since_ms = pl_clock_us() / 1000;
    atomic_fetch_add(&t->setup.counters->sessions_ended[to], pl_state_terminal(to));
    if (pl_state_terminal(to) && s->webhook && desire != PL_DESIRE_DELETED) {
        pl_session_set_text(&s->webhook_status, "waiting");
    }
    atomic_fetch_sub(&t->counts[s->state], 1);
    atomic_fetch_add(&t->counts[to], 1);
    atomic_store(&s->state, (int)to);
}

/* Give up what it holds in its present state: a place in the queue, or cores. */
static void leave(pl_sessions *t, pl_session *s)
{
    if (s->state == PL_STATE_QUEUED) {
        t->setup.queue->remove(t->setup.context, s);
    } else if (s->state == PL_STATE_RUNNING) {
        t->setup.queue->free(t->setup.context, s);
        atomic_fetch_sub(&t->cores_used, s->cores_held);
        s->cores_held = 0;
    }
}

bool pl_sessions_move(pl_sessions *t, pl_session *s, pl_session_state to, const pl_move *what)
{
    pthread_mutex_lock(&t->mutex);
    bool allowed = pl_state_may_move((pl_session_state)s->state, to) && to != PL_STATE_RUNNING;
    if (allowed) {
        leave(t, s);
        enter(t, s, to, what);
        if (to == PL_STATE_QUEUED && !queue(t, s, what->delay_ms, what->first)) {
            enter(t, s, PL_STATE_FAILED, &(pl_move){.reason = "out_of_memory"});
        }
        pl_sessions_note_locked(t, s, "state");
    }
    pthread_mutex_unlock(&t->mutex);
    if (allowed) {
        wake(t, s);
        t->setup.queue->changed(t->setup.context, pl_state_terminal(to) ? s : NULL);
    }
    return allowed;
}

bool pl_sessions_paused_by_disk(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    bool disk = s->state == PL_STATE_PAUSED && s->paused_by && strcmp(s->paused_by, "disk") == 0;
    pthread_mutex_unlock(&t->mutex);
    return disk;
}

void pl_sessions_keep_paused(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    if (s->state == PL_STATE_PAUSED) {
        pl_session_set_text(&s->paused_by, "user");
        pl_session_set_text(&s->reason, "user");
        pl_session_set_text(&s->message, NULL);
        pl_sessions_note_locked(t, s, "changed");
    }
    pthread_mutex_unlock(&t->mutex);
    wake(t, s);
}

pl_recovery pl_sessions_recovery(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    pl_recovery r = {s->attempt,        s->crashes, s->checkpoint,
                     s->memory_retries, s->memory,  s->memory_limit};
    pthread_mutex_unlock(&t->mutex);
    return r;
}

void pl_sessions_set_worker(pl_sessions *t, pl_session *s, const char *worker)
{
    pthread_mutex_lock(&t->mutex);
    pl_session_set_text(&s->worker, worker);
    save(t, s);
    pthread_mutex_unlock(&t->mutex);
}

/* Measured again each second; pauses and crashes in between do not count. */
static void measure_rate(pl_session *s, int64_t now_ms)
{
    enum { SPAN_MS = 1000, LONG_MS = 5000 };
    int64_t span = now_ms - s->rate_ms;
    if (s->rate_ms > 0 && span < SPAN_MS) {
        return;
    }
    bool known = s->rate_ms > 0 && span < LONG_MS && s->time >= s->rate_time;
    s->rate = known ? (s->time - s->rate_time) / (1e-3 * (double)span) : -1;
    s->rate_time = s->time;
    s->rate_ms = now_ms;
}

void pl_sessions_set_progress(pl_sessions *t, pl_session *s, int64_t frame, double time)
{
    pthread_mutex_lock(&t->mutex);
    if (frame > s->frame) {
        atomic_fetch_add(&t->setup.counters->frames_committed, frame - s->frame);
    }
    s->frame = frame;
    s->time = time;
    measure_rate(s, pl_monotonic_ms());
    pthread_mutex_unlock(&t->mutex);
}

void pl_sessions_set_stalled(pl_sessions *t, pl_session *s, const char *why, int64_t still_ms)
{
    pthread_mutex_lock(&t->mutex);
    if (s->state == PL_STATE_RUNNING) { /* not for the next state */
        s->stalled_ms = why && !s->stalled ? pl_clock_us() / 1000 - still_ms : s->stalled_ms;
        s->stalled = why;
        tell(t, s, "changed");
    }
    pthread_mutex_unlock(&t->mutex);
    wake(t, s);
}

void pl_sessions_set_cores(pl_sessions *t, pl_session *s, int64_t number, int64_t cores)
{
    pthread_mutex_lock(&t->mutex);
    bool news = t->setup.queue->resized(t->setup.context, s, number, cores);
    pthread_mutex_unlock(&t->mutex);
    if (news) {
        t->setup.queue->changed(t->setup.context, NULL);
    }
}

void pl_sessions_set_warnings(pl_sessions *t, pl_session *s, const char *warnings)
{
    pthread_mutex_lock(&t->mutex);
    bool news = strcmp(s->warnings ? s->warnings : "[]", warnings) != 0;
    if (news) {
        pl_session_set_text(&s->warnings, warnings);
        pl_sessions_note_locked(t, s, "changed");
    }
    pthread_mutex_unlock(&t->mutex);
    if (news) {
        wake(t, s);
    }
}

void pl_sessions_set_desired(pl_sessions *t, pl_session *s, const char *desired)
{
    pl_desire wanted = pl_desire_parse(desired);
    pthread_mutex_lock(&t->mutex);
    if (wanted > pl_desire_parse(s->desired)) {
        pl_session_set_text(&s->desired, desired);
        pl_sessions_note_locked(t, s, "changed");
    }
    atomic_store(&s->deleted, s->deleted || wanted == PL_DESIRE_DELETED);
    pthread_mutex_unlock(&t->mutex);
    wake(t, s);
}

void pl_sessions_clear_pause(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    if (pl_desire_parse(s->desired) == PL_DESIRE_PAUSED) {
        pl_session_set_text(&s->desired, NULL);
        pl_sessions_note_locked(t, s, "changed");
    }
    pthread_mutex_unlock(&t->mutex);
    wake(t, s);
}

pl_desire pl_sessions_desired(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    pl_desire wanted = pl_desire_parse(s->desired);
    pthread_mutex_unlock(&t->mutex);
    return wanted;
}

static void exchange(char **a, char **b)
{
    char *kept = *a;
    *a = *b;
    *b = kept;
}

void pl_sessions_annotate(pl_sessions *t, pl_session *s, pl_notes *notes)
{
    pthread_mutex_lock(&t->mutex);
    exchange(&s->name, &notes->name);
    exchange(&s->labels, &notes->labels);
    exchange(&s->metadata, &notes->metadata);
    exchange(&s->webhook, &notes->webhook);
    bool regrouped = !s->group != !notes->group ||
                     (s->group && strcmp(s->group, notes->group) != 0);
    if (regrouped) {
        pl_events_exchange(t->setup.events, &s->group, &notes->group);
        s->regroups++;
    }
    size_t place = pl_sessions_place(t, s->created_us);
    if (place < t->count && t->order[place] == s) {
        t->keys[place] = pl_search_key_of(s);
    }
    s->keep_last = notes->keep_last;
    s->keep_every = notes->keep_every;
    s->keep_days = notes->keep_days;
    s->revision++;
    if (s->priority != notes->priority || regrouped) {
        s->priority = notes->priority;
        t->setup.queue->move(t->setup.context, s);
    }
    pl_sessions_note_locked(t, s, "changed");
    pthread_mutex_unlock(&t->mutex);
    wake(t, s);
    t->setup.queue->changed(t->setup.context, NULL);
}

char *pl_sessions_webhook(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    bool waits = s->webhook && s->webhook_status && strncmp(s->webhook_status, "waiting", 7) == 0;
    char *url = waits && !s->deleted ? strdup(s->webhook) : NULL;
    pthread_mutex_unlock(&t->mutex);
    return url;
}

void pl_sessions_set_webhook(pl_sessions *t, pl_session *s, const char *status)
{
    pthread_mutex_lock(&t->mutex);
    pl_session_set_text(&s->webhook_status, status);
    save(t, s);
    pthread_mutex_unlock(&t->mutex);
}

/* ---- for the dispatcher, which holds the mutex ---- */

void pl_sessions_lock(pl_sessions *t)
{
    pthread_mutex_lock(&t->mutex);
}

void pl_sessions_unlock(pl_sessions *t)
{
    pthread_mutex_unlock(&t->mutex);
}

void pl_sessions_run_locked(pl_sessions *t, pl_session *s)
{
    if (s->attempt++ == 0) {
        pl_histogram_add(&t->setup.counters->queue_wait, &pl_bounds_of_waits,
                         pl_clock_us() - 1000 * s->since_ms);
    }
    enter(t, s, PL_STATE_RUNNING, &(pl_move){0});
    pl_sessions_note_locked(t, s, "state");
}

void pl_sessions_adopt_locked(pl_sessions *t, pl_session *s)
{
    if (s->state != PL_STATE_RUNNING) {
        enter(t, s, PL_STATE_RUNNING, &(pl_move){0});
    }
    save(t, s);
}

void pl_sessions_wake(pl_sessions *t, pl_session *s)
{
    wake(t, s);
}

void pl_sessions_count_cores(pl_sessions *t, int64_t more)
{
    atomic_fetch_add(&t->cores_used, more);
}

/* ---- reading ---- */

int64_t pl_sessions_count(const pl_sessions *t, pl_session_state state)
{
    return atomic_load(&t->counts[state]);
}

int64_t pl_sessions_cores_used(const pl_sessions *t)
{
    return atomic_load(&t->cores_used);
}
