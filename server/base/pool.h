/* pool.h - a fixed number of threads behind a bounded queue, for work that is too long for the
 * HTTP threads. The daemon has three: `files` for short reads and writes, `checks` for what is to be
 * checked, so that slow checks never hold up reads, and `commits` for what has been checked and
 * waits for the disk: many threads, so that many sessions share one sync.
 */
#ifndef PLIANT_SERVER_BASE_POOL_H
#define PLIANT_SERVER_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_pool pl_pool;
typedef void (*pl_job)(void *context);

/* NULL where threads could not be started. */
pl_pool *pl_pool_create(const char *name, int threads, size_t queue_limit);
/* False where the queue is full or the pool is stopping: the job will not run. */
bool pl_pool_submit(pl_pool *pool, pl_job job, void *context);
/* In turn: lanes (of users, say; any number but 0) come one after the other, and in a lane the oldest is first, so that
 * one who has many jobs waiting delays another's by one. A lane has at most a quarter of the queue. */
typedef enum pl_pool_answer { PL_POOL_TAKEN, PL_POOL_FULL, PL_POOL_LANE_FULL } pl_pool_answer;
pl_pool_answer pl_pool_submit_in_turn(pl_pool *pool, uint64_t lane, pl_job job, void *context);
/* The rest of a job that was run before, in turn: it has no bound, and is taken as long as the pool has threads. False
 * only without memory. */
bool pl_pool_go_on(pl_pool *pool, uint64_t lane, pl_job job, void *context);
/* Jobs of a lane that have not begun. */
size_t pl_pool_waiting(pl_pool *pool, uint64_t lane);
/* Run what is queued, then end the threads. Later submissions are refused. */
void pl_pool_stop(pl_pool *pool);
void pl_pool_destroy(pl_pool *pool); /* stops it first; NULL is nothing */

#endif
