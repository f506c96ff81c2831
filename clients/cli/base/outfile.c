#include "clients/cli/base/outfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pl_status pl_outfile_open(pl_outfile *f, const char *path)
{
    *f = (pl_outfile){.path = strdup(path)};
    if (!f->path || asprintf(&f->temporary, "%s.part-%ld", path, (long)getpid()) < 0) {
        f->temporary = NULL;
        pl_outfile_abandon(f);
        return PL_NO_MEMORY;
    }
    f->file = fopen(f->temporary, "wbe");
    if (!f->file) {
        int saved = errno;
        free(f->path);
        free(f->temporary);
        *f = (pl_outfile){0};
        errno = saved;
        return PL_IO;
    }
    setvbuf(f->file, NULL, _IOFBF, 1 << 18);
    return PL_OK;
}

void pl_outfile_write(pl_outfile *f, const void *data, size_t size)
{
    if (f->error == 0 && size > 0 && fwrite(data, 1, size, f->file) != size)
        f->error = errno ? errno : EIO;
    f->position += size;
}

void pl_outfile_printf(pl_outfile *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        f->error = f->error ? f->error : ENOMEM;
        return;
    }
    pl_outfile_write(f, text, (size_t)length);
    free(text);
}

void pl_outfile_csv_text(pl_outfile *f, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n");
    if (quoted)
        pl_outfile_write(f, "\"", 1);
    for (; *text; text++)
        pl_outfile_write(f, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    if (quoted)
        pl_outfile_write(f, "\"", 1);
}

pl_status pl_outfile_commit(pl_outfile *f)
{
    if (fclose(f->file) != 0 && f->error == 0)
        f->error = errno ? errno : EIO;
    f->file = NULL;
    if (f->error == 0 && rename(f->temporary, f->path) != 0)
        f->error = errno;
    int error = f->error;
    if (error)
        pl_outfile_abandon(f);
    free(f->path);
    free(f->temporary);
    *f = (pl_outfile){0};
    errno = error;
    return error ? PL_IO : PL_OK;
}

void pl_outfile_abandon(pl_outfile *f)
{
    if (f->file)
        fclose(f->file);
    if (f->temporary)
        unlink(f->temporary);
    free(f->path);
    free(f->temporary);
    *f = (pl_outfile){0};
}

pl_status pl_make_directories(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return PL_NO_MEMORY;
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            free(copy);
            return PL_IO;
        }
        *p = '/';
    }
    bool failed = mkdir(copy, 0777) != 0 && errno != EEXIST;
    free(copy);
    return failed ? PL_IO : PL_OK;
}
