/* Streams and events. A stream's thread executes operations in order, as far as needed: up to one that somebody waits
 * for or, at random, up to the newest. */
#include "tests/gpu/standin/standin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct CUevent_st {
    int device;
    standin_mark *mark; /* of its last record; NULL: never recorded */
};

static struct CUstream_st *streams;
static int64_t streams_made, transfers;
/* Operations that a stream holds back at the most: a driver's queue has an end, too. */
enum { HELD_BACK = 1000 };
static int eager_of_64 = 2;

void standin_eagerness(int of_64)
{
    eager_of_64 = of_64;
}

bool standin_is_stream(const struct CUstream_st *stream)
{
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (s == stream)
            return !s->destroyed;
    return false;
}

static uint64_t next_chance(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x * UINT64_C(0x2545F4914F6CDD1D) >> 32;
}

standin_op *standin_new_op(standin_kind kind)
{
    standin_op *op = calloc(1, sizeof *op);
    op->kind = kind;
    return op;
}

void standin_free_op(standin_op *op)
{
    if (op->mark)
        standin_drop_mark(op->mark);
    if (op->nodes)
        standin_drop_nodes(op->nodes);
    free(op->arguments);
    free(op->staged);
    free(op);
}

void standin_drop_mark(standin_mark *mark)
{
    if (--mark->references == 0)
        free(mark);
}

/* ---- a stream's thread ---- */

static void want(struct CUstream_st *s, int64_t number)
{
    if (number <= s->wanted)
        return;
    s->wanted = number;
    pthread_cond_signal(&s->work);
}

/* Another stream's event: its stream is wanted to come there. */
static void await_mark(standin_mark *mark)
{
    while (!mark->reached) {
        struct CUstream_st *of = mark->stream;
        want(of, of->given);
        pthread_cond_wait(&of->progress, &standin_lock);
    }
}

/* Now and then a stream dawdles. */
static void dawdle(uint64_t chance)
{
    if (chance % 64 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(chance / 64 % 300000)}, NULL);
}

static void end_stream(struct CUstream_st *s)
{
    for (struct CUstream_st **at = &streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    pthread_mutex_unlock(&standin_lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->progress);
    free(s);
}

/* With the lock, which it lets go while it runs what there is to run. */
static void take_one(struct CUstream_st *s)
{
    standin_op *op = s->first;
    s->first = op->next;
    if (!s->first)
        s->last = &s->first;
    if (op->kind == OP_MARK) {
        op->mark->reached = true;
    } else if (op->kind == OP_AWAIT) {
        await_mark(op->mark);
    } else if (op->fails) {
        standin_break(cudaErrorLaunchFailure);
    } else if (standin_broken() == cudaSuccess) {
        uint64_t chance = next_chance(&s->chance);
        pthread_mutex_unlock(&standin_lock);
        dawdle(chance);
        standin_open();
        standin_run(op);
        standin_close();
        pthread_mutex_lock(&standin_lock);
    }
    standin_use(op->pinned, -1);
    transfers -= op->pinned && op->down;
    standin_free_op(op);
    s->done++;
    pthread_cond_broadcast(&s->progress);
}

static void *live(void *context)
{
    struct CUstream_st *s = context;
    pthread_mutex_lock(&standin_lock);
    for (;;) {
        while (s->done >= s->wanted && !(s->destroyed && !s->first))
            pthread_cond_wait(&s->work, &standin_lock);
        if (!s->first)
            break;
        take_one(s);
    }
    end_stream(s);
    return NULL;
}

int64_t standin_transfers(void)
{
    return transfers;
}

/* True if a test holds back the stream's results. */
static bool is_held(const struct CUstream_st *s)
{
    bool brings = false;
    for (const standin_op *op = s->first; op && !brings; op = op->next)
        brings = op->pinned && op->down;
    return brings && standin_holds_transfers();
}

static void append(struct CUstream_st *s, standin_op *op)
{
    *s->last = op;
    s->last = &op->next;
    s->given++;
    standin_use(op->pinned, 1);
    transfers += op->pinned && op->down;
    if (s->given - s->done > HELD_BACK ||
        (!is_held(s) && (int)(next_chance(&s->chance) % 64) < eager_of_64))
        want(s, s->given);
}

cudaError_t standin_give(struct CUstream_st *s, standin_op *op)
{
    cudaError_t code = cudaSuccess;
    if (s->capturing && (s->invalid || !pthread_equal(s->capturer, pthread_self()) ||
                         op->kind == OP_MARK || op->kind == OP_AWAIT || op->kind == OP_GRAPH)) {
        code = s->invalid ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnsupported;
        s->invalid = true;
        standin_free_op(op);
    } else if (s->capturing) {
        standin_keep_node(s->captured, op);
    } else {
        append(s, op);
    }
    return code;
}

void standin_wait_for(struct CUstream_st *s, int64_t number)
{
    want(s, number);
    while (s->done < number)
        pthread_cond_wait(&s->progress, &standin_lock);
}

bool standin_spoil_captures_of_thread(void)
{
    bool any = false;
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s->capturing && pthread_equal(s->capturer, pthread_self()))
            any = s->invalid = true;
    return any;
}

int64_t standin_under_way(void)
{
    int64_t under_way = 0;
    pthread_mutex_lock(&standin_lock);
    for (const struct CUstream_st *s = streams; s; s = s->next)
        under_way += s->given - s->done;
    pthread_mutex_unlock(&standin_lock);
    return under_way;
}

/* ---- the calls ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    STANDIN_ENTER(false);
    if (flags != cudaStreamNonBlocking)
        standin_abort("a stream that waits for the legacy stream, and so for all others");
    struct CUstream_st *s = calloc(1, sizeof *s);
    s->device = standin_current_device();
    s->last = &s->first;
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->progress, NULL);
    pthread_mutex_lock(&standin_lock);
    s->chance = (standin_seed() + (uint64_t)++streams_made) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    s->next = streams;
    streams = s;
    standin_counted.live_streams++;
    pthread_mutex_unlock(&standin_lock);
    if (pthread_create(&s->thread, NULL, live, s) != 0)
        standin_abort("a stream's thread cannot be started");
    pthread_detach(s->thread);
    *out = s;
    return cudaSuccess;
}

/* Operations already submitted are still done. */
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    cudaError_t entered = standin_enter(__func__, false);
    pthread_mutex_lock(&standin_lock);
    bool good = standin_is_stream(s);
    if (good && s->capturing)
        standin_abort("a stream is destroyed while it is captured");
    if (good) {
        standin_counted.live_streams--;
        s->destroyed = true;
        s->wanted = s->given;
        pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&standin_lock);
    return good ? entered : standin_answer(cudaErrorInvalidResourceHandle);
}

/* With the lock; 0: the stream may be waited for. */
static cudaError_t may_wait_for(struct CUstream_st *s)
{
    if (!standin_is_stream(s))
        return s ? cudaErrorInvalidResourceHandle : cudaErrorStreamCaptureImplicit;
    if (!s->capturing)
        return cudaSuccess;
    s->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

static void broken_after(cudaError_t *code)
{
    if (*code == cudaSuccess)
        *code = standin_broken();
}

/* A failing call has still waited, like one that reports an error of earlier work. */
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    cudaError_t entered = standin_enter(__func__, true);
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = may_wait_for(s);
    standin_counted.waits++;
    if (code == cudaSuccess)
        standin_wait_for(s, s->given);
    code = entered != cudaSuccess ? entered : code;
    broken_after(&code);
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    STANDIN_ENTER(false);
    if (flags != cudaEventDisableTiming)
        standin_abort("an event that takes times");
    *out = calloc(1, sizeof **out);
    (*out)->device = standin_current_device();
    __atomic_fetch_add(&standin_counted.live_events, 1, __ATOMIC_RELAXED);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    cudaError_t entered = standin_enter(__func__, false);
    pthread_mutex_lock(&standin_lock);
    if (e->mark)
        standin_drop_mark(e->mark);
    standin_counted.live_events--;
    pthread_mutex_unlock(&standin_lock);
    free(e);
    return entered;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    STANDIN_ENTER(false);
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = standin_is_stream(s) && s->device == e->device
                           ? cudaSuccess
                           : cudaErrorInvalidResourceHandle;
    if (code == cudaSuccess) {
        standin_mark *mark = calloc(1, sizeof *mark);
        *mark = (standin_mark){.references = 2, .stream = s};
        standin_op *op = standin_new_op(OP_MARK);
        op->mark = mark;
        code = standin_give(s, op);
        if (e->mark)
            standin_drop_mark(e->mark);
        e->mark = mark;
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    STANDIN_ENTER(false);
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = standin_is_stream(s) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (code == cudaSuccess && s->capturing) {
        s->invalid = true;
        code = cudaErrorStreamCaptureIsolation;
    } else if (code == cudaSuccess && e->mark) {
        standin_op *op = standin_new_op(OP_AWAIT);
        op->mark = e->mark;
        op->mark->references++;
        code = standin_give(s, op);
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    cudaError_t code = standin_enter(__func__, true);
    pthread_mutex_lock(&standin_lock);
    standin_counted.waits++;
    standin_mark *mark = e->mark;
    if (mark) {
        mark->references++;
        await_mark(mark);
        standin_drop_mark(mark);
    }
    broken_after(&code);
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

/* Polling repeatedly eventually succeeds. */
cudaError_t cudaEventQuery(cudaEvent_t e)
{
    STANDIN_ENTER(true);
    pthread_mutex_lock(&standin_lock);
    standin_mark *mark = e->mark;
    cudaError_t code = !mark || mark->reached ? cudaSuccess : cudaErrorNotReady;
    standin_counted.queries++;
    if (code == cudaErrorNotReady && !is_held(mark->stream) &&
        next_chance(&mark->stream->chance) % 2 == 0)
        want(mark->stream, mark->stream->given);
    broken_after(&code);
    pthread_mutex_unlock(&standin_lock);
    if (code == cudaErrorNotReady)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    return standin_answer(code);
}
