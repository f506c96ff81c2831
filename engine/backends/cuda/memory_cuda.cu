// The memory of a CUDA device (device.h), and the search for devices (plugin.h).
#include "engine/backends/cuda/management.h"
#include "engine/backends/device/device.h"
#include "engine/backends/device/first_fault.h"
#include "engine/backends/device/joint.h"
#include "engine/backends/device/reading.h"

#include <cuda_runtime.h>
#include <new>
#include <stdio.h>
#include <string.h>

// Non-blocking streams: no implicit synchronisation with the default stream or each other.
struct pl_device_queue {
    cudaStream_t launches, copies; // copies to the host, concurrent with launches
    bool launching;
    bool launches_only; // a recording failed
    bool recording;     // the end of a recording reports its errors
    char *pinned;       // [UP]: data to the device; [PL_DEVICE_READ]: data from it
    size_t staged;      // bytes of [UP] that copies in flight may read
    // For a queue that shares: its list; whether its own stream has work that no round waited for; the event for that.
    pl_joint *joint;
    bool apart;
    cudaEvent_t so_far;
};

enum { UP = 1 << 19, UP_MOST = 1 << 17, ALIGNMENT = 16 }; // UP_MOST: at a time

// The process's context.
static pl_first_fault fault;
static int chosen_device; // set by pl_cuda_select; the runtime has one per thread
static bool selected;     // whether it has been called
static bool sharing;      // set by pl_device_share

static bool good(cudaError_t code, const char *what)
{
    if (code != cudaSuccess)
        pl_first_fault_note(&fault, what, cudaGetErrorString(code));
    return pl_device_fault() == nullptr;
}

// For allocations: out of memory is returned to the caller, not recorded as a device fault; anything else is a fault.
static bool had(cudaError_t code, const char *what)
{
    if (code != cudaErrorMemoryAllocation)
        return good(code, what);
    cudaGetLastError();
    return false;
}

// The runtime has a current device per thread: puts the thread that uses a queue on the chosen device.
static bool on_device(void)
{
    static thread_local int its_device = -1;
    if (its_device != chosen_device && good(cudaSetDevice(chosen_device), "choosing the device"))
        its_device = chosen_device;
    return its_device == chosen_device;
}

extern "C" const char *pl_device_fault(void)
{
    return pl_first_fault_of(&fault);
}

extern "C" void pl_device_share(bool together)
{
    __atomic_store_n(&sharing, together, __ATOMIC_RELAXED);
}

static bool make_queue(pl_device_queue *q, bool shares)
{
    if (!on_device() ||
        !had(cudaMallocHost(reinterpret_cast<void **>(&q->pinned), UP + PL_DEVICE_READ),
             "pinning memory") ||
        !had(cudaStreamCreateWithFlags(&q->launches, cudaStreamNonBlocking), "making a stream") ||
        !had(cudaStreamCreateWithFlags(&q->copies, cudaStreamNonBlocking), "making a stream"))
        return false;
    return !shares ||
           (had(cudaEventCreateWithFlags(&q->so_far, cudaEventDisableTiming), "making an event") &&
            (q->joint = pl_joint_create(q)) != nullptr);
}

extern "C" pl_device_queue *pl_device_queue_create(bool may_share)
{
    if (pl_device_fault())
        return nullptr;
    pl_device_queue *q = new (std::nothrow) pl_device_queue{};
    if (q && !make_queue(q, may_share && __atomic_load_n(&sharing, __ATOMIC_RELAXED))) {
        pl_device_queue_destroy(q);
        q = nullptr;
    }
    return q;
}

extern "C" void pl_device_queue_destroy(pl_device_queue *q)
{
    if (!q)
        return;
    pl_joint_destroy(q->joint);
    if (q->launches) // after a fault, a copy may be in flight that nobody waited for
        cudaStreamSynchronize(q->launches);
    if (q->pinned)
        cudaFreeHost(q->pinned);
    if (q->so_far)
        cudaEventDestroy(q->so_far);
    if (q->launches)
        cudaStreamDestroy(q->launches);
    if (q->copies)
        cudaStreamDestroy(q->copies);
    delete q;
}

extern "C" bool pl_device_launching(const pl_device_queue *q)
{
    return q->launching;
}

// Launches after a fault was noticed did not cause it.
static cudaStream_t stream_of(pl_device_queue *q)
{
    on_device();
    q->launching = q->launching || !pl_device_fault();
    q->apart = true;
    return q->launches;
}

static bool wait_for_launches(pl_device_queue *q, const char *what)
{
    if (!good(cudaStreamSynchronize(q->launches), what))
        return false;
    q->staged = 0;
    return true;
}

extern "C" void pl_device_launch(pl_device_queue *q, const pl_device_kernel *kernel,
                                 const void *arguments, int64_t threads)
{
    if (q->joint)
        pl_joint_launch(q->joint, kernel, arguments, threads);
    else
        kernel->one(stream_of(q), arguments, threads);
}

extern "C" void *pl_device_alloc(pl_device_queue *q, size_t bytes)
{
    void *memory = nullptr;
    if (!good(cudaGetLastError(), "a kernel's launch") || // before the next call replaces it
        !on_device() || !had(cudaMalloc(&memory, bytes), "taking memory"))
        return nullptr;
    good(cudaMemsetAsync(memory, 0, bytes, stream_of(q)), "clearing new memory");
    return memory;
}

// Nothing launched may still use it.
extern "C" void pl_device_release(pl_device_queue *q, void *memory)
{
    if (!memory) // an object whose create failed, which has no queue either
        return;
    pl_joint_flush(q->joint);
    if (wait_for_launches(q, "waiting to release memory"))
        good(cudaFree(memory), "releasing memory");
}

// The source may be reused when this returns. CUDA does not promise this for pageable memory, so this waits.
// Small copies go through pinned memory, and wait only when it is full.
extern "C" void pl_device_put(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    if (pl_joint_put(q->joint, to, from, bytes))
        return;
    const bool pinned = bytes <= UP_MOST;
    const size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (pinned && q->staged + room > UP && !wait_for_launches(q, "waiting for copies"))
        return;
    if (pinned) {
        from = memcpy(q->pinned + q->staged, from, bytes);
        q->staged += room;
    }
    if (good(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(q)),
             "copying to the device") &&
        !pinned)
        wait_for_launches(q, "waiting for a copy");
}

static void bring(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    bool got = pl_joint_get(q->joint, to, from, bytes);
    good(cudaGetLastError(), "a kernel's launch");
    if (got ? pl_device_fault() == nullptr
            : good(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(q)),
                   "copying from the device") &&
                  wait_for_launches(q, "waiting for the device")) {
        q->launching = false;
        return;
    }
    cudaStreamSynchronize(q->launches); // the copy may be in flight nonetheless
    memset(to, 0xff, bytes);            // NaN
}

extern "C" const void *pl_device_read(pl_device_queue *q, const void *from, size_t bytes)
{
    bring(q, q->pinned + UP, from, bytes);
    return q->pinned + UP;
}

extern "C" void pl_device_get(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    if (bytes > PL_DEVICE_READ)
        bring(q, to, from, bytes);
    else
        memcpy(to, pl_device_read(q, from, bytes), bytes);
}

extern "C" void pl_device_copy(pl_device_queue *q, void *to, const void *from, size_t bytes)
{
    const pl_bytes_arguments a = {to, from, (int64_t)bytes};
    if (q->joint) {
        pl_device_bytes_f32(q, &a, pl_bytes_threads(bytes));
        return;
    }
    cudaError_t code = from ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
                                              stream_of(q))
                            : cudaMemsetAsync(to, 0, bytes, stream_of(q));
    if (!q->recording) // the end of a recording reports its errors
        good(code, from ? "copying on the device" : "clearing memory");
}

extern "C" void pl_device_clear(pl_device_queue *q, void *memory, size_t bytes)
{
    pl_device_copy(q, memory, nullptr, bytes);
}

// ---- transfers: a stream of copies beside the one of launches ----

extern "C" bool pl_device_transfer_create(pl_device_queue *q, pl_device_transfer *t, size_t bytes)
{
    cudaEvent_t launched = nullptr, arrived = nullptr;
    if (!good(cudaGetLastError(), "a kernel's launch") || // before the next call replaces it
        !on_device())
        return false;
    t->queue = q;
    bool made = had(cudaMallocHost(&t->host, bytes > 0 ? bytes : 1), "pinning memory") &&
                had(cudaEventCreateWithFlags(&launched, cudaEventDisableTiming),
                    "making an event") &&
                had(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming), "making an event");
    t->launched = launched;
    t->arrived = arrived;
    return made;
}

extern "C" void pl_device_transfer_destroy(pl_device_transfer *t)
{
    pl_device_transfer_arrived(t, true);
    if (t->host)
        cudaFreeHost(t->host);
    if (t->launched)
        cudaEventDestroy(static_cast<cudaEvent_t>(t->launched));
    if (t->arrived)
        cudaEventDestroy(static_cast<cudaEvent_t>(t->arrived));
    *t = pl_device_transfer{};
}

// NaN, as for any failed copy; the copy may be in flight nonetheless.
static void bring_no_numbers(pl_device_transfer *t)
{
    cudaStreamSynchronize(t->queue->copies);
    memset(t->host, 0xff, t->bytes);
}

extern "C" void pl_device_transfer_begin(pl_device_transfer *t, const void *from, size_t bytes)
{
    cudaEvent_t launched = static_cast<cudaEvent_t>(t->launched);
    pl_joint_flush(t->queue->joint);
    pl_joint_leave(t->queue->joint);
    t->bytes = bytes;
    t->under_way =
        good(cudaEventRecord(launched, stream_of(t->queue)), "noting what was launched") &&
        good(cudaStreamWaitEvent(t->queue->copies, launched, 0), "making a copy wait") &&
        good(cudaMemcpyAsync(t->host, from, bytes, cudaMemcpyDeviceToHost, t->queue->copies),
             "copying while the device goes on") &&
        good(cudaEventRecord(static_cast<cudaEvent_t>(t->arrived), t->queue->copies),
             "noting a copy");
    if (!t->under_way)
        bring_no_numbers(t);
}

extern "C" bool pl_device_transfer_arrived(pl_device_transfer *t, bool wait)
{
    cudaEvent_t arrived = static_cast<cudaEvent_t>(t->arrived);
    if (!t->under_way)
        return true;
    bool came;
    if (wait) {
        came = good(cudaEventSynchronize(arrived), "waiting for a copy");
    } else {
        good(cudaGetLastError(), "a kernel's launch"); // before the next call replaces it
        cudaError_t code = cudaEventQuery(arrived);
        if (code == cudaErrorNotReady) {
            cudaGetLastError(); // not ready: a normal result
            return false;
        }
        came = good(code, "asking for a copy");
    }
    if (!came)
        bring_no_numbers(t);
    t->under_way = false;
    return true;
}

// ---- recordings: graphs ----

static pl_first_fault recording_error;

// A failed recording is not a device fault: launches are plain from then on.
static bool recorded(pl_device_queue *q, cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return true;
    pl_first_fault_note(&recording_error, what, cudaGetErrorString(code));
    q->launches_only = true;
    cudaGetLastError();
    return false;
}

extern "C" bool pl_device_record_begin(pl_device_queue *q)
{
    q->recording = !q->launches_only && !q->joint && !pl_device_fault() &&
                   recorded(q,
                            cudaStreamBeginCapture(q->launches, cudaStreamCaptureModeThreadLocal),
                            "beginning a recording");
    return q->recording;
}

extern "C" bool pl_device_record_end(pl_device_queue *q, pl_device_recording *recording)
{
    cudaGraph_t graph = nullptr;
    q->recording = false;
    cudaGraphExec_t made = static_cast<cudaGraphExec_t>(recording->list);
    if (!recorded(q, cudaStreamEndCapture(q->launches, &graph), "ending a recording"))
        return false;
    cudaGraphExecUpdateResultInfo info;
    if (made && cudaGraphExecUpdate(made, graph, &info) != cudaSuccess) { // other launches
        cudaGetLastError();
        cudaGraphExecDestroy(made);
        made = nullptr;
    }
    if (!made && !recorded(q, cudaGraphInstantiate(&made, graph, 0), "making a graph"))
        made = nullptr;
    cudaGraphDestroy(graph);
    recording->list = made;
    return made != nullptr;
}

extern "C" void pl_device_replay(pl_device_queue *q, const pl_device_recording *recording)
{
    good(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording->list), stream_of(q)),
         "launching a graph");
}

extern "C" void pl_device_forget(pl_device_recording *recording)
{
    if (recording->list)
        cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording->list));
    recording->list = nullptr;
}

extern "C" const char *pl_device_recording_error(void)
{
    return pl_first_fault_of(&recording_error);
}

// ---- rounds of queues that share: a stream of their own ----

extern "C" bool pl_round_memory_create(pl_round_memory *m, size_t up, size_t down)
{
    cudaStream_t stream = nullptr;
    bool made = had(cudaMallocHost(reinterpret_cast<void **>(&m->up), up), "pinning memory") &&
                had(cudaMallocHost(reinterpret_cast<void **>(&m->down), down), "pinning memory") &&
                had(cudaMalloc(reinterpret_cast<void **>(&m->up_there), up), "taking memory") &&
                had(cudaMalloc(reinterpret_cast<void **>(&m->down_there), down), "taking memory") &&
                had(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    m->stream = stream;
    return made;
}

extern "C" void pl_round_memory_destroy(pl_round_memory *m)
{
    if (m->stream) // after a fault, a copy may be in flight that nobody waited for
        cudaStreamSynchronize(static_cast<cudaStream_t>(m->stream));
    if (m->up)
        cudaFreeHost(m->up);
    if (m->down)
        cudaFreeHost(m->down);
    if (m->up_there)
        cudaFree(m->up_there);
    if (m->down_there)
        cudaFree(m->down_there);
    if (m->stream)
        cudaStreamDestroy(static_cast<cudaStream_t>(m->stream));
    *m = pl_round_memory{};
}

extern "C" void pl_round_begin(pl_round_memory *m, const pl_round_member *members, int32_t count,
                               size_t up)
{
    cudaStream_t stream = static_cast<cudaStream_t>(m->stream);
    on_device(); // the leader may be any thread
    for (int32_t i = 0; i < count; i++) {
        pl_device_queue *q = members[i].queue;
        q->launching = q->launching || !pl_device_fault();
        if (q->apart && good(cudaEventRecord(q->so_far, q->launches), "noting what was launched"))
            good(cudaStreamWaitEvent(stream, q->so_far, 0), "making a round wait");
        q->apart = false;
    }
    good(cudaMemcpyAsync(m->up_there, m->up, up, cudaMemcpyHostToDevice, stream),
         "copying a round to the device");
}

extern "C" void pl_round_one(pl_round_memory *m, const pl_device_kernel *kernel,
                             const void *arguments, int64_t threads)
{
    kernel->one(m->stream, arguments, threads);
}

extern "C" void pl_round_many(pl_round_memory *m, const pl_device_kernel *kernel,
                              const pl_device_item *items, int32_t count, int64_t most)
{
    kernel->many(m->stream, items, count, most);
}

extern "C" void pl_round_end(pl_round_memory *m, const pl_round_member *members, int32_t count,
                             size_t down)
{
    cudaStream_t stream = static_cast<cudaStream_t>(m->stream);
    bool done = good(cudaGetLastError(), "a kernel's launch") &&
                (down == 0 ||
                 good(cudaMemcpyAsync(m->down, m->down_there, down, cudaMemcpyDeviceToHost, stream),
                      "copying a round from the device")) &&
                good(cudaStreamSynchronize(stream), "waiting for a round");
    for (int32_t i = 0; i < count; i++)
        members[i].queue->launching = members[i].queue->launching && !done;
}

// ---- search for devices ----

struct found_gpu {
    char name[128], uuid[48];
    int64_t memory, unused;
    int32_t major, minor;
};

static void report_uuid(const cudaUUID_t &id, char *out, size_t size)
{
    const unsigned char *b = reinterpret_cast<const unsigned char *>(id.bytes);
    snprintf(out, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

// If the driver's management library gives no answer, a query creates a context of half a gigabyte. It is destroyed
// again, unless this process has already chosen its device.
static void ask_memory(int device, const char *uuid, size_t *unused, size_t *all)
{
    if (pl_cuda_management_memory(uuid + strlen("GPU-"), unused, all))
        return;
    if (cudaSetDevice(device) != cudaSuccess)
        return;
    cudaMemGetInfo(unused, all);
    if (!selected)
        cudaDeviceReset();
    else if (device != chosen_device)
        cudaSetDevice(chosen_device);
}

extern "C" int32_t pl_cuda_find(found_gpu *out, int32_t room, char *why, size_t why_size)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0) {
        snprintf(why, why_size, "no device, because %s",
                 code == cudaSuccess ? "the driver lists none" : cudaGetErrorString(code));
        cudaGetLastError();
        return 0;
    }
    int32_t used = 0, old = 0;
    for (int i = 0; i < count && used < room; i++) {
        cudaDeviceProp p;
        if (cudaGetDeviceProperties(&p, i) != cudaSuccess)
            continue;
        if (p.major < 8) { // for which CUDA_FLAGS includes no code
            old++;
            continue;
        }
        found_gpu *g = &out[used++];
        snprintf(g->name, sizeof g->name, "%s", p.name);
        report_uuid(p.uuid, g->uuid, sizeof g->uuid);
        size_t unused = 0, all = p.totalGlobalMem;
        ask_memory(i, g->uuid, &unused, &all);
        g->memory = (int64_t)all;
        g->unused = (int64_t)unused;
        g->major = p.major;
        g->minor = p.minor;
    }
    cudaGetLastError(); // normal results, not faults
    if (used == 0 && old > 0)
        snprintf(why, why_size,
                 "no device, because compute capability 8.0 is needed, which none of the %d has",
                 old);
    else if (used == 0)
        snprintf(why, why_size, "no device, because the driver lists %d and describes none", count);
    return used;
}

extern "C" bool pl_cuda_select(const char *uuid, char *why, size_t why_size)
{
    int count = 0;
    cudaGetDeviceCount(&count);
    for (int i = 0; i < count; i++) {
        cudaDeviceProp p;
        char its[48];
        if (cudaGetDeviceProperties(&p, i) != cudaSuccess)
            continue;
        report_uuid(p.uuid, its, sizeof its);
        if (uuid[0] == '\0' || strcmp(uuid, its) == 0) {
            cudaError_t code = cudaSetDevice(i);
            chosen_device = i;
            selected = true;
            if (code == cudaSuccess)
                return true;
            snprintf(why, why_size, "%s cannot be used: %s", its, cudaGetErrorString(code));
            return false;
        }
    }
    snprintf(why, why_size, "there is no device %s", uuid[0] ? uuid : "at all");
    return false;
}
