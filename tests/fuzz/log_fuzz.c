/* The log of a session directory, read while it grows. The parts of an input are done in order:
 * head.json replaced, bytes appended to a segment or an index, or cut off it; and the reader looks.
 * Nothing may be delivered that its checksum does not cover. */
#include "tests/fuzz/fuzz.h"

#include "protocol/log/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Operations: OP_FILE + 2 i is segment i, + 1 its index. */
enum { OP_HEAD, OP_LOOK, OP_REINDEX, OP_CUT, OP_FILE, FILES = 12, OP_COUNT = OP_FILE + FILES };
enum { LOOKS_AT = 48 };

/* Segments 1-0, 1-1, 1-2, 2-0, 2-1, 2-2. */
static void file_name(int i, char name[40])
{
    snprintf(name, 40, "log/%04d-%04d.%s", 1 + i / 6, i / 2 % 3, i % 2 ? "idx" : "seg");
}

static void check_payload(const pl_log_range *range, int64_t frame, pl_log_part part,
                          const char *payload, uint64_t length)
{
    pl_frame_header header;
    uint16_t type = part == PL_LOG_FRAME ? PL_RECORD_FRAME : PL_RECORD_METRICS;
    FUZZ_REQUIRE(range->record.type == type && range->record.frame == (uint64_t)frame &&
                     range->record.seq == (uint64_t)frame,
                 "frame %lld is answered with record %d of frame %llu", (long long)frame,
                 range->record.type, (unsigned long long)range->record.frame);
    FUZZ_REQUIRE(length == range->record.length && range->size == pl_record_size(length),
                 "lengths differ");
    FUZZ_REQUIRE(pl_crc32c_portable(0, payload, length) == range->record.payload_crc,
                 "frame %lld was delivered with a wrong CRC", (long long)frame);
    FUZZ_REQUIRE(payload[length] == 0, "no NUL after the payload");
    if (part == PL_LOG_FRAME && pl_frame_header_decode((const void *)payload, length, &header))
        FUZZ_REQUIRE(header.count <= length / 12, "a frame of more vertices than bytes");
}

static void read_frame(pl_log_reader *reader, int64_t frame, pl_log_part part)
{
    char *payload = NULL;
    uint64_t length = 0;
    pl_log_range range;
    pl_log_outcome outcome = pl_log_read(reader, frame, part, &payload, &length);
    if (outcome != PL_LOG_OK)
        return;
    FUZZ_REQUIRE(pl_log_find(reader, frame, part, &range) == PL_LOG_OK, "read but not found");
    check_payload(&range, frame, part, payload, length);
    free(payload);
}

/* The first frames and the last ones, and one before and one after them all. */
static void look(pl_log_reader *reader)
{
    int64_t frames = pl_log_reader_refresh(reader);
    FUZZ_REQUIRE(frames >= 0, "%lld frames", (long long)frames);
    for (int64_t i = -1; i < LOOKS_AT; i++) {
        read_frame(reader, i, PL_LOG_FRAME);
        read_frame(reader, i, PL_LOG_METRICS);
        read_frame(reader, frames - i, PL_LOG_METRICS);
        read_frame(reader, frames - i, PL_LOG_FRAME);
    }
    FUZZ_REQUIRE(pl_log_reader_refresh(reader) == frames, "other frames in the same files");
}

static void cut(const fuzz_part *part)
{
    char name[40];
    if (part->size < 3)
        return;
    file_name(part->bytes[0] % FILES, name);
    int file = openat(fuzz_directory(), name, O_WRONLY | O_CLOEXEC);
    if (file >= 0 && ftruncate(file, part->bytes[1] | part->bytes[2] << 8) != 0)
        fuzz_fail("%s cannot be cut", name);
    if (file >= 0)
        close(file);
}

static void perform(const fuzz_part *part, pl_log_reader *reader)
{
    char name[40];
    switch (part->op) {
    case OP_HEAD:
        fuzz_write("head.json", part->bytes, part->size);
        break;
    case OP_LOOK:
        look(reader);
        break;
    case OP_REINDEX:
        pl_log_reindex(fuzz_directory());
        break;
    case OP_CUT:
        cut(part);
        break;
    default:
        file_name((part->op - OP_FILE) % FILES, name);
        fuzz_append(name, part->bytes, part->size);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_part parts[FUZZ_PARTS_MAX];
    pl_log_reader *reader = NULL;
    fuzz_clean();
    FUZZ_REQUIRE(pl_log_reader_open(fuzz_directory(), &reader) == PL_OK, "no reader");
    size_t count = fuzz_parts(data, size, parts);
    for (size_t i = 0; i < count; i++)
        perform(&parts[i], reader);
    look(reader);
    pl_log_reader_close(reader);
    return 0;
}

static size_t mend(uint8_t op, uint8_t *bytes, size_t size, size_t room)
{
    if (op == OP_HEAD)
        return fuzz_mend_seal(bytes, size, room);
    if (op < OP_FILE)
        return size;
    return (op - OP_FILE) % 2 ? fuzz_mend_index(bytes, size) : fuzz_mend_records(bytes, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return fuzz_mutate_parts(data, size, max_size, seed, OP_COUNT, mend);
}
