/* The driver's management library (libnvidia-ml.so.1) for a machine with the stand-in's card. PLIANT_FAKE_MIG in the
 * environment: it is an instance of a card. */
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *total_unused_used);

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    static const char its[] = "10111213-1415-1617-1819-1a1b1c1d1e1f";
    const char *word = getenv("PLIANT_FAKE_MIG") ? "MIG-" : "GPU-";
    *device = (void *)(size_t)its;
    return strncmp(uuid, word, 4) == 0 && strcmp(uuid + 4, its) == 0 ? 0 : 6; /* not found */
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *total_unused_used)
{
    total_unused_used[0] = 80000000000;
    total_unused_used[1] = 70000000000;
    total_unused_used[2] = 10000000000;
    return 0;
}
