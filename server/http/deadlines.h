/* deadlines.h - limits on connections: how many, and how slowly requests may arrive. Each byte resets the library's
 * idle timeout, so a client that sends one now and then could hold a connection for ever. Here a head must be complete
 * after twice the idle timeout, and a body must arrive at 1 KiB/s after that time. Late connections are shut down. Slow
 * readers of replies are left to the idle timeout.
 *
 * The number of connections is bounded, but new connections are never rejected; otherwise a client that opens many and
 * sends nothing would lock everybody out. A connection is a stranger's until one of its requests has shown a
 * credential. Strangers may have half of all places, and 128 per address that is not near. Beyond that, the oldest
 * waiting connection of the address with the most is shut down. When all places are taken, a connection that waits
 * between two requests is shut down. The remaining places hold requests in flight: a user may have three quarters of
 * the places, and beyond those only privileged requests are answered (pl_deadlines_admit).
 *
 * One mutex, innermost, held once a second while checking every connection.
 */
#ifndef PLIANT_SERVER_HTTP_DEADLINES_H
#define PLIANT_SERVER_HTTP_DEADLINES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_deadlines pl_deadlines;
typedef struct pl_deadline pl_deadline; /* one per connection */

typedef enum pl_arrival { PL_ARRIVES_HEAD, PL_ARRIVES_BODY, PL_ARRIVED } pl_arrival;

/* `most`: connections. `near`: all come from this machine or a proxy, so their addresses are meaningless. NULL: out of
 * memory. */
pl_deadlines *pl_deadlines_create(int idle_s, int most, bool near);
void pl_deadlines_destroy(pl_deadlines *deadlines);

/* Add and remove a connection; its descriptor may be closed after the removal. NULL: out of memory; the other functions
 * accept NULL. */
pl_deadline *pl_deadline_open(pl_deadlines *deadlines, int fd, uint64_t address, int64_t now_ms);
void pl_deadline_close(pl_deadlines *deadlines, pl_deadline *deadline);
/* Set what the connection waits for. */
void pl_deadline_set(pl_deadlines *deadlines, pl_deadline *deadline, pl_arrival what,
                     int64_t now_ms);
void pl_deadline_received(pl_deadlines *deadlines, pl_deadline *deadline, uint64_t bytes);
/* Set the user of the connection's request: a hash of the user's name; 0: a stranger. False if that user has too many
 * requests in flight or, for a stranger, if all places are taken. */
bool pl_deadlines_admit(pl_deadlines *deadlines, pl_deadline *deadline, uint64_t user);
/* Set where the version follows the request's target; NULL: nowhere. Called on the connection's own thread. */
void pl_deadline_set_version(pl_deadline *deadline, const char *version);
const char *pl_deadline_version(const pl_deadline *deadline);
/* Number of connections shut down to make room for others. */
int64_t pl_deadlines_evicted(pl_deadlines *deadlines);
/* Shut down late connections; returns how many. */
int pl_deadlines_enforce(pl_deadlines *deadlines, int64_t now_ms);

#endif
