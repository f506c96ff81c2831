#include "server/upkeep/backup.h"

#include "protocol/log/folder.h"
#include "server/base/state_folder.h"
#include "server/upkeep/backup_folder.h"
#include "server/upkeep/copier.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "pliantd: %s: %s\n", what, why);
    return false;
}

/* True if the path is missing or an empty directory, such as a new file system. */
static bool has_room(const char *state)
{
    DIR *folder = pl_folder_open(AT_FDCWD, state);
    bool empty = true;
    if (!folder) {
        return errno == ENOENT || fail(state, strerror(errno));
    }
    for (struct dirent *e; empty && (e = readdir(folder));) {
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                strcmp(e->d_name, "lost+found") == 0;
    }
    closedir(folder);
    return empty || fail(state, "is not empty; a backup is restored into a new directory");
}

static bool open_backup(const char *path, int *fd, pl_backup_facts *facts, pl_manifest *files)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) {
        return fail(path, strerror(errno));
    }
    if (!pl_backup_facts_read(*fd, facts)) {
        return fail(path, errno == ENOENT ? "is not a complete backup: backup.json is missing"
                                          : "backup.json is damaged, or of a newer pliantd");
    }
    return pl_manifest_read(files, *fd, facts->files_crc) ||
           fail(path, errno == EBADMSG ? "its list of files is damaged" : strerror(errno));
}

/* Copies a file and checks it in one reading: its CRC comes from the bytes read. */
static bool restore_file(pl_copier *c, const pl_manifest_entry *e)
{
    pl_copied outcome = pl_copy_file(c, e->path, false);
    if (outcome == PL_COPY_FAILED) {
        return fail("restore", c->failed);
    }
    const pl_manifest_entry *made = &c->made.entries[c->made.count - 1];
    bool same = outcome == PL_COPIED && made->bytes == e->bytes && made->crc == e->crc;
    return same || fail(e->path, outcome == PL_COPIED ? "is damaged in the backup"
                                                      : "is missing in the backup");
}

/* Makes log/, which a worker expects even if empty; a manifest lists files only. */
static bool make_log(pl_copier *c, const char *path)
{
    char log[300];
    const char *name = strrchr(path, '/');
    if (strncmp(path, "sessions/", 9) != 0 || strcmp(name, "/scene.json") != 0) {
        return true;
    }
    snprintf(log, sizeof log, "%.*s/log", (int)(name - path), path);
    return strstr(log, "/parent/") || pl_copy_make_folder(c, log) || fail(log, strerror(errno));
}

/* Restores the database last: no daemon starts on a partly restored state without it. */
static bool restore_files(pl_copier *c, const pl_manifest *files)
{
    const pl_manifest_entry *database = pl_manifest_find(files, "pliant.db");
    bool good = database || fail("pliant.db", "is missing in the backup");
    for (size_t i = 0; good && i < files->count; i++) {
        c->begin = c->made.count;
        const pl_manifest_entry *e = &files->entries[i];
        good = e == database || (restore_file(c, e) && make_log(c, e->path));
    }
    good = good && (syncfs(c->to_fd) == 0 || fail("restore", strerror(errno)));
    return good && restore_file(c, database) &&
           (syncfs(c->to_fd) == 0 || fail("restore", strerror(errno)));
}

int pl_restore(const char *backup, const char *state)
{
    pl_copier c = {.from_fd = -1, .to_fd = -1, .before_fd = -1};
    pl_backup_facts facts;
    pl_manifest files = {0};
    char path[PATH_MAX];
    int lock_fd = -1;
    bool good = open_backup(backup, &c.from_fd, &facts, &files) && has_room(state) &&
                pl_state_open(state, path, &c.to_fd) &&
                (lock_fd = pl_state_lock(path, c.to_fd)) >= 0;
    bool begun = good;
    good = good && restore_files(&c, &files);
    if (good) {
        printf("%s: %lld sessions, %lld files, %.1f MB of %s, all checksums match\n", state,
               (long long)facts.sessions, (long long)facts.files, (double)facts.bytes / 1e6,
               facts.time);
        if (!facts.secrets) {
            puts("The backup has no secrets: the daemon creates a new owner's token and a new "
                 "webhook key.");
        }
    } else if (begun) {
        fprintf(stderr, "pliantd: %s is incomplete; remove it\n", state);
    }
    int fds[] = {c.from_fd, c.to_fd, lock_fd};
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    pl_copier_clear(&c);
    pl_manifest_clear(&files);
    return good ? 0 : 1;
}
