/* Devices, contexts and errors. Two devices, so that a thread that has chosen none is found: the first is too old
 * for the plug-in. */
#include "tests/gpu/standin/standin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t standin_lock = PTHREAD_MUTEX_INITIALIZER;
standin_counts standin_counted;

/* Of the process: after one of these every call fails alike. */
static cudaError_t broken;
static bool contexts[STANDIN_DEVICES];
static _Thread_local cudaError_t last_error;
static _Thread_local int device;

/* What is to fail. */
static struct {
    char call[64];
    int64_t left; /* calls until it does; below 0: none does */
    cudaError_t code;
    bool read;
    cudaError_t always; /* of a machine without a device or driver */
} injected = {.left = -1};
static int64_t calls;

_Noreturn void standin_abort(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("stand-in for CUDA: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    abort();
}

static const struct {
    cudaError_t code;
    const char *text;
} TEXTS[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorLaunchFailure, "unspecified launch failure, because a test makes it fail"},
    {cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a "
                                     "capturing blocking stream"},
    {cudaErrorStreamCaptureWrongThread,
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorGraphExecUpdateFailure,
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
};

const char *cudaGetErrorString(cudaError_t code)
{
    for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; k++)
        if (TEXTS[k].code == code)
            return TEXTS[k].text;
    return "unrecognized error code";
}

static bool is_sticky(cudaError_t code)
{
    return code == cudaErrorLaunchFailure || code == cudaErrorDevicesUnavailable;
}

static cudaError_t code_of(const char *how)
{
    static const struct {
        const char *how;
        cudaError_t code;
    } HOWS[] = {{"memory", cudaErrorMemoryAllocation},
                {"launch", cudaErrorLaunchFailure},
                {"lost", cudaErrorDevicesUnavailable},
                {"driver", cudaErrorInsufficientDriver},
                {"none", cudaErrorNoDevice}};
    for (size_t k = 0; k < sizeof HOWS / sizeof *HOWS; k++)
        if (strcmp(HOWS[k].how, how) == 0)
            return HOWS[k].code;
    standin_abort("PLIANT_STANDIN_FAIL: what is \"%s\"?", how);
}

static void read_environment(void)
{
    const char *text = getenv("PLIANT_STANDIN_FAIL");
    char how[16];
    long long n = 1;
    injected.read = true;
    if (!text)
        return;
    if (sscanf(text, "%63s %lld %15s", injected.call, &n, how) != 3)
        standin_abort("PLIANT_STANDIN_FAIL is CALL N HOW, not \"%s\"", text);
    injected.code = code_of(how);
    injected.left = n - 1;
    if (injected.code == cudaErrorInsufficientDriver || injected.code == cudaErrorNoDevice)
        injected.always = injected.code;
}

void standin_fail(const char *call, int64_t n, cudaError_t code)
{
    pthread_mutex_lock(&standin_lock);
    snprintf(injected.call, sizeof injected.call, "%s", call ? call : "any");
    injected.left = n - 1;
    injected.code = code;
    injected.read = true;
    calls = 0;
    pthread_mutex_unlock(&standin_lock);
}

void standin_fail_none(void)
{
    standin_fail(NULL, 0, cudaSuccess);
}

int64_t standin_calls(void)
{
    pthread_mutex_lock(&standin_lock);
    int64_t made = calls;
    pthread_mutex_unlock(&standin_lock);
    return made;
}

cudaError_t standin_broken(void)
{
    return broken;
}

void standin_break(cudaError_t code)
{
    broken = broken != cudaSuccess ? broken : code;
}

/* With the lock: what this call is to fail with. */
static cudaError_t injection(const char *call)
{
    if (!injected.read)
        read_environment();
    if (injected.always != cudaSuccess)
        return injected.always;
    if (injected.left < 0)
        return cudaSuccess;
    if (strcmp(injected.call, "any") != 0 && strcmp(injected.call, call) != 0)
        return cudaSuccess;
    return injected.left-- == 0 ? injected.code : cudaSuccess;
}

/* Calls that release something, and waits, do so even if they fail: the error is then from earlier work. */
cudaError_t standin_enter(const char *call, bool unsafe)
{
    pthread_mutex_lock(&standin_lock);
    calls++;
    cudaError_t code = injection(call);
    if (is_sticky(code))
        standin_break(code);
    if (broken != cudaSuccess)
        code = broken;
    else if (code == cudaSuccess && unsafe && standin_spoil_captures_of_thread())
        code = cudaErrorStreamCaptureUnsupported;
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(code);
}

cudaError_t standin_answer(cudaError_t code)
{
    if (code != cudaSuccess)
        last_error = code;
    return code;
}

cudaError_t cudaGetLastError(void)
{
    pthread_mutex_lock(&standin_lock);
    cudaError_t code = broken != cudaSuccess ? broken : last_error;
    pthread_mutex_unlock(&standin_lock);
    last_error = cudaSuccess;
    return code;
}

uint64_t standin_seed(void)
{
    const char *text = getenv("PLIANT_STANDIN_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

/* ---- devices ---- */

size_t standin_device_memory(void)
{
    const char *text = getenv("PLIANT_STANDIN_MEMORY");
    return text ? strtoull(text, NULL, 10) : (size_t)4 << 30;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    STANDIN_ENTER(false);
    *count = STANDIN_DEVICES;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int which)
{
    STANDIN_ENTER(false);
    if (which < 0 || which >= STANDIN_DEVICES)
        return standin_answer(cudaErrorInvalidDevice);
    *p = (cudaDeviceProp){.totalGlobalMem = standin_device_memory(), .minor = 5};
    snprintf(p->name, sizeof p->name, which == STANDIN_CHOSEN ? "stand-in" : "stand-in, too old");
    p->major = which == STANDIN_CHOSEN ? 9 : 7;
    p->minor = which == STANDIN_CHOSEN ? 0 : 5;
    for (int i = 0; i < 16; i++)
        p->uuid.bytes[i] = (char)(0x10 * which + i);
    return cudaSuccess;
}

/* With the lock or without. */
static void make_context(int which)
{
    if (__atomic_exchange_n(&contexts[which], true, __ATOMIC_ACQ_REL))
        return;
    __atomic_fetch_add(&standin_counted.live_contexts, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&standin_counted.contexts, 1, __ATOMIC_RELAXED);
}

int standin_current_device(void)
{
    make_context(device);
    return device;
}

cudaError_t cudaSetDevice(int which)
{
    STANDIN_ENTER(false);
    if (which < 0 || which >= STANDIN_DEVICES)
        return standin_answer(cudaErrorInvalidDevice);
    device = which;
    make_context(which);
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    STANDIN_ENTER(true);
    pthread_mutex_lock(&standin_lock);
    const standin_counts *c = &standin_counted;
    if (device == STANDIN_CHOSEN && c->live_memory + c->live_streams + c->live_events > 0)
        standin_abort("a device is reset that has memory, streams or events");
    if (__atomic_exchange_n(&contexts[device], false, __ATOMIC_ACQ_REL))
        standin_counted.live_contexts--;
    pthread_mutex_unlock(&standin_lock);
    return cudaSuccess;
}

standin_counts standin_count(void)
{
    pthread_mutex_lock(&standin_lock);
    standin_counts counts = standin_counted;
    pthread_mutex_unlock(&standin_lock);
    return counts;
}

/* Counts a program's leaks, for tests. */
__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("PLIANT_STANDIN_REPORT");
    FILE *f = path ? fopen(path, "ae") : NULL;
    if (!f)
        return;
    standin_counts c = standin_count();
    fprintf(
        f,
        "left: %lld blocks, %lld pinned, %lld streams, %lld events, %lld graphs, %lld contexts\n",
        (long long)c.live_memory, (long long)c.live_pinned, (long long)c.live_streams,
        (long long)c.live_events, (long long)c.live_graphs, (long long)c.live_contexts);
    fclose(f);
}
