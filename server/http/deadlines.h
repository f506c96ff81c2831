/* deadlines.h - connections: which may stay, and requests that take for ever to arrive. A library's idle timeout is put back by each byte, so
 * who sends one now and then holds a connection as long as they like; here a head must be there after twice
 * the idle timeout, and a body must come at 1 KiB/s after that much time. Late connections are shut
 * down; how slowly an answer is read is another matter (the idle timeout's).
 *
 * Connections are bounded without ever being refused at the door, or whoever opens many and says nothing would lock
 * everybody out. A connection is a stranger's until a request on it has shown a credential. Half of all may be
 * strangers', 128 of one address that is not near; of more the oldest one that waits is shut down, of the address
 * with most. Where all places are taken, a connection that waits between two requests goes. What is left are requests
 * under way: a user may have three quarters of the places, and beyond them only who needs to see the daemon is
 * answered (pl_deadlines_admit).
 *
 * One mutex, innermost, held while looking at every connection once a second.
 */
#ifndef PLIANT_SERVER_HTTP_DEADLINES_H
#define PLIANT_SERVER_HTTP_DEADLINES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_deadlines pl_deadlines;
typedef struct pl_deadline pl_deadline; /* of one connection */

typedef enum pl_arrival { PL_ARRIVES_HEAD, PL_ARRIVES_BODY, PL_ARRIVED } pl_arrival;

/* `most`: connections. `near`: all come from this machine or a proxy, so their addresses say nothing. NULL: out of
 * memory. */
pl_deadlines *pl_deadlines_create(int idle_s, int most, bool near);
void pl_deadlines_destroy(pl_deadlines *deadlines);

/* A connection is there, and is gone: after the second its descriptor may be closed. NULL out of memory,
 * which the others take. */
pl_deadline *pl_deadline_open(pl_deadlines *deadlines, int fd, uint64_t address, int64_t now_ms);
void pl_deadline_close(pl_deadlines *deadlines, pl_deadline *deadline);
/* What is awaited from now on. */
void pl_deadline_set(pl_deadlines *deadlines, pl_deadline *deadline, pl_arrival what,
                     int64_t now_ms);
void pl_deadline_received(pl_deadlines *deadlines, pl_deadline *deadline, uint64_t bytes);
/* Whose request it is from now on, a hash of the user's name; 0: a stranger's. False where that user has as many
 * requests under way as one may, or, for a stranger, where all places are taken. */
bool pl_deadlines_admit(pl_deadlines *deadlines, pl_deadline *deadline, uint64_t user);
/* Where behind the target of its request the version lies; NULL: nowhere. Of the connection's own thread. */
void pl_deadline_set_version(pl_deadline *deadline, const char *version);
const char *pl_deadline_version(const pl_deadline *deadline);
/* How many were shut down to make place for others. */
int64_t pl_deadlines_evicted(pl_deadlines *deadlines);
/* Shut down those that are late: how many. */
int pl_deadlines_enforce(pl_deadlines *deadlines, int64_t now_ms);

#endif
