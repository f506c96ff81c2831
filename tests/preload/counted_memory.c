/* counted_memory.c - loaded before the C library: an allocator that counts memory in use. The file in
 * PLIANT_COUNTED_MEMORY is shared with the test and has two 64-bit numbers: blocks and bytes in use, allocated since
 * the program began.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *at);

static _Atomic int64_t *shared;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PLIANT_COUNTED_MEMORY");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at != MAP_FAILED)
        shared = at;
}

static void *count(void *at, int by)
{
    if (shared && at) {
        atomic_fetch_add(&shared[0], by);
        atomic_fetch_add(&shared[1], by * (int64_t)malloc_usable_size(at));
    }
    return at;
}

void *malloc(size_t size)
{
    return count(__libc_malloc(size), 1);
}

void *calloc(size_t number, size_t size)
{
    return count(__libc_calloc(number, size), 1);
}

void *realloc(void *at, size_t size)
{
    count(at, -1);
    void *larger = __libc_realloc(at, size);
    count(larger || size == 0 ? larger : at, 1);
    return larger;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return count(__libc_memalign(alignment, size), 1);
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
    void *got = count(__libc_memalign(alignment, size), 1);
    if (got)
        *at = got;
    return got ? 0 : ENOMEM;
}

void free(void *at)
{
    count(at, -1);
    __libc_free(at);
}
