/* pool.h - a fixed number of threads behind a bounded queue, for work that is too long for the HTTP threads. The daemon
 * has three pools: `files` for short reads and writes; `checks` for checks, so that slow ones never delay reads; and
 * `commits` for checked work that waits for the disk. `commits` has many threads, so that many sessions share one sync.
 */
#ifndef PLIANT_SERVER_BASE_POOL_H
#define PLIANT_SERVER_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_pool pl_pool;
typedef void (*pl_job)(void *context);

/* NULL: threads could not be started. */
pl_pool *pl_pool_create(const char *name, int threads, size_t queue_limit);
/* False if the queue is full or the pool is stopping; the job will not run. */
bool pl_pool_submit(pl_pool *pool, pl_job job, void *context);
/* Submit in turns: lanes (of users, say; any number but 0) alternate, and the oldest job of a lane is first, so that a
 * user with many waiting jobs delays another's by one job. A lane has at most a quarter of the queue. */
typedef enum pl_pool_answer { PL_POOL_TAKEN, PL_POOL_FULL, PL_POOL_LANE_FULL } pl_pool_answer;
pl_pool_answer pl_pool_submit_in_turn(pl_pool *pool, uint64_t lane, pl_job job, void *context);
/* Submit the rest of a job that ran before, in turn. It is accepted regardless of bounds while the pool has threads.
 * False only if out of memory. */
bool pl_pool_go_on(pl_pool *pool, uint64_t lane, pl_job job, void *context);
/* Jobs of a lane that have not begun. */
size_t pl_pool_waiting(pl_pool *pool, uint64_t lane);
/* Run the queued jobs, then end the threads. Later submissions are rejected. */
void pl_pool_stop(pl_pool *pool);
void pl_pool_destroy(pl_pool *pool); /* stops it first; NULL is allowed */

#endif
