/* Records the writes and flushes of a disk: one file, for use by a loop device.
 *
 *     disk_recorder MOUNT BYTES JOURNAL
 *
 * MOUNT/disk has BYTES bytes, zero at first. Each write is appended to JOURNAL as u64 offset, u64 size and the bytes, each
 * flush as two u64 of all ones, in little endian. Runs until MOUNT is unmounted or SIGTERM.
 */
#define FUSE_USE_VERSION 31
#include <fuse3/fuse.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char *disk;
static size_t disk_bytes;
static int journal;

static int append(const uint64_t head[2], const char *bytes, size_t size)
{
    struct iovec parts[2] = {{(void *)head, 2 * sizeof *head}, {(void *)bytes, size}};
    ssize_t whole = (ssize_t)(2 * sizeof *head + size);
    return writev(journal, parts, size > 0 ? 2 : 1) == whole ? 0 : -EIO;
}

static bool is_disk(const char *path)
{
    return strcmp(path, "/disk") == 0;
}

static int get_attributes(const char *path, struct stat *out, struct fuse_file_info *file)
{
    (void)file;
    memset(out, 0, sizeof *out);
    if (strcmp(path, "/") == 0) {
        out->st_mode = S_IFDIR | 0700;
        out->st_nlink = 2;
        return 0;
    }
    if (!is_disk(path))
        return -ENOENT;
    out->st_mode = S_IFREG | 0600;
    out->st_nlink = 1;
    out->st_size = (off_t)disk_bytes;
    return 0;
}

static int open_disk(const char *path, struct fuse_file_info *file)
{
    file->keep_cache = 1;
    return is_disk(path) ? 0 : -ENOENT;
}

static size_t within(size_t size, off_t offset)
{
    if ((size_t)offset >= disk_bytes)
        return 0;
    return size < disk_bytes - (size_t)offset ? size : disk_bytes - (size_t)offset;
}

static int read_disk(const char *path, char *out, size_t size, off_t offset,
                     struct fuse_file_info *file)
{
    (void)path, (void)file;
    size = within(size, offset);
    memcpy(out, disk + offset, size);
    return (int)size;
}

static int write_disk(const char *path, const char *bytes, size_t size, off_t offset,
                      struct fuse_file_info *file)
{
    (void)path, (void)file;
    uint64_t head[2] = {(uint64_t)offset, size};
    if (within(size, offset) != size)
        return -ENOSPC;
    memcpy(disk + offset, bytes, size);
    int result = append(head, bytes, size);
    return result < 0 ? result : (int)size;
}

static int flush_disk(const char *path, int data_only, struct fuse_file_info *file)
{
    (void)path, (void)data_only, (void)file;
    const uint64_t head[2] = {UINT64_MAX, UINT64_MAX};
    return append(head, NULL, 0);
}

static const struct fuse_operations operations = {
    .getattr = get_attributes,
    .open = open_disk,
    .read = read_disk,
    .write = write_disk,
    .fsync = flush_disk,
};

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: disk_recorder MOUNT BYTES JOURNAL\n");
        return 2;
    }
    disk_bytes = strtoull(argv[2], NULL, 10);
    disk = mmap(NULL, disk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    journal = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (disk == MAP_FAILED || journal < 0) {
        perror("disk_recorder");
        return 1;
    }
    /* Single-threaded, so the journal has the true order. */
    char *options[] = {argv[0], (char *)"-f", (char *)"-s", argv[1], NULL};
    return fuse_main(4, options, &operations, NULL);
}
