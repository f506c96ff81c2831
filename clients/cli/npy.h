/* npy.h - numpy's array files, version 1.0, and archives of them (.npz: a stored zip).
 *
 * An archive is written in one pass with constant memory: a member's size is known beforehand (its
 * shape is), its CRC-32 is patched into the local header when the member ends. Members or offsets
 * of 4 GiB and more get zip64 fields.
 */
#ifndef PLIANT_CLIENTS_CLI_NPY_H
#define PLIANT_CLIENTS_CLI_NPY_H

#include "clients/cli/outfile.h"

enum { PL_NPY_HEADER_MAX = 256, PL_NPZ_MEMBERS_MAX = 8 };

typedef struct pl_npy_shape {
    const char *descr; /* "<f4", "<i4", "<f8" */
    int32_t rank;      /* 1 .. 3 */
    int64_t dims[3];
} pl_npy_shape;

/* The header of an array in C order; a multiple of 64 bytes, which is returned. */
size_t pl_npy_header(const pl_npy_shape *shape, char out[PL_NPY_HEADER_MAX]);
/* Bytes of the array's items. */
uint64_t pl_npy_bytes(const pl_npy_shape *shape);
/* A whole array as a file. */
pl_status pl_npy_write(const char *path, const pl_npy_shape *shape, const void *data);
/* Read an int32 array of shape (m, columns) from a file's bytes; *out is malloc'ed. PL_INVALID
 * where the bytes are none. */
pl_status pl_npy_read_int32(const char *bytes, size_t size, int64_t columns, int32_t **out,
                            int64_t *rows);

typedef struct pl_npz_member {
    char name[64];
    uint64_t offset, size; /* of the local header; of the data */
    uint32_t crc;
} pl_npz_member;

typedef struct pl_npz {
    pl_outfile file;
    pl_npz_member members[PL_NPZ_MEMBERS_MAX];
    int32_t count;
    uint64_t zip64_from; /* sizes and offsets from here on are written as zip64; 0xffffffff */
} pl_npz;

pl_status pl_npz_open(pl_npz *z, const char *path);
/* Begin array `name` (without .npy); its items follow by pl_npz_write, exactly as many as shape
 * says, then pl_npz_end. */
void pl_npz_begin(pl_npz *z, const char *name, const pl_npy_shape *shape);
void pl_npz_write(pl_npz *z, const void *data, size_t size);
void pl_npz_end(pl_npz *z);
/* Write the directory and put the file in its place. PL_INVALID where a member had fewer or more
 * bytes than its shape says; nothing is left then. */
pl_status pl_npz_commit(pl_npz *z);
void pl_npz_abandon(pl_npz *z);

#endif
