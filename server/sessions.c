#include "server/sessions.h"

#include "protocol/json.h"
#include "server/executor.h"
#include "server/scheduler.h"
#include "server/session_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pl_sessions {
    pl_daemon *daemon;
    pthread_mutex_t mutex;
    pl_session **buckets; /* [bucket_count] by id */
    size_t bucket_count;
    pl_session **order; /* [count], by creation */
    size_t count, capacity;
    pl_scheduler scheduler;
    _Atomic int64_t last_stamp;
    _Atomic int64_t counts[PL_STATE_COUNT];
    _Atomic int64_t cores_used;
};

/* ---- states ------------------------------------------------------------------------------------
 */

static const char *const state_names[PL_STATE_COUNT] = {
    "checking", "queued", "running", "paused", "succeeded", "failed", "rejected", "cancelled",
};

/* Who causes each is in README.md. Nothing leads out of a terminal state, and nothing into paused
 * without checkpoints to pause at. */
static const struct {
    pl_session_state from, to;
} transitions[] = {
    {PL_STATE_CHECKING, PL_STATE_QUEUED},    {PL_STATE_CHECKING, PL_STATE_REJECTED},
    {PL_STATE_CHECKING, PL_STATE_CANCELLED}, {PL_STATE_CHECKING, PL_STATE_FAILED},
    {PL_STATE_QUEUED, PL_STATE_RUNNING},     {PL_STATE_QUEUED, PL_STATE_CANCELLED},
    {PL_STATE_QUEUED, PL_STATE_FAILED},      {PL_STATE_RUNNING, PL_STATE_SUCCEEDED},
    {PL_STATE_RUNNING, PL_STATE_FAILED},     {PL_STATE_RUNNING, PL_STATE_CANCELLED},
};

const char *pl_state_name(pl_session_state state)
{
    return state_names[state];
}

bool pl_state_parse(const char *name, pl_session_state *out)
{
    for (int i = 0; i < PL_STATE_COUNT; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *out = (pl_session_state)i;
            return true;
        }
    }
    return false;
}

bool pl_state_terminal(pl_session_state state)
{
    return state >= PL_STATE_SUCCEEDED;
}

bool pl_state_may_move(pl_session_state from, pl_session_state to)
{
    for (size_t i = 0; i < sizeof transitions / sizeof *transitions; i++) {
        if (transitions[i].from == from && transitions[i].to == to) {
            return true;
        }
    }
    return false;
}

/* ---- one session -------------------------------------------------------------------------------
 */

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void replace(char **field, const char *text)
{
    char *fresh = copy(text);
    free(*field);
    *field = fresh;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

pl_session *pl_session_create(pl_daemon *daemon, const pl_row *row)
{
    pl_session *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    memcpy(s->id, row->id, sizeof s->id);
    pl_session_state state = PL_STATE_FAILED;
    pl_state_parse(row->state ? row->state : "", &state);
    s->state = state;
    s->references = 1;
    pthread_mutex_init(&s->watcher_mutex, NULL);
    s->owner = copy(row->owner);
    s->name = copy(row->name ? row->name : "");
    s->reason = copy(row->reason);
    s->message = copy(row->message);
    s->bodies = copy(row->bodies);
    s->failure = copy(row->failure);
    s->worker = copy(row->worker);
    s->desired = copy(row->desired);
    s->created_us = row->created_us;
    s->since_ms = row->since_ms;
    s->frames = row->frames;
    s->frame = row->frame;
    s->attempt = row->attempt;
    s->cores = row->cores;
    s->memory = row->memory;
    s->time = row->time;
    s->time_limit = row->time_limit;
    int n = asprintf(&s->directory, "%s/sessions/%.2s/%s", daemon->state, s->id, s->id);
    if (n < 0 || !s->owner || !s->name) {
        s->directory = n < 0 ? NULL : s->directory;
        pl_session_release(s);
        return NULL;
    }
    return s;
}

void pl_session_acquire(pl_session *s)
{
    atomic_fetch_add(&s->references, 1);
}

void pl_session_release(pl_session *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) > 1) {
        return;
    }
    char *owned[] = {s->directory, s->owner,   s->name,   s->reason, s->message,
                     s->bodies,    s->failure, s->worker, s->desired};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        free(owned[i]);
    }
    pthread_mutex_destroy(&s->watcher_mutex);
    free(s);
}

static pl_row row_of(const pl_session *s)
{
    pl_row row = {.owner = copy(s->owner),
                  .name = copy(s->name),
                  .state = copy(state_names[s->state]),
                  .reason = copy(s->reason),
                  .message = copy(s->message),
                  .bodies = copy(s->bodies),
                  .failure = copy(s->failure),
                  .worker = copy(s->worker),
                  .desired = copy(s->desired),
                  .created_us = s->created_us,
                  .since_ms = s->since_ms,
                  .frames = s->frames,
                  .frame = s->frame,
                  .attempt = s->attempt,
                  .cores = s->cores,
                  .memory = s->memory,
                  .time = s->time,
                  .time_limit = s->time_limit};
    memcpy(row.id, s->id, sizeof row.id);
    return row;
}

pl_row pl_session_row(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    pl_row row = row_of(s);
    pthread_mutex_unlock(&t->mutex);
    return row;
}

static void save(pl_sessions *t, const pl_session *s)
{
    pl_row row = row_of(s);
    pl_store_update(t->daemon->store, &row);
}

void pl_session_watch(pl_session *s, pl_watcher *w)
{
    pthread_mutex_lock(&s->watcher_mutex);
    w->next = s->watchers;
    w->slot = &s->watchers;
    if (w->next) {
        w->next->slot = &w->next;
    }
    s->watchers = w;
    pthread_mutex_unlock(&s->watcher_mutex);
}

void pl_session_unwatch(pl_session *s, pl_watcher *w)
{
    pthread_mutex_lock(&s->watcher_mutex);
    if (w->slot) {
        *w->slot = w->next;
        if (w->next) {
            w->next->slot = w->slot;
        }
        w->slot = NULL;
    }
    pthread_mutex_unlock(&s->watcher_mutex);
}

void pl_session_wake(pl_session *s)
{
    pthread_mutex_lock(&s->watcher_mutex);
    for (pl_watcher *w = s->watchers, *next; w; w = next) {
        next = w->next;
        w->wake(w);
    }
    pthread_mutex_unlock(&s->watcher_mutex);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

pl_sessions *pl_sessions_create(pl_daemon *daemon)
{
    pl_sessions *t = calloc(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    t->daemon = daemon;
    t->bucket_count = 1 << 14;
    t->buckets = calloc(t->bucket_count, sizeof(pl_session *));
    if (!t->buckets) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->mutex, NULL);
    t->scheduler.cores = daemon->options.cores;
    t->scheduler.memory = daemon->machine_memory;
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
    free(t->buckets);
    free(t->scheduler.queue);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

/* Ids are random, so their digits are as good as a hash. */
static pl_session **bucket(pl_sessions *t, const char *id)
{
    char digits[9];
    snprintf(digits, sizeof digits, "%.8s", id);
    return &t->buckets[strtoul(digits, NULL, 16) % t->bucket_count];
}

int64_t pl_sessions_stamp(pl_sessions *t)
{
    int64_t now = now_us(), last = atomic_load(&t->last_stamp), next;
    do {
        next = now > last ? now : last + 1;
    } while (!atomic_compare_exchange_weak(&t->last_stamp, &last, next));
    return next;
}

/* Keeps `order` sorted: two requests may insert in the other order than they took their stamps. */
static bool insert_in_order(pl_sessions *t, pl_session *s)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 256;
        pl_session **order = realloc(t->order, capacity * sizeof *order);
        if (!order) {
            return false;
        }
        t->order = order;
        t->capacity = capacity;
    }
    size_t i = t->count++;
    for (; i > 0 && t->order[i - 1]->created_us > s->created_us; i--) {
        t->order[i] = t->order[i - 1];
    }
    t->order[i] = s;
    return true;
}

bool pl_sessions_insert(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    bool good = insert_in_order(t, s);
    if (good) {
        pl_session_acquire(s);
        pl_session **head = bucket(t, s->id);
        s->bucket_next = *head;
        *head = s;
        int64_t last = atomic_load(&t->last_stamp);
        while (last < s->created_us &&
               !atomic_compare_exchange_weak(&t->last_stamp, &last, s->created_us)) {
        }
        atomic_fetch_add(&t->counts[s->state], 1);
        if (s->state == PL_STATE_QUEUED) {
            good = pl_scheduler_push(&t->scheduler, s);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return good;
}

pl_session *pl_sessions_find_any(pl_sessions *t, const char *id)
{
    if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32) {
        return NULL;
    }
    pthread_mutex_lock(&t->mutex);
    pl_session *s = *bucket(t, id);
    while (s && strcmp(s->id, id) != 0) {
        s = s->bucket_next;
    }
    if (s) {
        pl_session_acquire(s);
    }
    pthread_mutex_unlock(&t->mutex);
    return s;
}

pl_session *pl_sessions_find(pl_sessions *t, const char *owner, const char *id)
{
    pl_session *s = pl_sessions_find_any(t, id);
    if (s && strcmp(s->owner, owner) != 0) {
        pl_session_release(s);
        s = NULL;
    }
    return s;
}

static size_t first_at_or_after(const pl_sessions *t, int64_t created_us)
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

void pl_sessions_remove(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    size_t i = first_at_or_after(t, s->created_us);
    bool found = i < t->count && t->order[i] == s;
    if (found) {
        memmove(t->order + i, t->order + i + 1, (t->count - i - 1) * sizeof *t->order);
        t->count--;
        pl_session **link = bucket(t, s->id);
        while (*link != s) {
            link = &(*link)->bucket_next;
        }
        *link = s->bucket_next;
        pl_scheduler_drop(&t->scheduler, s);
        atomic_fetch_sub(&t->counts[s->state], 1);
        atomic_store(&s->deleted, true);
    }
    pthread_mutex_unlock(&t->mutex);
    if (found) {
        pl_session_wake(s);
        pl_session_release(s);
    }
}

/* ---- changes -----------------------------------------------------------------------------------
 */

static void enter(pl_sessions *t, pl_session *s, pl_session_state to, const pl_move *what)
{
    replace(&s->reason, what->reason);
    replace(&s->message, what->message);
    if (what->failure) {
        replace(&s->failure, what->failure);
    }
    if (what->bodies) {
        replace(&s->bodies, what->bodies);
    }
    if (what->memory > 0) {
        s->memory = what->memory;
    }
    s->since_ms = now_us() / 1000;
    atomic_fetch_sub(&t->counts[s->state], 1);
    atomic_fetch_add(&t->counts[to], 1);
    atomic_store(&s->state, (int)to);
}

bool pl_sessions_move(pl_sessions *t, pl_session *s, pl_session_state to, const pl_move *what)
{
    pthread_mutex_lock(&t->mutex);
    pl_session_state from = (pl_session_state)s->state;
    bool allowed = pl_state_may_move(from, to) && to != PL_STATE_RUNNING;
    if (allowed) {
        if (from == PL_STATE_QUEUED) {
            pl_scheduler_drop(&t->scheduler, s);
        } else if (from == PL_STATE_RUNNING) {
            pl_scheduler_free(&t->scheduler, s);
            atomic_fetch_sub(&t->cores_used, s->cores);
        }
        enter(t, s, to, what);
        if (to == PL_STATE_QUEUED && !pl_scheduler_push(&t->scheduler, s)) {
            enter(t, s, PL_STATE_FAILED, &(pl_move){.reason = "out_of_memory"});
        }
        save(t, s);
    }
    pthread_mutex_unlock(&t->mutex);
    if (allowed) {
        pl_session_wake(s);
        pl_executor_kick(t->daemon->executor);
    }
    return allowed;
}

pl_session *pl_sessions_start_next(pl_sessions *t)
{
    pthread_mutex_lock(&t->mutex);
    pl_session *s = pl_scheduler_next(&t->scheduler);
    if (s) {
        atomic_fetch_add(&t->cores_used, s->cores);
        s->attempt++;
        enter(t, s, PL_STATE_RUNNING, &(pl_move){0});
        save(t, s);
        pl_session_acquire(s);
    }
    pthread_mutex_unlock(&t->mutex);
    if (s) {
        pl_session_wake(s);
    }
    return s;
}

void pl_sessions_adopt(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    pl_scheduler_drop(&t->scheduler, s);
    pl_scheduler_take(&t->scheduler, s);
    atomic_fetch_add(&t->cores_used, s->cores);
    if (s->state == PL_STATE_QUEUED) {
        enter(t, s, PL_STATE_RUNNING, &(pl_move){0});
    }
    save(t, s);
    pthread_mutex_unlock(&t->mutex);
}

void pl_sessions_set_worker(pl_sessions *t, pl_session *s, const char *worker)
{
    pthread_mutex_lock(&t->mutex);
    replace(&s->worker, worker);
    save(t, s);
    pthread_mutex_unlock(&t->mutex);
}

void pl_sessions_set_progress(pl_sessions *t, pl_session *s, int64_t frame, double time)
{
    pthread_mutex_lock(&t->mutex);
    s->frame = frame;
    s->time = time;
    pthread_mutex_unlock(&t->mutex);
}

void pl_sessions_set_desired(pl_sessions *t, pl_session *s, const char *desired)
{
    pthread_mutex_lock(&t->mutex);
    if (!s->desired || strcmp(s->desired, "deleted") != 0) {
        replace(&s->desired, desired);
        save(t, s);
    }
    bool deleted = strcmp(desired, "deleted") == 0;
    atomic_store(&s->deleted, s->deleted || deleted);
    pthread_mutex_unlock(&t->mutex);
    if (deleted) {
        pl_session_wake(s);
    }
}

int pl_sessions_desired(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&t->mutex);
    int wanted = !s->desired ? 0 : strcmp(s->desired, "deleted") == 0 ? 2 : 1;
    pthread_mutex_unlock(&t->mutex);
    return wanted;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static void encode(const pl_sessions *t, const pl_session *s, pl_json_writer *w)
{
    char reason[160];
    pl_scheduler_reason(&t->scheduler, s, reason, sizeof reason);
    pl_session_view(s, reason, w);
}

char *pl_sessions_encode(pl_sessions *t, pl_session *s)
{
    pl_json_writer w = {0};
    pthread_mutex_lock(&t->mutex);
    encode(t, s, &w);
    pthread_mutex_unlock(&t->mutex);
    return pl_json_finish(&w, NULL);
}

static bool listed(const pl_session *s, const pl_list_query *q)
{
    return strcmp(s->owner, q->owner) == 0 && (q->state < 0 || s->state == q->state) &&
           (!q->name || strstr(s->name, q->name));
}

char *pl_sessions_list(pl_sessions *t, const pl_list_query *q)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    pthread_mutex_lock(&t->mutex);
    int64_t found = 0, last = 0;
    bool more = false;
    for (size_t i = first_at_or_after(t, q->before); i-- > 0;) {
        const pl_session *s = t->order[i];
        if (!listed(s, q)) {
            continue;
        }
        if (found == q->limit) {
            more = true;
            break;
        }
        encode(t, s, &w);
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

int64_t pl_sessions_count(const pl_sessions *t, pl_session_state state)
{
    return atomic_load(&t->counts[state]);
}

int64_t pl_sessions_cores_used(const pl_sessions *t)
{
    return atomic_load(&t->cores_used);
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
