#include "protocol/export/zpack.h"

#include <stdlib.h>
#include <zlib.h>

uint32_t pl_zpack_crc32(uint32_t crc, const void *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

uint32_t pl_zpack_crc32_combine(uint32_t first, uint32_t second, uint64_t second_size)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)second_size);
}

pl_status pl_zpack_deflate(const void *data, size_t size, unsigned char **out, size_t *out_size)
{
    uLong bound = compressBound((uLong)size);
    unsigned char *packed = malloc(bound);
    if (!packed)
        return PL_NO_MEMORY;
    if (compress2(packed, &bound, data, (uLong)size, 6) != Z_OK) {
        free(packed);
        return PL_NO_MEMORY; /* its only possible failure: the buffer has compressBound's size */
    }
    *out = packed;
    *out_size = bound;
    return PL_OK;
}
