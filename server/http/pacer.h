/* pacer.h - opens gates at their times: one thread and a heap of what is due, for streams that ask for
 * at most so many frames a second. Locks: the pacer's > a gate's.
 */
#ifndef PLIANT_SERVER_HTTP_PACER_H
#define PLIANT_SERVER_HTTP_PACER_H

#include "server/http/waiter.h"

typedef struct pl_pacer pl_pacer;
pl_pacer *pl_pacer_create(void);
void pl_pacer_destroy(pl_pacer *pacer);
/* Open the gate at that time (monotonic); where it is listed already, its time is changed. Out of
 * memory it is opened at once: a stream is then faster than it asked for. */
void pl_pacer_add(pl_pacer *pacer, pl_waiter *waiter, int64_t due_us);
/* After this the pacer does not know the gate any more. */
void pl_pacer_remove(pl_pacer *pacer, pl_waiter *waiter);

#endif
