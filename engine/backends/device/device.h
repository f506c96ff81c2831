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

#ifndef __CUDACC__
/* While a kernel's loop runs on the host, and at no other time, the device's memory can be read. */
void pl_device_open(void);
void pl_device_close(void);
/* From now on it can always be read: for programs that compare numbers and look for nothing else. Closing and
 * opening takes longer than small kernels. */
void pl_device_leave_open(void);
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
#define PL_THREAD static __device__ __forceinline__
#define PL_KERNEL(name, thread_of, type)                                                           \
    static __global__ void __launch_bounds__(PL_THREADS_A_BLOCK)                                   \
        name##_threads(const __grid_constant__ type arguments, int64_t threads)                    \
    {                                                                                              \
        int64_t thread = (int64_t)blockIdx.x * PL_THREADS_A_BLOCK + threadIdx.x;                   \
        if (thread < threads)                                                                      \
            thread_of(&arguments, thread);                                                         \
    }                                                                                              \
    PL_C void PL_NAMED(pl_device_##name)(const type *arguments, int64_t threads)                   \
    {                                                                                              \
        int64_t blocks = (threads + PL_THREADS_A_BLOCK - 1) / PL_THREADS_A_BLOCK;                  \
        if (threads > 0)                                                                           \
            name##_threads<<<(unsigned)blocks, PL_THREADS_A_BLOCK>>>(*arguments, threads);         \
    }
#else
#define PL_THREAD static
#define PL_KERNEL(name, thread_of, type)                                                           \
    void PL_NAMED(pl_device_##name)(const type *arguments, int64_t threads);                       \
    void PL_NAMED(pl_device_##name)(const type *arguments, int64_t threads)                        \
    {                                                                                              \
        pl_device_open();                                                                          \
        for (int64_t thread = 0; thread < threads; thread++)                                       \
            thread_of(arguments, thread);                                                          \
        pl_device_close();                                                                         \
    }
#endif

#endif
