#include "server/upkeep/bundle_text.h"

#include "protocol/log/folder.h"
#include "protocol/log/small_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SECRET = 64 };

void pl_bundle_hide(char *text, size_t length)
{
    static const char shown[] = "[64 hex digits]";
    for (size_t i = 0; i < length;) {
        size_t run = 0;
        while (i + run < length && isxdigit((unsigned char)text[i + run])) {
            run++;
        }
        if (run >= SECRET) {
            memset(text + i, '.', run);
            memcpy(text + i, shown, sizeof shown - 1);
        }
        i += run + 1;
    }
}

void pl_bundle_tail(pl_text *t, int dir_fd, const char *path, size_t most)
{
    struct stat st;
    int fd = openat(dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (errno != ENOENT) {
            pl_text_printf(t, "%s: %s\n", path, strerror(errno));
        }
        pl_close_fd(fd);
        return;
    }
    if ((size_t)st.st_size > most) { /* files of /proc have no size */
        lseek(fd, st.st_size - (off_t)most, SEEK_SET);
    }
    char piece[4096];
    ssize_t n;
    for (size_t left = most; left > 0 && (n = read(fd, piece, sizeof piece)) > 0;) {
        size_t size = (size_t)n < left ? (size_t)n : left;
        char *room = pl_text_room(t, size + 1);
        if (!room) {
            break;
        }
        memcpy(room, piece, size);
        t->length += size;
        left -= size;
    }
    close(fd);
}

static void see_option(void *context, const char *name, const char *value)
{
    pl_text_printf(context, "%s = %s\n", name, value);
}

void pl_bundle_options(pl_text *t, const pl_options *options)
{
    pl_options_each_said(options, see_option, t);
}

void pl_bundle_processor(pl_text *t)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        bool first = strncmp(line, "processor", 9) == 0;
        count += first;
        bool wanted = strncmp(line, "model name", 10) == 0 || strncmp(line, "flags", 5) == 0 ||
                      strncmp(line, "microcode", 9) == 0;
        if (wanted && count == 1) {
            pl_text_put(t, line);
        }
    }
    pl_text_printf(t, "%d processors\n", count);
    if (file) {
        fclose(file);
    }
}

void pl_bundle_list(pl_text *t, int dir_fd, const char *path)
{
    DIR *folder = pl_folder_open(dir_fd, path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        struct stat st;
        struct tm utc;
        char date[32];
        if (fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&st.st_mtime, &utc));
            pl_text_printf(t, "%06o %6u %12lld %s %s\n", st.st_mode, st.st_uid,
                           (long long)st.st_size, date, e->d_name);
        }
    }
    if (folder) {
        closedir(folder);
    }
}
