/* waiter.h - a reply that waits for data to send. Its source suspends the connection when it has no data; a watcher,
 * the tick (heartbeats, the daemon's end) or the pacer opens the gate again. One mutex guards {no news? -> suspend}
 * against {news -> resume}, so that no wake-up is lost or given twice.
 */
#ifndef PLIANT_SERVER_HTTP_WAITER_H
#define PLIANT_SERVER_HTTP_WAITER_H

#include "server/base/clock.h"
#include "server/http/http.h"

#include <pthread.h>

enum { PL_HEARTBEAT_MS = 10000 };

typedef struct pl_waiter {
    pl_request *request;
    pthread_mutex_t mutex; /* guards the rest */
    bool suspended, news, heartbeat_due;
    int64_t not_before_us; /* news opens it only after this time; 0: at once */
    int64_t last_ms;       /* time of the last sent data; the source's while not suspended */
    int64_t due_us;        /* the pacer's, like the next member */
    int place;             /* in the pacer's heap, from 1; 0: not there */
} pl_waiter;

void pl_waiter_init(pl_waiter *waiter, pl_request *request);
void pl_waiter_clear(pl_waiter *waiter);
/* There is news. From any thread. */
void pl_waiter_wake(pl_waiter *waiter);
/* Each second: open it if a heartbeat is due, or if the daemon is ending. */
void pl_waiter_tick(pl_waiter *waiter, int64_t now_ms, bool stopping);
/* Open it regardless of what it waits for. */
void pl_waiter_release(pl_waiter *waiter);

/* For the source: true once suspended, false if news came meanwhile and must be read. */
bool pl_waiter_wait(pl_waiter *waiter);
/* Suspend until about then; only the tick and the pacer open it earlier. */
struct pl_pacer;
void pl_waiter_pause(pl_waiter *waiter, struct pl_pacer *pacer, int64_t until_us);
/* true if one is due, which it then no longer is */
bool pl_waiter_take_heartbeat(pl_waiter *waiter);

#endif
