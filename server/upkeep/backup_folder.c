#include "server/upkeep/backup_folder.h"

#include "protocol/log/folder.h"
#include "protocol/log/sealed.h"
#include "server/sessions/removal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 1 << 16, NAMES_MAX = 4096 };

static const char file_name[] = "backup.json";

static void encode(pl_json_writer *w, const pl_backup_facts *f, const char *name)
{
    pl_json_begin_object(w);
    pl_json_set_integer(w, "format", PL_BACKUP_FORMAT);
    if (name) {
        pl_json_set_string(w, "name", name);
    }
    pl_json_set_string(w, "version", f->version);
    pl_json_set_string(w, "time", f->time);
    pl_json_set_integer(w, "sessions", f->sessions);
    pl_json_set_integer(w, "files", f->files);
    pl_json_set_integer(w, "bytes", f->bytes);
    pl_json_set_integer(w, "shared_bytes", f->shared_bytes);
    pl_json_set_boolean(w, "secrets", f->secrets);
    pl_json_set_integer(w, "files_crc32c", f->files_crc);
}

bool pl_backup_facts_write(int backup_fd, pl_backup_facts *f)
{
    pl_json_writer w = {0};
    struct tm utc;
    time_t now = time(NULL);
    strftime(f->time, sizeof f->time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(f->version, sizeof f->version, "%s", PLIANT_VERSION);
    encode(&w, f, NULL);
    return pl_sealed_write(backup_fd, file_name, &w, true) == PL_OK;
}

bool pl_backup_facts_read(int backup_fd, pl_backup_facts *f)
{
    pl_json *j;
    if (pl_sealed_read(backup_fd, file_name, LIMIT, PL_BACKUP_FORMAT, &j) != PL_OK) {
        return false;
    }
    *f = (pl_backup_facts){.sessions = pl_json_integer(j, "sessions", 0),
                           .files = pl_json_integer(j, "files", 0),
                           .bytes = pl_json_integer(j, "bytes", 0),
                           .shared_bytes = pl_json_integer(j, "shared_bytes", 0),
                           .files_crc = (uint32_t)pl_json_integer(j, "files_crc32c", 0),
                           .secrets = pl_json_boolean(j, "secrets", false)};
    snprintf(f->version, sizeof f->version, "%s", pl_json_string(j, "version", "?"));
    snprintf(f->time, sizeof f->time, "%s", pl_json_string(j, "time", "?"));
    pl_json_free(j);
    return true;
}

char *pl_backup_facts_text(const pl_backup_facts *f, const char *name)
{
    pl_json_writer w = {0};
    encode(&w, f, name);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

void pl_backup_name(int folder_fd, char name[PL_BACKUP_NAME])
{
    char date[20];
    struct tm utc;
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    snprintf(name, PL_BACKUP_NAME, "%s", date);
    for (int n = 2; faccessat(folder_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && n < 1000; n++) {
        snprintf(name, PL_BACKUP_NAME, "%s-%d", date, n);
    }
}

/* ---- existing backups ---- */

static bool is_name(const char *name)
{
    return strlen(name) < PL_BACKUP_NAME && strspn(name, "0123456789TZ-") == strlen(name) &&
           strchr(name, 'T') == name + 8;
}

static bool is_complete(int folder_fd, const char *name)
{
    char path[PL_BACKUP_NAME + 16];
    snprintf(path, sizeof path, "%.31s/%.15s", name, file_name);
    return faccessat(folder_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Compares names by time; "-10" comes after "-2". */
static int by_time(const void *a, const void *b)
{
    const char *x = a, *y = b;
    int order = strncmp(x, y, 16);
    return order ? order : strlen(x) < strlen(y) ? -1 : strlen(x) > strlen(y) ? 1 : strcmp(x, y);
}

typedef struct found {
    int count;
    char (*names)[PL_BACKUP_NAME]; /* malloc'ed; oldest first */
} found;

static found find_backups(int folder_fd)
{
    found f = {0, calloc(NAMES_MAX, sizeof *f.names)};
    DIR *folder = f.names ? pl_folder_open(folder_fd, ".") : NULL;
    for (struct dirent *e; folder && f.count < NAMES_MAX && (e = readdir(folder));) {
        if (is_name(e->d_name) && is_complete(folder_fd, e->d_name)) {
            snprintf(f.names[f.count++], PL_BACKUP_NAME, "%.31s", e->d_name);
        }
    }
    if (folder) {
        closedir(folder);
    }
    if (f.count) {
        qsort(f.names, (size_t)f.count, sizeof *f.names, by_time);
    }
    return f;
}

bool pl_backup_newest(int folder_fd, char name[PL_BACKUP_NAME])
{
    found f = find_backups(folder_fd);
    snprintf(name, PL_BACKUP_NAME, "%s", f.count ? f.names[f.count - 1] : "");
    free(f.names);
    return *name;
}

/* Removes backup.json first, so that a partly removed backup does not count. */
static bool remove_backup(int folder_fd, const char *name)
{
    char path[PL_BACKUP_NAME + 16];
    snprintf(path, sizeof path, "%s/%s", name, file_name);
    unlinkat(folder_fd, path, 0);
    int error = pl_remove_tree(folder_fd, name);
    if (error) {
        fprintf(stderr, "pliantd: %s could not be removed: %s\n", name, strerror(error));
    }
    return !error;
}

bool pl_backup_keep(int folder_fd, int keep)
{
    found f = find_backups(folder_fd);
    bool good = true;
    for (int i = 0; i + keep < f.count; i++) {
        good = remove_backup(folder_fd, f.names[i]) && good;
    }
    free(f.names);
    return good;
}
