#include "protocol/log/checkpoint.h"

#include "protocol/text/bytes.h"
#include "protocol/log/record.h"
#include "protocol/log/session_file.h"
#include "protocol/log/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SEAL = 4, HEADER_CRC = PL_CHECKPOINT_HEADER - 4, CLASS = 64 };

static const char magic[4] = {'P', 'L', 'C', '1'};

const char *pl_checkpoint_name(int slot)
{
    return slot == 0 ? "checkpoint-A.bin" : "checkpoint-B.bin";
}

/* ---- bytes ---- */

static void encode_header(const pl_checkpoint *c, unsigned char out[PL_CHECKPOINT_HEADER])
{
    memset(out, 0, PL_CHECKPOINT_HEADER);
    memcpy(out, magic, sizeof magic);
    pl_put_u32(out + 4, c->control_size ? PL_CHECKPOINT_VERSION : 1);
    pl_put_u32(out + 8, (uint32_t)c->attempt);
    pl_put_u32(out + 12, PL_CHECKPOINT_HEADER);
    pl_put_u64(out + 16, (uint64_t)c->frame);
    pl_put_u64(out + 24, c->model_hash);
    pl_put_u32(out + 32, (uint32_t)c->segment_attempt);
    pl_put_u32(out + 36, (uint32_t)c->segment_number);
    pl_put_u64(out + 40, c->segment_end);
    pl_put_u64(out + 48, c->control_end);
    pl_put_f64(out + 56, c->seconds);
    memcpy(out + CLASS, c->numerics, strnlen(c->numerics, PL_CHECKPOINT_CLASS - 1));
    pl_put_u64(out + 160, c->payload_size);
    pl_put_u64(out + 168, c->control_size);
    pl_put_u32(out + HEADER_CRC, pl_crc32c(0, out, HEADER_CRC));
}

pl_status pl_checkpoint_decode_header(const void *bytes, size_t size, pl_checkpoint *out)
{
    const unsigned char *b = bytes;
    if (size < PL_CHECKPOINT_HEADER || memcmp(b, magic, sizeof magic) != 0 ||
        pl_get_u32(b + HEADER_CRC) != pl_crc32c(0, b, HEADER_CRC) ||
        pl_get_u32(b + 12) != PL_CHECKPOINT_HEADER)
        return PL_INVALID;
    uint32_t version = pl_get_u32(b + 4);
    pl_checkpoint c = {
        .attempt = (int32_t)pl_get_u32(b + 8),
        .frame = (int64_t)pl_get_u64(b + 16),
        .model_hash = pl_get_u64(b + 24),
        .segment_attempt = (int32_t)pl_get_u32(b + 32),
        .segment_number = (int32_t)pl_get_u32(b + 36),
        .segment_end = pl_get_u64(b + 40),
        .control_end = pl_get_u64(b + 48),
        .seconds = pl_get_f64(b + 56),
        .payload_size = pl_get_u64(b + 160),
        .control_size = pl_get_u64(b + 168),
    };
    memcpy(c.numerics, b + CLASS, PL_CHECKPOINT_CLASS);
    if (version != (c.control_size ? PL_CHECKPOINT_VERSION : 1u) ||
        c.control_size > PL_CHECKPOINT_MAX_PAYLOAD || c.attempt < 0 || c.frame < 0 ||
        c.segment_attempt < 0 || c.segment_number < 0 || !(c.seconds >= 0 && c.seconds < 1e12) ||
        c.payload_size > PL_CHECKPOINT_MAX_PAYLOAD || c.numerics[PL_CHECKPOINT_CLASS - 1] != 0)
        return PL_INVALID;
    *out = c;
    return PL_OK;
}

/* Size of the file to which the header belongs. */
static uint64_t whole_size(const pl_checkpoint *c)
{
    return PL_CHECKPOINT_HEADER + c->payload_size + c->control_size + SEAL;
}

int64_t pl_checkpoint_file_size(const pl_checkpoint *c)
{
    return (int64_t)whole_size(c);
}

pl_status pl_checkpoint_decode(const void *bytes, size_t size, pl_checkpoint *out,
                               const void **payload)
{
    const unsigned char *b = bytes;
    pl_checkpoint c;
    if (pl_checkpoint_decode_header(bytes, size, &c) != PL_OK || whole_size(&c) != size ||
        pl_get_u32(b + size - SEAL) != pl_crc32c(0, b, size - SEAL))
        return PL_INVALID;
    *out = c;
    *payload = b + PL_CHECKPOINT_HEADER;
    return PL_OK;
}

/* ---- files ---- */

pl_status pl_checkpoint_write(int dir_fd, int slot, const pl_checkpoint *c, const void *payload)
{
    unsigned char header[PL_CHECKPOINT_HEADER], seal[SEAL];
    size_t size = (size_t)(c->payload_size + c->control_size);
    encode_header(c, header);
    pl_put_u32(seal, pl_crc32c(pl_crc32c(0, header, sizeof header), payload, size));
    const struct iovec parts[3] = {
        {header, sizeof header}, {(void *)payload, size}, {seal, sizeof seal}};
    return pl_file_replace_parts(dir_fd, pl_checkpoint_name(slot), parts, 3, true);
}

pl_status pl_checkpoint_read(int dir_fd, int slot, uint64_t limit, pl_checkpoint *out,
                             void **payload)
{
    char *bytes;
    size_t size;
    const void *state;
    pl_checkpoint c;
    pl_status status = pl_file_read(dir_fd, pl_checkpoint_name(slot), limit, &bytes, &size);
    if (status != PL_OK)
        return status;
    status = pl_checkpoint_decode(bytes, size, &c, &state);
    if (status != PL_OK) {
        free(bytes);
        return status;
    }
    memmove(bytes, state, (size_t)(c.payload_size + c.control_size));
    *out = c;
    out->slot = slot;
    *payload = bytes;
    return PL_OK;
}

pl_status pl_checkpoint_peek_file(int dir_fd, const char *name, pl_checkpoint *out)
{
    unsigned char header[PL_CHECKPOINT_HEADER];
    struct stat st;
    pl_checkpoint c;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return PL_IO;
    ssize_t got = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, header, sizeof header, 0)
                                                             : 0;
    pl_close_fd(fd);
    if (got < 0)
        return PL_IO;
    if (pl_checkpoint_decode_header(header, (size_t)got, &c) != PL_OK ||
        whole_size(&c) != (uint64_t)st.st_size)
        return PL_INVALID;
    *out = c;
    return PL_OK;
}

pl_status pl_checkpoint_peek(int dir_fd, int slot, pl_checkpoint *out)
{
    pl_status status = pl_checkpoint_peek_file(dir_fd, pl_checkpoint_name(slot), out);
    if (status == PL_OK)
        out->slot = slot;
    return status;
}

pl_status pl_checkpoint_last_control(int dir_fd, const char *name, int64_t *number)
{
    pl_checkpoint c;
    unsigned char bytes[8];
    *number = 0;
    pl_status status = pl_checkpoint_peek_file(dir_fd, name, &c);
    if (status != PL_OK || c.control_size == 0)
        return status;
    if (c.control_size < sizeof bytes)
        return PL_INVALID;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return PL_IO;
    off_t at = (off_t)(PL_CHECKPOINT_HEADER + c.payload_size);
    bool got = pread(fd, bytes, sizeof bytes, at) == sizeof bytes;
    pl_close_fd(fd);
    *number = got ? (int64_t)pl_get_u64(bytes) : 0;
    return got ? PL_OK : PL_IO;
}

pl_status pl_checkpoint_check_file(int dir_fd, const char *name, pl_checkpoint *out)
{
    /* Bytes followed by their own CRC have the same CRC as four zeros, whatever they are. */
    const uint32_t residue = pl_crc32c(0, "\0\0\0", 4);
    pl_checkpoint c;
    pl_file_sum sum;
    pl_status status = pl_checkpoint_peek_file(dir_fd, name, &c);
    if (status != PL_OK)
        return status;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return PL_IO;
    status = pl_file_sum_read(fd, &sum);
    pl_close_fd(fd);
    if (status == PL_OK && (sum.crc != residue || sum.bytes != whole_size(&c)))
        status = PL_INVALID;
    if (status == PL_OK)
        *out = c;
    return status;
}

pl_status pl_checkpoint_newest(int dir_fd, pl_checkpoint *out)
{
    pl_checkpoint best = {.frame = -1}, c;
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++)
        if (pl_checkpoint_peek(dir_fd, slot, &c) == PL_OK &&
            (c.frame > best.frame || (c.frame == best.frame && c.attempt > best.attempt)))
            best = c;
    if (best.frame < 0) {
        errno = ENOENT;
        return PL_IO;
    }
    *out = best;
    return PL_OK;
}
