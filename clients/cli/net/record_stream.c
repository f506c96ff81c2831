#include "clients/cli/net/record_stream.h"

#include <stdlib.h>
#include <string.h>

static bool append(pl_record_stream *s, const char *data, size_t size)
{
    if (s->size + size > s->capacity) {
        size_t capacity = s->size + size + (s->capacity / 2) + 4096;
        unsigned char *grown = realloc(s->bytes, capacity);
        if (!grown)
            return false;
        s->bytes = grown;
        s->capacity = capacity;
    }
    memcpy(s->bytes + s->size, data, size);
    s->size += size;
    return true;
}

bool pl_record_stream_feed(pl_record_stream *s, const char *data, size_t size)
{
    if (s->broken || !append(s, data, size)) {
        s->broken = true;
        return false;
    }
    size_t at = 0;
    while (s->size - at >= PL_RECORD_HEADER) {
        pl_record record;
        if (pl_record_decode(s->bytes + at, s->size - at, &record) != PL_RECORD_GOOD) {
            s->broken = true;
            return false;
        }
        uint64_t whole = pl_record_size(record.length);
        if (s->size - at < whole)
            break;
        const unsigned char *payload = s->bytes + at + PL_RECORD_HEADER;
        if (pl_crc32c(0, payload, (size_t)record.length) != record.payload_crc) {
            s->broken = true;
            return false;
        }
        if (!s->take(s->context, &record, payload))
            return false;
        at += (size_t)whole;
    }
    if (at > 0)
        memmove(s->bytes, s->bytes + at, s->size - at);
    s->size -= at;
    return true;
}

void pl_record_stream_reset(pl_record_stream *s)
{
    s->size = 0;
    s->broken = false;
}

void pl_record_stream_clear(pl_record_stream *s)
{
    free(s->bytes);
    s->bytes = NULL;
    s->size = s->capacity = 0;
}
