#include "protocol/text/json_load.h"

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ON_STACK = 1 << 16, TIMES = 6 };

/* State that a thread's parse needs to recognise the lexer's buffer. It is the first block that a parse allocates.
 * It grows by allocating a block of twice its size and releasing the old one, with nothing in between. */
typedef struct guard {
    char *text; /* the buffer */
    size_t room;
    char
        *last; /* the newest block, the buffer's successor if the buffer is what is released next */
    size_t last_size;
    char *reserve; /* NULL outside a parse */
    size_t reserve_size, used;
    bool failed; /* the parse has failed: from here on, only the buffer gets memory */
} guard;
static _Thread_local guard now;

/* Called when an allocation fails, or an earlier one has: NULL, or room for the buffer to grow. Another request of
 * exactly twice the buffer's size, while the buffer is full to its last byte, is also taken for its growth; this
 * happens at most once, because a further value begins with an allocation that fails. */
static void *fall_back(size_t size)
{
    now.failed = now.reserve != NULL;
    bool grows = now.failed && now.text && size == 2 * now.room &&
                 memchr(now.text, 0, now.room) == now.text + now.room - 1;
    if (!grows || now.reserve_size - now.used < size)
        return NULL;
    void *at = now.reserve + now.used;
    now.used += size;
    return at;
}

static void *allocate(size_t size)
{
    char *at = now.failed ? NULL : malloc(size);
    if (!at)
        at = fall_back(size);
    if (!now.text) {
        now.text = at;
        now.room = size;
    }
    now.last = at;
    now.last_size = size;
    return at;
}

static void release(void *at)
{
    if (at == now.text) {
        now.text = now.last;
        now.room = now.last_size;
    }
    if ((uintptr_t)at - (uintptr_t)now.reserve >=
        now.reserve_size) /* outside of it, if there is one */
        free(at);
}

/* Before main, so that no other thread exists: jansson's two settings for the whole process. It would otherwise
 * seed its hash tables at the first object, which could be a race between two threads. */
__attribute__((constructor)) static void set_up(void)
{
    json_set_alloc_funcs(allocate, release);
    json_object_seed(0);
}

/* Not from the heap: a large block that comes and goes makes it sort its small blocks each time, which took a
 * quarter of a short text's time. */
static char *map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

json_t *pl_json_load(const char *text, size_t length, size_t flags, json_error_t *error)
{
    /* A token of n bytes makes the buffer grow by 32, 64, ... to at most 2 n, 4 n in all, and 2 (n + 1) go to a
     * request mistaken for it. None of these bytes is touched unless something fails. */
    alignas(max_align_t) char on_stack[ON_STACK];
    size_t reserve_size = TIMES * (length + 1);
    char *reserve = on_stack;
    if (length >= SIZE_MAX / (2 * TIMES) ||
        (reserve_size > sizeof on_stack && !(reserve = map(reserve_size)))) {
        errno = ENOMEM;
        return NULL;
    }
    now = (guard){.reserve = reserve, .reserve_size = reserve_size};
    json_t *root = json_loadb(text, length, flags, error);
    bool failed = now.failed;
    if (failed) {
        json_decref(root); /* some of it may lie in the reserve */
        root = NULL;
    }
    now = (guard){0};
    if (reserve != on_stack)
        munmap(reserve, reserve_size);
    if (!root)
        errno = failed ? ENOMEM : EINVAL;
    return root;
}

json_t *pl_json_merge(const json_t *target, json_t *patch)
{
    if (!json_is_object(patch))
        return json_incref(patch);
    json_t *merged = json_object();
    bool good = merged &&
                (!json_is_object(target) || !json_object_update(merged, (json_t *)target));
    const char *key;
    json_t *value;
    json_object_foreach(patch, key, value)
    {
        if (!good)
            break;
        if (json_is_null(value))
            json_object_del(merged, key);
        else
            good = !json_object_set_new(merged, key,
                                        pl_json_merge(json_object_get(merged, key), value));
    }
    if (good)
        return merged;
    json_decref(merged);
    return NULL;
}
