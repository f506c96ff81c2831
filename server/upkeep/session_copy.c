#include "server/upkeep/session_copy.h"

#include "protocol/log/folder.h"
#include "protocol/log/session_dir.h"
#include "server/sessions/removal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 20, FOLDER = 64, PATH_LENGTH = 400 };

static const char *const first_files[] = {"exit.json", "warnings.json", "checkpoint-A.bin",
                                          "checkpoint-B.bin"};

/* Files copied in a given order, and the lock, which is not copied: it belongs to the worker. */
static const char *const special[] = {"exit.json",
                                      "warnings.json",
                                      "checkpoint-A.bin",
                                      "checkpoint-B.bin",
                                      "snapshots",
                                      "head.json",
                                      "log",
                                      "control.log",
                                      "lock"};

static bool is_special(const char *name)
{
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strcmp(name, special[i]) == 0) {
            return true;
        }
    }
    return name[0] == '.' || pl_copy_is_temporary(name);
}

/* Copies a file if it exists. */
static bool copy_if_there(pl_copier *c, const char *folder, const char *name, bool records)
{
    char path[PATH_LENGTH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return pl_copy_file(c, path, records) != PL_COPY_FAILED;
}

static bool copy_folder_if_there(pl_copier *c, const char *folder, const char *name)
{
    char path[PATH_LENGTH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return pl_copy_folder(c, path) != PL_COPY_FAILED;
}

/* ---- the log ---- */

static bool same_chain(const pl_head *a, const pl_head *b)
{
    return a->attempt == b->attempt && a->segment_count == b->segment_count &&
           (a->segment_count == 0 ||
            memcmp(a->segments, b->segments, (size_t)a->segment_count * sizeof *a->segments) == 0);
}

/* Copies the segments; PL_COPY_MISSING if one of the chain was pruned. */
static pl_copied copy_segments(pl_copier *c, const char *folder, const pl_head *head)
{
    pl_copied outcome = PL_COPIED;
    char name[PL_SEGMENT_NAME], path[PATH_LENGTH];
    for (int64_t i = 0; outcome == PL_COPIED && i < head->segment_count; i++) {
        pl_segment_name(name, &head->segments[i], "idx"); /* before the records that it refers to */
        if (!copy_if_there(c, folder, name, false)) {
            return PL_COPY_FAILED;
        }
        pl_segment_name(name, &head->segments[i], "seg");
        snprintf(path, sizeof path, "%s/%s", folder, name);
        outcome = pl_copy_file(c, path, head->segments[i].frames < 0);
    }
    return outcome;
}

static pl_copied try_log(pl_copier *c, const char *folder, int from_fd)
{
    pl_head head = {0}, after = {0};
    char path[PATH_LENGTH];
    snprintf(path, sizeof path, "%s/head.json", folder);
    pl_copied outcome = pl_copy_file(c, path, false);
    int to_fd = outcome == PL_COPIED ? openat(c->to_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                     : -1;
    if (to_fd >= 0 && pl_head_read(to_fd, &head) == PL_OK) {
        outcome = copy_segments(c, folder, &head);
        bool same = pl_head_read(from_fd, &after) == PL_OK && same_chain(&head, &after);
        outcome = outcome == PL_COPIED && !same ? PL_COPY_MISSING : outcome;
    } else if (outcome == PL_COPIED) { /* damaged: copy whatever exists */
        outcome = copy_folder_if_there(c, folder, "log") ? PL_COPIED : PL_COPY_FAILED;
    }
    if (to_fd >= 0) {
        close(to_fd);
    }
    pl_head_clear(&head);
    pl_head_clear(&after);
    return outcome;
}

static bool copy_log(pl_copier *c, const char *folder, int from_fd)
{
    for (int i = 0; i < TRIES; i++) {
        bool begun = faccessat(from_fd, "head.json", F_OK, 0) == 0;
        pl_copied outcome = begun ? try_log(c, folder, from_fd) : PL_COPY_MISSING;
        if (outcome != PL_COPY_MISSING) {
            return outcome == PL_COPIED;
        }
        if (!begun) {
            return copy_folder_if_there(c, folder, "log");
        }
    }
    snprintf(c->failed, sizeof c->failed, "%s: its log changed %d times during the copy", folder,
             TRIES);
    return false;
}

/* ---- the rest ---- */

static bool copy_rest(pl_copier *c, const char *folder)
{
    DIR *all = pl_folder_open(c->from_fd, folder);
    bool good = all || errno == ENOENT;
    for (struct dirent *entry; good && all && (entry = readdir(all));) {
        struct stat st;
        if (is_special(entry->d_name) ||
            fstatat(dirfd(all), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        good = S_ISDIR(st.st_mode) ? copy_folder_if_there(c, folder, entry->d_name)
                                   : copy_if_there(c, folder, entry->d_name, false);
    }
    if (all) {
        closedir(all);
    }
    return good;
}

static bool copy_all(pl_copier *c, const char *folder, int from_fd)
{
    for (size_t i = 0; i < sizeof first_files / sizeof *first_files; i++) {
        if (!copy_if_there(c, folder, first_files[i], false)) {
            return false;
        }
    }
    char log[PATH_LENGTH];
    snprintf(log, sizeof log, "%s/log", folder);
    return copy_folder_if_there(c, folder, "snapshots") && copy_log(c, folder, from_fd) &&
           copy_if_there(c, folder, "control.log", true) && copy_rest(c, folder) &&
           pl_copy_make_folder(c, log); /* a worker expects the folder, even if empty */
}

pl_copied pl_session_copy(pl_copier *c, const char *id)
{
    char folder[FOLDER];
    struct stat before, after;
    snprintf(folder, sizeof folder, "sessions/%.2s/%.32s", id, id);
    c->begin = c->made.count;
    int from_fd = openat(c->from_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from_fd < 0 && errno == ENOENT) {
        return PL_COPY_MISSING;
    }
    bool good = from_fd >= 0 && fstat(from_fd, &before) == 0 && copy_all(c, folder, from_fd);
    bool there = fstatat(c->from_fd, folder, &after, AT_SYMLINK_NOFOLLOW) == 0;
    pl_copied outcome = !there ? PL_COPY_MISSING : good ? PL_COPIED : PL_COPY_FAILED;
    if (outcome == PL_COPY_MISSING) {
        pl_manifest_cut(&c->made, c->begin);
        pl_remove_tree(c->to_fd, folder);
        *c->failed = 0;
    } else if (outcome == PL_COPY_FAILED && !*c->failed) {
        snprintf(c->failed, sizeof c->failed, "%s: %s", folder, strerror(errno));
    }
    if (from_fd >= 0) {
        close(from_fd);
    }
    c->begin = c->made.count;
    return outcome;
}
