#include "engine/solvers/bytes.h"

#include <stdlib.h>
#include <string.h>

void *pl_bytes_grow(pl_bytes_out *out, size_t size)
{
    if (out->failed)
        return NULL;
    if (size > out->capacity - out->size) {
        size_t capacity = out->capacity + out->capacity / 2 + size + 256;
        unsigned char *data = capacity > size ? realloc(out->data, capacity) : NULL;
        if (!data) {
            out->failed = true;
            return NULL;
        }
        out->data = data;
        out->capacity = capacity;
    }
    void *at = out->data + out->size;
    out->size += size;
    return at;
}

void pl_bytes_put(pl_bytes_out *out, const void *from, size_t size)
{
    void *to = pl_bytes_grow(out, size);
    if (to && size > 0)
        memcpy(to, from, size);
}

void pl_bytes_put_i64(pl_bytes_out *out, int64_t value)
{
    pl_bytes_put(out, &value, sizeof value);
}

void pl_bytes_put_f64(pl_bytes_out *out, double value)
{
    pl_bytes_put(out, &value, sizeof value);
}

const void *pl_bytes_take(pl_bytes_in *in, size_t size)
{
    if (in->failed || size > in->left) {
        in->failed = true;
        return NULL;
    }
    const void *at = in->at;
    in->at += size;
    in->left -= size;
    return at;
}

void pl_bytes_get(pl_bytes_in *in, void *to, size_t size)
{
    const void *from = pl_bytes_take(in, size);
    if (from && size > 0)
        memcpy(to, from, size);
    else
        memset(to, 0, size);
}

int64_t pl_bytes_get_i64(pl_bytes_in *in)
{
    int64_t value;
    pl_bytes_get(in, &value, sizeof value);
    return value;
}

double pl_bytes_get_f64(pl_bytes_in *in)
{
    double value;
    pl_bytes_get(in, &value, sizeof value);
    return value;
}
