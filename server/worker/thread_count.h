/* thread_count.h - the number of threads of a session, which its daemon may change while it runs
 * (protocol/log/cores.h). Results do not depend on it.
 */
#ifndef PLIANT_SERVER_WORKER_THREAD_COUNT_H
#define PLIANT_SERVER_WORKER_THREAD_COUNT_H

#include "server/worker/control_apply.h"

#include <sys/types.h>
#include <time.h>

typedef struct pl_thread_count {
    int directory; /* borrowed */
    int32_t attempt, most;
    int64_t number;       /* of the last answered request */
    struct timespec seen; /* modification time of the last file read, */
    ino_t file;           /* and its inode */
} pl_thread_count;

/* most: largest number that a request may ask for. 0: there are no requests, and no checks. */
void pl_thread_count_init(pl_thread_count *t, int directory, int32_t attempt, int32_t most);
/* Announce that requests are followed from now on, starting with so many threads. */
void pl_thread_count_begin(const pl_thread_count *t, int32_t threads);
/* Call it between steps: if there is a new request, set the number of threads and answer. Costs one fstatat if nothing
 * is new. If out of memory or disk space for the answer, it is retried. */
void pl_thread_count_poll(pl_thread_count *t, pl_steering *steering);

#endif
