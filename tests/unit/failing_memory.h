/* failing_memory.h - allocations that fail on demand, and a count of the blocks that live. A program that
 * includes this is linked with --wrap of these five functions (Makefile). For one thread.
 */
#ifndef PLIANT_TESTS_UNIT_FAILING_MEMORY_H
#define PLIANT_TESTS_UNIT_FAILING_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *at);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *at);

static long calls, live, first = LONG_MAX, last = LONG_MAX; /* that fail */

static bool fails(void)
{
    long call = calls++;
    return call >= first && call <= last;
}

static void *alive(void *at)
{
    live += at != NULL;
    return at;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : alive(__real_malloc(size));
}
void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : alive(__real_calloc(count, size));
}
void *__wrap_realloc(void *at, size_t size)
{
    if (fails())
        return NULL;
    live -= at != NULL;
    return alive(__real_realloc(at, size));
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : alive(__real_aligned_alloc(alignment, size));
}
void __wrap_free(void *at)
{
    live -= at != NULL;
    __real_free(at);
}

#endif
