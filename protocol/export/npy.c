#include "protocol/export/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie");

enum { NPY_PREFIX = 10 };

size_t pl_npy_header(const pl_npy_shape *shape, char out[PL_NPY_HEADER_MAX])
{
    char dims[96] = "";
    size_t at = 0;
    for (int32_t i = 0; i < shape->rank; i++)
        at += (size_t)snprintf(dims + at, sizeof dims - at, "%" PRId64 ",%s", shape->dims[i],
                               i + 1 < shape->rank ? " " : "");
    int length = snprintf(out + NPY_PREFIX, PL_NPY_HEADER_MAX - NPY_PREFIX,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", shape->descr,
                          dims);
    size_t total = ((size_t)(NPY_PREFIX + length) + 1 + 63) / 64 * 64;
    size_t dict = total - NPY_PREFIX;
    memset(out + NPY_PREFIX + length, ' ', dict - (size_t)length);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(dict & 0xff);
    out[9] = (char)(dict >> 8);
    return total;
}

uint64_t pl_npy_bytes(const pl_npy_shape *shape)
{
    uint64_t bytes = (uint64_t)(shape->descr[2] - '0');
    for (int32_t i = 0; i < shape->rank; i++)
        bytes *= (uint64_t)shape->dims[i];
    return bytes;
}

/* Does not rely on our writer's dictionary order: only on the text after each key. */
static const char *dict_value(const char *dict, const char *key)
{
    const char *at = strstr(dict, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

pl_status pl_npy_read_int32(const char *bytes, size_t size, int64_t columns, int32_t **out,
                            int64_t *rows)
{
    char dict[512] = "";
    if (size < NPY_PREFIX || memcmp(bytes, "\x93NUMPY\x01", 7) != 0)
        return PL_INVALID;
    size_t length = (unsigned char)bytes[8] | (size_t)(unsigned char)bytes[9] << 8;
    if (length >= sizeof dict || size < NPY_PREFIX + length)
        return PL_INVALID;
    memcpy(dict, bytes + NPY_PREFIX, length);
    const char *descr = dict_value(dict, "'descr'"), *shape = dict_value(dict, "'shape'");
    const char *order = dict_value(dict, "'fortran_order'");
    int64_t m = -1, c = -1;
    if (!descr || strncmp(descr, "'<i4'", 5) != 0 || !order || strncmp(order, "False", 5) != 0 ||
        !shape || sscanf(shape, "(%" SCNd64 ", %" SCNd64, &m, &c) != 2 || m < 0 || c != columns)
        return PL_INVALID;
    size_t have = size - NPY_PREFIX - length;
    if ((uint64_t)m > have / sizeof(int32_t) / (uint64_t)columns)
        return PL_INVALID;
    size_t items = (size_t)m * (size_t)columns;
    int32_t *values = malloc(items ? items * sizeof *values : 1);
    if (!values)
        return PL_NO_MEMORY;
    memcpy(values, bytes + NPY_PREFIX + length, items * sizeof *values);
    *out = values;
    *rows = m;
    return PL_OK;
}
