/* Copies and clears memory, for queues that share: 16 bytes per thread. */
#include "engine/backends/device/bytes_kernels.h"

PL_THREAD void bytes_of(const pl_bytes_arguments *a, int64_t thread)
{
    int64_t first = PL_BYTES_A_THREAD * thread, left = a->bytes - first;
    char *to = (char *)a->to + first;
    const char *from = a->from ? (const char *)a->from + first : 0;
    if (left >= PL_BYTES_A_THREAD && ((uintptr_t)to | (uintptr_t)from) % sizeof(uint64_t) == 0) {
        uint64_t *words = (uint64_t *)to;
        uint64_t low = from ? ((const uint64_t *)from)[0] : 0;
        uint64_t high = from ? ((const uint64_t *)from)[1] : 0;
        words[0] = low;
        words[1] = high;
        return;
    }
    for (int64_t i = 0; i < PL_BYTES_A_THREAD && i < left; i++)
        to[i] = from ? from[i] : 0;
}

PL_KERNEL(bytes, bytes_of, pl_bytes_arguments)

PL_C const pl_device_kernel *PL_NAMED(pl_device_bytes_kernel)(void)
{
    return &bytes_kernel;
}
