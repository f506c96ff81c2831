#include "server/run/scheduler.h"

#include "server/run/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fits(const pl_scheduler *s, const pl_session *session)
{
    return s->cores_used + session->cores <= s->cores &&
           s->memory_used + session->memory <= s->memory;
}

static pl_share *share_of(const pl_scheduler *s, const char *owner)
{
    for (size_t i = 0; i < s->share_count; i++) {
        if (strcmp(s->shares[i].owner, owner) == 0) {
            return &s->shares[i];
        }
    }
    return NULL;
}

/* Whether the owner's other sessions leave it no cores; *used and *most say how many they use and may. */
static bool held(const pl_scheduler *s, const pl_session *session, int64_t *used, int64_t *most)
{
    const pl_share *share = share_of(s, session->owner);
    *used = share ? share->cores : 0;
    *most = s->cores_of ? s->cores_of(s->context, session->owner) : INT64_MAX;
    return *used + session->cores > *most;
}

static bool lacks_gpu(const pl_scheduler *s, const pl_session *session)
{
    return session->gpu_memory > 0 && pl_gpus_free(s->gpus) < session->gpu_memory;
}

static void number(pl_scheduler *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->queue[i]->queue_position = (int)i + 1;
    }
}

void pl_scheduler_clear(pl_scheduler *s)
{
    free(s->queue);
    free(s->delayed);
    for (size_t i = 0; i < s->share_count; i++) {
        free(s->shares[i].owner);
    }
    free(s->shares);
    s->queue = s->delayed = NULL;
    s->shares = NULL;
}

static void restart_reason(const pl_session *session, int64_t left_ms, char *out, size_t size)
{
    snprintf(out, size, "restarts in %.3g s: %s (attempt %lld of %d)",
             left_ms > 10000 ? (double)(left_ms / 1000) : (double)left_ms / 1000,
             session->message ? session->message : "", (long long)session->crashes + 1,
             PL_RESTARTS + 1);
}

void pl_scheduler_reason(const pl_scheduler *s, const pl_session *session, int64_t now_ms,
                         char *out, size_t size)
{
    int64_t free_cores = s->cores - s->cores_used, used, most;
    out[0] = 0;
    if (session->state == PL_STATE_QUEUED && session->due_ms) {
        restart_reason(session, session->due_ms > now_ms ? session->due_ms - now_ms : 0, out, size);
    } else if (session->queue_position > 0 && s->draining) {
        snprintf(out, size, "the machine is being drained: nothing is started");
    } else if (session->queue_position && held(s, session, &used, &most)) {
        snprintf(out, size, "waits for its owner's limit: %lld of %lld cores used", (long long)used,
                 (long long)most);
    } else if (session->queue_position && session->gpu_memory > 0 && pl_gpus_count(s->gpus) == 0) {
        snprintf(out, size, "waits for a GPU, and this daemon has none: %s",
                 pl_gpus_reason(s->gpus));
    } else if (session->queue_position && lacks_gpu(s, session)) {
        snprintf(out, size, "waits for %.0f MB of a GPU's memory: %.0f MB free on the emptiest",
                 session->gpu_memory / 1e6, pl_gpus_free(s->gpus) / 1e6);
    } else if (session->queue_position > 1) {
        snprintf(out, size, "waits for %d session%s before it", session->queue_position - 1,
                 session->queue_position == 2 ? "" : "s");
    } else if (session->queue_position == 1 && session->cores > free_cores) {
        snprintf(out, size, "waits for %lld core%s: %lld of %lld free", (long long)session->cores,
                 session->cores == 1 ? "" : "s", (long long)free_cores, (long long)s->cores);
    } else if (session->queue_position == 1 && !fits(s, session)) {
        snprintf(out, size, "waits for %.0f MB of memory: %.0f MB free", session->memory / 1e6,
                 (s->memory - s->memory_used) / 1e6);
    } else if (session->queue_position == 1) {
        snprintf(out, size, "starts now");
    }
}

/* Room for one more. */
static bool grow(pl_session ***list, size_t count, size_t *capacity)
{
    if (count < *capacity) {
        return true;
    }
    size_t larger = *capacity ? 2 * *capacity : 64;
    pl_session **grown = realloc(*list, larger * sizeof *grown);
    if (grown) {
        *list = grown;
        *capacity = larger;
    }
    return grown;
}

/* Among those of its priority first or last; most come last of all. */
static void put_in(pl_scheduler *s, pl_session *session, bool first)
{
    size_t at = s->count;
    while (at > 0 && s->queue[at - 1]->priority < session->priority + (first ? 1 : 0)) {
        at--;
    }
    memmove(s->queue + at + 1, s->queue + at, (s->count - at) * sizeof *s->queue);
    s->queue[at] = session;
    s->count++;
    if (at + 1 == s->count) {
        session->queue_position = (int)s->count;
    } else {
        number(s);
    }
}

bool pl_scheduler_push(pl_scheduler *s, pl_session *session, bool first)
{
    if (!grow(&s->queue, s->count, &s->capacity)) {
        return false;
    }
    put_in(s, session, first);
    return true;
}

bool pl_scheduler_delay(pl_scheduler *s, pl_session *session)
{
    if (!grow(&s->delayed, s->delayed_count, &s->delayed_capacity)) {
        return false;
    }
    s->delayed[s->delayed_count++] = session;
    return true;
}

void pl_scheduler_release(pl_scheduler *s, int64_t now_ms)
{
    for (size_t i = 0; i < s->delayed_count;) {
        pl_session *session = s->delayed[i];
        if (session->due_ms > now_ms || !pl_scheduler_push(s, session, false)) {
            i++;
            continue;
        }
        session->due_ms = 0;
        s->delayed[i] = s->delayed[--s->delayed_count];
    }
}

int64_t pl_scheduler_next_due(const pl_scheduler *s)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < s->delayed_count; i++) {
        next = s->delayed[i]->due_ms < next ? s->delayed[i]->due_ms : next;
    }
    return next;
}

static void take_out(pl_scheduler *s, size_t i)
{
    pl_session *session = s->queue[i];
    memmove(s->queue + i, s->queue + i + 1, (s->count - i - 1) * sizeof *s->queue);
    s->count--;
    session->queue_position = 0;
    number(s);
}

void pl_scheduler_remove(pl_scheduler *s, pl_session *session)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->queue[i] == session) {
            take_out(s, i);
            return;
        }
    }
    for (size_t i = 0; i < s->delayed_count; i++) {
        if (s->delayed[i] == session) {
            s->delayed[i] = s->delayed[--s->delayed_count];
            session->due_ms = 0;
            return;
        }
    }
}

void pl_scheduler_move(pl_scheduler *s, pl_session *session)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->queue[i] == session) {
            take_out(s, i);
            put_in(s, session, false);
            return;
        }
    }
}

/* Out of memory, the owner's cores are not counted: their limit is not kept, the machine's is. */
static void add_share(pl_scheduler *s, const pl_session *session)
{
    pl_share *share = share_of(s, session->owner);
    if (!share && s->share_count == s->share_capacity) {
        size_t capacity = s->share_capacity ? 2 * s->share_capacity : 16;
        pl_share *grown = realloc(s->shares, capacity * sizeof *grown);
        if (!grown) {
            return;
        }
        s->shares = grown;
        s->share_capacity = capacity;
    }
    if (!share) {
        char *owner = strdup(session->owner);
        if (!owner) {
            return;
        }
        share = &s->shares[s->share_count++];
        *share = (pl_share){.owner = owner};
    }
    share->cores += session->charge.cores;
    share->running++;
}

static void charge(pl_scheduler *s, pl_session *session, bool beside)
{
    session->charge.cores = beside ? 0 : session->cores;
    session->charge.memory = session->memory;
    session->charge.gpu_memory = session->gpu_memory - (beside ? PL_GPU_CONTEXT : 0);
    s->cores_used += session->charge.cores;
    s->memory_used += session->charge.memory;
    add_share(s, session);
}

/* A place on a GPU for a session that wants one. */
static bool place(pl_scheduler *s, pl_session *session)
{
    if (session->gpu_memory <= 0) {
        return true;
    }
    const char *uuid = pl_gpus_place(s->gpus, session->gpu_memory);
    if (uuid) {
        pl_session_set_text(&session->gpu, uuid);
    }
    return uuid;
}

pl_session *pl_scheduler_next(pl_scheduler *s)
{
    int64_t used, most;
    bool gpus_full = false;
    for (size_t i = 0; !s->draining && i < s->count; i++) {
        pl_session *session = s->queue[i];
        if (held(s, session, &used, &most) || (session->gpu_memory > 0 && gpus_full)) {
            continue;
        }
        if (!fits(s, session)) {
            return NULL;
        }
        if (!place(s, session)) {
            gpus_full = true;
            continue;
        }
        take_out(s, i);
        charge(s, session, false);
        return session;
    }
    return NULL;
}

bool pl_scheduler_may_share(const pl_session *session)
{
    return session->gpu_memory > 0 && session->gpu_memory <= PL_GPU_CONTEXT + PL_GPU_SMALL &&
           session->crashes == 0 && session->memory_retries == 0;
}

pl_session *pl_scheduler_next_beside(pl_scheduler *s, const pl_session *host)
{
    int64_t used, most;
    for (size_t i = 0; !s->draining && i < s->count; i++) {
        pl_session *session = s->queue[i];
        bool fits_beside = pl_scheduler_may_share(session) && session->cores <= host->cores &&
                           strcmp(session->owner, host->owner) == 0;
        if (fits_beside && s->memory_used + session->memory <= s->memory &&
            pl_gpus_place_on(s->gpus, host->gpu, session->gpu_memory - PL_GPU_CONTEXT)) {
            pl_session_set_text(&session->gpu, host->gpu);
            take_out(s, i);
            charge(s, session, true);
            return session;
        }
        if (fits_beside || !held(s, session, &used, &most)) {
            return NULL;
        }
    }
    return NULL;
}

int64_t pl_scheduler_transfer(pl_session *host)
{
    int64_t cores = host->charge.cores;
    host->charge.cores = 0;
    host->charge.gpu_memory -= PL_GPU_CONTEXT;
    return cores;
}

void pl_scheduler_reclaim(pl_scheduler *s, const char *owner, const char *gpu, int64_t cores)
{
    pl_share *share = share_of(s, owner);
    s->cores_used -= cores;
    if (share) {
        share->cores -= cores;
    }
    pl_gpus_give_context(s->gpus, gpu);
}

static void remove_share(pl_scheduler *s, const pl_session *session)
{
    pl_share *share = share_of(s, session->owner);
    if (share) {
        share->cores -= session->charge.cores;
        if (--share->running == 0) {
            free(share->owner);
            *share = s->shares[--s->share_count];
        }
    }
}

void pl_scheduler_take(pl_scheduler *s, pl_session *session, bool beside)
{
    charge(s, session, beside);
    if (session->gpu_memory > 0) {
        pl_gpus_take(s->gpus, session->gpu, session->charge.gpu_memory);
    }
}

void pl_scheduler_free(pl_scheduler *s, const pl_session *session)
{
    s->cores_used -= session->charge.cores;
    s->memory_used -= session->charge.memory;
    if (session->gpu_memory > 0) {
        pl_gpus_give(s->gpus, session->gpu, session->charge.gpu_memory);
    }
    remove_share(s, session);
}
