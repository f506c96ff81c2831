/* Memory of the device and pinned memory of the host. Device memory lies between inaccessible pages, is filled with NaN
 * bytes, and is never reused. Only streams' threads may touch it: enforced by protection keys of the processor or,
 * without these, by opening all of it while any of them runs something. */
#include "tests/gpu/standin/standin.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct standin_block {
    standin_block *next;
    char *memory, *pages;
    size_t bytes, length; /* asked for; of the pages */
    int device;           /* -1: pinned */
    int users;            /* operations in flight, for pinned memory */
};

/* Addresses, not memory; no more than the thread sanitizer leaves to a program. */
static const size_t ROOM = (size_t)1 << 37;
enum { PAGE = 4096, ALIGNMENT = 256 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *room;
static size_t room_used;
static standin_block *blocks;
static size_t taken[STANDIN_DEVICES], most_taken;
static int key = -1; /* protection key; below 0: none */
static int open_count;

/* An access by a thread without permission is reported before the program ends. */
static void explain(int signal_number, siginfo_t *info, void *context)
{
    static const char text[] =
        "stand-in for CUDA: memory of the device is touched by the host, or after it was freed, or "
        "beside what was allocated\n";
    const char *at = info->si_addr;
    if (at >= room && at < room + ROOM)
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void make_room(void)
{
    room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        standin_abort("no addresses for the device's memory");
    if (!getenv("PLIANT_STANDIN_NO_KEYS"))
        key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    const struct sigaction action = {.sa_sigaction = explain, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
}

static void protect(const standin_block *b, int how)
{
    if (mprotect(b->pages, b->length, how) != 0)
        standin_abort("memory cannot be protected");
}

static void protect_all(int how)
{
    for (standin_block *b = blocks; b; b = b->next)
        if (b->device >= 0)
            protect(b, how);
}

void standin_open(void)
{
    pthread_once(&once, make_room);
    if (key >= 0) {
        pkey_set(key, 0);
        return;
    }
    pthread_mutex_lock(&standin_lock);
    if (open_count++ == 0)
        protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&standin_lock);
}

void standin_close(void)
{
    if (key >= 0) {
        pkey_set(key, PKEY_DISABLE_ACCESS);
        return;
    }
    pthread_mutex_lock(&standin_lock);
    if (--open_count == 0)
        protect_all(PROT_NONE);
    pthread_mutex_unlock(&standin_lock);
}

/* Pages with the block at their end, except for alignment, and one more page that stays closed. */
static standin_block *make_block(size_t bytes, int device)
{
    pthread_once(&once, make_room);
    standin_block *b = calloc(1, sizeof *b);
    size_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    b->length = (whole + PAGE - 1) / PAGE * PAGE + (whole == 0 ? PAGE : 0);
    b->pages = room + room_used;
    room_used += b->length + PAGE;
    if (room_used > ROOM)
        standin_abort("more memory was allocated than there are addresses");
    b->memory = b->pages + b->length - whole;
    b->bytes = bytes;
    b->device = device;
    if (mprotect(b->pages, b->length, PROT_READ | PROT_WRITE) != 0) {
        free(b);
        return NULL;
    }
    memset(b->pages, 0xff, b->length); /* NaN in either precision */
    if (device >= 0 && key >= 0 &&
        pkey_mprotect(b->pages, b->length, PROT_READ | PROT_WRITE, key) != 0)
        standin_abort("memory cannot be given its key");
    if (device >= 0 && key < 0 && open_count == 0)
        protect(b, PROT_NONE);
    b->next = blocks;
    blocks = b;
    return b;
}

/* With the lock. The addresses stay closed. */
static void forget(standin_block *b)
{
    for (standin_block **at = &blocks; *at; at = &(*at)->next)
        if (*at == b) {
            *at = b->next;
            break;
        }
    if (mmap(b->pages, b->length, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        standin_abort("memory cannot be freed");
    free(b);
}

static standin_block *at_its_start(const void *memory, bool pinned)
{
    for (standin_block *b = blocks; b; b = b->next)
        if (b->memory == memory && (b->device < 0) == pinned)
            return b;
    return NULL;
}

static standin_block *around(const void *memory, size_t bytes)
{
    const char *first = memory;
    for (standin_block *b = blocks; b; b = b->next)
        if (first >= b->memory && first + bytes <= b->memory + b->bytes)
            return b;
    return NULL;
}

bool standin_on_device(const void *memory, size_t bytes)
{
    const standin_block *b = around(memory, bytes);
    return b && b->device >= 0;
}

standin_block *standin_pinned(const void *memory, size_t bytes)
{
    standin_block *b = around(memory, bytes);
    return b && b->device < 0 ? b : NULL;
}

bool standin_in_use(const standin_block *pinned)
{
    return pinned->users > 0;
}

size_t standin_most_taken(void)
{
    return most_taken;
}

void standin_use(standin_block *pinned, int way)
{
    if (pinned)
        pinned->users += way;
}

/* ---- the calls ---- */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    STANDIN_ENTER(true);
    int device = standin_current_device();
    pthread_mutex_lock(&standin_lock);
    standin_block *b = taken[device] + bytes <= standin_device_memory() ? make_block(bytes, device)
                                                                        : NULL;
    if (b) {
        taken[device] += bytes;
        most_taken = taken[0] + taken[1] > most_taken ? taken[0] + taken[1] : most_taken;
        standin_counted.live_memory++;
        *memory = bytes > 0 ? b->memory : NULL;
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_answer(b ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *memory)
{
    cudaError_t entered = standin_enter(__func__, true);
    if (!memory)
        return entered;
    pthread_mutex_lock(&standin_lock);
    standin_block *b = at_its_start(memory, false);
    if (b) {
        taken[b->device] -= b->bytes;
        standin_counted.live_memory--;
        forget(b);
    }
    pthread_mutex_unlock(&standin_lock);
    return b ? entered : standin_answer(cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    STANDIN_ENTER(true);
    standin_current_device();
    pthread_mutex_lock(&standin_lock);
    standin_block *b = make_block(bytes, -1);
    if (b)
        standin_counted.live_pinned++;
    pthread_mutex_unlock(&standin_lock);
    if (b)
        *memory = b->memory;
    return standin_answer(b ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void *memory)
{
    cudaError_t entered = standin_enter(__func__, true);
    if (!memory)
        return entered;
    pthread_mutex_lock(&standin_lock);
    standin_block *b = at_its_start(memory, true);
    if (b && b->users > 0)
        standin_abort("pinned memory is freed that a copy in flight uses");
    if (b) {
        standin_counted.live_pinned--;
        forget(b);
    }
    pthread_mutex_unlock(&standin_lock);
    return b ? entered : standin_answer(cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *all)
{
    STANDIN_ENTER(true);
    int device = standin_current_device();
    pthread_mutex_lock(&standin_lock);
    *all = standin_device_memory();
    *unused = *all - taken[device];
    pthread_mutex_unlock(&standin_lock);
    return cudaSuccess;
}
