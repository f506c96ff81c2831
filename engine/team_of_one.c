/* A parallel region of one thread, as a call. libgomp would create a team of one for it and wake its (missing)
 * members: one system call per region, and a step has some hundreds. Every program that steps is linked with
 * --wrap=GOMP_parallel (Makefile). */
#include <omp.h>
#include <stddef.h>

typedef void pl_region(void *data);

void __real_GOMP_parallel(pl_region *region, void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(pl_region *region, void *data, unsigned threads, unsigned flags);

/* Inside another region the thread's number would be the outer team's, so libgomp handles that case. */
void __wrap_GOMP_parallel(pl_region *region, void *data, unsigned threads, unsigned flags)
{
    if (threads == 1 && omp_get_level() == 0)
        region(data);
    else
        __real_GOMP_parallel(region, data, threads, flags);
}
