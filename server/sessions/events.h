/* events.h - events of sessions, newest last: a bounded list in memory with increasing numbers, so that a reader can
 * continue where it stopped. Numbers increase even across restarts of the daemon (they begin at its start in
 * microseconds). Events that have dropped out of the list are reported as missed, and the reader must read the sessions
 * themselves again.
 *
 * One mutex, innermost; watchers are woken without it. An event keeps its session, so that users who may see the
 * session also see its end.
 */
#ifndef PLIANT_SERVER_SESSIONS_EVENTS_H
#define PLIANT_SERVER_SESSIONS_EVENTS_H

#include "server/http/principal.h"
#include "server/sessions/session.h"

enum { PL_EVENTS_MAX = 2048 };
#define PL_EVENTS_BYTES_MAX ((size_t)4 << 20)

typedef struct pl_events pl_events;
pl_events *pl_events_create(void);
void pl_events_destroy(pl_events *events);

/* Add an event: "created", "state", "changed" or "deleted", and the session at that time (a JSON text, taken; NULL is
 * an event lost for lack of memory, which readers see as missed). */
void pl_events_push(pl_events *events, pl_session *session, const char *type, char *view);
/* Change who may see a session's events: exchange the two texts while no reader looks. */
void pl_events_exchange(pl_events *events, char **group, char **other);
/* Wake all watchers. Of the locks of this room, the caller may hold only those that are taken before a watcher's. */
void pl_events_wake(pl_events *events);
void pl_events_watch(pl_events *events, pl_watcher *watcher);
void pl_events_unwatch(pl_events *events, pl_watcher *watcher);

/* The number of the next event. */
int64_t pl_events_next(pl_events *events);

/* A reader's position. */
typedef struct pl_event_cursor {
    const pl_principal *reader;
    const pl_session *session; /* NULL: all sessions that the reader may see */
    int64_t next;              /* number of the first unread event */
    bool missed;               /* set if events before it were dropped; the reader clears it */
} pl_event_cursor;
/* The next event for this reader: {"seq", "time", "event", "session"}, malloc'ed, with its number and type. NULL if no
 * event is pending (*number 0), or out of memory (*number -1). */
char *pl_events_read(pl_events *events, pl_event_cursor *cursor, int64_t *number,
                     const char **type);

#endif
