#include "server/http/deadlines.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

struct pl_deadline {
    pl_deadline *next, **slot;
    int fd;
    pl_arrival what;
    int64_t since_ms;
    uint64_t received; /* bytes of the body */
    uint64_t address;
    uint64_t user;       /* 0: a stranger's */
    bool cut;            /* shut down */
    const char *version; /* of its request, in place; only its own thread uses it */
};

struct pl_deadlines {
    pthread_mutex_t mutex; /* guards all members of every connection */
    pl_deadline *list;
    int64_t grace_ms;
    int most, count, strangers; /* without those that were shut down */
    bool near;
    int64_t evicted;
};

enum { OF_ADDRESS = 128 };

pl_deadlines *pl_deadlines_create(int idle_s, int most, bool near)
{
    pl_deadlines *d = calloc(1, sizeof *d);
    if (d) {
        d->grace_ms = 2000 * (int64_t)idle_s;
        d->most = most;
        d->near = near;
        pthread_mutex_init(&d->mutex, NULL);
    }
    return d;
}

void pl_deadlines_destroy(pl_deadlines *d)
{
    if (d) {
        pthread_mutex_destroy(&d->mutex);
        free(d);
    }
}

/* ---- shutting down; all under the mutex ---- */

/* No longer counted: the library will find it closed. */
static void leave(pl_deadlines *d, pl_deadline *one)
{
    d->count -= !one->cut;
    d->strangers -= !one->cut && !one->user;
    one->cut = true;
}

static void evict(pl_deadlines *d, pl_deadline *one)
{
    if (one) {
        leave(d, one);
        shutdown(one->fd, SHUT_RDWR);
        d->evicted++;
    }
}

static bool waits(const pl_deadline *one)
{
    return !one->cut && one->what != PL_ARRIVED;
}

/* The oldest waiting stranger of this address or, for 0, of any address. */
static pl_deadline *oldest_stranger(const pl_deadlines *d, uint64_t address)
{
    pl_deadline *oldest = NULL;
    for (pl_deadline *one = d->list; one; one = one->next) {
        bool fits = waits(one) && !one->user && (!address || one->address == address);
        if (fits && (!oldest || one->since_ms <= oldest->since_ms)) {
            oldest = one;
        }
    }
    return oldest;
}

static pl_deadline *oldest_idle(const pl_deadlines *d)
{
    pl_deadline *oldest = NULL;
    for (pl_deadline *one = d->list; one; one = one->next) {
        bool fits = waits(one) && one->user && one->what == PL_ARRIVES_HEAD;
        if (fits && (!oldest || one->since_ms <= oldest->since_ms)) {
            oldest = one;
        }
    }
    return oldest;
}

static int strangers_of(const pl_deadlines *d, uint64_t address)
{
    int count = 0;
    for (const pl_deadline *one = d->list; one; one = one->next) {
        count += !one->cut && !one->user && one->address == address;
    }
    return count;
}

/* Of the addresses of waiting strangers, the most frequent one if it has a majority, found in one pass; otherwise the
 * oldest stranger's. */
static uint64_t crowded_address(const pl_deadlines *d)
{
    uint64_t candidate = 0;
    int lead = 0;
    for (const pl_deadline *one = d->list; one; one = one->next) {
        if (!waits(one) || one->user) {
            continue;
        }
        if (lead == 0) {
            candidate = one->address;
        }
        lead += one->address == candidate ? 1 : -1;
    }
    return 2 * strangers_of(d, candidate) > d->strangers ? candidate : 0;
}

/* Called after a connection was added. */
static void make_place(pl_deadlines *d, uint64_t address)
{
    int part = d->most / 2 > 1 ? d->most / 2 : 1;
    if (!d->near && d->strangers > OF_ADDRESS && strangers_of(d, address) > OF_ADDRESS) {
        evict(d, oldest_stranger(d, address));
    }
    if (d->strangers > part) {
        evict(d, oldest_stranger(d, d->near ? 0 : crowded_address(d)));
    }
    if (d->count > d->most) {
        pl_deadline *idle = oldest_idle(d);
        evict(d, idle ? idle : oldest_stranger(d, 0));
    }
}

pl_deadline *pl_deadline_open(pl_deadlines *d, int fd, uint64_t address, int64_t now_ms)
{
    pl_deadline *one = calloc(1, sizeof *one);
    if (!one) {
        return NULL;
    }
    *one = (pl_deadline){.fd = fd, .what = PL_ARRIVES_HEAD, .since_ms = now_ms, .address = address};
    pthread_mutex_lock(&d->mutex);
    one->next = d->list;
    one->slot = &d->list;
    if (one->next) {
        one->next->slot = &one->next;
    }
    d->list = one;
    d->count++;
    d->strangers++;
    make_place(d, address);
    pthread_mutex_unlock(&d->mutex);
    return one;
}

void pl_deadline_close(pl_deadlines *d, pl_deadline *one)
{
    if (!one) {
        return;
    }
    pthread_mutex_lock(&d->mutex);
    leave(d, one);
    *one->slot = one->next;
    if (one->next) {
        one->next->slot = one->slot;
    }
    pthread_mutex_unlock(&d->mutex);
    free(one);
}

/* ---- requests ---- */

static int requests_of(const pl_deadlines *d, uint64_t user)
{
    int count = 0;
    for (const pl_deadline *one = d->list; one; one = one->next) {
        count += one->user == user && !one->cut && one->what != PL_ARRIVES_HEAD;
    }
    return count;
}

bool pl_deadlines_admit(pl_deadlines *d, pl_deadline *one, uint64_t user)
{
    bool good = true;
    if (one) {
        pthread_mutex_lock(&d->mutex);
        if (!one->cut) {
            d->strangers += !user - !one->user;
        }
        one->user = user;
        if (user) { /* checked only when places are scarce */
            good = d->count <= d->most / 2 || requests_of(d, user) <= d->most - d->most / 4;
        } else {
            good = d->count <= d->most;
        }
        pthread_mutex_unlock(&d->mutex);
    }
    return good;
}

void pl_deadline_set_version(pl_deadline *one, const char *version)
{
    if (one) {
        one->version = version;
    }
}

const char *pl_deadline_version(const pl_deadline *one)
{
    return one ? one->version : NULL;
}

int64_t pl_deadlines_evicted(pl_deadlines *d)
{
    pthread_mutex_lock(&d->mutex);
    int64_t evicted = d->evicted;
    pthread_mutex_unlock(&d->mutex);
    return evicted;
}

void pl_deadline_set(pl_deadlines *d, pl_deadline *one, pl_arrival what, int64_t now_ms)
{
    if (one) {
        pthread_mutex_lock(&d->mutex);
        one->what = what;
        one->since_ms = now_ms;
        one->received = 0;
        pthread_mutex_unlock(&d->mutex);
    }
}

void pl_deadline_received(pl_deadlines *d, pl_deadline *one, uint64_t bytes)
{
    if (one) {
        pthread_mutex_lock(&d->mutex);
        one->received += bytes;
        pthread_mutex_unlock(&d->mutex);
    }
}

/* 1 KiB/s is approximately one byte per millisecond. */
static int64_t allowed_ms(const pl_deadlines *d, const pl_deadline *one)
{
    return d->grace_ms + (int64_t)one->received;
}

int pl_deadlines_enforce(pl_deadlines *d, int64_t now_ms)
{
    int late = 0;
    pthread_mutex_lock(&d->mutex);
    for (pl_deadline *one = d->list; one; one = one->next) {
        if (one->what != PL_ARRIVED && now_ms - one->since_ms > allowed_ms(d, one)) {
            shutdown(one->fd, SHUT_RDWR);
            one->what = PL_ARRIVED; /* only once */
            leave(d, one);
            late++;
        }
    }
    pthread_mutex_unlock(&d->mutex);
    return late;
}
