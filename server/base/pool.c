#include "server/base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    pl_job run;
    void *context;
} job;

struct pl_pool {
    pthread_mutex_t mutex;
    pthread_cond_t ready;
    job *ring; /* [limit] */
    size_t limit, first, count;
    bool stopping;
    int thread_count;
    pthread_t *threads;
};

static void *work(void *context)
{
    pl_pool *p = context;
    pthread_mutex_lock(&p->mutex);
    for (;;) {
        while (p->count == 0 && !p->stopping) {
            pthread_cond_wait(&p->ready, &p->mutex);
        }
        if (p->count == 0) {
            break;
        }
        job j = p->ring[p->first];
        p->first = (p->first + 1) % p->limit;
        p->count--;
        pthread_mutex_unlock(&p->mutex);
        j.run(j.context);
        pthread_mutex_lock(&p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

pl_pool *pl_pool_create(const char *name, int threads, size_t queue_limit)
{
    pl_pool *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->ready, NULL);
    p->limit = queue_limit;
    p->ring = calloc(queue_limit, sizeof *p->ring);
    p->threads = calloc((size_t)threads, sizeof *p->threads);
    if (p->ring && p->threads) {
        for (int i = 0; i < threads; i++) {
            if (pthread_create(&p->threads[i], NULL, work, p) != 0) {
                break;
            }
            pthread_setname_np(p->threads[i], name);
            p->thread_count++;
        }
    }
    if (p->thread_count < threads) {
        pl_pool_destroy(p);
        return NULL;
    }
    return p;
}

bool pl_pool_submit(pl_pool *p, pl_job run, void *context)
{
    pthread_mutex_lock(&p->mutex);
    bool taken = !p->stopping && p->count < p->limit;
    if (taken) {
        p->ring[(p->first + p->count) % p->limit] = (job){run, context};
        p->count++;
        pthread_cond_signal(&p->ready);
    }
    pthread_mutex_unlock(&p->mutex);
    return taken;
}

void pl_pool_stop(pl_pool *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->mutex);
    p->stopping = true;
    pthread_cond_broadcast(&p->ready);
    pthread_mutex_unlock(&p->mutex);
    for (int i = 0; i < p->thread_count; i++) {
        pthread_join(p->threads[i], NULL);
    }
    p->thread_count = 0;
}

void pl_pool_destroy(pl_pool *p)
{
    if (!p) {
        return;
    }
    pl_pool_stop(p);
    pthread_cond_destroy(&p->ready);
    pthread_mutex_destroy(&p->mutex);
    free(p->threads);
    free(p->ring);
    free(p);
}
