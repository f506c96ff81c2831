/* protocol_files.h - a temporary directory for a test, removed with all that is in it. */
#ifndef PLIANT_TESTS_UNIT_PROTOCOL_FILES_H
#define PLIANT_TESTS_UNIT_PROTOCOL_FILES_H

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct temporary {
    char path[64];
    int fd;
} temporary;

static inline void temporary_create(temporary *t)
{
    /* In memory if possible: these tests sync often and would wait for a disk. */
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(t->path, sizeof t->path, "%s/pliant-protocol-XXXXXX", parent);
    ck_assert_ptr_nonnull(mkdtemp(t->path));
    t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(t->fd, 0);
}

static inline int temporary_remove_one(const char *path, const struct stat *st, int type,
                                       struct FTW *where)
{
    (void)st, (void)type, (void)where;
    return remove(path);
}

static inline void temporary_destroy(temporary *t)
{
    close(t->fd);
    nftw(t->path, temporary_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Put a whole file there, or take one. */
static inline void put_file(int dir_fd, const char *name, const void *data, size_t size)
{
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
    close(fd);
}

static inline char *take_file(int dir_fd, const char *name, size_t *size)
{
    struct stat st;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    char *data = malloc((size_t)st.st_size + 1);
    *size = (size_t)st.st_size;
    ck_assert_int_eq(read(fd, data, *size), (ssize_t)*size);
    data[*size] = 0;
    close(fd);
    return data;
}

#endif
