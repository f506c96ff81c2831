/* pacer.h - opens gates at their due times, for streams with a limited frame rate: one thread and a heap. Locks: the
 * pacer's > a gate's.
 */
#ifndef PLIANT_SERVER_HTTP_PACER_H
#define PLIANT_SERVER_HTTP_PACER_H

#include "server/http/waiter.h"

typedef struct pl_pacer pl_pacer;
pl_pacer *pl_pacer_create(void);
void pl_pacer_destroy(pl_pacer *pacer);
/* Open the gate at that time (monotonic); if it is already listed, its time is changed. If out of memory, it is opened
 * at once: the stream is then faster than requested. */
void pl_pacer_add(pl_pacer *pacer, pl_waiter *waiter, int64_t due_us);
/* After this the pacer no longer refers to the gate. */
void pl_pacer_remove(pl_pacer *pacer, pl_waiter *waiter);

#endif
