/* failing_memory.c - loaded before the C library: an allocator whose n-th call fails. The file that
 * PLIANT_FAILING_MEMORY names is shared with the test: three numbers of 64 bits, how many calls until
 * one fails (0: none does), how many fail then, and how many have failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic int64_t *shared; /* [3] */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PLIANT_FAILING_MEMORY");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at != MAP_FAILED)
        shared = at;
}

static bool fails(void)
{
    if (!shared || atomic_load_explicit(&shared[0], memory_order_relaxed) <= 0)
        return false;
    int64_t left = atomic_fetch_sub(&shared[0], 1);
    if (left > atomic_load(&shared[1]) || left <= 0)
        return false;
    atomic_fetch_add(&shared[2], 1);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    return fails() ? NULL : __libc_realloc(at, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);
    if (got)
        *at = got;
    return got ? 0 : ENOMEM;
}
