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
};

struct pl_deadlines {
    pthread_mutex_t mutex; /* guards all of each */
    pl_deadline *list;
    int64_t grace_ms;
};

pl_deadlines *pl_deadlines_create(int idle_s)
{
    pl_deadlines *d = calloc(1, sizeof *d);
    if (d) {
        d->grace_ms = 2000 * (int64_t)idle_s;
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

pl_deadline *pl_deadline_open(pl_deadlines *d, int fd, int64_t now_ms)
{
    pl_deadline *one = calloc(1, sizeof *one);
    if (!one) {
        return NULL;
    }
    *one = (pl_deadline){.fd = fd, .what = PL_ARRIVES_HEAD, .since_ms = now_ms};
    pthread_mutex_lock(&d->mutex);
    one->next = d->list;
    one->slot = &d->list;
    if (one->next) {
        one->next->slot = &one->next;
    }
    d->list = one;
    pthread_mutex_unlock(&d->mutex);
    return one;
}

void pl_deadline_close(pl_deadlines *d, pl_deadline *one)
{
    if (!one) {
        return;
    }
    pthread_mutex_lock(&d->mutex);
    *one->slot = one->next;
    if (one->next) {
        one->next->slot = one->slot;
    }
    pthread_mutex_unlock(&d->mutex);
    free(one);
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

/* 1 KiB/s is a byte a millisecond, as good as. */
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
            one->what = PL_ARRIVED; /* once */
            late++;
        }
    }
    pthread_mutex_unlock(&d->mutex);
    return late;
}
