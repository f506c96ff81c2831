/* failing_memory.c - loaded before the C library: an allocator whose n-th call fails. The file that
 * PLIANT_FAILING_MEMORY names is shared with the test: three numbers of 64 bits, how many calls until
 * one fails (0: none does), how many fail then, and how many have failed. Calls from within libjansson
 * are not counted: where its buffer can not grow it ends the program by an assertion (2.14, load.c,
 * lex_unget_unsave), which is not ours to mend.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);

static _Atomic int64_t *shared; /* [3] */
static uintptr_t spared[2];     /* libjansson's text */

static void find_spared(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (strstr(line, "/libjansson") && strstr(line, " r-xp ") &&
            sscanf(line, "%lx-%lx", &from, &to) == 2) {
            spared[0] = from;
            spared[1] = to;
        }
    }
    if (maps)
        fclose(maps);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PLIANT_FAILING_MEMORY");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    find_spared();
    if (at != MAP_FAILED)
        shared = at;
}

static bool fails(const void *caller)
{
    uintptr_t from = (uintptr_t)caller;
    if (!shared || atomic_load_explicit(&shared[0], memory_order_relaxed) <= 0 ||
        (from >= spared[0] && from < spared[1]))
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
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(at, size);
}
