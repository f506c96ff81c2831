/* zip.h - a zip archive of stored members, written in one pass with constant memory beside a line a
 * member for the directory. What reaches 4 GiB, or 65535 members, gets zip64 fields.
 *
 * A member whose bytes lie in memory has its CRC-32 before them, in its local header. One that is
 * streamed has it after them, in a data descriptor, and there the sizes, too; readers that go by the
 * directory at the end see no difference.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_ZIP_H
#define PLIANT_PROTOCOL_EXPORT_ZIP_H

#include "engine/scene/fault.h"
#include "protocol/export/outlet.h"

/* The sum of bytes that do not change from one file to the next; zero-initialise. */
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
    uint64_t zip64_from; /* sizes and offsets from here on are written as zip64; 0xffffffff */
    uint64_t start;      /* of the data of the member that is streamed */
    bool failed;         /* out of memory */
    bool uneven;         /* a streamed member had other bytes than were said */
} pl_zip;

/* Archives begin where the outlet stands, at 0. */
void pl_zip_open(pl_zip *z, pl_outlet *out);
/* A whole member. */
void pl_zip_add(pl_zip *z, const char *name, const pl_span *spans, int count);
/* A member of exactly `size` bytes that follow. */
void pl_zip_begin(pl_zip *z, const char *name, uint64_t size);
void pl_zip_write(pl_zip *z, const void *data, size_t size);
void pl_zip_end(pl_zip *z);
/* The directory. PL_NO_MEMORY, or PL_INVALID where a member was uneven: the archive is no good. */
pl_status pl_zip_finish(pl_zip *z);
void pl_zip_clear(pl_zip *z);

#endif
