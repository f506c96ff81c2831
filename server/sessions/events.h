/* events.h - what happened to sessions, newest last: a bounded list in memory with a number each, so
 * that a reader can go on where it left off. Numbers ascend, also over a restart of the daemon (they
 * begin at its microsecond); what is older than the list is told as missed, and the reader looks at the
 * sessions themselves again.
 *
 * One mutex, innermost; watchers are woken without it. An event keeps its session, so that who may see
 * the session may see its end too.
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

/* Add one: "created", "state", "changed" or "deleted", and the session as it then was (a JSON text, taken; NULL is an
 * event lost for lack of memory, which readers see as missed). */
void pl_events_push(pl_events *events, pl_session *session, const char *type, char *view);
/* Change who may hear of a session: the two texts are exchanged while nobody looks. */
void pl_events_exchange(pl_events *events, char **group, char **other);
/* Call whoever watches; with no lock of this room but those outside of a watcher's. */
void pl_events_wake(pl_events *events);
void pl_events_watch(pl_events *events, pl_watcher *watcher);
void pl_events_unwatch(pl_events *events, pl_watcher *watcher);

/* The number that the next event will have. */
int64_t pl_events_next(pl_events *events);

/* Who reads, and how far they have come. */
typedef struct pl_event_cursor {
    const pl_principal *reader;
    const pl_session *session; /* NULL: all that the reader may see */
    int64_t next;              /* number of the first that was not read */
    bool missed;               /* set where some before it are gone; the reader takes it back */
} pl_event_cursor;
/* The next one for this reader: {"seq", "time", "event", "session"}, malloc'ed, with its number and
 * type; NULL where there is none now (*number 0), or out of memory (*number -1). */
char *pl_events_read(pl_events *events, pl_event_cursor *cursor, int64_t *number,
                     const char **type);

#endif
