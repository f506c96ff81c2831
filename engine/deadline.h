/* deadline.h - waits on a condition until a moment of the monotonic clock, which nobody sets back.
 * A condition of pthread_cond_init's default would wait by the time of day.
 */
#ifndef PLIANT_ENGINE_DEADLINE_H
#define PLIANT_ENGINE_DEADLINE_H

#include "engine/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

/* A condition for pl_condition_wait_until, to be destroyed by pthread_cond_destroy. False: no memory. */
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

/* Wait with the mutex until the condition is signalled (true, also without a signal now and then) or
 * pl_monotonic_us is due_us (false). */
static inline bool pl_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                           int64_t due_us)
{
    struct timespec due = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
    return pthread_cond_timedwait(condition, mutex, &due) != ETIMEDOUT;
}

#endif
