#include "server/http/pipe.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { WAKE = PL_PIPE_BYTES / 4 }; /* wake the other side only for this many bytes */

struct pl_pipe {
    _Atomic int references;
    pl_waiter waiter;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t room;
    bool ended, failed; /* set by the producer */
    bool left;          /* the reader has left, or both sides were stopped */
    bool waiting;       /* the producer waits for room */
    size_t first, count;
    char bytes[PL_PIPE_BYTES];
};

pl_pipe *pl_pipe_create(pl_request *request)
{
    pl_pipe *p = malloc(sizeof *p);
    if (!p) {
        return NULL;
    }
    memset(p, 0, offsetof(pl_pipe, bytes));
    p->references = 2;
    pl_waiter_init(&p->waiter, request);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->room, NULL);
    return p;
}

void pl_pipe_release(pl_pipe *p)
{
    if (atomic_fetch_sub(&p->references, 1) == 1) {
        pthread_cond_destroy(&p->room);
        pthread_mutex_destroy(&p->mutex);
        pl_waiter_clear(&p->waiter);
        free(p);
    }
}

/* Copy as much as there is room for. */
static size_t take_in(pl_pipe *p, const char *data, size_t size)
{
    size_t end = (p->first + p->count) % PL_PIPE_BYTES, room = PL_PIPE_BYTES - p->count;
    size_t n = size < room ? size : room;
    size_t straight = n < PL_PIPE_BYTES - end ? n : PL_PIPE_BYTES - end;
    memcpy(p->bytes + end, data, straight);
    memcpy(p->bytes, data + straight, n - straight);
    p->count += n;
    return n;
}

bool pl_pipe_write(pl_pipe *p, const void *data, size_t size)
{
    const char *at = data;
    pthread_mutex_lock(&p->mutex);
    while (size > 0 && !p->left) {
        bool few = p->count < WAKE;
        size_t n = take_in(p, at, size);
        at += n;
        size -= n;
        if (few && p->count >= WAKE) {
            pthread_mutex_unlock(&p->mutex);
            pl_waiter_wake(&p->waiter);
            pthread_mutex_lock(&p->mutex);
        }
        while (size > 0 && p->count == PL_PIPE_BYTES && !p->left) {
            p->waiting = true;
            pthread_cond_wait(&p->room, &p->mutex);
        }
    }
    bool taken = !p->left;
    pthread_mutex_unlock(&p->mutex);
    return taken;
}

bool pl_pipe_wanted(pl_pipe *p)
{
    pthread_mutex_lock(&p->mutex);
    bool wanted = !p->left;
    pthread_mutex_unlock(&p->mutex);
    return wanted;
}

void pl_pipe_end(pl_pipe *p, bool whole)
{
    pthread_mutex_lock(&p->mutex);
    p->ended = true;
    p->failed |= !whole;
    pthread_mutex_unlock(&p->mutex);
    pl_waiter_wake(&p->waiter);
}

static size_t take_out(pl_pipe *p, char *out, size_t room)
{
    size_t n = p->count < room ? p->count : room;
    size_t straight = n < PL_PIPE_BYTES - p->first ? n : PL_PIPE_BYTES - p->first;
    memcpy(out, p->bytes + p->first, straight);
    memcpy(out + straight, p->bytes, n - straight);
    p->first = (p->first + n) % PL_PIPE_BYTES;
    p->count -= n;
    if (p->waiting && p->count <= PL_PIPE_BYTES - WAKE) {
        p->waiting = false;
        pthread_cond_signal(&p->room);
    }
    return n;
}

ssize_t pl_pipe_read(pl_pipe *p, char *out, size_t room)
{
    for (;;) {
        pthread_mutex_lock(&p->mutex);
        size_t n = p->left ? 0 : take_out(p, out, room);
        bool failed = p->failed || p->left, ended = p->ended;
        pthread_mutex_unlock(&p->mutex);
        if (n > 0) {
            return (ssize_t)n;
        }
        if (failed || ended) {
            return failed ? PL_SOURCE_ERROR : PL_SOURCE_END;
        }
        if (pl_waiter_wait(&p->waiter)) {
            return 0;
        }
    }
}

void pl_pipe_leave(pl_pipe *p)
{
    pthread_mutex_lock(&p->mutex);
    p->left = true;
    pthread_cond_signal(&p->room);
    pthread_mutex_unlock(&p->mutex);
}

void pl_pipe_stop(pl_pipe *p)
{
    pl_pipe_leave(p);
    pl_waiter_release(&p->waiter);
}
