// The memory of a CUDA device (device.h), and finding one (plugin.h).
#include "engine/backends/device/device.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

// The first error stays: what comes after it means nothing.
static char first_error[256];

static bool good(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return first_error[0] == '\0';
    if (first_error[0] == '\0')
        snprintf(first_error, sizeof first_error, "%s: %s", what, cudaGetErrorString(code));
    return false;
}

// Everything is launched on one stream, which work of the default one, such as copies to and from the host,
// waits for and is waited for by. Recordings need one with a name.
static cudaStream_t stream_of(void)
{
    static cudaStream_t stream;
    if (!stream)
        good(cudaStreamCreate(&stream), "making a stream");
    return stream;
}

extern "C" void *pl_cuda_stream(void)
{
    return stream_of();
}

extern "C" const char *pl_device_error(void)
{
    good(cudaGetLastError(), "a kernel's launch");
    return first_error[0] ? first_error : nullptr;
}

extern "C" void *pl_device_alloc(size_t bytes)
{
    void *memory = nullptr;
    if (first_error[0])
        return nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        cudaGetLastError(); // no memory is an answer, and no fault of the device
        return nullptr;
    }
    good(cudaMemset(memory, 0, bytes), "clearing new memory");
    return memory;
}

extern "C" void pl_device_release(void *memory)
{
    if (memory)
        good(cudaFree(memory), "releasing memory");
}

extern "C" void pl_device_put(void *to, const void *from, size_t bytes)
{
    good(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device");
}

extern "C" void pl_device_get(void *to, const void *from, size_t bytes)
{
    if (!good(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the device"))
        memset(to, 0xff, bytes); // NaN
}

extern "C" void pl_device_copy(void *to, const void *from, size_t bytes)
{
    good(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of()), "copying on the device");
}

extern "C" void pl_device_clear(void *memory, size_t bytes)
{
    good(cudaMemsetAsync(memory, 0, bytes, stream_of()), "clearing memory");
}

// ---- transfers: a stream of copies beside the one of launches

// It waits for the launches that are told it, and for nothing of the default stream.
static cudaStream_t copies_of(void)
{
    static cudaStream_t stream;
    if (!stream)
        good(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream of copies");
    return stream;
}

extern "C" bool pl_device_transfer_create(pl_device_transfer *t, size_t bytes)
{
    cudaEvent_t launched = nullptr, arrived = nullptr;
    if (first_error[0])
        return false;
    bool made = cudaMallocHost(&t->host, bytes > 0 ? bytes : 1) == cudaSuccess &&
                cudaEventCreateWithFlags(&launched, cudaEventDisableTiming) == cudaSuccess &&
                cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming) == cudaSuccess;
    t->launched = launched;
    t->arrived = arrived;
    if (!made)
        cudaGetLastError(); // no memory is an answer, and no fault of the device
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

extern "C" void pl_device_transfer_begin(pl_device_transfer *t, const void *from, size_t bytes)
{
    cudaEvent_t launched = static_cast<cudaEvent_t>(t->launched);
    t->bytes = bytes;
    t->under_way =
        good(cudaEventRecord(launched, stream_of()), "noting what was launched") &&
        good(cudaStreamWaitEvent(copies_of(), launched, 0), "making a copy wait") &&
        good(cudaMemcpyAsync(t->host, from, bytes, cudaMemcpyDeviceToHost, copies_of()),
             "copying while the device goes on") &&
        good(cudaEventRecord(static_cast<cudaEvent_t>(t->arrived), copies_of()), "noting a copy");
    if (!t->under_way)
        memset(t->host, 0xff, bytes); // NaN
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
        good(cudaGetLastError(), "a kernel's launch"); // before the answer takes its place
        cudaError_t code = cudaEventQuery(arrived);
        if (code == cudaErrorNotReady) {
            cudaGetLastError(); // an answer
            return false;
        }
        came = good(code, "asking for a copy");
    }
    if (!came)
        memset(t->host, 0xff, t->bytes); // NaN, as of any copy that fails
    t->under_way = false;
    return true;
}

// ---- recordings: graphs

static char plain_because[256];

// A recording that fails is no fault of the device: launches are plain ones from then on.
static bool recorded(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return true;
    snprintf(plain_because, sizeof plain_because, "%s: %s", what, cudaGetErrorString(code));
    cudaGetLastError();
    return false;
}

extern "C" bool pl_device_record_begin(void)
{
    return plain_because[0] == '\0' && first_error[0] == '\0' &&
           recorded(cudaStreamBeginCapture(stream_of(), cudaStreamCaptureModeThreadLocal),
                    "beginning a recording");
}

extern "C" bool pl_device_record_end(pl_device_recording *recording)
{
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = static_cast<cudaGraphExec_t>(recording->list);
    if (!recorded(cudaStreamEndCapture(stream_of(), &graph), "ending a recording"))
        return false;
    cudaGraphExecUpdateResultInfo info;
    if (made && cudaGraphExecUpdate(made, graph, &info) != cudaSuccess) { // other launches
        cudaGetLastError();
        cudaGraphExecDestroy(made);
        made = nullptr;
    }
    if (!made && !recorded(cudaGraphInstantiate(&made, graph, 0), "making a graph"))
        made = nullptr;
    cudaGraphDestroy(graph);
    recording->list = made;
    return made != nullptr;
}

extern "C" void pl_device_replay(const pl_device_recording *recording)
{
    good(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording->list), stream_of()),
         "launching a graph");
}

extern "C" void pl_device_forget(pl_device_recording *recording)
{
    if (recording->list)
        cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording->list));
    recording->list = nullptr;
}

extern "C" const char *pl_device_plain_because(void)
{
    return plain_because[0] ? plain_because : nullptr;
}

// ---- finding a device

struct found_gpu {
    char name[128], uuid[48];
    int64_t memory, unused;
    int32_t major, minor;
};

static void say_uuid(const cudaUUID_t &id, char *out, size_t size)
{
    const unsigned char *b = reinterpret_cast<const unsigned char *>(id.bytes);
    snprintf(out, size,
             "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
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
    int32_t used = 0;
    for (int i = 0; i < count && used < room; i++) {
        cudaDeviceProp p;
        if (cudaGetDeviceProperties(&p, i) != cudaSuccess)
            continue;
        found_gpu *g = &out[used++];
        snprintf(g->name, sizeof g->name, "%s", p.name);
        say_uuid(p.uuid, g->uuid, sizeof g->uuid);
        size_t unused = 0, all = p.totalGlobalMem;
        if (cudaSetDevice(i) == cudaSuccess)
            cudaMemGetInfo(&unused, &all);
        g->memory = (int64_t)all;
        g->unused = (int64_t)unused;
        g->major = p.major;
        g->minor = p.minor;
    }
    if (used == 0)
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
        say_uuid(p.uuid, its, sizeof its);
        if (uuid[0] == '\0' || strcmp(uuid, its) == 0) {
            cudaError_t code = cudaSetDevice(i);
            if (code == cudaSuccess)
                return true;
            snprintf(why, why_size, "%s can not be used: %s", its, cudaGetErrorString(code));
            return false;
        }
    }
    snprintf(why, why_size, "there is no device %s", uuid[0] ? uuid : "at all");
    return false;
}
