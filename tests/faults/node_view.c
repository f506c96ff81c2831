/* Shows a folder as another machine sees it: the kernel caches its attributes, names and written bytes, like a client
 * of a network file system. Everything else passes through to the folder.
 *
 *     node_view SOURCE MOUNT ATTRIBUTE_SECONDS NAME_SECONDS WRITEBACK
 *
 * WRITEBACK 1: written bytes stay in the cache until they are synced, sent, or old. Runs until SIGTERM or until MOUNT is
 * unmounted.
 */
#define FUSE_USE_VERSION 31
#include <fuse3/fuse.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int source; /* the folder */
static double attribute_seconds, name_seconds;
static int writeback;

static const char *within(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static int result_of(int value)
{
    return value < 0 ? -errno : 0;
}

static void *begin(struct fuse_conn_info *connection, struct fuse_config *config)
{
    config->attr_timeout = attribute_seconds;
    config->entry_timeout = name_seconds;
    config->use_ino = 1;
    if (writeback && (connection->capable & FUSE_CAP_WRITEBACK_CACHE))
        connection->want |= FUSE_CAP_WRITEBACK_CACHE;
    return NULL;
}

static int get_attributes(const char *path, struct stat *out, struct fuse_file_info *file)
{
    return result_of(file ? fstat((int)file->fh, out)
                          : fstatat(source, within(path), out, AT_SYMLINK_NOFOLLOW));
}

static int list_folder(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                       struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
    (void)offset, (void)file, (void)flags;
    int fd = openat(source, within(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder)
        return -errno;
    for (struct dirent *entry; (entry = readdir(folder));)
        fill(buffer, entry->d_name, NULL, 0, 0);
    closedir(folder);
    return 0;
}

/* The kernel reads partly written pages itself, and handles appends. */
static int open_as(const char *path, int flags, mode_t mode, struct fuse_file_info *file)
{
    if (writeback && (flags & O_ACCMODE) == O_WRONLY)
        flags = (flags & ~O_ACCMODE) | O_RDWR;
    int fd = openat(source, within(path), (flags & ~O_APPEND) | O_CLOEXEC, mode);
    if (fd < 0)
        return -errno;
    file->fh = (uint64_t)fd;
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *file)
{
    return open_as(path, file->flags, 0, file);
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *file)
{
    return open_as(path, file->flags | O_CREAT, mode, file);
}

static int read_file(const char *path, char *out, size_t size, off_t offset,
                     struct fuse_file_info *file)
{
    (void)path;
    ssize_t n = pread((int)file->fh, out, size, offset);
    return n < 0 ? -errno : (int)n;
}

static int write_file(const char *path, const char *bytes, size_t size, off_t offset,
                      struct fuse_file_info *file)
{
    (void)path;
    ssize_t n = pwrite((int)file->fh, bytes, size, offset);
    return n < 0 ? -errno : (int)n;
}

static int cut_file(const char *path, off_t size, struct fuse_file_info *file)
{
    if (file)
        return result_of(ftruncate((int)file->fh, size));
    int fd = openat(source, within(path), O_WRONLY | O_CLOEXEC);
    int result = fd < 0 ? -errno : result_of(ftruncate(fd, size));
    if (fd >= 0)
        close(fd);
    return result;
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *file)
{
    (void)path, (void)data_only;
    return result_of(fsync((int)file->fh));
}

static int close_file(const char *path, struct fuse_file_info *file)
{
    (void)path;
    return result_of(close((int)file->fh));
}

static int tell_room(const char *path, struct statvfs *out)
{
    (void)path;
    return result_of(fstatvfs(source, out));
}

static int make_folder(const char *path, mode_t mode)
{
    return result_of(mkdirat(source, within(path), mode));
}

static int remove_file(const char *path)
{
    return result_of(unlinkat(source, within(path), 0));
}

static int remove_folder(const char *path)
{
    return result_of(unlinkat(source, within(path), AT_REMOVEDIR));
}

static int rename_file(const char *from, const char *to, unsigned flags)
{
    return flags ? -EINVAL : result_of(renameat(source, within(from), source, within(to)));
}

static int set_times(const char *path, const struct timespec times[2], struct fuse_file_info *file)
{
    return result_of(file ? futimens((int)file->fh, times)
                          : utimensat(source, within(path), times, AT_SYMLINK_NOFOLLOW));
}

static int set_mode(const char *path, mode_t mode, struct fuse_file_info *file)
{
    (void)file;
    return result_of(fchmodat(source, within(path), mode, 0));
}

static const struct fuse_operations operations = {
    .init = begin,
    .getattr = get_attributes,
    .readdir = list_folder,
    .open = open_file,
    .create = create_file,
    .read = read_file,
    .write = write_file,
    .truncate = cut_file,
    .fsync = sync_file,
    .release = close_file,
    .statfs = tell_room,
    .mkdir = make_folder,
    .unlink = remove_file,
    .rmdir = remove_folder,
    .rename = rename_file,
    .utimens = set_times,
    .chmod = set_mode,
};

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: node_view SOURCE MOUNT ATTRIBUTE_SECONDS NAME_SECONDS WRITEBACK\n");
        return 2;
    }
    source = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    attribute_seconds = atof(argv[3]);
    name_seconds = atof(argv[4]);
    writeback = atoi(argv[5]);
    if (source < 0) {
        perror(argv[1]);
        return 1;
    }
    char *options[] = {argv[0], (char *)"-f", argv[2], NULL};
    return fuse_main(3, options, &operations, NULL);
}
