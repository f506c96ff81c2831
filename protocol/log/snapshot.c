#include "protocol/log/snapshot.h"

#include "protocol/text/json.h"
#include "protocol/log/sealed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 1, DOCUMENT_MAX = 65 << 20, PATH = PL_SNAPSHOT_NAME + 20 };

void pl_snapshot_clear(pl_snapshot *s)
{
    free(s->start);
    *s = (pl_snapshot){.frame = -1, .checkpoint = -1};
}

static void path_of(const char *name, const char *suffix, char out[PATH])
{
    snprintf(out, PATH, PL_SNAPSHOT_FOLDER "/%.*s%s", PL_SNAPSHOT_NAME, name, suffix);
}

void pl_snapshot_file(const char *name, char out[PATH])
{
    path_of(name, ".bin", out);
}

/* ---- one ---- */

pl_status pl_snapshot_read(int dir_fd, const char *name, pl_snapshot *out)
{
    char path[PATH];
    pl_json *document;
    path_of(name, ".json", path);
    pl_status status = pl_sealed_read(dir_fd, path, DOCUMENT_MAX, FORMAT, &document);
    if (status != PL_OK)
        return status;
    *out = (pl_snapshot){.frame = pl_json_integer(document, "frame", -1),
                         .checkpoint = pl_json_integer(document, "checkpoint", -1),
                         .bytes = pl_json_integer(document, "bytes", 0),
                         .created = pl_json_integer(document, "created", 0),
                         .start = pl_json_dump(pl_json_at(document, "start"), false)};
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->numerics, sizeof out->numerics, "%s", pl_json_string(document, "class", ""));
    bool named = strcmp(pl_json_string(document, "name", ""), name) == 0 && out->frame >= 0;
    pl_json_free(document);
    if (named && out->start)
        return PL_OK;
    pl_snapshot_clear(out);
    errno = EBADMSG;
    return named ? PL_NO_MEMORY : PL_IO;
}

static pl_status write_document(int dir_fd, const pl_snapshot *s)
{
    char path[PATH];
    pl_json_writer w = {0};
    path_of(s->name, ".json", path);
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_set_string(&w, "name", s->name);
    pl_json_set_integer(&w, "frame", s->frame);
    if (s->checkpoint >= 0)
        pl_json_set_integer(&w, "checkpoint", s->checkpoint);
    else
        pl_json_set_null(&w, "checkpoint");
    pl_json_set_integer(&w, "bytes", s->bytes);
    pl_json_set_string(&w, "class", s->numerics);
    pl_json_set_integer(&w, "created", s->created);
    pl_json_set_raw(&w, "start", s->start);
    return pl_sealed_write(dir_fd, path, &w, false);
}

static pl_status sync_folder(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool good = fd >= 0 && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return good ? PL_OK : PL_IO;
}

pl_status pl_snapshot_write(int dir_fd, const pl_snapshot *s, int pin_fd, const char *pin)
{
    char path[PATH];
    path_of(s->name, ".json", path);
    bool fresh = mkdirat(dir_fd, PL_SNAPSHOT_FOLDER, 0700) == 0;
    if (faccessat(dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return PL_IO;
    }
    pl_snapshot_file(s->name, path);
    unlinkat(dir_fd, path, 0); /* from an unfinished one */
    if (s->checkpoint >= 0 && linkat(pin_fd, pin, dir_fd, path, 0) != 0)
        return PL_IO;
    /* Its checkpoint must exist before the document refers to it. */
    pl_status status = sync_folder(dir_fd, PL_SNAPSHOT_FOLDER);
    if (status == PL_OK && fresh)
        status = sync_folder(dir_fd, ".");
    if (status == PL_OK)
        status = write_document(dir_fd, s);
    if (status == PL_OK)
        status = sync_folder(dir_fd, PL_SNAPSHOT_FOLDER);
    if (status != PL_OK) {
        int error = errno;
        pl_snapshot_remove(dir_fd, s->name);
        unlinkat(dir_fd, path, 0);
        errno = error;
    }
    return status;
}

pl_status pl_snapshot_remove(int dir_fd, const char *name)
{
    char path[PATH];
    path_of(name, ".json", path);
    if (unlinkat(dir_fd, path, 0) != 0)
        return PL_IO;
    pl_status status = sync_folder(dir_fd, PL_SNAPSHOT_FOLDER);
    pl_snapshot_file(name, path);
    unlinkat(dir_fd, path, 0);
    return status;
}

/* ---- all of them ---- */

/* The snapshot's name, if the file name has this ending. */
static bool name_in(const char *file, const char *suffix, char out[PL_SNAPSHOT_NAME + 1])
{
    size_t length = strlen(file), tail = strlen(suffix);
    if (file[0] == '.' || length <= tail || length - tail > PL_SNAPSHOT_NAME ||
        strcmp(file + length - tail, suffix) != 0)
        return false;
    memcpy(out, file, length - tail);
    out[length - tail] = 0;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

int pl_snapshot_names(int dir_fd, bool sweep, char names[PL_SNAPSHOTS_MAX][PL_SNAPSHOT_NAME + 1])
{
    char name[PL_SNAPSHOT_NAME + 1], path[PATH];
    int count = 0;
    int fd = openat(dir_fd, PL_SNAPSHOT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        close(fd);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        if (name_in(e->d_name, ".json", name)) {
            if (count < PL_SNAPSHOTS_MAX)
                strcpy(names[count++], name);
        } else if (sweep && name_in(e->d_name, ".bin", name)) {
            path_of(name, ".json", path);
            if (faccessat(dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
                unlinkat(fd, e->d_name, 0);
        } else if (sweep && strlen(e->d_name) > 4 &&
                   strcmp(e->d_name + strlen(e->d_name) - 4, ".tmp") == 0) {
            unlinkat(fd, e->d_name, 0);
        }
    }
    if (folder)
        closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_text);
    return count;
}
