#include "clients/cli/commands/export_files.h"

#include "clients/cli/base/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char LIST[] = ".pvd"; /* ending of files that list those of a series */

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
    *f = (pl_export_files){.cli = cli, .path = path, .ending = ending};
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

/* True if the file is the list of a series. */
static bool is_list(const pl_export_files *f)
{
    size_t length = strlen(f->name), ending = sizeof LIST - 1;
    return f->folder && length > ending && strcmp(f->name + length - ending, LIST) == 0;
}

bool pl_export_files_end(pl_export_files *f)
{
    uint64_t size = f->file.position;
    f->open = false;
    if (pl_outfile_commit(&f->file) != PL_OK)
        return fail(f, f->name);
    if (is_list(f))
        return true;
    f->count++;
    f->bytes += (int64_t)size;
    if (!f->first)
        f->first = strdup(f->name);
    return true;
}

void pl_export_files_report(const pl_export_files *f)
{
    char size[24];
    bool here = f->folder && strcmp(f->folder, ".") == 0;
    pl_bytes_text((double)f->bytes, size);
    if (f->cli->json) {
        pl_json_writer w = {0};
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "path", f->path);
        pl_json_set_integer(&w, "files", f->count);
        pl_json_set_integer(&w, "bytes", f->bytes);
        pl_json_end_object(&w);
        char *text = pl_json_finish(&w, NULL);
        if (text)
            puts(text);
        free(text);
    } else if (!f->folder) {
        fprintf(stderr, "wrote %s, %s\n", f->path, size);
    } else if (strcmp(f->ending, LIST) == 0) {
        fprintf(stderr, "wrote %s%s%s%s and %" PRId64 " .vtu files beside it, %s\n",
                here ? "" : f->folder, here ? "" : "/", f->prefix, LIST, f->count, size);
    } else {
        fprintf(stderr, "wrote %" PRId64 " file%s, %s%s, %s\n", f->count, f->count == 1 ? "" : "s",
                f->first ? f->first + (here ? 2 : 0) : "", f->count == 1 ? "" : " and so on", size);
    }
}

void pl_export_files_close(pl_export_files *f)
{
    if (f->open)
        pl_outfile_abandon(&f->file);
    free(f->folder);
    free(f->prefix);
    free(f->name);
    free(f->first);
    *f = (pl_export_files){0};
}
