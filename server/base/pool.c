#include "server/base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_SHARE = 4 };

typedef struct job {
    struct job *next;
    pl_job run;
    void *context;
    uint64_t lane;
    int64_t turn;
} job;

struct pl_pool {
    pthread_mutex_t mutex;
    pthread_cond_t ready;
    job *first, *last; /* by turn, then by arrival */
    int64_t turn;      /* of the job begun last */
    size_t limit, count;
    bool stopping;
    int thread_count;
    pthread_t *threads;
};

/* ---- the queue; the mutex is held ---- */

static job *take(pl_pool *p)
{
    job *j = p->first;
    p->first = j->next;
    p->last = p->first ? p->last : NULL;
    p->turn = j->turn > p->turn ? j->turn : p->turn;
    p->count--;
    return j;
}

static void append(pl_pool *p, job *j)
{
    j->turn = p->last ? p->last->turn : p->turn;
    *(p->last ? &p->last->next : &p->first) = j;
    p->last = j;
}

/* Its turn is one after the newest of its lane, or after the job begun last: behind one job of each other lane. */
static void insert(pl_pool *p, job *j)
{
    j->turn = p->turn + 1;
    for (const job *k = p->first; k; k = k->next) {
        j->turn = k->lane == j->lane && k->turn >= j->turn ? k->turn + 1 : j->turn;
    }
    job **link = &p->first;
    while (*link && (*link)->turn <= j->turn) {
        link = &(*link)->next;
    }
    j->next = *link;
    *link = j;
    p->last = j->next ? p->last : j;
}

static size_t count_lane(const pl_pool *p, uint64_t lane)
{
    size_t count = 0;
    for (const job *j = p->first; j; j = j->next) {
        count += j->lane == lane;
    }
    return count;
}

/* `bound`: apply the limits; otherwise the job is accepted even while the pool is stopping. */
static pl_pool_answer submit(pl_pool *p, uint64_t lane, bool bound, pl_job run, void *context)
{
    job *j = malloc(sizeof *j);
    pl_pool_answer answer = j ? PL_POOL_TAKEN : PL_POOL_FULL;
    pthread_mutex_lock(&p->mutex);
    if (bound && (p->stopping || p->count >= p->limit)) {
        answer = PL_POOL_FULL;
    } else if (bound && lane && LANE_SHARE * count_lane(p, lane) >= p->limit) {
        answer = PL_POOL_LANE_FULL;
    }
    if (answer == PL_POOL_TAKEN) {
        *j = (job){.run = run, .context = context, .lane = lane};
        (lane ? insert : append)(p, j);
        p->count++;
        pthread_cond_signal(&p->ready);
    }
    pthread_mutex_unlock(&p->mutex);
    if (answer != PL_POOL_TAKEN) {
        free(j);
    }
    return answer;
}

/* ---- threads ---- */

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
        job *j = take(p);
        pthread_mutex_unlock(&p->mutex);
        j->run(j->context);
        free(j);
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
    p->threads = calloc((size_t)threads, sizeof *p->threads);
    if (p->threads) {
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
    return submit(p, 0, true, run, context) == PL_POOL_TAKEN;
}

pl_pool_answer pl_pool_submit_in_turn(pl_pool *p, uint64_t lane, pl_job run, void *context)
{
    return submit(p, lane, true, run, context);
}

bool pl_pool_go_on(pl_pool *p, uint64_t lane, pl_job run, void *context)
{
    return submit(p, lane, false, run, context) == PL_POOL_TAKEN;
}

size_t pl_pool_waiting(pl_pool *p, uint64_t lane)
{
    pthread_mutex_lock(&p->mutex);
    size_t count = count_lane(p, lane);
    pthread_mutex_unlock(&p->mutex);
    return count;
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
    free(p);
}
