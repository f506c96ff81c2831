/* device.h - a backend for devices with memory of their own, written once: phases (device.c) that run
 * kernels (*_kernels.c), one thread a term or a vertex, on the CPU's templates and kernels.
 *
 * Everything here is compiled for a precision (PL_SINGLE or not), whose names end in _f32 or _f64, and
 * for a device: by nvcc for CUDA (memory: backends/cuda), or by the host's compiler for tests, where
 * a kernel is a loop over its threads (memory_host.c). No kernel adds with atomics: what has to be
 * added up is gathered in a fixed order, so results are the same bits in every run.
 */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_H

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

/* ---- memory: of either precision, and of all backends of a process
 *
 * An operation that fails leaves a message in pl_device_error() and does nothing; so do all after it. */

/* Zeroed; NULL when there is no memory. */
void *pl_device_alloc(size_t bytes);
void pl_device_release(void *memory);
void pl_device_put(void *to, const void *from, size_t bytes);
void pl_device_get(void *to, const void *from, size_t bytes);
void pl_device_copy(void *to, const void *from, size_t bytes);
void pl_device_clear(void *memory, size_t bytes);
/* What went wrong first in this process, or NULL. */
const char *pl_device_error(void);

/* ---- transfers to the host that the device makes while it goes on
 *
 * Zeroed before create; not to be begun while launches are recorded. */
typedef struct pl_device_transfer {
    void *host;               /* that the device writes by itself (CUDA: pinned) */
    void *launched, *arrived; /* the memory's own (CUDA: events) */
    size_t bytes;             /* of the last that was begun */
    bool under_way;
} pl_device_transfer;

/* False: no memory. Destroy takes one that failed, too. */
bool pl_device_transfer_create(pl_device_transfer *t, size_t bytes);
void pl_device_transfer_destroy(pl_device_transfer *t);
/* From the device's memory as it is after all that was launched before; that memory must stay as it is until
 * the transfer has arrived. None is to be under way. */
void pl_device_transfer_begin(pl_device_transfer *t, const void *from, size_t bytes);
/* Whether it has arrived, which it has if it is waited for; of one that failed the bytes are NaN. */
bool pl_device_transfer_arrived(pl_device_transfer *t, bool wait);

/* ---- recordings: launches that are made again and again, as one (CUDA: a graph)
 *
 * Between begin and end kernels, copies and clearings are kept with the arguments that they have then, and
 * not run; nothing else of the device may be used. Zeroed before the first; one thread at a time. */
typedef struct pl_device_recording {
    void *list;
} pl_device_recording;

/* False, and launches are plain ones: there are no recordings, which pl_device_plain_because() explains. */
bool pl_device_record_begin(void);
/* In the place of what was recorded before. False: nothing was kept and nothing run. */
bool pl_device_record_end(pl_device_recording *recording);
void pl_device_replay(const pl_device_recording *recording);
void pl_device_forget(pl_device_recording *recording);
/* Why a recording failed once, after which none is tried; NULL: none has. */
const char *pl_device_plain_because(void);

#ifdef __CUDACC__
/* What everything is launched on: cudaStream_t. */
void *pl_cuda_stream(void);
#else
/* Whether launches are kept; keeping one, with a copy of its arguments. */
bool pl_device_keeps(void);
void pl_device_keep(void (*run)(const void *arguments, int64_t threads), const void *arguments,
                    size_t bytes, int64_t threads);
/* For tests: recordings fail from now on. */
void pl_device_refuse_recordings(void);
/* While a kernel's loop runs on the host, and at no other time, the device's memory can be read. */
void pl_device_open(void);
void pl_device_close(void);
/* From now on it can always be read: for programs that compare numbers and look for nothing else. Closing and
 * opening takes longer than small kernels. */
void pl_device_leave_open(void);
/* For tests. One transfer arrives each time that the device is waited for; held, none does but by being waited
 * for itself. */
void pl_device_hold_transfers(bool held);
int pl_device_transfers_under_way(void);
/* Bytes handed out so far, what was released and used again not twice. */
size_t pl_device_handed_out(void);
#endif

#ifdef __cplusplus
}
#endif

/* ---- kernels
 *
 * PL_KERNEL(name, thread_of, type) makes pl_device_<name>_<precision>(const type *arguments, int64_t
 * threads) of
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
#define PL_THREAD static __device__ __forceinline__
#define PL_KERNEL(name, thread_of, type)                                                           \
    static __global__ void PL_BOUNDS name##_threads(const __grid_constant__ type arguments,        \
                                                    int64_t threads)                               \
    {                                                                                              \
        int64_t thread = (int64_t)blockIdx.x * PL_THREADS_A_BLOCK + threadIdx.x;                   \
        if (thread < threads)                                                                      \
            thread_of(&arguments, thread);                                                         \
    }                                                                                              \
    PL_C void PL_NAMED(pl_device_##name)(const type *arguments, int64_t threads)                   \
    {                                                                                              \
        int64_t blocks = (threads + PL_THREADS_A_BLOCK - 1) / PL_THREADS_A_BLOCK;                  \
        if (threads > 0)                                                                           \
            name##_threads<<<(unsigned)blocks, PL_THREADS_A_BLOCK, 0,                              \
                             (cudaStream_t)pl_cuda_stream()>>>(*arguments, threads);               \
    }
#else
#define PL_THREAD static
#define PL_KERNEL(name, thread_of, type)                                                           \
    static void name##_run(const void *arguments, int64_t threads)                                 \
    {                                                                                              \
        pl_device_open();                                                                          \
        for (int64_t thread = 0; thread < threads; thread++)                                       \
            thread_of((const type *)arguments, thread);                                            \
        pl_device_close();                                                                         \
    }                                                                                              \
    void PL_NAMED(pl_device_##name)(const type *arguments, int64_t threads);                       \
    void PL_NAMED(pl_device_##name)(const type *arguments, int64_t threads)                        \
    {                                                                                              \
        if (pl_device_keeps())                                                                     \
            pl_device_keep(name##_run, arguments, sizeof *arguments, threads);                     \
        else                                                                                       \
            name##_run(arguments, threads);                                                        \
    }
#endif

#endif
