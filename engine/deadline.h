/* deadline.h - waits on a condition until a time of the monotonic clock, which is never set back. A condition with
 * pthread_cond_init's defaults would wait by the time of day.
 */
#ifndef PLIANT_ENGINE_DEADLINE_H
#define PLIANT_ENGINE_DEADLINE_H

#include "engine/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

/* Creates a condition for pl_condition_wait_until; destroy it with pthread_cond_destroy. False: out of memory. */
static inline bool pl_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool made = pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

/* Waits with the mutex until the condition is signalled (true, also after a spurious wake-up) or pl_monotonic_us
 * reaches due_us (false). */
static inline bool pl_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                           int64_t due_us)
{
    struct timespec due = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
    return pthread_cond_timedwait(condition, mutex, &due) != ETIMEDOUT;
}

#endif
