/* waiter.h - a reply that waits for something to send. Its source suspends the connection when there is
 * nothing; a watcher, the tick (heartbeats, the daemon's end) or the pacer opens the gate again. One
 * mutex guards {nothing new? -> suspend} against {something new -> resume}, so that no wake-up is lost
 * and none is given twice.
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
    int64_t not_before_us; /* news open it from then on only; 0: at once */
    int64_t last_ms;       /* when something was sent; the source's while not suspended */
    int64_t due_us;        /* the pacer's, as is the next */
    int place;             /* in the pacer's heap, from 1; 0: not there */
} pl_waiter;

void pl_waiter_init(pl_waiter *waiter, pl_request *request);
void pl_waiter_clear(pl_waiter *waiter);
/* From any thread: there is something new. */
void pl_waiter_wake(pl_waiter *waiter);
/* Each second: opens it where a heartbeat is due, or where everything ends. */
void pl_waiter_tick(pl_waiter *waiter, int64_t now_ms, bool stopping);
/* Open it whatever it waits for. */
void pl_waiter_release(pl_waiter *waiter);

/* Of the source: true once suspended, false where something came meanwhile and is to be looked at. */
bool pl_waiter_wait(pl_waiter *waiter);
/* Suspend until about then; only the tick and the pacer open it before. */
struct pl_pacer;
void pl_waiter_pause(pl_waiter *waiter, struct pl_pacer *pacer, int64_t until_us);
bool pl_waiter_take_heartbeat(pl_waiter *waiter); /* whether one is due; it is then not any more */

#endif
