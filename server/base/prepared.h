/* prepared.h - starting a program for owners who start it often: after an owner's second start within ten seconds a
 * process of the program waits, with its libraries linked, and forks one that runs with the arguments that it is sent
 * (server/worker/prepared.h). One for each of the last `owners` owners, which no other is ever served from: processes of
 * one origin share their layout of addresses. What it starts is a child of the daemon as any other, and has what
 * pl_spawn gives one. It ends after half a minute without work, and with the daemon.
 */
#ifndef PLIANT_SERVER_BASE_PREPARED_H
#define PLIANT_SERVER_BASE_PREPARED_H

#include "server/base/spawn.h"
#include "server/base/ticker.h"

#include <stdatomic.h>

typedef struct pl_prepared pl_prepared;

/* `started` counts what is started in this way. NULL: out of memory. */
pl_prepared *pl_prepared_create(int owners, pl_tickers *tickers, _Atomic int64_t *started);
void pl_prepared_destroy(pl_prepared *prepared); /* NULL is no one's */

/* An owner's start of argv[0] is next. Called on a thread that may use all CPUs, before it takes on those of the start. */
void pl_prepared_expect(pl_prepared *prepared, const char *program, const char *owner);
/* As pl_spawn, on this thread's CPUs. From the owner's prepared process where there is one that answers; otherwise
 * afresh. */
int pl_prepared_start(pl_prepared *prepared, const char *owner, char *const argv[], int out_fd,
                      int err_fd, const char *directory, pl_child *child);

#endif
