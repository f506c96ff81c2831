#include "server/api/session_files.h"

#include "protocol/text/json.h"
#include "server/base/clock.h"
#include "server/sessions/access.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 320 };

typedef struct listed_file {
    char name[NAME_SIZE]; /* path relative to the session's directory */
    int64_t bytes, modified;
} listed_file;

typedef struct listing {
    listed_file *files;
    size_t count, capacity;
    bool failed; /* out of memory */
} listing;

static void add(listing *l, const char *name, const struct stat *st)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 64;
        listed_file *files = realloc(l->files, capacity * sizeof *files);
        if (!files) {
            l->failed = true;
            return;
        }
        l->files = files;
        l->capacity = capacity;
    }
    listed_file *f = &l->files[l->count++];
    snprintf(f->name, sizeof f->name, "%s", name);
    f->bytes = st->st_size;
    f->modified = st->st_mtim.tv_sec;
}

/* List the files of a folder and its subfolders, two levels deep, which is the depth of a session's directory. Files
 * renamed or removed meanwhile may be missing. */
static void walk(listing *l, int parent_fd, const char *path, int deeper)
{
    int fd = openat(parent_fd, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; folder && !l->failed && (e = readdir(folder));) {
        char name[NAME_SIZE];
        struct stat st;
        size_t n = (size_t)snprintf(name, sizeof name, "%s%s%s", path, *path ? "/" : "", e->d_name);
        if (e->d_name[0] == '.' || n >= sizeof name ||
            fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISREG(st.st_mode)) {
            add(l, name, &st);
        } else if (S_ISDIR(st.st_mode) && deeper > 0) {
            walk(l, parent_fd, name, deeper - 1);
        }
    }
    if (folder) {
        closedir(folder);
    } else if (fd >= 0) {
        close(fd);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const listed_file *)a)->name, ((const listed_file *)b)->name);
}

static char *encode(listing *l)
{
    pl_json_writer w = {0};
    int64_t bytes = 0;
    if (l->count > 0) {
        qsort(l->files, l->count, sizeof *l->files, by_name);
    }
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    for (size_t i = 0; i < l->count; i++) {
        char modified[32];
        pl_time_view(l->files[i].modified, modified);
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "name", l->files[i].name);
        pl_json_set_integer(&w, "bytes", l->files[i].bytes);
        pl_json_set_string(&w, "modified", modified);
        pl_json_end_object(&w);
        bytes += l->files[i].bytes;
    }
    pl_json_end_array(&w);
    pl_json_set_null(&w, "next");
    pl_json_set_integer(&w, "bytes", bytes);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

void pl_handle_session_files(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    listing l = {0};
    int fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        pl_reply_problemf(r, 500, "internal", "Unreadable",
                          "the session's directory cannot be read: %s", strerror(errno));
    } else {
        walk(&l, fd, "", 2);
        close(fd);
        pl_reply_json(r, 200, l.failed ? NULL : encode(&l));
        pl_reply_header(r, "Cache-Control", "no-store");
    }
    free(l.files);
    pl_session_release(s);
}
