#include "server/sessions/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- states ---- */

static const char *const state_names[PL_STATE_COUNT] = {
    "checking", "queued", "running", "paused", "succeeded", "failed", "rejected", "cancelled",
};

/* README.md says who causes each. There is no way out of a terminal state. */
static const struct {
    pl_session_state from, to;
} transitions[] = {
    {PL_STATE_CHECKING, PL_STATE_QUEUED},   {PL_STATE_CHECKING, PL_STATE_PAUSED},
    {PL_STATE_CHECKING, PL_STATE_REJECTED}, {PL_STATE_CHECKING, PL_STATE_CANCELLED},
    {PL_STATE_CHECKING, PL_STATE_FAILED},   {PL_STATE_QUEUED, PL_STATE_RUNNING},
    {PL_STATE_QUEUED, PL_STATE_PAUSED},     {PL_STATE_QUEUED, PL_STATE_CANCELLED},
    {PL_STATE_QUEUED, PL_STATE_FAILED},     {PL_STATE_RUNNING, PL_STATE_QUEUED},
    {PL_STATE_RUNNING, PL_STATE_PAUSED},    {PL_STATE_RUNNING, PL_STATE_SUCCEEDED},
    {PL_STATE_RUNNING, PL_STATE_FAILED},    {PL_STATE_RUNNING, PL_STATE_CANCELLED},
    {PL_STATE_PAUSED, PL_STATE_QUEUED},     {PL_STATE_PAUSED, PL_STATE_CANCELLED},
    {PL_STATE_PAUSED, PL_STATE_FAILED},
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

pl_desire pl_desire_parse(const char *name)
{
    static const char *const names[] = {"", "paused", "cancelled", "deleted"};
    for (int i = PL_DESIRE_PAUSED; name && i <= PL_DESIRE_DELETED; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (pl_desire)i;
        }
    }
    return PL_DESIRE_NOTHING;
}

/* ---- one session ---- */

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

void pl_session_set_text(char **field, const char *text)
{
    char *fresh = copy(text);
    free(*field);
    *field = fresh;
}

pl_session *pl_session_create(const char *state_path, const pl_row *row)
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
    pthread_mutex_init(&s->lifecycle, NULL);
    pthread_mutex_init(&s->tail_mutex, NULL);
    s->owner = copy(row->owner);
    s->name = copy(row->name ? row->name : "");
    s->group = copy(row->group_name);
    s->reason = copy(row->reason);
    s->message = copy(row->message);
    s->bodies = copy(row->bodies);
    s->failure = copy(row->failure);
    s->warnings = copy(row->warnings);
    s->worker = copy(row->worker);
    s->desired = copy(row->desired);
    s->paused_by = copy(row->paused_by);
    s->labels = copy(row->labels);
    s->metadata = copy(row->metadata);
    s->webhook = copy(row->webhook);
    s->webhook_status = copy(row->webhook_status);
    s->priority = row->priority;
    s->keep_days = row->keep_days;
    s->keep_last = row->keep_last;
    s->keep_every = row->keep_every;
    s->revision = row->revision;
    s->gpu = copy(row->gpu);
    s->gpu_memory = row->gpu_memory;
    s->crashes = row->crashes;
    s->checkpoint = row->checkpoint;
    s->restart_ms = row->restart_ms;
    s->memory_retries = row->memory_retries;
    s->memory_limit = row->memory_limit;
    s->created_us = row->created_us;
    s->since_ms = row->since_ms;
    s->frames = row->frames;
    s->rate = -1;
    s->frame = row->frame;
    s->attempt = row->attempt;
    s->cores = row->cores;
    s->cores_least = row->cores_least > 0 ? row->cores_least : row->cores;
    s->cores_most = row->cores_most > s->cores_least || row->cores_most == PL_CORES_OPEN
                        ? row->cores_most
                        : s->cores_least;
    s->preemptible = row->preemptible;
    s->interactive = row->interactive;
    s->after = copy(row->after);
    s->estimate = row->estimate;
    s->executor = copy(row->executor);
    s->batch_job = copy(row->job);
    s->batch.start = -1;
    s->memory = row->memory;
    s->time = row->time;
    s->time_limit = row->time_limit;
    int n = asprintf(&s->directory, "%s/sessions/%.2s/%s", state_path, s->id, s->id);
    bool whole = (s->labels || !row->labels) && (s->metadata || !row->metadata) &&
                 (s->webhook || !row->webhook) && (s->bodies || !row->bodies) &&
                 (s->failure || !row->failure) && (s->warnings || !row->warnings) &&
                 (s->group || !row->group_name) && (s->after || !row->after) &&
                 (s->executor || !row->executor) && (s->batch_job || !row->job);
    if (n < 0 || !s->owner || !s->name || !whole) {
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
    char *owned[] = {s->group,          s->directory,   s->owner,   s->name,     s->reason,
                     s->message,        s->bodies,      s->failure, s->worker,   s->desired,
                     s->paused_by,      s->labels,      s->gpu,     s->metadata, s->webhook,
                     s->webhook_status, s->warnings,    s->after,   s->cpus,     s->executor,
                     s->batch_job,      s->batch.reason};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        free(owned[i]);
    }
    pthread_mutex_destroy(&s->lifecycle);
    pthread_mutex_destroy(&s->tail_mutex);
    pthread_mutex_destroy(&s->watcher_mutex);
    free(s);
}

pl_row pl_session_describe(const pl_session *s)
{
    pl_row row = {.owner = s->owner,
                  .group_name = s->group,
                  .name = s->name,
                  .state = (char *)state_names[s->state],
                  .reason = s->reason,
                  .message = s->message,
                  .bodies = s->bodies,
                  .failure = s->failure,
                  .warnings = s->warnings,
                  .worker = s->worker,
                  .desired = s->desired,
                  .paused_by = s->paused_by,
                  .labels = s->labels,
                  .metadata = s->metadata,
                  .gpu = s->gpu,
                  .gpu_memory = s->gpu_memory,
                  .webhook = s->webhook,
                  .webhook_status = s->webhook_status,
                  .priority = s->priority,
                  .keep_days = s->keep_days,
                  .keep_last = s->keep_last,
                  .keep_every = s->keep_every,
                  .revision = s->revision,
                  .created_us = s->created_us,
                  .since_ms = s->since_ms,
                  .frames = s->frames,
                  .frame = s->frame,
                  .attempt = s->attempt,
                  .cores = s->cores,
                  .cores_least = s->cores_least,
                  .cores_most = s->cores_most,
                  .preemptible = s->preemptible,
                  .interactive = s->interactive,
                  .after = s->after,
                  .estimate = s->estimate,
                  .executor = s->executor,
                  .job = s->batch_job,
                  .crashes = s->crashes,
                  .checkpoint = s->checkpoint,
                  .restart_ms = s->restart_ms,
                  .memory_retries = s->memory_retries,
                  .memory = s->memory,
                  .memory_limit = s->memory_limit,
                  .time = s->time,
                  .time_limit = s->time_limit};
    memcpy(row.id, s->id, sizeof row.id);
    bool whole = true;
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        if (pl_row_columns[i].kind == PL_COLUMN_TEXT) {
            char **text = pl_row_text(&row, &pl_row_columns[i]);
            char *fresh = copy(*text);
            whole = whole && (fresh || !*text);
            *text = fresh;
        }
    }
    if (!whole) {
        pl_row_clear(&row);
    }
    return row;
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
