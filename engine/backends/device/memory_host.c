/* Memory of an imaginary device: the host's, readable only while a kernel or a copy runs. Released memory is filled
 * with NaN and reused only for an array of the same size; a queue's memory goes with it. For tests. */
#include "engine/backends/device/device.h"
#include "engine/backends/device/first_fault.h"
#include "engine/backends/device/joint.h"
#include "engine/backends/device/reading.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t SIZE = (size_t)1 << 34;
/* Released arrays; one that finds no room here is not reused. */
enum { RELEASED_MAX = 4096, TRANSFERS_MAX = 64 };

typedef struct launch {
    const pl_device_kernel *kernel;
    int64_t threads;
    void *arguments;
} launch;

typedef struct list {
    launch *launches;
    int64_t count;
} list;

typedef struct transfer {
    pl_device_transfer *of;
    const void *from;
} transfer;

struct pl_device_queue {
    char *memory;
    size_t used, open_up_to; /* open_up_to: end of the part left open */
    int depth;
    bool left_open, launching;
    int64_t left;                      /* launches until the device fails; below 0: never */
    list *kept;                        /* set during a recording */
    pl_joint *joint;                   /* for a queue that shares; else NULL */
    transfer transfers[TRANSFERS_MAX]; /* oldest first */
    int transfer_count;
    int released_count;
    char *released[RELEASED_MAX];
    char read[PL_DEVICE_READ];
};

/* The process's state: settings of tests, and counters for them. */
static atomic_bool leave_open, refused, held_back, sharing;
static atomic_size_t handed_out;
static atomic_int transfers_under_way;
static pl_first_fault fault;

void pl_device_share(bool together)
{
    sharing = together;
}

pl_device_queue *pl_device_queue_create(bool may_share)
{
    pl_device_queue *q = pl_device_fault() ? NULL : calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->left = -1;
    q->left_open = leave_open;
    q->memory = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (q->memory == MAP_FAILED) {
        free(q);
        return NULL;
    }
    q->joint = sharing && may_share ? pl_joint_create(q) : NULL;
    if (sharing && may_share && !q->joint) {
        pl_device_queue_destroy(q);
        return NULL;
    }
    return q;
}

void pl_device_queue_destroy(pl_device_queue *q)
{
    if (!q)
        return;
    pl_joint_destroy(q->joint);
    munmap(q->memory, SIZE);
    free(q);
}

const char *pl_device_fault(void)
{
    return pl_first_fault_of(&fault);
}

bool pl_device_launching(const pl_device_queue *q)
{
    return q->launching;
}

void pl_device_fail_after(pl_device_queue *q, int64_t launches)
{
    q->left = launches;
}

/* ---- memory ---- */

/* Pages handed out, opened or closed. */
static void protect(pl_device_queue *q, int how)
{
    if (q->used > q->open_up_to && !(q->left_open && how == PROT_NONE))
        mprotect(q->memory, (q->used + 4095) / 4096 * 4096, how);
    q->open_up_to = q->left_open ? q->used : 0;
}

static void open_memory(pl_device_queue *q)
{
    if (q->depth++ == 0)
        protect(q, PROT_READ | PROT_WRITE);
}

static void close_memory(pl_device_queue *q)
{
    if (--q->depth == 0)
        protect(q, PROT_NONE);
}

void pl_device_leave_open(void)
{
    leave_open = true;
}

size_t pl_device_handed_out(void)
{
    return handed_out;
}

static size_t size_of(const char *array)
{
    size_t bytes;
    memcpy(&bytes, array - 64, sizeof bytes);
    return bytes;
}

static char *take_released(pl_device_queue *q, size_t bytes)
{
    char *found = NULL;
    open_memory(q);
    for (int i = 0; i < q->released_count && !found; i++)
        if (size_of(q->released[i]) == bytes) {
            found = q->released[i];
            q->released[i] = q->released[--q->released_count];
            memset(found, 0, bytes);
        }
    close_memory(q);
    return found;
}

void *pl_device_alloc(pl_device_queue *q, size_t bytes)
{
    if (pl_device_fault())
        return NULL;
    char *again = take_released(q, bytes);
    if (again)
        return again;
    /* The size is stored in front, in 64 bytes, the alignment of an array. */
    size_t whole = (bytes + 127) / 64 * 64;
    if (bytes > SIZE || q->used + whole > SIZE)
        return NULL;
    char *at = q->memory + q->used;
    q->used += whole;
    handed_out += whole;
    open_memory(q);
    memcpy(at, &bytes, sizeof bytes);
    close_memory(q);
    return at + 64;
}

void pl_device_release(pl_device_queue *q, void *p)
{
    if (!p)
        return;
    pl_joint_flush(q->joint);
    open_memory(q);
    memset(p, 0xff, size_of(p)); /* NaN in either precision */
    close_memory(q);
    if (q->released_count < RELEASED_MAX)
        q->released[q->released_count++] = p;
}

/* ---- launches, and recordings: lists of them with copies of their arguments ---- */

static void count_launches(pl_device_queue *q, int64_t launches)
{
    if (q->left >= 0 && q->left < launches)
        pl_first_fault_note(&fault, "a kernel", "a test makes it fail");
    q->left -= q->left >= 0 ? launches : 0;
}

static void run_now(pl_device_queue *q, const launch *l)
{
    count_launches(q, 1);
    if (pl_device_fault())
        return;
    open_memory(q);
    l->kernel->one(NULL, l->arguments, l->threads);
    close_memory(q);
}

static void keep(list *l, const launch *one)
{
    launch *more = realloc(l->launches, ((size_t)l->count + 1) * sizeof *more);
    void *copy = malloc(one->kernel->bytes);
    if (!more || !copy)
        abort(); /* a test's */
    memcpy(copy, one->arguments, one->kernel->bytes);
    more[l->count] = (launch){one->kernel, one->threads, copy};
    l->launches = more;
    l->count++;
}

void pl_device_launch(pl_device_queue *q, const pl_device_kernel *kernel, const void *arguments,
                      int64_t threads)
{
    const launch one = {kernel, threads, (void *)(uintptr_t)arguments};
    if (q->joint) {
        pl_joint_launch(q->joint, kernel, arguments, threads);
        return;
    }
    if (q->kept) {
        keep(q->kept, &one);
        return;
    }
    if (!pl_device_fault())
        q->launching = true;
    run_now(q, &one);
}

static void free_list(list *l)
{
    for (int64_t i = 0; l && i < l->count; i++)
        free(l->launches[i].arguments);
    if (l)
        free(l->launches);
    free(l);
}

void pl_device_refuse_recordings(void)
{
    refused = true;
}

bool pl_device_record_begin(pl_device_queue *q)
{
    assert(!q->kept);
    q->kept = refused || q->joint ? NULL : calloc(1, sizeof *q->kept);
    return q->kept != NULL;
}

bool pl_device_record_end(pl_device_queue *q, pl_device_recording *recording)
{
    pl_device_forget(recording);
    recording->list = q->kept;
    q->kept = NULL;
    return true;
}

void pl_device_replay(pl_device_queue *q, const pl_device_recording *recording)
{
    const list *l = recording->list;
    if (!pl_device_fault())
        q->launching = true;
    for (int64_t i = 0; i < l->count; i++)
        run_now(q, &l->launches[i]);
}

void pl_device_forget(pl_device_recording *recording)
{
    free_list(recording->list);
    recording->list = NULL;
}

const char *pl_device_recording_error(void)
{
    return refused ? "a test refuses recordings" : NULL;
}

/* ---- transfers: host memory is NaN until they have arrived, and stays so after a fault ---- */

static void arrive(pl_device_queue *q, int which)
{
    const transfer t = q->transfers[which];
    if (!pl_device_fault()) {
        open_memory(q);
        memcpy(t.of->host, t.from, t.of->bytes);
        close_memory(q);
    }
    t.of->under_way = false;
    transfers_under_way--;
    q->transfer_count--;
    memmove(q->transfers + which, q->transfers + which + 1,
            (size_t)(q->transfer_count - which) * sizeof *q->transfers);
}

void pl_device_hold_transfers(bool held)
{
    held_back = held;
}

int pl_device_transfers_under_way(void)
{
    return transfers_under_way;
}

bool pl_device_transfer_create(pl_device_queue *q, pl_device_transfer *t, size_t bytes)
{
    t->queue = q;
    t->host = malloc(bytes + 1);
    return t->host != NULL;
}

bool pl_device_transfer_arrived(pl_device_transfer *t, bool wait)
{
    for (int i = 0; wait && t->under_way && i < t->queue->transfer_count; i++)
        if (t->queue->transfers[i].of == t) {
            arrive(t->queue, i);
            break;
        }
    return !t->under_way;
}

void pl_device_transfer_begin(pl_device_transfer *t, const void *from, size_t bytes)
{
    pl_device_queue *q = t->queue;
    assert(!q->kept && !t->under_way && q->transfer_count < TRANSFERS_MAX);
    pl_joint_flush(q->joint);
    pl_joint_leave(q->joint);
    memset(t->host, 0xff, bytes);
    t->bytes = bytes;
    t->under_way = true;
    transfers_under_way++;
    q->transfers[q->transfer_count++] = (transfer){t, from};
}

void pl_device_transfer_destroy(pl_device_transfer *t)
{
    pl_device_transfer_arrived(t, true);
    free(t->host);
    *t = (pl_device_transfer){0};
}

/* ---- copies, which a recording keeps like launches ---- */

static void copy_now(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    open_memory(q);
    memcpy(to, from, bytes);
    close_memory(q);
}

void pl_device_put(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    assert(!q->kept);
    if (!pl_device_fault() && !pl_joint_put(q->joint, to, from, bytes))
        copy_now(q, to, from, bytes);
}

void pl_device_get(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    bool got = pl_joint_get(q->joint, to, from, bytes);
    if (pl_device_fault()) {
        memset(to, 0xff, bytes); /* NaN */
        return;
    }
    if (!got)
        copy_now(q, to, from, bytes);
    q->launching = false;
    if (q->transfer_count > 0 && !held_back)
        arrive(q, 0);
}

const void *pl_device_read(pl_device_queue *q, const void *from, size_t bytes)
{
    pl_device_get(q, q->read, from, bytes);
    return q->read;
}

void pl_device_copy(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    const pl_bytes_arguments a = {to, from, (int64_t)bytes};
    pl_device_bytes_f32(q, &a, pl_bytes_threads(bytes));
}

void pl_device_clear(pl_device_queue *q, void *p, size_t bytes)
{
    pl_device_copy(q, p, NULL, bytes);
}

/* ---- rounds of queues that share ---- */

bool pl_round_memory_create(pl_round_memory *m, size_t up, size_t down)
{
    m->up = malloc(up);
    m->up_there = malloc(up);
    m->down = malloc(down);
    m->down_there = malloc(down);
    return m->up && m->up_there && m->down && m->down_there;
}

void pl_round_memory_destroy(pl_round_memory *m)
{
    free(m->up);
    free(m->up_there);
    free(m->down);
    free(m->down_there);
    *m = (pl_round_memory){0};
}

void pl_round_begin(pl_round_memory *m, const pl_round_member *members, int32_t count, size_t up)
{
    for (int32_t i = 0; i < count; i++) {
        members[i].queue->launching = members[i].queue->launching || !pl_device_fault();
        count_launches(members[i].queue, members[i].launches);
    }
    m->stream = pl_device_fault() ? NULL : m; /* whether the members' memory is open */
    for (int32_t i = 0; i < count && m->stream; i++)
        open_memory(members[i].queue);
    memcpy(m->up_there, m->up, up);
}

void pl_round_one(pl_round_memory *m, const pl_device_kernel *kernel, const void *arguments,
                  int64_t threads)
{
    if (!pl_device_fault())
        kernel->one(NULL, arguments, threads);
}

void pl_round_many(pl_round_memory *m, const pl_device_kernel *kernel, const pl_device_item *items,
                   int32_t count, int64_t most)
{
    if (!pl_device_fault())
        kernel->many(NULL, items, count, most);
}

void pl_round_end(pl_round_memory *m, const pl_round_member *members, int32_t count, size_t down)
{
    bool good = !pl_device_fault();
    for (int32_t i = 0; i < count; i++) {
        if (m->stream)
            close_memory(members[i].queue);
        members[i].queue->launching = members[i].queue->launching && !good;
    }
    if (good)
        memcpy(m->down, m->down_there, down);
}
