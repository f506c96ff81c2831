#include "server/http/pacer.h"

#include "engine/deadline.h"

#include <stdlib.h>

/* A binary heap: heap[0] is due first, and each gate knows its index, counted from 1. */
struct pl_pacer {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pl_waiter **heap;
    int count, capacity;
    bool stopping;
};

/* ---- the heap ---- */

static void put(pl_pacer *p, int i, pl_waiter *waiter)
{
    p->heap[i] = waiter;
    waiter->place = i + 1;
}

/* Restore the heap for the entry at i. */
static void settle(pl_pacer *p, int i)
{
    pl_waiter *waiter = p->heap[i];
    for (; i > 0 && p->heap[(i - 1) / 2]->due_us > waiter->due_us; i = (i - 1) / 2) {
        put(p, i, p->heap[(i - 1) / 2]);
    }
    for (int child; (child = 2 * i + 1) < p->count; i = child) {
        if (child + 1 < p->count && p->heap[child + 1]->due_us < p->heap[child]->due_us) {
            child++;
        }
        if (p->heap[child]->due_us >= waiter->due_us) {
            break;
        }
        put(p, i, p->heap[child]);
    }
    put(p, i, waiter);
}

static void take_out(pl_pacer *p, pl_waiter *waiter)
{
    int i = waiter->place - 1;
    waiter->place = 0;
    p->count--;
    if (i < p->count) {
        put(p, i, p->heap[p->count]);
        settle(p, i);
    }
}

static bool reserve(pl_pacer *p)
{
    if (p->count < p->capacity) {
        return true;
    }
    int capacity = p->capacity ? 2 * p->capacity : 64;
    pl_waiter **heap = realloc(p->heap, (size_t)capacity * sizeof *heap);
    if (heap) {
        p->heap = heap;
        p->capacity = capacity;
    }
    return heap;
}

/* ---- the thread ---- */

static void *run(void *context)
{
    pl_pacer *p = context;
    pthread_mutex_lock(&p->mutex);
    while (!p->stopping) {
        int64_t now = pl_monotonic_us();
        if (p->count == 0) {
            pthread_cond_wait(&p->changed, &p->mutex);
        } else if (p->heap[0]->due_us <= now) {
            pl_waiter *waiter = p->heap[0];
            take_out(p, waiter);
            pl_waiter_release(waiter);
        } else {
            pl_condition_wait_until(&p->changed, &p->mutex, p->heap[0]->due_us);
        }
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

pl_pacer *pl_pacer_create(void)
{
    pl_pacer *p = calloc(1, sizeof *p);
    if (!p || !pl_condition_init(&p->changed)) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->mutex, NULL);
    if (pthread_create(&p->thread, NULL, run, p) != 0) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->mutex);
        free(p);
        return NULL;
    }
    pthread_setname_np(p->thread, "pacer");
    return p;
}

void pl_pacer_destroy(pl_pacer *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->mutex);
    p->stopping = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    free(p->heap);
    free(p);
}

void pl_pacer_add(pl_pacer *p, pl_waiter *waiter, int64_t due_us)
{
    pthread_mutex_lock(&p->mutex);
    bool room = waiter->place > 0 || reserve(p);
    if (room) {
        waiter->due_us = due_us;
        if (waiter->place == 0) {
            put(p, p->count++, waiter);
        }
        settle(p, waiter->place - 1);
        if (p->heap[0] == waiter) {
            pthread_cond_signal(&p->changed);
        }
    }
    pthread_mutex_unlock(&p->mutex);
    if (!room) {
        pl_waiter_release(waiter);
    }
}

void pl_pacer_remove(pl_pacer *p, pl_waiter *waiter)
{
    pthread_mutex_lock(&p->mutex);
    if (waiter->place > 0) {
        take_out(p, waiter);
    }
    pthread_mutex_unlock(&p->mutex);
}
