/* deadlines.h - requests that take for ever to arrive. A library's idle timeout is put back by each byte, so
 * who sends one now and then holds a connection as long as they like; here a head must be there after twice
 * the idle timeout, and a body must come at 1 KiB/s after that much time. Late connections are shut
 * down; how slowly an answer is read is another matter (the idle timeout's).
 *
 * One mutex, innermost, held while looking at every connection once a second.
 */
#ifndef PLIANT_SERVER_HTTP_DEADLINES_H
#define PLIANT_SERVER_HTTP_DEADLINES_H

#include <stdint.h>

typedef struct pl_deadlines pl_deadlines;
typedef struct pl_deadline pl_deadline; /* of one connection */

typedef enum pl_arrival { PL_ARRIVES_HEAD, PL_ARRIVES_BODY, PL_ARRIVED } pl_arrival;

pl_deadlines *pl_deadlines_create(int idle_s); /* NULL out of memory */
void pl_deadlines_destroy(pl_deadlines *deadlines);

/* A connection is there, and is gone: after the second its descriptor may be closed. NULL out of memory,
 * which the others take. */
pl_deadline *pl_deadline_open(pl_deadlines *deadlines, int fd, int64_t now_ms);
void pl_deadline_close(pl_deadlines *deadlines, pl_deadline *deadline);
/* What is awaited from now on. */
void pl_deadline_set(pl_deadlines *deadlines, pl_deadline *deadline, pl_arrival what,
                     int64_t now_ms);
void pl_deadline_received(pl_deadlines *deadlines, pl_deadline *deadline, uint64_t bytes);
/* Shut down those that are late: how many. */
int pl_deadlines_enforce(pl_deadlines *deadlines, int64_t now_ms);

#endif
