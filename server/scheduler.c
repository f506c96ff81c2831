#include "server/scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fits(const pl_scheduler *s, const pl_session *session)
{
    return s->cores_used + session->cores <= s->cores &&
           s->memory_used + session->memory <= s->memory;
}

static void number(pl_scheduler *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->queue[i]->queue_position = (int)i + 1;
    }
}

void pl_scheduler_reason(const pl_scheduler *s, const pl_session *session, char *out, size_t size)
{
    int64_t free_cores = s->cores - s->cores_used;
    out[0] = 0;
    if (session->queue_position > 1) {
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

bool pl_scheduler_push(pl_scheduler *s, pl_session *session)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        pl_session **queue = realloc(s->queue, capacity * sizeof *queue);
        if (!queue) {
            return false;
        }
        s->queue = queue;
        s->capacity = capacity;
    }
    s->queue[s->count++] = session;
    session->queue_position = (int)s->count;
    return true;
}

static void take_out(pl_scheduler *s, size_t i)
{
    pl_session *session = s->queue[i];
    memmove(s->queue + i, s->queue + i + 1, (s->count - i - 1) * sizeof *s->queue);
    s->count--;
    session->queue_position = 0;
    number(s);
}

void pl_scheduler_drop(pl_scheduler *s, pl_session *session)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->queue[i] == session) {
            take_out(s, i);
            return;
        }
    }
}

pl_session *pl_scheduler_next(pl_scheduler *s)
{
    if (s->count == 0 || !fits(s, s->queue[0])) {
        return NULL;
    }
    pl_session *session = s->queue[0];
    take_out(s, 0);
    pl_scheduler_take(s, session);
    return session;
}

void pl_scheduler_take(pl_scheduler *s, const pl_session *session)
{
    s->cores_used += session->cores;
    s->memory_used += session->memory;
}

void pl_scheduler_free(pl_scheduler *s, const pl_session *session)
{
    s->cores_used -= session->cores;
    s->memory_used -= session->memory;
}
