#include "clients/cli/commands/export_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool fail(pl_export_files *f, const char *path)
{
    f->status = errno == ENOMEM
                    ? pl_cli_fail(f->cli, PL_EXIT_FAILED, "out of memory")
                    : pl_cli_fail(f->cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    return false;
}

int pl_export_files_open(pl_export_files *f, const pl_cli *cli, const char *path,
                         const char *ending)
{
    *f = (pl_export_files){.cli = cli, .path = path};
    if (!ending)
        return PL_EXIT_OK;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    bool ends = dot && dot > name && strcmp(dot, ending) == 0;
    f->folder = !slash         ? strdup(".")
                : slash > path ? strndup(path, (size_t)(slash - path))
                               : strdup("/");
    f->prefix = strndup(name, ends ? (size_t)(dot - name) : strlen(name));
    errno = ENOMEM;
    if (!f->folder || !f->prefix || pl_make_directories(f->folder) != PL_OK)
        fail(f, f->folder);
    return f->status;
}

bool pl_export_files_begin(pl_export_files *f, const char *name)
{
    errno = ENOMEM;
    free(f->name);
    f->name = NULL;
    if (!f->folder)
        f->name = strdup(f->path);
    else if (asprintf(&f->name, "%s/%s", f->folder, name) < 0)
        f->name = NULL;
    if (!f->name || pl_outfile_open(&f->file, f->name) != PL_OK)
        return fail(f, f->name ? f->name : f->path);
    f->open = true;
    return true;
}

bool pl_export_files_write(pl_export_files *f, const void *data, size_t size)
{
    pl_outfile_write(&f->file, data, size);
    errno = f->file.error;
    return f->file.error == 0 || fail(f, f->name);
}

bool pl_export_files_end(pl_export_files *f)
{
    f->open = false;
    return pl_outfile_commit(&f->file) == PL_OK || fail(f, f->name);
}

void pl_export_files_close(pl_export_files *f)
{
    if (f->open)
        pl_outfile_abandon(&f->file);
    free(f->folder);
    free(f->prefix);
    free(f->name);
    *f = (pl_export_files){0};
}
