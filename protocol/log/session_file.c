#include "protocol/log/session_file.h"

#include "protocol/log/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[PL_FILE_COUNT] = {
    [PL_FILE_SCENE] = "scene.json",       [PL_FILE_EFFECTIVE] = "effective.json",
    [PL_FILE_TOPOLOGY] = "topology.json", [PL_FILE_TRIANGLES] = "triangles.npy",
    [PL_FILE_TETS] = "tets.npy",          [PL_FILE_SURFACE] = "surface.npy",
};

const char *pl_session_file_name(pl_session_file file)
{
    return names[file];
}

pl_session_file pl_session_file_named(const char *name)
{
    int file = 0;
    while (file < PL_FILE_COUNT && strcmp(names[file], name) != 0)
        file++;
    return (pl_session_file)file;
}

/* ---- sums ---- */

pl_file_sum pl_file_sum_of(const void *bytes, size_t size)
{
    return (pl_file_sum){.known = true, .crc = pl_crc32c(0, bytes, size), .bytes = size};
}

pl_status pl_file_sum_read(int fd, pl_file_sum *out)
{
    enum { PIECE = 256 << 10 };
    unsigned char *piece = malloc(PIECE);
    pl_file_sum sum = {.known = true};
    ssize_t n = piece ? 1 : 0;
    while (n > 0) {
        n = pread(fd, piece, PIECE, (off_t)sum.bytes);
        if (n < 0 && errno == EINTR) {
            n = 1;
        } else if (n > 0) {
            sum.crc = pl_crc32c(sum.crc, piece, (size_t)n);
            sum.bytes += (uint64_t)n;
        }
    }
    int kept = errno;
    free(piece);
    errno = kept;
    if (!piece)
        return PL_NO_MEMORY;
    if (n < 0)
        return PL_IO;
    *out = sum;
    return PL_OK;
}

/* The entry of a file in preflight.json. `known` is false if preflight.json has none, because it is missing, of an
 * older format, or damaged itself. */
static pl_file_sum expected_sum(int dir_fd, pl_session_file file)
{
    pl_preflight p = {0};
    pl_file_sum sum = {0};
    int kept = errno;
    if (pl_preflight_read(dir_fd, &p) == PL_OK)
        sum = p.sums[file];
    pl_preflight_clear(&p);
    errno = kept;
    return sum;
}

bool pl_session_file_fits(int dir_fd, pl_session_file file, const pl_file_sum *actual)
{
    pl_file_sum expected = expected_sum(dir_fd, file);
    return !expected.known || (expected.crc == actual->crc && expected.bytes == actual->bytes);
}

pl_status pl_session_file_read(int dir_fd, pl_session_file file, size_t limit, char **out,
                               size_t *size)
{
    char *text;
    size_t length;
    pl_status status = pl_file_read(dir_fd, names[file], limit, &text, &length);
    if (status != PL_OK)
        return status;
    pl_file_sum actual = pl_file_sum_of(text, length);
    if (!pl_session_file_fits(dir_fd, file, &actual)) {
        free(text);
        errno = EBADMSG;
        return PL_IO;
    }
    *out = text;
    *size = length;
    return PL_OK;
}
