/* Memory of a device that is not there: the host's, which can be read while a kernel or a copy runs and
 * at no other time. What was released is filled with NaN and not used again. For tests. */
#include "engine/backends/device/device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t SIZE = (size_t)1 << 34;
/* Released arrays; one that finds no room is not used again. */
enum { RELEASED_MAX = 4096 };
static char *released[RELEASED_MAX];
static int released_count;
static char *memory;
static size_t used;
static int depth;
static bool left_open;
static size_t open_up_to; /* where it is left open */

/* Pages that were handed out, opened or closed. */
static void protect(int how)
{
    if (used > open_up_to && !(left_open && how == PROT_NONE))
        mprotect(memory, (used + 4095) / 4096 * 4096, how);
    open_up_to = left_open ? used : 0;
}

size_t pl_device_handed_out(void)
{
    return used;
}

void pl_device_open(void)
{
    if (depth++ == 0)
        protect(PROT_READ | PROT_WRITE);
}

void pl_device_close(void)
{
    if (--depth == 0)
        protect(PROT_NONE);
}

void pl_device_leave_open(void)
{
    left_open = true;
    protect(PROT_READ | PROT_WRITE);
}

static size_t size_of(const char *array)
{
    size_t bytes;
    memcpy(&bytes, array - 64, sizeof bytes);
    return bytes;
}

static char *take_released(size_t bytes)
{
    char *found = NULL;
    pl_device_open();
    for (int i = 0; i < released_count && !found; i++)
        if (size_of(released[i]) == bytes) {
            found = released[i];
            released[i] = released[--released_count];
            memset(found, 0, bytes);
        }
    pl_device_close();
    return found;
}

void *pl_device_alloc(size_t bytes)
{
    if (!memory) {
        memory = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            memory = NULL;
            return NULL;
        }
    }
    char *again = take_released(bytes);
    if (again)
        return again;
    /* The size stands in front; 64 bytes, as much as an array is aligned to. */
    size_t whole = (bytes + 127) / 64 * 64;
    if (bytes > SIZE || used + whole > SIZE)
        return NULL;
    char *at = memory + used;
    used += whole;
    pl_device_open();
    memcpy(at, &bytes, sizeof bytes);
    pl_device_close();
    return at + 64;
}

void pl_device_release(void *p)
{
    if (!p)
        return;
    pl_device_open();
    memset(p, 0xff, size_of(p)); /* NaN in either precision */
    pl_device_close();
    if (released_count < RELEASED_MAX)
        released[released_count++] = p;
}

/* ---- recordings: lists of launches with copies of their arguments */

typedef struct launch {
    void (*run)(const void *arguments, int64_t threads);
    int64_t threads;
    void *arguments;
} launch;

typedef struct list {
    launch *launches;
    int64_t count;
} list;

static list *kept; /* while one is recorded */
static bool refused;

static void free_list(list *l)
{
    for (int64_t i = 0; l && i < l->count; i++)
        free(l->launches[i].arguments);
    if (l)
        free(l->launches);
    free(l);
}

bool pl_device_keeps(void)
{
    return kept != NULL;
}

void pl_device_keep(void (*run)(const void *arguments, int64_t threads), const void *arguments,
                    size_t bytes, int64_t threads)
{
    size_t count = (size_t)kept->count + 1;
    launch *more = realloc(kept->launches, count * sizeof *more);
    void *copy = malloc(bytes);
    if (!more || !copy)
        abort(); /* a test's */
    memcpy(copy, arguments, bytes);
    more[kept->count] = (launch){run, threads, copy};
    kept->launches = more;
    kept->count++;
}

void pl_device_refuse_recordings(void)
{
    refused = true;
}

bool pl_device_record_begin(void)
{
    assert(!kept);
    kept = refused ? NULL : calloc(1, sizeof *kept);
    return kept != NULL;
}

bool pl_device_record_end(pl_device_recording *recording)
{
    pl_device_forget(recording);
    recording->list = kept;
    kept = NULL;
    return true;
}

void pl_device_replay(const pl_device_recording *recording)
{
    const list *l = recording->list;
    for (int64_t i = 0; i < l->count; i++)
        l->launches[i].run(l->launches[i].arguments, l->launches[i].threads);
}

void pl_device_forget(pl_device_recording *recording)
{
    free_list(recording->list);
    recording->list = NULL;
}

const char *pl_device_plain_because(void)
{
    return refused ? "a test refuses recordings" : NULL;
}

/* ---- transfers: a queue, whose host memory is NaN until they have arrived */

typedef struct transfer {
    pl_device_transfer *of;
    const void *from;
} transfer;

enum { TRANSFERS_MAX = 64 };
static transfer transfers[TRANSFERS_MAX]; /* oldest first */
static int transfer_count;
static bool held_back;

static void arrive(int which)
{
    const transfer t = transfers[which];
    pl_device_open();
    memcpy(t.of->host, t.from, t.of->bytes);
    pl_device_close();
    t.of->under_way = false;
    transfer_count--;
    memmove(transfers + which, transfers + which + 1,
            (size_t)(transfer_count - which) * sizeof *transfers);
}

void pl_device_hold_transfers(bool held)
{
    held_back = held;
}

int pl_device_transfers_under_way(void)
{
    return transfer_count;
}

bool pl_device_transfer_create(pl_device_transfer *t, size_t bytes)
{
    t->host = malloc(bytes + 1);
    return t->host != NULL;
}

bool pl_device_transfer_arrived(pl_device_transfer *t, bool wait)
{
    for (int i = 0; wait && i < transfer_count; i++)
        if (transfers[i].of == t) {
            arrive(i);
            break;
        }
    return !t->under_way;
}

void pl_device_transfer_begin(pl_device_transfer *t, const void *from, size_t bytes)
{
    assert(!kept && !t->under_way && transfer_count < TRANSFERS_MAX);
    memset(t->host, 0xff, bytes);
    t->bytes = bytes;
    t->under_way = true;
    transfers[transfer_count++] = (transfer){t, from};
}

void pl_device_transfer_destroy(pl_device_transfer *t)
{
    pl_device_transfer_arrived(t, true);
    free(t->host);
    *t = (pl_device_transfer){0};
}

/* ---- copies, which a recording keeps like launches */

void pl_device_put(void *to, const void *from, size_t bytes)
{
    assert(!kept);
    pl_device_open();
    memcpy(to, from, bytes);
    pl_device_close();
}

void pl_device_get(void *to, const void *from, size_t bytes)
{
    pl_device_put(to, from, bytes);
    if (transfer_count > 0 && !held_back)
        arrive(0);
}

typedef struct copying {
    void *to;
    const void *from; /* NULL: to is cleared */
} copying;

static void run_copy(const void *arguments, int64_t bytes)
{
    const copying *c = arguments;
    pl_device_open();
    if (c->from)
        memmove(c->to, c->from, (size_t)bytes);
    else
        memset(c->to, 0, (size_t)bytes);
    pl_device_close();
}

void pl_device_copy(void *to, const void *from, size_t bytes)
{
    const copying c = {to, from};
    if (kept)
        pl_device_keep(run_copy, &c, sizeof c, (int64_t)bytes);
    else
        run_copy(&c, (int64_t)bytes);
}

void pl_device_clear(void *p, size_t bytes)
{
    pl_device_copy(p, NULL, bytes);
}

const char *pl_device_error(void)
{
    return NULL;
}
