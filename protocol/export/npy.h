/* npy.h - numpy's array files, version 1.0. */
#ifndef PLIANT_PROTOCOL_EXPORT_NPY_H
#define PLIANT_PROTOCOL_EXPORT_NPY_H

#include "engine/scene/fault.h"

#include <stddef.h>
#include <stdint.h>

enum { PL_NPY_HEADER_MAX = 256 };

typedef struct pl_npy_shape {
    const char *descr; /* "<f4", "<i4", "<f8" */
    int32_t rank;      /* 1 .. 3 */
    int64_t dims[3];
} pl_npy_shape;

/* Writes the header of an array in C order and returns its size, a multiple of 64 bytes. */
size_t pl_npy_header(const pl_npy_shape *shape, char out[PL_NPY_HEADER_MAX]);
/* Bytes of the array's items. */
uint64_t pl_npy_bytes(const pl_npy_shape *shape);
/* Reads an int32 array of shape (m, columns) from a file's bytes; *out is malloc'ed. PL_INVALID if the bytes are
 * not such an array. */
pl_status pl_npy_read_int32(const char *bytes, size_t size, int64_t columns, int32_t **out,
                            int64_t *rows);

#endif
