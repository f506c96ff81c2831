#include "engine/backends/device/joint.h"

#include "engine/deadline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a list; a longer one is submitted before it is full. Copies of more than SMALL bytes are not kept. */
enum { OPERATIONS = 512, BYTES = 49152, SMALL = 4096, RECENT = 12, ALIGNMENT = 16 };
/* Limits of a round. */
enum { MEMBERS = 64 };

typedef struct operation {
    const pl_device_kernel *kernel;
    int64_t threads;
    int32_t arguments; /* offset in the list's bytes */
    int32_t data;      /* offset there of the data to copy; -1: none */
    bool comes_back;   /* a copy to the host */
} operation;

struct pl_joint {
    pl_device_queue *queue;
    pl_joint *next;       /* over all lists */
    pl_joint *next_there; /* of waiting queues */
    pthread_cond_t woken;
    bool there;  /* submitted, and not done */
    double seen; /* ms: time of its last round, or of its creation */
    void *to;    /* of the data that come back */
    size_t back;
    int32_t count, used;
    operation operations[OPERATIONS];
    /* Arguments that later launches may reuse: offsets of some distinct ones. */
    const pl_device_kernel *recent_kernel[RECENT];
    int32_t recent[RECENT], recent_next;
    _Alignas(ALIGNMENT) char bytes[BYTES];
};

/* One launch of a round. */
typedef struct launch {
    const pl_device_kernel *kernel;
    int32_t first, count; /* number of items */
    int64_t most;
} launch;

/* The process's state. The leader uses what comes after `leading` without the mutex. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t come; /* wakes the leader: a queue has submitted, or is gone */
    pl_joint *all, *first_there, **last_there;
    int32_t there;
    double patience;
    pl_shared_launches counts;
    bool leading;
    pl_round_memory memory;
    launch *launches;
} joint = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last_there = &joint.first_there, .patience = 0.5};

enum { LIST_ROOM = BYTES + OPERATIONS * (int)sizeof(pl_device_item) };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- lists ---- */

/* Together with the first list. */
static bool open_rounds(void)
{
    joint.launches = malloc((size_t)MEMBERS * OPERATIONS * sizeof *joint.launches);
    if (joint.launches && pl_condition_init(&joint.come)) {
        if (pl_round_memory_create(&joint.memory, (size_t)MEMBERS * LIST_ROOM,
                                   (size_t)MEMBERS * SMALL))
            return true;
        pl_round_memory_destroy(&joint.memory);
        pthread_cond_destroy(&joint.come);
    }
    free(joint.launches);
    joint.launches = NULL;
    return false;
}

static void close_rounds(void)
{
    pl_round_memory_destroy(&joint.memory);
    pthread_cond_destroy(&joint.come);
    free(joint.launches);
    joint.launches = NULL;
}

static void forget(pl_joint *j)
{
    j->count = j->used = j->recent_next = 0;
    j->back = 0;
    memset(j->recent_kernel, 0, sizeof j->recent_kernel);
}

pl_joint *pl_joint_create(pl_device_queue *queue)
{
    pl_joint *j = malloc(sizeof *j);
    if (!j || !pl_condition_init(&j->woken)) {
        free(j);
        return NULL;
    }
    j->queue = queue;
    j->there = false;
    j->seen = pl_clock_ms();
    forget(j);
    pthread_mutex_lock(&joint.mutex);
    bool good = joint.all || open_rounds();
    if (good) {
        j->next = joint.all;
        joint.all = j;
    }
    pthread_mutex_unlock(&joint.mutex);
    if (!good) {
        pthread_cond_destroy(&j->woken);
        free(j);
        return NULL;
    }
    return j;
}

void pl_joint_destroy(pl_joint *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&joint.mutex);
    for (pl_joint **at = &joint.all; *at; at = &(*at)->next)
        if (*at == j) {
            *at = j->next;
            break;
        }
    if (joint.all)
        pthread_cond_signal(&joint.come);
    else
        close_rounds();
    pthread_mutex_unlock(&joint.mutex);
    pthread_cond_destroy(&j->woken);
    free(j);
}

/* Offset of these bytes in the list from now on; there is room. */
static int32_t keep(pl_joint *j, const void *from, size_t bytes)
{
    int32_t at = j->used;
    memcpy(j->bytes + at, from, bytes);
    j->used += (int32_t)aligned(bytes);
    return at;
}

static void make_room(pl_joint *j, size_t bytes)
{
    if (j->count == OPERATIONS || (size_t)j->used + bytes > BYTES)
        pl_joint_flush(j);
}

static operation *add(pl_joint *j, const pl_device_kernel *kernel, int64_t threads)
{
    operation *o = &j->operations[j->count++];
    *o = (operation){.kernel = kernel, .threads = threads, .data = -1};
    return o;
}

/* Arguments are stored once, because iterations repeat the same launches. */
void pl_joint_launch(pl_joint *j, const pl_device_kernel *kernel, const void *arguments,
                     int64_t threads)
{
    make_room(j, aligned(kernel->bytes));
    operation *o = add(j, kernel, threads);
    for (int k = 0; k < RECENT; k++)
        if (j->recent_kernel[k] == kernel &&
            memcmp(j->bytes + j->recent[k], arguments, kernel->bytes) == 0) {
            o->arguments = j->recent[k];
            return;
        }
    o->arguments = keep(j, arguments, kernel->bytes);
    j->recent_kernel[j->recent_next] = kernel;
    j->recent[j->recent_next] = o->arguments;
    j->recent_next = (j->recent_next + 1) % RECENT;
}

/* A copy with one end that the leader fills in. */
static operation *add_copy(pl_joint *j, const pl_bytes_arguments *a)
{
    operation *o = add(j, pl_device_bytes_kernel_f32(), pl_bytes_threads((size_t)a->bytes));
    o->arguments = keep(j, a, sizeof *a);
    return o;
}

bool pl_joint_put(pl_joint *j, void *to, const void *from, size_t bytes)
{
    if (!j || bytes > SMALL) {
        pl_joint_flush(j);
        return false;
    }
    if (bytes == 0)
        return true;
    const pl_bytes_arguments a = {to, NULL, (int64_t)bytes};
    make_room(j, aligned(sizeof a) + aligned(bytes));
    operation *o = add_copy(j, &a);
    o->data = keep(j, from, bytes);
    return true;
}

bool pl_joint_get(pl_joint *j, void *to, const void *from, size_t bytes)
{
    if (!j || bytes > SMALL || bytes == 0) {
        pl_joint_flush(j);
        return false;
    }
    const pl_bytes_arguments a = {NULL, from, (int64_t)bytes};
    make_room(j, aligned(sizeof a));
    add_copy(j, &a)->comes_back = true;
    j->to = to;
    j->back = bytes;
    pl_joint_flush(j);
    return true;
}

/* ---- a round ---- */

typedef struct round_list {
    pl_joint *list;
    int32_t at;        /* the operation at its head */
    size_t base, down; /* offset of its bytes in the round's; offset of the results */
} round_list;

static pl_bytes_arguments *copy_of(const round_list *l, const operation *o)
{
    return (pl_bytes_arguments *)(joint.memory.up + l->base + o->arguments);
}

/* The list's bytes in the round's memory, and the ends of copies that point there. */
static void place(round_list *l, size_t *up, size_t *down)
{
    const pl_joint *j = l->list;
    l->base = *up;
    l->down = *down;
    memcpy(joint.memory.up + l->base, j->bytes, (size_t)j->used);
    *up += (size_t)j->used;
    *down += aligned(j->back);
    for (int32_t i = 0; i < j->count; i++) {
        const operation *o = &j->operations[i];
        if (o->data >= 0)
            copy_of(l, o)->from = joint.memory.up_there + l->base + o->data;
        if (o->comes_back)
            copy_of(l, o)->to = joint.memory.down_there + l->down;
    }
}

static const operation *head(const round_list *l)
{
    return l->at < l->list->count ? &l->list->operations[l->at] : NULL;
}

/* Chooses the kernel at the head of the list with the most work left. Lists end alike, in what is waited for, so
 * lists of sessions at different points of their steps align there. NULL: all are done. */
static const pl_device_kernel *next_kernel(const round_list *lists, int32_t count)
{
    const pl_device_kernel *kernel = NULL;
    for (int32_t i = 0, most = 0; i < count; i++)
        if (lists[i].list->count - lists[i].at > most) {
            most = lists[i].list->count - lists[i].at;
            kernel = head(&lists[i])->kernel;
        }
    return kernel;
}

/* All launches of the lists, and their items; returns the number. */
static int32_t merge(round_list *lists, int32_t count, pl_device_item *items)
{
    int32_t launches = 0, used = 0;
    for (const pl_device_kernel *kernel; (kernel = next_kernel(lists, count)); launches++) {
        launch *l = &joint.launches[launches];
        *l = (launch){.kernel = kernel, .first = used};
        for (int32_t i = 0; i < count; i++) {
            const operation *o = head(&lists[i]);
            if (!o || o->kernel != kernel)
                continue;
            items[used++] = (pl_device_item){joint.memory.up_there + lists[i].base + o->arguments,
                                             o->threads};
            l->most = o->threads > l->most ? o->threads : l->most;
            lists[i].at++;
        }
        l->count = used - l->first;
    }
    return launches;
}

static const void *on_host(const pl_device_item *item)
{
    return joint.memory.up + ((const char *)item->arguments - joint.memory.up_there);
}

static void make(const launch *l, const pl_device_item *items)
{
    pl_round_memory *m = &joint.memory;
    const pl_device_item *of = items + l->first;
    size_t there = (size_t)((const char *)of - m->up);
    if (l->count > 1 && l->kernel->many) {
        pl_round_many(m, l->kernel, (const pl_device_item *)(m->up_there + there), l->count,
                      l->most);
        return;
    }
    for (int32_t i = 0; i < l->count; i++)
        pl_round_one(m, l->kernel, on_host(&of[i]), of[i].threads);
}

/* Called by the leader, without the mutex. */
static void run_round(pl_joint *const *of, int32_t count, pl_shared_launches *counts)
{
    round_list lists[MEMBERS];
    pl_round_member members[MEMBERS];
    size_t up = 0, down = 0;
    int32_t asked = 0;
    for (int32_t i = 0; i < count; i++) {
        lists[i] = (round_list){.list = of[i]};
        members[i] = (pl_round_member){of[i]->queue, of[i]->count};
        place(&lists[i], &up, &down);
        asked += of[i]->count;
    }
    pl_device_item *items = (pl_device_item *)(joint.memory.up + up);
    int32_t launches = merge(lists, count, items);
    up += (size_t)asked * sizeof *items;
    pl_round_begin(&joint.memory, members, count, up);
    for (int32_t k = 0; k < launches; k++)
        make(&joint.launches[k], items);
    pl_round_end(&joint.memory, members, count, down);
    for (int32_t i = 0; i < count; i++) {
        if (of[i]->back > 0 && !pl_device_fault())
            memcpy(of[i]->to, joint.memory.down + lists[i].down, of[i]->back);
        forget(of[i]);
    }
    *counts = (pl_shared_launches){1, asked, launches};
}

/* ---- who takes part ---- */

void pl_joint_leave(pl_joint *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&joint.mutex);
    j->seen = -INFINITY;
    if (joint.leading)
        pthread_cond_signal(&joint.come);
    pthread_mutex_unlock(&joint.mutex);
}

/* Time until which the round waits for the queues of the last round. */
static double wait_until(double now)
{
    double until = now;
    for (const pl_joint *j = joint.all; j && joint.there < MEMBERS; j = j->next)
        if (!j->there && j->seen + joint.patience > until)
            until = j->seen + joint.patience;
    return until;
}

static void wait_for_others(void)
{
    for (double now = pl_clock_ms(), until; (until = wait_until(now)) > now; now = pl_clock_ms()) {
        int64_t due_us = pl_monotonic_us() + (int64_t)ceil((until - now) * 1e3);
        pl_condition_wait_until(&joint.come, &joint.mutex, due_us);
    }
}

/* Runs a round of all that have come, with the mutex held. */
static void lead(void)
{
    pl_joint *members[MEMBERS];
    pl_shared_launches counts;
    int32_t count = 0;
    joint.leading = true;
    wait_for_others();
    for (; joint.first_there && count < MEMBERS; joint.there--) {
        members[count++] = joint.first_there;
        joint.first_there = joint.first_there->next_there;
    }
    if (!joint.first_there)
        joint.last_there = &joint.first_there;
    pthread_mutex_unlock(&joint.mutex);
    run_round(members, count, &counts);
    pthread_mutex_lock(&joint.mutex);
    double now = pl_clock_ms();
    for (int32_t i = 0; i < count; i++) {
        members[i]->seen = now;
        members[i]->there = false;
        pthread_cond_signal(&members[i]->woken);
    }
    joint.counts.rounds += counts.rounds;
    joint.counts.asked += counts.asked;
    joint.counts.made += counts.made;
    joint.leading = false;
    if (joint.first_there)
        pthread_cond_signal(&joint.first_there->woken);
}

void pl_joint_flush(pl_joint *j)
{
    if (!j || j->count == 0)
        return;
    pthread_mutex_lock(&joint.mutex);
    j->there = true;
    j->next_there = NULL;
    *joint.last_there = j;
    joint.last_there = &j->next_there;
    joint.there++;
    if (joint.leading)
        pthread_cond_signal(&joint.come);
    while (j->there)
        if (joint.leading)
            pthread_cond_wait(&j->woken, &joint.mutex);
        else
            lead();
    pthread_mutex_unlock(&joint.mutex);
}

void pl_joint_set_patience(double ms)
{
    pthread_mutex_lock(&joint.mutex);
    joint.patience = ms;
    pthread_mutex_unlock(&joint.mutex);
}

pl_shared_launches pl_device_shared(void)
{
    pthread_mutex_lock(&joint.mutex);
    pl_shared_launches counts = joint.counts;
    pthread_mutex_unlock(&joint.mutex);
    return counts;
}
