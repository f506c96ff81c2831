#include "server/sessions/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct event {
    int64_t number;
    pl_session *session; /* a reference */
    const char *type;    /* static */
    char *json;
    size_t size;
} event;

struct pl_events {
    pthread_mutex_t mutex;
    event ring[PL_EVENTS_MAX];
    size_t first, count;
    size_t bytes;
    int64_t next;
    pthread_mutex_t watch_mutex; /* guards the list; held while waking */
    pl_watcher *watchers;
};

pl_events *pl_events_create(void)
{
    pl_events *e = calloc(1, sizeof *e);
    if (e) {
        pthread_mutex_init(&e->mutex, NULL);
        pthread_mutex_init(&e->watch_mutex, NULL);
        e->next = pl_clock_us();
    }
    return e;
}

static void forget_oldest(pl_events *e)
{
    event *oldest = &e->ring[e->first];
    e->bytes -= oldest->size;
    free(oldest->json);
    pl_session_release(oldest->session);
    e->first = (e->first + 1) % PL_EVENTS_MAX;
    e->count--;
}

void pl_events_destroy(pl_events *e)
{
    if (!e) {
        return;
    }
    while (e->count > 0) {
        forget_oldest(e);
    }
    pthread_mutex_destroy(&e->mutex);
    pthread_mutex_destroy(&e->watch_mutex);
    free(e);
}

/* ---- adding ---- */

/* "2026-01-01T00:00:00.123Z" */
static void stamp(char out[40])
{
    struct timespec now;
    struct tm t;
    char seconds[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &t);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(out, 40, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

void pl_events_push(pl_events *e, pl_session *session, const char *type, char *view)
{
    char time[40], *json = NULL;
    stamp(time);
    pthread_mutex_lock(&e->mutex);
    int64_t number = e->next++;
    int n = view ? asprintf(&json,
                            "{\"seq\": %lld, \"time\": \"%s\", \"event\": \"%s\", \"session\": %s}",
                            (long long)number, time, type, view)
                 : -1;
    while (e->count > 0 &&
           (n < 0 || e->count == PL_EVENTS_MAX || e->bytes + (size_t)n > PL_EVENTS_BYTES_MAX)) {
        forget_oldest(e);
    }
    if (n >= 0) {
        pl_session_acquire(session);
        e->ring[(e->first + e->count++) % PL_EVENTS_MAX] = (event){number, session, type, json,
                                                                   (size_t)n};
        e->bytes += (size_t)n;
    }
    pthread_mutex_unlock(&e->mutex);
    free(view);
}

/* ---- watching ---- */

void pl_events_watch(pl_events *e, pl_watcher *w)
{
    pthread_mutex_lock(&e->watch_mutex);
    w->next = e->watchers;
    w->slot = &e->watchers;
    if (w->next) {
        w->next->slot = &w->next;
    }
    e->watchers = w;
    pthread_mutex_unlock(&e->watch_mutex);
}

void pl_events_unwatch(pl_events *e, pl_watcher *w)
{
    pthread_mutex_lock(&e->watch_mutex);
    if (w->slot) {
        *w->slot = w->next;
        if (w->next) {
            w->next->slot = w->slot;
        }
        w->slot = NULL;
    }
    pthread_mutex_unlock(&e->watch_mutex);
}

void pl_events_wake(pl_events *e)
{
    pthread_mutex_lock(&e->watch_mutex);
    for (pl_watcher *w = e->watchers, *next; w; w = next) {
        next = w->next;
        w->wake(w);
    }
    pthread_mutex_unlock(&e->watch_mutex);
}

/* ---- reading ---- */

int64_t pl_events_next(pl_events *e)
{
    pthread_mutex_lock(&e->mutex);
    int64_t next = e->next;
    pthread_mutex_unlock(&e->mutex);
    return next;
}

void pl_events_exchange(pl_events *e, char **group, char **other)
{
    pthread_mutex_lock(&e->mutex);
    char *kept = *group;
    *group = *other;
    *other = kept;
    pthread_mutex_unlock(&e->mutex);
}

static bool concerns(const event *e, const pl_event_cursor *c)
{
    return (!c->session || c->session == e->session) &&
           pl_principal_access(c->reader, e->session->id, e->session->owner, e->session->group) >=
               PL_ACCESS_VIEW;
}

char *pl_events_read(pl_events *e, pl_event_cursor *c, int64_t *number, const char **type)
{
    char *text = NULL;
    *number = 0;
    pthread_mutex_lock(&e->mutex);
    int64_t oldest = e->next - (int64_t)e->count;
    if (c->next < oldest || c->next > e->next) { /* or from a clock that was set back since */
        c->missed = true;
        c->next = oldest;
    }
    while (c->next < e->next && *number == 0) {
        const event *found = &e->ring[(e->first + (size_t)(c->next - oldest)) % PL_EVENTS_MAX];
        if (concerns(found, c)) {
            text = strdup(found->json);
            *number = text ? found->number : -1;
            *type = found->type;
        }
        c->next++;
    }
    pthread_mutex_unlock(&e->mutex);
    return text;
}
