#include "engine/backends/cuda/management.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* NVIDIA's nvmlMemory_t */
typedef struct nvml_memory {
    unsigned long long total, unused, used;
} nvml_memory;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*handle_of)(const char *uuid, void **device);
static int (*memory_of)(void *device, nvml_memory *memory);

/* It stays open: a process that queries once may query again. */
static void open_library(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*begin)(void) = NULL;
    if (library)
        *(void **)&begin = dlsym(library, "nvmlInit_v2");
    if (!begin || begin() != 0)
        return;
    *(void **)&handle_of = dlsym(library, "nvmlDeviceGetHandleByUUID");
    *(void **)&memory_of = dlsym(library, "nvmlDeviceGetMemoryInfo");
}

bool pl_cuda_management_memory(const char *id, size_t *unused, size_t *all)
{
    static const char *const WORDS[] = {"GPU", "MIG"};
    pthread_once(&once, open_library);
    for (size_t k = 0; handle_of && memory_of && k < sizeof WORDS / sizeof *WORDS; k++) {
        char uuid[64];
        void *device;
        nvml_memory memory;
        snprintf(uuid, sizeof uuid, "%s-%s", WORDS[k], id);
        if (handle_of(uuid, &device) == 0 && memory_of(device, &memory) == 0) {
            *unused = (size_t)memory.unused;
            *all = (size_t)memory.total;
            return true;
        }
    }
    return false;
}
