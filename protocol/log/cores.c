#include "protocol/log/cores.h"

#include "protocol/log/small_file.h"
#include "protocol/text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT = 512, CORES_MAX = 4096 };

pl_status pl_cores_read(int dir_fd, const char *name, pl_cores *out)
{
    char *text;
    size_t size;
    pl_status status = pl_file_read(dir_fd, name, LIMIT, &text, &size);
    if (status != PL_OK)
        return status;
    pl_json *document = pl_json_parse(text, size, NULL);
    free(text);
    pl_cores c = {.attempt = (int32_t)pl_json_integer(document, "attempt", 0),
                  .number = pl_json_integer(document, "number", 0)};
    int64_t cores = pl_json_integer(document, "cores", 0);
    pl_json_free(document);
    if (c.attempt < 1 || c.number < 0 || cores < 1 || cores > CORES_MAX)
        return PL_INVALID;
    c.cores = (int32_t)cores;
    *out = c;
    return PL_OK;
}

/* Written by temporary and rename, so that it is read completely or not at all. */
static pl_status replace(int dir_fd, const char *name, const char *text)
{
    char temporary[64];
    size_t size = strlen(text);
    snprintf(temporary, sizeof temporary, "%s.%d.tmp", name, (int)getpid());
    int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return PL_IO;
    ssize_t put = write(fd, text, size);
    pl_close_fd(fd);
    if (put == (ssize_t)size && renameat(dir_fd, temporary, dir_fd, name) == 0)
        return PL_OK;
    int error = put >= 0 && put < (ssize_t)size ? ENOSPC : errno;
    unlinkat(dir_fd, temporary, 0);
    errno = error;
    return PL_IO;
}

pl_status pl_cores_write(int dir_fd, const char *name, const pl_cores *c)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "attempt", c->attempt);
    pl_json_set_integer(&w, "number", c->number);
    pl_json_set_integer(&w, "cores", c->cores);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    pl_status status = text ? replace(dir_fd, name, text) : PL_NO_MEMORY;
    int error = errno;
    free(text);
    errno = error;
    return status;
}
