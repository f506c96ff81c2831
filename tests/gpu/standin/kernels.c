/* Launches of kernels that the host's compiler made. Those call pl_device_launch with a kernel that is a loop over its
 * threads; their objects are given standin_device_launch_* instead, by objcopy, which hands memory_cuda.cu a kernel that
 * launches that loop on a stream, as nvcc's would. */
#include "tests/gpu/standin/standin.h"

#include <stdlib.h>
#include <string.h>

/* compute capability 9.0 */
static const int64_t MOST_BLOCKS_X = INT32_MAX, MOST_BLOCKS_Y = 65535;
enum { THREADS_A_BLOCK = 128, MOST_ARGUMENTS = 4096, KERNELS = 256 };

typedef struct entry {
    const pl_device_kernel *kernel; /* the host's */
    pl_device_kernel launched;      /* what launches it */
    bool loaded; /* launched before: a driver loads a kernel with its first launch */
} entry;

static entry entries[KERNELS];
static int32_t entry_count;

/* ---- launches ---- */

/* With the lock. A kernel that is not loaded yet may not be captured: to load it may take a wait for the device. */
static cudaError_t judge(entry *e, struct CUstream_st *s, int64_t threads, int64_t rows)
{
    int64_t blocks = (threads + THREADS_A_BLOCK - 1) / THREADS_A_BLOCK;
    if (!standin_is_stream(s) || s->device != standin_current_device())
        return s ? cudaErrorInvalidResourceHandle : cudaErrorStreamCaptureImplicit;
    if (blocks < 1 || blocks > MOST_BLOCKS_X || rows < 1 || rows > MOST_BLOCKS_Y ||
        e->kernel->bytes + sizeof threads > MOST_ARGUMENTS)
        return cudaErrorInvalidConfiguration;
    if (s->capturing && !e->loaded) {
        s->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    e->loaded = true;
    return cudaSuccess;
}

static cudaError_t enter(void)
{
    return standin_enter("kernel", false);
}

/* As the triple brackets: an error is the thread's last one, and nothing is answered. */
static void launch(entry *e, struct CUstream_st *s, standin_op *op, int64_t threads, int64_t rows)
{
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = judge(e, s, threads, rows);
    if (code == cudaSuccess) {
        bool plain = !s->capturing;
        op->kernel = e->kernel;
        op->fails = plain && standin_launch_fails(s, 1);
        standin_counted.launches += plain;
        code = standin_give(s, op);
    } else {
        standin_free_op(op);
    }
    pthread_mutex_unlock(&standin_lock);
    standin_answer(code);
}

static void launch_one(int32_t k, void *stream, const void *arguments, int64_t threads)
{
    if (enter() != cudaSuccess)
        return;
    standin_op *op = standin_new_op(OP_ONE);
    size_t bytes = entries[k].kernel->bytes;
    op->arguments = malloc(bytes);
    memcpy(op->arguments, arguments, bytes);
    op->threads = threads;
    launch(&entries[k], stream, op, threads, 1);
}

static void launch_many(int32_t k, void *stream, const pl_device_item *items, int32_t count,
                        int64_t most)
{
    if (enter() != cudaSuccess)
        return;
    standin_op *op = standin_new_op(OP_MANY);
    op->items = items;
    op->count = count;
    op->most = most;
    launch(&entries[k], stream, op, most, count);
}

/* A function for each kernel, because a launch has no other way to tell which one it is. */
#define FUNCTIONS(k)                                                                               \
    static void one_##k(void *stream, const void *arguments, int64_t threads)                      \
    {                                                                                              \
        launch_one(0x##k, stream, arguments, threads);                                             \
    }                                                                                              \
    static void many_##k(void *stream, const pl_device_item *items, int32_t count, int64_t most)   \
    {                                                                                              \
        launch_many(0x##k, stream, items, count, most);                                            \
    }
#define SIXTEEN(of, h)                                                                             \
    of(h##0) of(h##1) of(h##2) of(h##3) of(h##4) of(h##5) of(h##6) of(h##7) of(h##8) of(h##9)      \
        of(h##a) of(h##b) of(h##c) of(h##d) of(h##e) of(h##f)
#define EACH(of)                                                                                   \
    SIXTEEN(of, 0)                                                                                 \
    SIXTEEN(of, 1)                                                                                 \
    SIXTEEN(of, 2)                                                                                 \
    SIXTEEN(of, 3)                                                                                 \
    SIXTEEN(of, 4)                                                                                 \
    SIXTEEN(of, 5)                                                                                 \
    SIXTEEN(of, 6)                                                                                 \
    SIXTEEN(of, 7)                                                                                 \
    SIXTEEN(of, 8)                                                                                 \
    SIXTEEN(of, 9)                                                                                 \
    SIXTEEN(of, a)                                                                                 \
    SIXTEEN(of, b)                                                                                 \
    SIXTEEN(of, c)                                                                                 \
    SIXTEEN(of, d)                                                                                 \
    SIXTEEN(of, e)                                                                                 \
    SIXTEEN(of, f)
EACH(FUNCTIONS)

static const struct {
    void (*one)(void *, const void *, int64_t);
    void (*many)(void *, const pl_device_item *, int32_t, int64_t);
} LAUNCHERS[KERNELS] = {
#define ROW(k) {one_##k, many_##k},
    EACH(ROW)
#undef ROW
};

/* ---- which kernel it is ---- */

/* Double-precision kernels are not compiled for several sessions at a time. */
static const pl_device_kernel *launched(const pl_device_kernel *kernel, bool single)
{
    int32_t k = 0, count = __atomic_load_n(&entry_count, __ATOMIC_ACQUIRE);
    while (k < count && entries[k].kernel != kernel)
        k++;
    if (k < count)
        return &entries[k].launched;
    pthread_mutex_lock(&standin_lock);
    for (k = 0; k < entry_count && entries[k].kernel != kernel;)
        k++;
    if (k == KERNELS)
        standin_abort("more than %d kernels", KERNELS);
    if (k == entry_count) {
        entries[k] = (entry){
            .kernel = kernel,
            .launched = {kernel->bytes, LAUNCHERS[k].one, single ? LAUNCHERS[k].many : NULL}};
        __atomic_store_n(&entry_count, k + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&standin_lock);
    return &entries[k].launched;
}

void standin_device_launch_f32(pl_device_queue *q, const pl_device_kernel *kernel,
                               const void *arguments, int64_t threads);
void standin_device_launch_f64(pl_device_queue *q, const pl_device_kernel *kernel,
                               const void *arguments, int64_t threads);
const pl_device_kernel *standin_bytes_kernel_f32(void); /* the host's */
const pl_device_kernel *pl_device_bytes_kernel_f32(void);

void standin_device_launch_f32(pl_device_queue *q, const pl_device_kernel *kernel,
                               const void *arguments, int64_t threads)
{
    pl_device_launch(q, launched(kernel, true), arguments, threads);
}

void standin_device_launch_f64(pl_device_queue *q, const pl_device_kernel *kernel,
                               const void *arguments, int64_t threads)
{
    pl_device_launch(q, launched(kernel, false), arguments, threads);
}

const pl_device_kernel *pl_device_bytes_kernel_f32(void)
{
    return launched(standin_bytes_kernel_f32(), true);
}
