/* Captures, graphs and executable graphs. */
#include "tests/gpu/standin/standin.h"

#include <stdlib.h>

struct CUgraph_st {
    standin_nodes *nodes;
};

struct CUgraphExec_st {
    standin_nodes *nodes;
};

static standin_nodes *new_nodes(void)
{
    standin_nodes *nodes = calloc(1, sizeof *nodes);
    nodes->references = 1;
    return nodes;
}

void standin_keep_node(standin_nodes *nodes, standin_op *op)
{
    nodes->op = realloc(nodes->op, (size_t)(nodes->count + 1) * sizeof *nodes->op);
    nodes->op[nodes->count++] = op;
}

void standin_drop_nodes(standin_nodes *nodes)
{
    if (--nodes->references > 0)
        return;
    for (int64_t i = 0; i < nodes->count; i++)
        standin_free_op(nodes->op[i]);
    free(nodes->op);
    free(nodes);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode)
{
    STANDIN_ENTER(false);
    if (mode != cudaStreamCaptureModeThreadLocal)
        standin_abort("a capture that hinders the calls of other threads, or allows any");
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = !standin_is_stream(s) ? cudaErrorStreamCaptureUnsupported
                       : s->capturing        ? cudaErrorInvalidValue
                                             : cudaSuccess;
    if (code == cudaSuccess) {
        s->capturing = true;
        s->invalid = false;
        s->capturer = pthread_self();
        s->captured = new_nodes();
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

/* With the lock. It ends in any case but by another thread. */
static cudaError_t end_capture(struct CUstream_st *s, standin_nodes **out)
{
    *out = NULL;
    if (!standin_is_stream(s) || !s->capturing)
        return cudaErrorStreamCaptureUnmatched;
    if (!pthread_equal(s->capturer, pthread_self()))
        return cudaErrorStreamCaptureWrongThread;
    s->capturing = false;
    if (!s->invalid)
        *out = s->captured;
    else
        standin_drop_nodes(s->captured);
    return s->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
    cudaError_t entered = standin_enter(__func__, false);
    standin_nodes *nodes;
    pthread_mutex_lock(&standin_lock);
    if (s->capturing && entered != cudaSuccess)
        s->invalid = true;
    cudaError_t code = end_capture(s, &nodes);
    *out = NULL;
    if (code == cudaSuccess) {
        *out = calloc(1, sizeof **out);
        (*out)->nodes = nodes;
        standin_counted.live_graphs++;
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(entered != cudaSuccess ? entered : code);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    STANDIN_ENTER(false);
    pthread_mutex_lock(&standin_lock);
    *out = calloc(1, sizeof **out);
    (*out)->nodes = graph->nodes;
    graph->nodes->references++;
    standin_counted.live_graphs++;
    standin_counted.graph_instances++;
    pthread_mutex_unlock(&standin_lock);
    return cudaSuccess;
}

/* The same operations in the same order, whatever they are given; a kernel may be another. */
static bool is_alike(const standin_nodes *a, const standin_nodes *b)
{
    bool alike = a->count == b->count;
    for (int64_t i = 0; alike && i < a->count; i++)
        alike = a->op[i]->kind == b->op[i]->kind && a->op[i]->down == b->op[i]->down;
    return alike;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    STANDIN_ENTER(false);
    pthread_mutex_lock(&standin_lock);
    bool alike = is_alike(exec->nodes, graph->nodes);
    if (alike) {
        standin_drop_nodes(exec->nodes);
        exec->nodes = graph->nodes;
        exec->nodes->references++;
        standin_counted.graph_updates++;
    }
    *info = (cudaGraphExecUpdateResultInfo){.result = alike ? 0 : 1};
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(alike ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s)
{
    STANDIN_ENTER(false);
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = standin_is_stream(s) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (code == cudaSuccess) {
        standin_op *op = standin_new_op(OP_GRAPH);
        op->nodes = exec->nodes;
        op->nodes->references++;
        standin_counted.graphs++;
        int64_t kernels = 0;
        for (int64_t i = 0; i < exec->nodes->count; i++)
            kernels += exec->nodes->op[i]->kind == OP_ONE;
        standin_counted.recorded_launches += kernels;
        op->fails = standin_launch_fails(s, kernels);
        code = standin_give(s, op);
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

static void destroy(standin_nodes *nodes, void *of)
{
    pthread_mutex_lock(&standin_lock);
    standin_drop_nodes(nodes);
    standin_counted.live_graphs--;
    pthread_mutex_unlock(&standin_lock);
    free(of);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t entered = standin_enter(__func__, false);
    destroy(graph->nodes, graph);
    return entered;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaError_t entered = standin_enter(__func__, false);
    destroy(exec->nodes, exec);
    return entered;
}
