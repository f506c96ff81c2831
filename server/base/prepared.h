/* prepared.h - faster starts of a program for owners who start it often. After an owner's second start within ten
 * seconds, a process of the program waits with its libraries linked. It forks a child for each start, which runs with
 * the arguments sent to it (server/worker/prepared.h). Each of the last `owners` owners has its own process, which
 * never serves another owner: processes of one origin share their address-space layout. A started program is a child of
 * the daemon like any other, and gets what pl_spawn gives. The waiting process ends after half a minute without work,
 * and with the daemon.
 */
#ifndef PLIANT_SERVER_BASE_PREPARED_H
#define PLIANT_SERVER_BASE_PREPARED_H

#include "server/base/spawn.h"
#include "server/base/ticker.h"

#include <stdatomic.h>

typedef struct pl_prepared pl_prepared;

/* `started` counts these starts. NULL: out of memory. */
pl_prepared *pl_prepared_create(int owners, pl_tickers *tickers, _Atomic int64_t *started);
void pl_prepared_destroy(pl_prepared *prepared); /* NULL is allowed */

/* Announce an owner's next start of argv[0]. Call it on a thread that may use all CPUs, before the thread takes on the
 * start's CPUs. */
void pl_prepared_expect(pl_prepared *prepared, const char *program, const char *owner);
/* As pl_spawn, on this thread's CPUs. Uses the owner's prepared process if one answers; otherwise a normal start. */
int pl_prepared_start(pl_prepared *prepared, const char *owner, char *const argv[], int out_fd,
                      int err_fd, const char *directory, pl_child *child);

#endif
