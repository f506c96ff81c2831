/* device.h - a backend for devices with memory of their own, written once: phases (phases.c) that run kernels
 * (*_kernels.c), one thread per term or vertex, from the CPU's templates and kernels.
 *
 * Everything here is compiled for a precision (PL_SINGLE or not), whose names end in _f32 or _f64, and for a
 * device: by nvcc for CUDA (memory: backends/cuda), or by the host's compiler for tests, where a kernel is a loop
 * over its threads (memory_host.c). No kernel adds with atomics: sums are gathered in a fixed order, so results
 * have the same bits in every run.
 */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_H

#include "engine/backends/shared_launches.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef PL_SINGLE
#define PL_PRECISION(name) name##_f32
#else
#define PL_PRECISION(name) name##_f64
#endif
#define PL_NAMED(name) PL_PRECISION(name)

#ifdef __cplusplus
#define PL_C extern "C"
extern "C" {
#else
#define PL_C
#endif

/* ---- queues: work launched in order, and its memory ---- */
/* Each session of a process has its own queue and knows nothing of the others. Work on a queue runs in launch
 * order, and concurrently with other queues. One thread at a time creates, uses and destroys a queue, and only the
 * queue uses its memory.
 *
 * An operation that fails is a fault of the device and loses everything that the process has on it. The operation
 * leaves a message in pl_device_fault() and does nothing; so do all later operations, on every queue. */
typedef struct pl_device_queue pl_device_queue;

/* Sets whether new queues that may share do so. A queue that shares keeps its launches until something is waited
 * for, and launches them together with the other queues that wait (joint.h): the same bits, with fewer launches.
 * Off by default. */
void pl_device_share(bool together);
pl_shared_launches pl_device_shared(void);
/* NULL: out of memory, or a fault. */
pl_device_queue *pl_device_queue_create(bool may_share);
/* Destroy a queue after everything created on it. NULL does nothing. */
void pl_device_queue_destroy(pl_device_queue *queue);
/* The first fault in this process, or NULL. */
const char *pl_device_fault(void);
/* True if some launch is not known to have ended; after a fault, the value when the fault was noticed. */
bool pl_device_launching(const pl_device_queue *queue);

/* ---- memory: for either precision ---- */

/* Zeroed; NULL if out of memory. */
void *pl_device_alloc(pl_device_queue *queue, size_t bytes);
void pl_device_release(pl_device_queue *queue, void *memory);
void pl_device_put(pl_device_queue *queue, void *to, const void *from, size_t bytes);
/* When it returns, all earlier launches have ended. */
void pl_device_get(pl_device_queue *queue, void *to, const void *from, size_t bytes);
void pl_device_copy(pl_device_queue *queue, void *to, const void *from, size_t bytes);
void pl_device_clear(pl_device_queue *queue, void *memory, size_t bytes);

/* ---- asynchronous transfers to the host ---- */
/* Zero-initialise before create; cannot begin while launches are recorded. */
typedef struct pl_device_transfer {
    pl_device_queue *queue;
    void *host;               /* that the device writes asynchronously (CUDA: pinned) */
    void *launched, *arrived; /* of the memory layer (CUDA: events) */
    size_t bytes;             /* of the last transfer */
    bool under_way;
} pl_device_transfer;

/* False: out of memory. Destroy also accepts a transfer whose create failed. */
bool pl_device_transfer_create(pl_device_queue *queue, pl_device_transfer *t, size_t bytes);
void pl_device_transfer_destroy(pl_device_transfer *t);
/* Starts a transfer from the device's memory as it is after all earlier launches. That memory must not change until
 * the transfer has arrived, and no other transfer of this object may be in flight. A transfer marks the end of a
 * frame: queues that launch together do not wait for this queue until it returns. */
void pl_device_transfer_begin(pl_device_transfer *t, const void *from, size_t bytes);
/* True if the transfer has arrived, always true with `wait`. If it failed, the bytes are NaN. */
bool pl_device_transfer_arrived(pl_device_transfer *t, bool wait);

/* ---- recordings: repeated sequences of launches, run as one (CUDA: a graph) ---- */
/* Between begin and end, kernels, copies and clearings of a queue are recorded with their current arguments and not
 * run; nothing else may use the queue. Zero-initialise before the first recording. */
typedef struct pl_device_recording {
    void *list;
} pl_device_recording;

/* False: launches are plain, because the queue shares, or recordings do not work; pl_device_recording_error() then
 * gives the reason. */
bool pl_device_record_begin(pl_device_queue *queue);
/* Replaces the previous recording. False: nothing was recorded, and nothing ran. */
bool pl_device_record_end(pl_device_queue *queue, pl_device_recording *recording);
void pl_device_replay(pl_device_queue *queue, const pl_device_recording *recording);
void pl_device_forget(pl_device_recording *recording);
/* The reason of the first failed recording in this process; NULL: none failed. Its queue makes no further
 * recordings. */
const char *pl_device_recording_error(void);

/* ---- launches ---- */

/* One of several launches of a kernel that are made as one. */
typedef struct pl_device_item {
    const void *arguments; /* in the device's memory */
    int64_t threads;
} pl_device_item;

/* stream: of the memory layer (a cudaStream_t in CUDA, otherwise unused). threads > 0. */
typedef struct pl_device_kernel {
    size_t bytes; /* of its arguments */
    void (*one)(void *stream, const void *arguments, int64_t threads);
    /* items: [count], in the device's memory, none with more than `most` threads. NULL: one by one. */
    void (*many)(void *stream, const pl_device_item *items, int32_t count, int64_t most);
} pl_device_kernel;

/* The arguments may be reused when this returns. */
void pl_device_launch(pl_device_queue *queue, const pl_device_kernel *kernel, const void *arguments,
                      int64_t threads);

#ifndef __CUDACC__
/* For tests. By default, the device's memory is readable only while a kernel's loop runs. After this call it is
 * always readable, on queues created later. It is for programs that only compare numbers: opening and closing
 * memory takes longer than small kernels. */
void pl_device_leave_open(void);
/* Makes recordings fail from now on. */
void pl_device_refuse_recordings(void);
/* By default, one transfer of a queue arrives each time the device is waited for. While held, a transfer arrives
 * only when it is waited for itself. */
void pl_device_hold_transfers(bool held);
int pl_device_transfers_under_way(void); /* over all queues */
/* Makes the device fail after this many more launches on the queue. */
void pl_device_fail_after(pl_device_queue *queue, int64_t launches);
/* Bytes handed out so far; memory that was released and reused counts once. */
size_t pl_device_handed_out(void);
#endif

#ifdef __cplusplus
}
#endif

/* ---- kernels ---- */
/* PL_KERNEL(name, thread_of, type) defines pl_device_<name>_<precision>(pl_device_queue *queue, const type
 * *arguments, int64_t threads), and name_kernel, from
 *     PL_THREAD void thread_of(const type *arguments, int64_t thread) */
#ifdef __CUDACC__
enum { PL_THREADS_A_BLOCK = 128 };
/* In double precision, and with PL_ALL_REGISTERS, a thread may use any number of registers. Otherwise the compiler
 * leaves room for several blocks, and spills if necessary. */
#if defined(PL_SINGLE) && !defined(PL_ALL_REGISTERS)
#define PL_BOUNDS __launch_bounds__(PL_THREADS_A_BLOCK)
#else
#define PL_BOUNDS __launch_bounds__(PL_THREADS_A_BLOCK, 1)
#endif
#define PL_THREAD          static __device__ __forceinline__
#define PL_BLOCKS(threads) (unsigned)(((threads) + PL_THREADS_A_BLOCK - 1) / PL_THREADS_A_BLOCK)
#define PL_ONE(name, thread_of, type)                                                              \
    static __global__ void PL_BOUNDS name##_threads(const __grid_constant__ type arguments,        \
                                                    int64_t threads)                               \
    {                                                                                              \
        int64_t thread = (int64_t)blockIdx.x * PL_THREADS_A_BLOCK + threadIdx.x;                   \
        if (thread < threads)                                                                      \
            thread_of(&arguments, thread);                                                         \
    }                                                                                              \
    static void name##_one(void *stream, const void *arguments, int64_t threads)                   \
    {                                                                                              \
        name##_threads<<<PL_BLOCKS(threads), PL_THREADS_A_BLOCK, 0, (cudaStream_t)stream>>>(       \
            *(const type *)arguments, threads);                                                    \
    }
/* Sessions that share use single precision: only that is compiled for several at a time. */
#ifdef PL_SINGLE
#define PL_MANY(name, thread_of, type)                                                             \
    static __global__ void PL_BOUNDS name##_many_threads(const pl_device_item *items)              \
    {                                                                                              \
        const pl_device_item item = items[blockIdx.y];                                             \
        int64_t thread = (int64_t)blockIdx.x * PL_THREADS_A_BLOCK + threadIdx.x;                   \
        if (thread < item.threads)                                                                 \
            thread_of((const type *)item.arguments, thread);                                       \
    }                                                                                              \
    static void name##_many(void *stream, const pl_device_item *items, int32_t count,              \
                            int64_t most)                                                          \
    {                                                                                              \
        name##_many_threads<<<dim3(PL_BLOCKS(most), (unsigned)count), PL_THREADS_A_BLOCK, 0,       \
                              (cudaStream_t)stream>>>(items);                                      \
    }
#else
#define PL_MANY(name, thread_of, type)                                                             \
    static void (*const name##_many)(void *, const pl_device_item *, int32_t, int64_t) = 0;
#endif
#else
#define PL_THREAD static
#define PL_ONE(name, thread_of, type)                                                              \
    static void name##_one(void *stream, const void *arguments, int64_t threads)                   \
    {                                                                                              \
        for (int64_t thread = 0; thread < threads; thread++)                                       \
            thread_of((const type *)arguments, thread);                                            \
    }
#define PL_MANY(name, thread_of, type)                                                             \
    static void name##_many(void *stream, const pl_device_item *items, int32_t count,              \
                            int64_t most)                                                          \
    {                                                                                              \
        for (int32_t i = 0; i < count; i++)                                                        \
            name##_one(stream, items[i].arguments, items[i].threads);                              \
    }
#endif
#define PL_KERNEL(name, thread_of, type)                                                           \
    PL_ONE(name, thread_of, type)                                                                  \
    PL_MANY(name, thread_of, type)                                                                 \
    static const pl_device_kernel name##_kernel = {sizeof(type), name##_one, name##_many};         \
    PL_C void PL_NAMED(pl_device_##name)(pl_device_queue * queue, const type *arguments,           \
                                         int64_t threads);                                         \
    PL_C void PL_NAMED(pl_device_##name)(pl_device_queue * queue, const type *arguments,           \
                                         int64_t threads)                                          \
    {                                                                                              \
        if (threads > 0)                                                                           \
            pl_device_launch(queue, &name##_kernel, arguments, threads);                           \
    }

#endif
