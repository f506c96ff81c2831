/* Copies and clears. From pageable memory to the device: staged at once or read as late as possible, at random, since
 * neither is guaranteed; from the device to pageable memory: complete when the call returns. Pinned memory belongs to
 * the device during a copy: a read of it gives NaN, and a write to it is detected. */
#include "tests/gpu/standin/standin.h"

#include <stdlib.h>
#include <string.h>

static uint64_t sum_of(const void *memory, size_t bytes)
{
    const unsigned char *b = memory;
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ b[i]) * UINT64_C(0x100000001B3);
    return sum;
}

static void run_copy(const standin_op *op)
{
    const void *from = op->staged ? op->staged : op->from;
    if (op->pinned && !op->down && sum_of(from, op->bytes) != op->sum)
        standin_abort("pinned memory was written before the copy from it had been made");
    memcpy(op->to, from, op->bytes);
}

static void run_nodes(const standin_nodes *nodes)
{
    for (int64_t i = 0; i < nodes->count; i++)
        standin_run(nodes->op[i]);
}

/* The grid has as many threads in each row; the host's loop would not mind. */
static void hold_threads(const standin_op *op)
{
    for (int32_t i = 0; i < op->count; i++)
        if (op->items[i].threads > op->most)
            standin_abort("a launch of several has fewer threads than one of them");
}

void standin_run(const standin_op *op)
{
    switch (op->kind) {
    case OP_ONE:
        op->kernel->one(NULL, op->arguments, op->threads);
        break;
    case OP_MANY:
        hold_threads(op);
        op->kernel->many(NULL, op->items, op->count, op->most);
        break;
    case OP_COPY:
        run_copy(op);
        break;
    case OP_CLEAR:
        memset(op->to, op->value, op->bytes);
        break;
    case OP_GRAPH:
        run_nodes(op->nodes);
        break;
    case OP_MARK:
    case OP_AWAIT:
        break;
    }
}

static bool sides_fit(const standin_op *op, cudaMemcpyKind kind)
{
    bool to = standin_on_device(op->to, op->bytes), from = standin_on_device(op->from, op->bytes);
    return kind == cudaMemcpyHostToDevice     ? to && !from
           : kind == cudaMemcpyDeviceToHost   ? !to && from
           : kind == cudaMemcpyDeviceToDevice ? to && from
                                              : false;
}

static void count_copy(const standin_op *op, cudaMemcpyKind kind)
{
    standin_counts *c = &standin_counted;
    *(kind == cudaMemcpyHostToDevice   ? &c->copies_up
      : kind == cudaMemcpyDeviceToHost ? &c->copies_down
                                       : &c->copies_within) += 1;
    c->bytes_up += kind == cudaMemcpyHostToDevice ? (int64_t)op->bytes : 0;
    c->bytes_down += kind == cudaMemcpyDeviceToHost ? (int64_t)op->bytes : 0;
    c->pageable += kind != cudaMemcpyDeviceToDevice && !op->pinned;
}

/* What pinned and pageable memory ask of a copy; whether it is waited for. */
/* Copies of the host's memory in a graph are more than the plug-in needs. */
static bool prepare(struct CUstream_st *s, standin_op *op, cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDeviceToDevice || s->capturing) {
        s->invalid = s->invalid || kind != cudaMemcpyDeviceToDevice;
        return false;
    }
    op->down = kind == cudaMemcpyDeviceToHost;
    op->pinned = standin_pinned(op->down ? op->to : op->from, op->bytes);
    /* otherwise earlier operations decide */
    if (op->pinned && op->down && !standin_in_use(op->pinned))
        memset(op->to, 0xff, op->bytes);
    else if (op->pinned && !op->down)
        op->sum = sum_of(op->from, op->bytes);
    else if (!op->pinned && !op->down && s->chance & 1) {
        op->staged = malloc(op->bytes + 1);
        memcpy(op->staged, op->from, op->bytes);
    }
    return op->down && !op->pinned;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t s)
{
    STANDIN_ENTER(false);
    if (bytes == 0)
        return cudaSuccess;
    pthread_mutex_lock(&standin_lock);
    standin_op *op = standin_new_op(OP_COPY);
    op->to = to;
    op->from = from;
    op->bytes = bytes;
    cudaError_t code = !standin_is_stream(s)  ? cudaErrorInvalidResourceHandle
                       : !sides_fit(op, kind) ? cudaErrorInvalidValue
                                              : cudaSuccess;
    if (code != cudaSuccess) {
        standin_free_op(op);
    } else {
        bool wait = prepare(s, op, kind);
        count_copy(op, kind);
        code = standin_give(s, op);
        if (wait && code == cudaSuccess)
            standin_wait_for(s, s->given);
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s)
{
    STANDIN_ENTER(false);
    if (bytes == 0)
        return cudaSuccess;
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = !standin_is_stream(s)           ? cudaErrorInvalidResourceHandle
                       : !standin_on_device(to, bytes) ? cudaErrorInvalidValue
                                                       : cudaSuccess;
    if (code == cudaSuccess) {
        standin_op *op = standin_new_op(OP_CLEAR);
        op->to = to;
        op->value = value;
        op->bytes = bytes;
        standin_counted.clearings++;
        code = standin_give(s, op);
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}
