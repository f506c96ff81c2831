#include "server/worker/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An earlier attempt may have written here: links are never followed. A directory's descriptor is reopened, because its
 * read position is shared. */
static DIR *open_list(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0) {
        close(fd);
    }
    return list;
}

static bool is_entry(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int give(int parent, const char *name, uid_t uid)
{
    DIR *list = open_list(parent, name);
    int failed = !list || fchown(dirfd(list), uid, uid) != 0;
    for (struct dirent *e; !failed && (e = readdir(list));) {
        failed = is_entry(e) &&
                 fchownat(dirfd(list), e->d_name, uid, uid, AT_SYMLINK_NOFOLLOW) != 0;
    }
    if (list) {
        closedir(list);
    }
    return failed;
}

enum { PARENTS_MAX = 16 };

/* Prepare a branch's parents (branch.h). The checkpoint also belongs to another session, and meshes are shared by all:
 * they are made readable and keep their owners. */
static int open_up(int parent, const char *name, uid_t uid, int depth)
{
    DIR *list = depth > 0 ? open_list(parent, name) : NULL;
    int failed = list && fchown(dirfd(list), uid, uid) != 0;
    for (struct dirent *e; list && !failed && (e = readdir(list));) {
        struct stat st;
        int fd = is_entry(e) ? openat(dirfd(list), e->d_name,
                                      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
                             : -1;
        failed = fd >= 0 && fstat(fd, &st) != 0;
        if (fd >= 0 && !failed && S_ISREG(st.st_mode)) {
            failed = fchmod(fd, 0444) != 0;
        } else if (fd >= 0 && !failed && S_ISDIR(st.st_mode)) {
            failed = open_up(dirfd(list), e->d_name, uid, depth - 1);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (list) {
        closedir(list);
    }
    return failed;
}

static int make_readable(int parent, const char *name)
{
    DIR *list = open_list(parent, name);
    int failed = 0;
    for (struct dirent *e; list && !failed && (e = readdir(list));) {
        int fd = is_entry(e) ? openat(dirfd(list), e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                             : -1;
        struct stat st;
        failed = fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || fchmod(fd, 0444) != 0);
        if (fd >= 0) {
            close(fd);
        }
    }
    if (list) {
        closedir(list);
    }
    return failed;
}

pl_status pl_privileges_drop(const int *directories, int count, uid_t uid)
{
    for (int i = 0; i < count; i++) {
        int directory = directories[i];
        if (give(directory, "log", uid) || make_readable(directory, "meshes") ||
            open_up(directory, "parent", uid, PARENTS_MAX) || give(directory, ".", uid)) {
            return PL_IO;
        }
    }
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) {
        return PL_IO;
    }
    /* It must be impossible to undo. */
    if (setuid(0) == 0 || geteuid() != uid) {
        errno = EPERM;
        return PL_IO;
    }
    return PL_OK;
}
