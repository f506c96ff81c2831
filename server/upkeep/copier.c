#include "server/upkeep/copier.h"

#include "protocol/log/folder.h"
#include "protocol/log/record_walk.h"
#include "protocol/log/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20, PATH_LENGTH = 600, DEPTH = 8 };

/* A copied file with more than one link. */
typedef struct pl_copier_link {
    uint64_t inode; /* 0: free */
    size_t entry;
} pl_copier_link;

void pl_copier_clear(pl_copier *c)
{
    pl_manifest_clear(&c->made);
    free(c->map);
    c->map = NULL;
}

void pl_copier_share_nothing(pl_copier *c)
{
    free(c->map);
    c->map = NULL;
    c->map_count = c->map_size = 0;
    c->before = NULL;
    c->begin = c->made.count;
}

static pl_copied fail(pl_copier *c, const char *path, const char *why)
{
    if (!*c->failed) {
        snprintf(c->failed, sizeof c->failed, "%.300s: %s", path, why);
    }
    return PL_COPY_FAILED;
}

static int64_t modified_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* ---- files with several names ---- */

static pl_copier_link *slot(pl_copier_link *map, size_t size, uint64_t inode)
{
    size_t i = (size_t)(inode * 0x9E3779B97F4A7C15u >> 20) & (size - 1);
    while (map[i].inode && map[i].inode != inode) {
        i = (i + 1) & (size - 1);
    }
    return &map[i];
}

static bool grow_map(pl_copier *c)
{
    size_t size = c->map_size ? 2 * c->map_size : 1024;
    pl_copier_link *map = calloc(size, sizeof *map);
    if (!map) {
        return false;
    }
    for (size_t i = 0; i < c->map_size; i++) {
        if (c->map[i].inode) {
            *slot(map, size, c->map[i].inode) = c->map[i];
        }
    }
    free(c->map);
    c->map = map;
    c->map_size = size;
    return true;
}

static void remember(pl_copier *c, uint64_t inode, size_t entry)
{
    if (2 * c->map_count >= c->map_size && !grow_map(c)) {
        return; /* the file is then copied twice */
    }
    pl_copier_link *l = slot(c->map, c->map_size, inode);
    c->map_count += l->inode == 0;
    *l = (pl_copier_link){inode, entry};
}

/* Finds the copied entry of the same, unchanged file under another name. */
static const pl_manifest_entry *find_twin(pl_copier *c, const struct stat *st)
{
    pl_copier_link *l = c->map_size ? slot(c->map, c->map_size, st->st_ino) : NULL;
    if (!l || !l->inode || l->entry >= c->made.count) {
        return NULL;
    }
    const pl_manifest_entry *e = &c->made.entries[l->entry];
    return e->inode == st->st_ino && e->bytes == (uint64_t)st->st_size &&
                   e->modified_ns == modified_ns(st)
               ? e
               : NULL;
}

/* ---- one file ---- */

/* Sets owner and mode as in the original: with worker uids, directories have several owners. */
static bool dress_folder(pl_copier *c, const char *path)
{
    struct stat st;
    if (fstatat(c->from_fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return true; /* removed meanwhile */
    }
    return fchmodat(c->to_fd, path, (st.st_mode & 07777) | 0700, 0) == 0 &&
           (geteuid() != 0 ||
            fchownat(c->to_fd, path, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) == 0);
}

/* Makes the folders that contain a path. */
static bool make_folders(pl_copier *c, const char *path)
{
    char part[PATH_LENGTH + 1];
    snprintf(part, sizeof part, "%s", path);
    for (char *at = strchr(part, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        int made = mkdirat(c->to_fd, part, 0700);
        if (made == 0 ? !dress_folder(c, part) : errno != EEXIST) {
            return false;
        }
        *at = '/';
    }
    return true;
}

bool pl_copy_make_folder(pl_copier *c, const char *path)
{
    char inner[PATH_LENGTH];
    snprintf(inner, sizeof inner, "%s/", path);
    return make_folders(c, inner);
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Computes the CRC of the first `size` bytes, and copies them to `out` unless it is -1. False with errno, EBADMSG at an
 * early end. */
static bool read_through(int in, uint64_t size, int out, uint32_t *crc)
{
    char *piece = malloc(PIECE);
    bool good = piece;
    *crc = 0;
    for (uint64_t at = 0; good && at < size;) {
        size_t wanted = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ssize_t n = pread(in, piece, wanted, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n == 0) {
            errno = EBADMSG;
        }
        good = n > 0 && (out < 0 || write_all(out, piece, (size_t)n));
        if (good) {
            *crc = pl_crc32c(*crc, piece, (size_t)n);
            at += (uint64_t)n;
        }
    }
    free(piece);
    return good;
}

/* End of the last whole record. */
static uint64_t whole_records(int fd, uint64_t size)
{
    pl_record_walk walk = {.fd = fd, .limit = size};
    pl_walk_event event;
    do {
        event = pl_record_walk_step(&walk);
    } while (event == PL_WALK_RECORD || event == PL_WALK_DAMAGE);
    uint64_t end = event == PL_WALK_CUT ? walk.offset : size;
    pl_record_walk_clear(&walk);
    return end;
}

static bool cut_records(int out, pl_manifest_entry *e)
{
    uint64_t end = whole_records(out, e->bytes);
    if (end == e->bytes) {
        return true;
    }
    e->bytes = end;
    return ftruncate(out, (off_t)end) == 0 && read_through(out, end, -1, &e->crc);
}

static bool fill(int in, int out, const struct stat *st, bool records, pl_manifest_entry *e)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};
    bool cloned = st->st_size > 0 && ioctl(out, FICLONE, in) == 0;
    bool good = cloned
                    ? ftruncate(out, st->st_size) == 0 && read_through(out, e->bytes, -1, &e->crc)
                    : read_through(in, e->bytes, out, &e->crc);
    good = good && (!records || cut_records(out, e)) && fchmod(out, st->st_mode & 07777) == 0;
    if (good && geteuid() == 0) {
        good = fchown(out, st->st_uid, st->st_gid) == 0;
    }
    return good && futimens(out, times) == 0;
}

static pl_copied copy(pl_copier *c, const char *path, int in, const struct stat *st, bool records)
{
    pl_manifest_entry e = {
        .bytes = (uint64_t)st->st_size, .inode = st->st_ino, .modified_ns = modified_ns(st)};
    int out = openat(c->to_fd, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = out >= 0 && fill(in, out, st, records, &e);
    good = good && pl_manifest_add(&c->made, path, &e);
    int kept = errno;
    if (out >= 0) {
        close(out);
    }
    if (good && st->st_nlink > 1) {
        remember(c, st->st_ino, c->made.count - 1);
    }
    return good ? PL_COPIED : fail(c, path, kept == EBADMSG ? "became shorter" : strerror(kept));
}

/* Makes a link instead of a copy; false if impossible. */
static bool link_file(pl_copier *c, const char *path, const struct stat *st)
{
    const pl_manifest_entry *twin = st->st_nlink > 1 ? find_twin(c, st) : NULL;
    if (twin) {
        pl_manifest_entry same = *twin;
        return linkat(c->to_fd, same.path, c->to_fd, path, 0) == 0 &&
               pl_manifest_add(&c->made, path, &same);
    }
    const pl_manifest_entry *old = c->before ? pl_manifest_find(c->before, path) : NULL;
    if (!old || old->inode != st->st_ino || old->bytes != (uint64_t)st->st_size ||
        old->modified_ns != modified_ns(st) || linkat(c->before_fd, path, c->to_fd, path, 0) != 0) {
        return false;
    }
    c->shared_bytes += st->st_size;
    bool good = pl_manifest_add(&c->made, path, old);
    if (good && st->st_nlink > 1) {
        remember(c, st->st_ino, c->made.count - 1);
    }
    return good;
}

/* True if a current copy exists; removes an outdated one. */
static bool is_copied(pl_copier *c, const char *path, const struct stat *st)
{
    for (size_t i = c->begin; i < c->made.count; i++) {
        const pl_manifest_entry *e = &c->made.entries[i];
        if (strcmp(e->path, path) != 0) {
            continue;
        }
        if (e->inode == st->st_ino && e->bytes == (uint64_t)st->st_size &&
            e->modified_ns == modified_ns(st)) {
            return true;
        }
        unlinkat(c->to_fd, path, 0);
        pl_manifest_remove(&c->made, i);
        return false;
    }
    return false;
}

pl_copied pl_copy_file(pl_copier *c, const char *path, bool records)
{
    struct stat st;
    int in = openat(c->from_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0 && errno == ENOENT) {
        return PL_COPY_MISSING;
    }
    pl_copied outcome = PL_COPIED;
    if (in < 0 || fstat(in, &st) != 0 || strlen(path) >= PATH_LENGTH || strchr(path, '\n')) {
        outcome = fail(c, path, in < 0 ? strerror(errno) : "a name that cannot be stored");
    } else if (!S_ISREG(st.st_mode)) {
        outcome = fail(c, path, "not a regular file");
    } else if (!is_copied(c, path, &st)) {
        outcome = !make_folders(c, path)    ? fail(c, path, strerror(errno))
                  : link_file(c, path, &st) ? PL_COPIED
                                            : copy(c, path, in, &st, records);
    }
    if (in >= 0) {
        close(in);
    }
    return outcome;
}

/* ---- folders ---- */

bool pl_copy_is_temporary(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".tmp") == 0;
}

static pl_copied copy_folder(pl_copier *c, const char *path, int depth)
{
    DIR *folder = depth < DEPTH ? pl_folder_open(c->from_fd, path) : NULL;
    if (!folder) {
        return errno == ENOENT && depth < DEPTH ? PL_COPY_MISSING : fail(c, path, strerror(errno));
    }
    pl_copied outcome = PL_COPIED;
    char inner[PATH_LENGTH];
    if (!pl_copy_make_folder(c, path)) {
        outcome = fail(c, path, strerror(errno));
    }
    for (struct dirent *entry; outcome == PL_COPIED && (entry = readdir(folder));) {
        struct stat st;
        if (entry->d_name[0] == '.' || pl_copy_is_temporary(entry->d_name) ||
            fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if ((size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= sizeof inner) {
            outcome = fail(c, path, "the name is too long");
            break;
        }
        outcome = S_ISDIR(st.st_mode) ? copy_folder(c, inner, depth + 1)
                                      : pl_copy_file(c, inner, false);
        outcome = outcome == PL_COPY_MISSING ? PL_COPIED : outcome;
    }
    closedir(folder);
    return outcome;
}

pl_copied pl_copy_folder(pl_copier *c, const char *path)
{
    return copy_folder(c, path, 0);
}

/* ---- the copy itself ---- */

bool pl_copy_enter(pl_copier *c, const char *path)
{
    struct stat st;
    int fd = openat(c->to_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    pl_manifest_entry e = {0};
    bool good = fd >= 0 && fstat(fd, &st) == 0;
    if (good) {
        e.bytes = (uint64_t)st.st_size;
        good = read_through(fd, e.bytes, -1, &e.crc) && pl_manifest_add(&c->made, path, &e);
    }
    if (!good) {
        fail(c, path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return good;
}

bool pl_copy_verify(int root_fd, const pl_manifest_entry *e)
{
    struct stat st;
    uint32_t crc = 0;
    int fd = openat(root_fd, e->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* read from the disk, not from the cache */
    bool good = fstat(fd, &st) == 0 && read_through(fd, e->bytes, -1, &crc);
    if (good && ((uint64_t)st.st_size != e->bytes || crc != e->crc)) {
        errno = EBADMSG;
        good = false;
    }
    pl_close_fd(fd);
    return good;
}
