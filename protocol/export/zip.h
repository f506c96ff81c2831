/* zip.h - a zip archive of stored members, written in one pass with constant memory, except for one directory entry
 * per member. Sizes from 4 GiB, or 65535 members, use zip64 fields.
 *
 * A member in memory has its CRC-32 in its local header. A streamed member has it after its bytes, in a data
 * descriptor, together with the sizes; readers that use the directory at the end see no difference.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_ZIP_H
#define PLIANT_PROTOCOL_EXPORT_ZIP_H

#include "engine/scene/fault.h"
#include "protocol/export/outlet.h"

/* CRC of bytes that are the same in every file; zero-initialise. */
typedef struct pl_span_sum {
    bool known;
    uint32_t crc;
} pl_span_sum;
/* A piece of a file. */
typedef struct pl_span {
    const void *data;
    size_t size;
    pl_span_sum *sum; /* NULL: it changes */
} pl_span;

typedef struct pl_zip_member {
    char *name;
    uint64_t offset, size; /* of the local header; of the data */
    uint32_t crc;
    bool streamed;
} pl_zip_member;

typedef struct pl_zip {
    pl_outlet *out;
    pl_zip_member *members;
    int64_t count, capacity;
    uint64_t zip64_from; /* threshold for zip64 sizes and offsets; 0xffffffff */
    uint64_t start;      /* of the data of the streamed member */
    bool failed;         /* out of memory */
    bool uneven;         /* a streamed member had a different size from the announced one */
} pl_zip;

/* An archive begins at the outlet's position 0. */
void pl_zip_open(pl_zip *z, pl_outlet *out);
/* A whole member. */
void pl_zip_add(pl_zip *z, const char *name, const pl_span *spans, int count);
/* Starts a member of exactly `size` bytes, which follow. */
void pl_zip_begin(pl_zip *z, const char *name, uint64_t size);
void pl_zip_write(pl_zip *z, const void *data, size_t size);
void pl_zip_end(pl_zip *z);
/* Writes the directory. PL_NO_MEMORY, or PL_INVALID if a member was uneven: the archive is invalid. */
pl_status pl_zip_finish(pl_zip *z);
void pl_zip_clear(pl_zip *z);

#endif
