#include "clients/cli/base/unzip.h"

#include <string.h>

static uint64_t number(const unsigned char *at, int width)
{
    uint64_t value = 0;
    for (int i = width - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static bool broken(pl_unzip *z)
{
    z->broken = true;
    return false;
}

/* The local header is complete: read the lengths of name and extra fields. */
static bool measure(pl_unzip *z)
{
    uint64_t magic = number(z->head, 4), name = number(z->head + 26, 2);
    uint64_t extra = number(z->head + 28, 2);
    if (magic == 0x02014b50 || magic == 0x06054b50) {
        z->done = true;
        return true;
    }
    bool stored = number(z->head + 6, 2) == 0 && number(z->head + 8, 2) == 0;
    if (magic != 0x04034b50 || !stored || name == 0 || name > PL_UNZIP_NAME || extra > 64)
        return broken(z);
    z->want = PL_UNZIP_HEADER + (size_t)(name + extra);
    return true;
}

/* Size and name are known. A name must not lead out of the folder. */
static bool begin(pl_unzip *z)
{
    char name[PL_UNZIP_NAME + 1];
    size_t length = (size_t)number(z->head + 26, 2), extra = (size_t)number(z->head + 28, 2);
    memcpy(name, z->head + PL_UNZIP_HEADER, length);
    name[length] = 0;
    if (strlen(name) != length || strchr(name, '/') || name[0] == '.')
        return broken(z);
    z->left = number(z->head + 22, 4);
    if (z->left == 0xffffffffu) {
        const unsigned char *field = z->head + PL_UNZIP_HEADER + length;
        if (extra < 12 || number(field, 2) != 1)
            return broken(z);
        z->left = number(field + 4, 8);
    }
    z->inside = true;
    return z->begin(z->context, name);
}

static bool end(pl_unzip *z)
{
    z->inside = false;
    z->have = 0;
    return z->end(z->context);
}

/* Consume some bytes of a header. Returns how many, or -1. */
static ptrdiff_t feed_head(pl_unzip *z, const unsigned char *at, size_t size)
{
    if (z->have == 0)
        z->want = PL_UNZIP_HEADER;
    size_t n = z->want - z->have < size ? z->want - z->have : size;
    memcpy(z->head + z->have, at, n);
    z->have += n;
    /* In an archive without members, the end of the directory is shorter than a header. */
    if (z->have == z->want && z->want == PL_UNZIP_HEADER && !measure(z))
        return -1;
    if (!z->done && z->have == z->want && !begin(z))
        return -1;
    return (ptrdiff_t)n;
}

bool pl_unzip_feed(pl_unzip *z, const void *data, size_t size)
{
    const unsigned char *at = data;
    while (!z->broken && !z->done) {
        if (z->inside && z->left == 0 && !end(z))
            return false;
        if (size == 0)
            break;
        ptrdiff_t n;
        if (z->inside) {
            n = (ptrdiff_t)(z->left < size ? z->left : size);
            if (!z->write(z->context, at, (size_t)n))
                return false;
            z->left -= (uint64_t)n;
        } else if ((n = feed_head(z, at, size)) < 0) {
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return !z->broken;
}
