/* thread_count.h - how many threads a session computes with, which its daemon changes while it runs
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
    int64_t number;       /* of the last request that was answered */
    struct timespec seen; /* when the file that was read last was written, */
    ino_t file;           /* and its inode */
} pl_thread_count;

/* most: no request may have more. 0: there are no requests, and nothing is looked for. */
void pl_thread_count_init(pl_thread_count *t, int directory, int32_t attempt, int32_t most);
/* Say that requests are followed from now on, beginning with so many threads. */
void pl_thread_count_begin(const pl_thread_count *t, int32_t threads);
/* Asked between steps: where there is a new request, take so many threads and answer. One fstatat where there is
 * none. Without memory, or without room for the answer, it is tried again. */
void pl_thread_count_poll(pl_thread_count *t, pl_steering *steering);

#endif
