/* device.h - a backend for devices with memory of their own, written once: phases (phases.c) that run
 * kernels (*_kernels.c), one thread a term or a vertex, on the CPU's templates and kernels.
 *
 * Everything here is compiled for a precision (PL_SINGLE or not), whose names end in _f32 or _f64, and
 * for a device: by nvcc for CUDA (memory: backends/cuda), or by the host's compiler for tests, where
 * a kernel is a loop over its threads (memory_host.c). No kernel adds with atomics: what has to be
 * added up is gathered in a fixed order, so results are the same bits in every run.
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

/* ---- queues: what is launched in order, and the memory that it is launched on ---- */
/* Sessions in one process have one each and know nothing of each other: what is launched on a queue runs after
 * what was launched on it before, beside what is on others. A queue is made, used and destroyed by one thread
 * at a time, and its memory is nobody else's.
 *
 * An operation that fails is a fault of the device, which takes all that a process has on it along: it leaves
 * a message in pl_device_fault() and does nothing; so do all after it, on every queue. */
typedef struct pl_device_queue pl_device_queue;

/* Queues made while this is asked for, of those that may, keep what is launched on them until something is waited
 * for, and launch it together with the others that wait (joint.h): the same bits, with fewer launches. At first
 * none does. */
void pl_device_share(bool together);
pl_shared_launches pl_device_shared(void);
/* NULL: no memory, or a fault. */
pl_device_queue *pl_device_queue_create(bool may_share);
/* After all that was made on it. NULL is nothing. */
void pl_device_queue_destroy(pl_device_queue *queue);
/* What went wrong first in this process, or NULL. */
const char *pl_device_fault(void);
/* Whether something was launched that is not known to have ended; of a fault, when it was noticed. */
bool pl_device_launching(const pl_device_queue *queue);

/* ---- memory: of either precision ---- */

/* Zeroed; NULL when there is no memory. */
void *pl_device_alloc(pl_device_queue *queue, size_t bytes);
void pl_device_release(pl_device_queue *queue, void *memory);
void pl_device_put(pl_device_queue *queue, void *to, const void *from, size_t bytes);
/* What was launched before has ended then. */
void pl_device_get(pl_device_queue *queue, void *to, const void *from, size_t bytes);
void pl_device_copy(pl_device_queue *queue, void *to, const void *from, size_t bytes);
void pl_device_clear(pl_device_queue *queue, void *memory, size_t bytes);

/* ---- transfers to the host that the device makes while it goes on ---- */
/* Zeroed before create; not to be begun while launches are recorded. */
typedef struct pl_device_transfer {
    pl_device_queue *queue;
    void *host;               /* that the device writes by itself (CUDA: pinned) */
    void *launched, *arrived; /* the memory's own (CUDA: events) */
    size_t bytes;             /* of the last that was begun */
    bool under_way;
} pl_device_transfer;

/* False: no memory. Destroy takes one that failed, too. */
bool pl_device_transfer_create(pl_device_queue *queue, pl_device_transfer *t, size_t bytes);
void pl_device_transfer_destroy(pl_device_transfer *t);
/* From the device's memory as it is after all that was launched before; that memory must stay as it is until
 * the transfer has arrived. None is to be under way. It comes where a frame ends: those that launch together do not
 * wait for this queue until it is back. */
void pl_device_transfer_begin(pl_device_transfer *t, const void *from, size_t bytes);
/* Whether it has arrived, which it has if it is waited for; of one that failed the bytes are NaN. */
bool pl_device_transfer_arrived(pl_device_transfer *t, bool wait);

/* ---- recordings: launches that are made again and again, as one (CUDA: a graph) ---- */
/* Between begin and end kernels, copies and clearings of a queue are kept with the arguments that they have
 * then, and not run; nothing else of the queue may be used. Zeroed before the first. */
typedef struct pl_device_recording {
    void *list;
} pl_device_recording;

/* False, and launches are plain ones: of a queue that shares, or there are no recordings, which
 * pl_device_recording_error() explains. */
bool pl_device_record_begin(pl_device_queue *queue);
/* In the place of what was recorded before. False: nothing was kept and nothing run. */
bool pl_device_record_end(pl_device_queue *queue, pl_device_recording *recording);
void pl_device_replay(pl_device_queue *queue, const pl_device_recording *recording);
void pl_device_forget(pl_device_recording *recording);
/* Why a recording failed first in this process, after which none is tried on its queue; NULL: none has. */
const char *pl_device_recording_error(void);

/* ---- launches ---- */

/* One of several launches of a kernel that are made as one. */
typedef struct pl_device_item {
    const void *arguments; /* in the device's memory */
    int64_t threads;
} pl_device_item;

/* stream: the memory's own (CUDA: a cudaStream_t; else nothing). threads > 0. */
typedef struct pl_device_kernel {
    size_t bytes; /* of its arguments */
    void (*one)(void *stream, const void *arguments, int64_t threads);
    /* items: [count], in the device's memory, none of more than `most` threads. NULL: one by one. */
    void (*many)(void *stream, const pl_device_item *items, int32_t count, int64_t most);
} pl_device_kernel;

/* The arguments have been read when this returns. */
void pl_device_launch(pl_device_queue *queue, const pl_device_kernel *kernel, const void *arguments,
                      int64_t threads);

#ifndef __CUDACC__
/* For tests. The device's memory can be read while a kernel's loop runs, and at no other time; from now on, on
 * queues made later, it always can: for programs that compare numbers and look for nothing else. Closing and
 * opening takes longer than small kernels. */
void pl_device_leave_open(void);
/* Recordings fail from now on. */
void pl_device_refuse_recordings(void);
/* One transfer of a queue arrives each time that the device is waited for; held, none does but by being waited
 * for itself. */
void pl_device_hold_transfers(bool held);
int pl_device_transfers_under_way(void); /* on all queues */
/* After that many more launches on the queue the device fails. */
void pl_device_fail_after(pl_device_queue *queue, int64_t launches);
/* Bytes handed out so far, what was released and used again not twice. */
size_t pl_device_handed_out(void);
#endif

#ifdef __cplusplus
}
#endif

/* ---- kernels ---- */
/* PL_KERNEL(name, thread_of, type) makes pl_device_<name>_<precision>(pl_device_queue *queue, const type
 * *arguments, int64_t threads), and name_kernel, of
 *     PL_THREAD void thread_of(const type *arguments, int64_t thread) */
#ifdef __CUDACC__
enum { PL_THREADS_A_BLOCK = 128 };
/* In double precision, and where PL_ALL_REGISTERS says so, a thread may take as many registers as it wants;
 * else the compiler keeps room for several blocks, and would sooner spill. */
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
/* Sessions that share are of single precision, which alone is compiled for several at a time. */
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
