#include "server/worker/npy.h"

#include "protocol/log/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 128, BUFFER_VALUES = 16384, NAME_MAX_LENGTH = 48 };

struct pl_npy_writer {
    int directory, fd;
    int32_t columns;
    int64_t rows_left;
    size_t filled; /* bytes of buffer */
    pl_file_sum sum;
    char name[NAME_MAX_LENGTH], temporary[NAME_MAX_LENGTH + 8];
    unsigned char buffer[HEADER + 4 * BUFFER_VALUES];
};

static pl_status flush(pl_npy_writer *w)
{
    size_t done = 0;
    w->sum.crc = pl_crc32c(w->sum.crc, w->buffer, w->filled);
    w->sum.bytes += w->filled;
    while (done < w->filled) {
        ssize_t n = write(w->fd, w->buffer + done, w->filled - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return PL_IO;
        done += (size_t)n;
    }
    w->filled = 0;
    return PL_OK;
}

/* Magic, version 1.0, header length, and a Python dictionary padded with blanks to the fixed 128 bytes, which suffice
 * for any 64-bit row count. */
static void put_header(pl_npy_writer *w, int64_t rows)
{
    unsigned char *h = w->buffer;
    memset(h, ' ', HEADER);
    memcpy(h, "\x93NUMPY\x01\x00", 8);
    h[8] = (HEADER - 10) & 255;
    h[9] = (HEADER - 10) >> 8;
    int n = snprintf((char *)h + 10, HEADER - 10,
                     "{'descr': '<i4', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId32
                     "), }",
                     rows, w->columns);
    h[10 + n] = ' ';
    h[HEADER - 1] = '\n';
    w->filled = HEADER;
}

pl_status pl_npy_open(int directory, const char *name, int64_t rows, int32_t columns,
                      pl_npy_writer **out)
{
    pl_npy_writer *w = malloc(sizeof *w);
    if (!w)
        return PL_NO_MEMORY;
    w->directory = directory;
    w->columns = columns;
    w->rows_left = rows;
    w->sum = (pl_file_sum){.known = true};
    snprintf(w->name, sizeof w->name, "%s", name);
    snprintf(w->temporary, sizeof w->temporary, "%s.tmp", w->name);
    w->fd = openat(directory, w->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                   0640);
    if (w->fd < 0) {
        free(w);
        return PL_IO;
    }
    put_header(w, rows);
    *out = w;
    return PL_OK;
}

pl_status pl_npy_append(pl_npy_writer *w, const int32_t *values, int64_t rows, int32_t offset)
{
    int64_t count = rows * w->columns;
    w->rows_left -= rows;
    for (int64_t i = 0; i < count; i++) {
        if (w->filled + 4 > sizeof w->buffer && flush(w) != PL_OK)
            return PL_IO;
        uint32_t v = (uint32_t)(values[i] + offset);
        unsigned char *at = w->buffer + w->filled;
        at[0] = (unsigned char)v;
        at[1] = (unsigned char)(v >> 8);
        at[2] = (unsigned char)(v >> 16);
        at[3] = (unsigned char)(v >> 24);
        w->filled += 4;
    }
    return PL_OK;
}

pl_status pl_npy_close(pl_npy_writer *w, bool keep, pl_file_sum *sum)
{
    if (!w)
        return PL_OK;
    pl_status status = keep && w->rows_left != 0 ? PL_INVALID : PL_OK;
    if (status == PL_OK && keep) {
        status = flush(w);
        if (status == PL_OK && renameat(w->directory, w->temporary, w->directory, w->name) != 0)
            status = PL_IO;
    }
    if (status == PL_OK && keep)
        *sum = w->sum;
    int kept = errno;
    close(w->fd);
    if (status != PL_OK || !keep)
        unlinkat(w->directory, w->temporary, 0);
    errno = kept;
    free(w);
    return status;
}
