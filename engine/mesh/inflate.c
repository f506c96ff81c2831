#include "engine/mesh/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

static void *allocate_block(void *unused, uInt count, uInt size)
{
    return calloc(count, size);
}

static void free_block(void *unused, void *memory)
{
    free(memory);
}

pl_status pl_inflate(const void *data, size_t length, void *out, size_t size)
{
    z_stream s = {
        .zalloc = allocate_block, .zfree = free_block, .next_in = (Bytef *)data, .next_out = out};
    size_t left = size;
    if (length > UINT_MAX)
        return PL_INVALID;
    s.avail_in = (uInt)length;
    int code = inflateInit(&s);
    if (code != Z_OK)
        return code == Z_MEM_ERROR ? PL_NO_MEMORY : PL_INVALID;
    /* Without progress it is Z_BUF_ERROR: the stream is truncated, or produces more than fits. */
    while (code == Z_OK) {
        uInt room = left < UINT_MAX ? (uInt)left : UINT_MAX;
        s.avail_out = room;
        code = inflate(&s, Z_NO_FLUSH);
        left -= room - s.avail_out;
    }
    inflateEnd(&s);
    if (code == Z_MEM_ERROR)
        return PL_NO_MEMORY;
    return code == Z_STREAM_END && left == 0 ? PL_OK : PL_INVALID;
}
