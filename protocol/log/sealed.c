#include "protocol/log/sealed.h"

#include "protocol/log/record.h"
#include "protocol/log/small_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* The form of the seal at the end of every text: it covers everything before it. */
#define SEAL_FORMAT ",\"crc32c\":\"%08" PRIx32 "\"}"
enum { SEAL_LENGTH = sizeof ",\"crc32c\":\"00000000\"}" - 1 };

typedef enum when { PUT, REPLACE, REPLACE_DURABLY } when;

/* Seals the first `length` bytes of an object's text, all but its closing brace, and writes it. */
static pl_status write_sealed(int dir_fd, const char *name, const char *object, size_t length,
                              when synced)
{
    char seal[SEAL_LENGTH + 1];
    snprintf(seal, sizeof seal, SEAL_FORMAT, pl_crc32c(0, object, length));
    struct iovec parts[2] = {{(void *)object, length}, {seal, SEAL_LENGTH}};
    return synced == PUT ? pl_file_put(dir_fd, name, parts, 2)
                         : pl_file_replace_parts(dir_fd, name, parts, 2, synced == REPLACE_DURABLY);
}

static pl_status end_sealed(int dir_fd, const char *name, pl_json_writer *w, when synced)
{
    size_t length = 0;
    char *text = pl_json_finish(w, &length);
    if (!text)
        return PL_NO_MEMORY;
    pl_status status = write_sealed(dir_fd, name, text, length, synced);
    free(text);
    return status;
}

pl_status pl_sealed_write(int dir_fd, const char *name, pl_json_writer *w, bool durable)
{
    return end_sealed(dir_fd, name, w, durable ? REPLACE_DURABLY : REPLACE);
}

pl_status pl_sealed_put(int dir_fd, const char *name, pl_json_writer *w)
{
    return end_sealed(dir_fd, name, w, PUT);
}

pl_status pl_sealed_write_text(int dir_fd, const char *name, const char *object, bool durable)
{
    const char *end = strrchr(object, '}');
    return end ? write_sealed(dir_fd, name, object, (size_t)(end - object),
                              durable ? REPLACE_DURABLY : REPLACE)
               : PL_INVALID;
}

static bool seal_fits(const char *text, size_t size)
{
    char seal[SEAL_LENGTH + 1];
    if (size < SEAL_LENGTH)
        return false;
    snprintf(seal, sizeof seal, SEAL_FORMAT, pl_crc32c(0, text, size - SEAL_LENGTH));
    return memcmp(text + size - SEAL_LENGTH, seal, SEAL_LENGTH) == 0;
}

pl_status pl_sealed_read_since(int dir_fd, const char *name, size_t limit, int32_t sealed_since,
                               int32_t format, pl_json **out)
{
    char *text;
    size_t size;
    pl_status status = pl_file_read(dir_fd, name, limit, &text, &size);
    if (status != PL_OK)
        return status;
    bool fits = seal_fits(text, size);
    pl_json *document = fits || sealed_since > 1 ? pl_json_parse(text, size, NULL) : NULL;
    bool starved = !document && (fits || sealed_since > 1) && errno == ENOMEM;
    int64_t stated = pl_json_integer(document, "format", 0);
    bool older = stated < sealed_since && !pl_json_at(document, "crc32c");
    free(text);
    if (stated >= 1 && stated <= format && (fits || older)) {
        *out = document;
        return PL_OK;
    }
    pl_json_free(document);
    errno = starved ? ENOMEM : EBADMSG;
    return starved ? PL_NO_MEMORY : PL_IO;
}

pl_status pl_sealed_read(int dir_fd, const char *name, size_t limit, int32_t format, pl_json **out)
{
    return pl_sealed_read_since(dir_fd, name, limit, 1, format, out);
}

pl_status pl_sealed_read_text(int dir_fd, const char *name, size_t limit, char **object)
{
    char *text;
    size_t size;
    pl_status status = pl_file_read(dir_fd, name, limit, &text, &size);
    if (status != PL_OK)
        return status;
    if (!seal_fits(text, size)) {
        free(text);
        errno = EBADMSG;
        return PL_IO;
    }
    memcpy(text + size - SEAL_LENGTH, "}", 2);
    *object = text;
    return PL_OK;
}
