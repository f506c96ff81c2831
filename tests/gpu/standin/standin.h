/* standin.h - a stand-in for CUDA's runtime, as strict as its documentation allows, for tests without a card. The
 * plug-in's own sources are linked to it, with kernels that the host's compiler made from the same text.
 *
 * Streams are threads. A stream executes its operations when somebody waits for it, and at random before: operations
 * that no wait or event orders eventually run in a different order. Only the streams' threads can read device memory,
 * nobody can read freed memory, and no address is reused. Kernels, copies, captures and errors follow the strictest
 * reading of the documentation; a forbidden call ends the program with a line that names it.
 *
 * In the environment:
 *   PLIANT_STANDIN_SEED=N          another order of things
 *   PLIANT_STANDIN_FAIL=CALL N HOW  the N-th call of that name (`any`: of all) fails: `memory` (out of memory, an
 *                                  answer), `launch` or `lost` (the device is gone), `driver` or `none` (of all
 *                                  calls from the first on: too old a driver, no device)
 *   PLIANT_STANDIN_MEMORY=BYTES    of a device; 4 GiB
 *   PLIANT_STANDIN_REPORT=FILE     the leaks at the end of the process, one line */
#ifndef PLIANT_TESTS_GPU_STANDIN_STANDIN_H
#define PLIANT_TESTS_GPU_STANDIN_STANDIN_H

#include "engine/backends/device/device.h"
#include "tests/gpu/standin/include/cuda_runtime.h"

#include <pthread.h>
#include <stdbool.h>

/* ---- for tests ---- */

/* Of the process so far; `live_*`: not destroyed yet. */
typedef struct standin_counts {
    int64_t launches, recorded_launches; /* kernels: launched one by one; run by graphs */
    int64_t graphs, graph_updates, graph_instances;
    int64_t copies_up, copies_down, copies_within, clearings;
    int64_t bytes_up, bytes_down;
    int64_t pageable; /* of the copies */
    int64_t waits, queries;
    int64_t live_memory, live_pinned; /* blocks */
    int64_t live_streams, live_events, live_graphs, live_contexts;
    int64_t contexts; /* that were made */
} standin_counts;

standin_counts standin_count(void);
/* The n-th call from now on fails with this code; NULL: whichever call it is. Kernels are calls named "kernel". */
void standin_fail(const char *call, int64_t n, cudaError_t code);
void standin_fail_none(void);
int64_t standin_under_way(void); /* operations that were given and not done */
int64_t standin_calls(void);     /* since either */
/* How likely a stream begins before anybody waits, of 64: 0 never, 64 always. */
void standin_eagerness(int of_64);

/* ---- inside ---- */

enum { STANDIN_DEVICES = 2, STANDIN_CHOSEN = 1 };

typedef enum standin_kind {
    OP_ONE,  /* a kernel */
    OP_MANY, /* one of several launches as one */
    OP_COPY,
    OP_CLEAR,
    OP_MARK,  /* an event is reached */
    OP_AWAIT, /* an event of another stream is waited for */
    OP_GRAPH
} standin_kind;

/* A place in a stream's order. */
typedef struct standin_mark {
    int references;
    bool reached;
    struct CUstream_st *stream;
} standin_mark;

typedef struct standin_block standin_block;
typedef struct standin_nodes standin_nodes;

typedef struct standin_op {
    struct standin_op *next;
    standin_kind kind;
    const pl_device_kernel *kernel;
    void *arguments; /* a copy */
    int64_t threads;
    const pl_device_item *items;
    int32_t count;
    int64_t most;
    void *to;
    const void *from;
    void *staged; /* of pageable memory */
    size_t bytes;
    int value;
    uint64_t sum;          /* of pinned memory that must not change before it was copied */
    standin_block *pinned; /* in use by it */
    bool down, fails;
    standin_mark *mark;
    standin_nodes *nodes;
} standin_op;

/* A graph's contents; those of a launch stay unchanged when the graph is updated. */
struct standin_nodes {
    int references;
    int64_t count;
    standin_op **op;
};

struct CUstream_st {
    struct CUstream_st *next;
    int device;
    pthread_t thread;
    pthread_cond_t work, progress;
    standin_op *first, **last;
    int64_t given, done, wanted; /* numbers of operations; wanted: to be run up to there */
    bool destroyed;
    uint64_t chance;
    /* While it is captured. */
    bool capturing, invalid;
    pthread_t capturer;
    standin_nodes *captured;
};

/* One lock of everything; kernels and copies run without. */
extern pthread_mutex_t standin_lock;
extern standin_counts standin_counted;

/* devices.c: the beginning of each call, which returns an error if one is injected or the device is gone; and its end.
 * `unsafe`: a capture of this thread does not allow it. */
cudaError_t standin_enter(const char *call, bool unsafe);
cudaError_t standin_answer(cudaError_t code);
cudaError_t standin_broken(void); /* what every call fails with, or cudaSuccess */
void standin_break(cudaError_t code);
int standin_current_device(void); /* which has a context from then on */
size_t standin_device_memory(void);
_Noreturn void standin_abort(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t standin_seed(void);
#define STANDIN_ENTER(unsafe)                                                                      \
    do {                                                                                           \
        cudaError_t entered = standin_enter(__func__, unsafe);                                     \
        if (entered != cudaSuccess)                                                                \
            return entered;                                                                        \
    } while (0)

/* streams.c. With the lock. */
bool standin_is_stream(const struct CUstream_st *stream);
standin_op *standin_new_op(standin_kind kind);
void standin_free_op(standin_op *op);
/* Into the stream's order, or its capture's; consumed. */
cudaError_t standin_give(struct CUstream_st *stream, standin_op *op);
void standin_wait_for(struct CUstream_st *stream, int64_t number);
/* Copies into pinned memory that have not been made. */
int64_t standin_transfers(void);
void standin_drop_mark(standin_mark *mark);
/* Whether this thread captures a stream; all such captures end badly. */
bool standin_spoil_captures_of_thread(void);
void standin_run(const standin_op *op); /* without the lock; memory.c's side is open */

/* memory.c */
void standin_open(void); /* called by a stream's thread around its work */
void standin_close(void);
bool standin_on_device(const void *memory, size_t bytes);
size_t standin_most_taken(void); /* bytes of both devices at a time */
standin_block *standin_pinned(const void *memory, size_t bytes); /* NULL: pageable */
void standin_use(standin_block *pinned, int way); /* 1: one more operation uses it; -1: one fewer */

bool standin_in_use(const standin_block *pinned);

/* graphs.c. With the lock. */
void standin_drop_nodes(standin_nodes *nodes);
void standin_keep_node(standin_nodes *nodes, standin_op *op);

/* hooks.c: true if a launch makes the device fail. */
bool standin_launch_fails(const struct CUstream_st *stream, int64_t launches);
bool standin_holds_transfers(void);

#endif
