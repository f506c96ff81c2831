#include "engine/mesh/packed.h"

#include "engine/mesh/inflate.h"

#include <stdlib.h>
#include <string.h>

/* A reader of the bytes: `held` are the unread ones of a group of base64. */
typedef struct stream {
    const char *at, *end;
    bool base64;
    unsigned char held[3];
    int from, count;
} stream;

static int digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* The next four non-blank characters; '=' ends a piece, and another may follow. */
static pl_packed_outcome take_group(stream *s)
{
    unsigned value = 0;
    int padding = 0;
    for (int k = 0; k < 4; s->at++) {
        if (s->at == s->end || *s->at == '<')
            return PL_PACKED_SHORT;
        char c = *s->at;
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
            continue;
        int d = digit(c);
        if (c == '=' && k >= 2)
            padding++;
        else if (d < 0 || padding > 0)
            return PL_PACKED_DAMAGED;
        value = value << 6 | (d < 0 ? 0 : (unsigned)d);
        k++;
    }
    s->held[0] = (unsigned char)(value >> 16);
    s->held[1] = (unsigned char)(value >> 8);
    s->held[2] = (unsigned char)value;
    s->from = 0;
    s->count = 3 - padding;
    return PL_PACKED_OK;
}

static pl_packed_outcome take(stream *s, void *out, size_t size)
{
    unsigned char *o = out;
    if (!s->base64) {
        if ((size_t)(s->end - s->at) < size)
            return PL_PACKED_SHORT;
        memcpy(out, s->at, size);
        s->at += size;
        return PL_PACKED_OK;
    }
    for (size_t n = 0; n < size;) {
        if (s->from == s->count) {
            pl_packed_outcome outcome = take_group(s);
            if (outcome != PL_PACKED_OK)
                return outcome;
        } else {
            o[n++] = s->held[s->from++];
        }
    }
    return PL_PACKED_OK;
}

static pl_packed_outcome take_size(stream *s, const pl_packed *p, uint64_t *out)
{
    char bytes[8];
    pl_packed_outcome outcome = take(s, bytes, (size_t)p->header);
    if (outcome != PL_PACKED_OK)
        return outcome;
    int64_t value = pl_number_integer(bytes, p->header == 4 ? PL_NUMBER_U32 : PL_NUMBER_I64,
                                      p->swap);
    *out = (uint64_t)value;
    return value < 0 ? PL_PACKED_SIZE : PL_PACKED_OK;
}

/* Upper bound of the bytes in the rest of the file. */
static size_t rest(const stream *s)
{
    return (size_t)(s->end - s->at) + 3;
}

/* The sizes of all blocks come first; `full` is the inflated size of each but the last. */
typedef struct blocks {
    uint64_t count, full, last;
    uint32_t *packed; /* [count] */
} blocks;

static pl_packed_outcome read_block_head(stream *s, const pl_packed *p, size_t size, blocks *b)
{
    pl_packed_outcome outcome = take_size(s, p, &b->count);
    if (outcome == PL_PACKED_OK)
        outcome = take_size(s, p, &b->full);
    if (outcome == PL_PACKED_OK)
        outcome = take_size(s, p, &b->last);
    if (outcome != PL_PACKED_OK)
        return outcome;
    if (b->count > rest(s))
        return PL_PACKED_SHORT;
    uint64_t whole = b->last ? b->count - 1 : b->count, total;
    bool fits = b->count == 0
                    ? size == 0
                    : b->last <= b->full && !__builtin_mul_overflow(whole, b->full, &total) &&
                          !__builtin_add_overflow(total, b->last, &total) && total == size;
    if (!fits)
        return PL_PACKED_SIZE;
    b->packed = malloc((size_t)b->count * sizeof *b->packed + 1);
    if (!b->packed)
        return PL_PACKED_NO_MEMORY;
    for (uint64_t i = 0; i < b->count; i++) {
        uint64_t n;
        outcome = take_size(s, p, &n);
        if (outcome != PL_PACKED_OK)
            return outcome;
        if (n > rest(s) || n > UINT32_MAX)
            return PL_PACKED_SHORT;
        b->packed[i] = (uint32_t)n;
    }
    return PL_PACKED_OK;
}

static pl_packed_outcome outcome_of(pl_status inflated)
{
    return inflated == PL_OK          ? PL_PACKED_OK
           : inflated == PL_NO_MEMORY ? PL_PACKED_NO_MEMORY
                                      : PL_PACKED_DAMAGED;
}

static pl_packed_outcome inflate_blocks(stream *s, const blocks *b, char *out, size_t size)
{
    size_t at = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        size_t n = i + 1 == b->count ? size - at : (size_t)b->full;
        char *packed = malloc((size_t)b->packed[i] + 1);
        if (!packed)
            return PL_PACKED_NO_MEMORY;
        pl_packed_outcome outcome = take(s, packed, b->packed[i]);
        if (outcome == PL_PACKED_OK)
            outcome = outcome_of(pl_inflate(packed, b->packed[i], out + at, n));
        free(packed);
        if (outcome != PL_PACKED_OK)
            return outcome;
        at += n;
    }
    return PL_PACKED_OK;
}

static pl_packed_outcome read_deflated(stream *s, const pl_packed *p, size_t size, char **out)
{
    blocks b = {0};
    pl_packed_outcome outcome = read_block_head(s, p, size, &b);
    if (outcome == PL_PACKED_OK && size / PL_INFLATE_RATIO > rest(s))
        outcome = PL_PACKED_SHORT;
    if (outcome == PL_PACKED_OK)
        *out = malloc(size + 1);
    if (outcome == PL_PACKED_OK)
        outcome = *out ? inflate_blocks(s, &b, *out, size) : PL_PACKED_NO_MEMORY;
    free(b.packed);
    return outcome;
}

pl_packed_outcome pl_packed_read(const pl_packed *p, size_t size, char **out)
{
    stream s = {.at = p->at, .end = p->end, .base64 = p->base64};
    pl_packed_outcome outcome;
    *out = NULL;
    if (p->deflated) {
        outcome = read_deflated(&s, p, size, out);
    } else {
        uint64_t told = 0;
        outcome = take_size(&s, p, &told);
        if (outcome == PL_PACKED_OK && told != size)
            outcome = PL_PACKED_SIZE;
        if (outcome == PL_PACKED_OK && size > rest(&s))
            outcome = PL_PACKED_SHORT;
        if (outcome == PL_PACKED_OK) {
            *out = malloc(size + 1);
            outcome = *out ? take(&s, *out, size) : PL_PACKED_NO_MEMORY;
        }
    }
    if (outcome != PL_PACKED_OK) {
        free(*out);
        *out = NULL;
    }
    return outcome;
}
