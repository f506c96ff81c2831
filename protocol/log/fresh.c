#include "protocol/log/fresh.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* Missing from the headers of Debian 12. */
#define LUSTRE_MAGIC 0x0BD00BD0UL
#define BEEGFS_MAGIC 0x19830326UL
#define GPFS_MAGIC   0x47504653UL
#define FUSE_MAGIC   0x65735546UL

bool pl_is_on_network(int fd)
{
    struct statfs f;
    if (fstatfs(fd, &f) != 0)
        return true;
    switch ((unsigned long)f.f_type & 0xFFFFFFFFUL) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case CEPH_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
    case V9FS_MAGIC:
    case OCFS2_SUPER_MAGIC:
    case LUSTRE_MAGIC:
    case BEEGFS_MAGIC:
    case GPFS_MAGIC:
    case FUSE_MAGIC:
        return true;
    default:
        return false;
    }
}

static struct timespec time_of(const struct statx_timestamp *t)
{
    return (struct timespec){.tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec};
}

static int stat_at(int dir_fd, const char *name, int flags, struct stat *out)
{
    struct statx x;
    if (statx(dir_fd, name, flags | AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS,
              &x) != 0)
        return -1;
    memset(out, 0, sizeof *out);
    out->st_dev = makedev(x.stx_dev_major, x.stx_dev_minor);
    out->st_ino = x.stx_ino;
    out->st_mode = x.stx_mode;
    out->st_nlink = x.stx_nlink;
    out->st_uid = x.stx_uid;
    out->st_gid = x.stx_gid;
    out->st_size = (off_t)x.stx_size;
    out->st_mtim = time_of(&x.stx_mtime);
    out->st_ctim = time_of(&x.stx_ctime);
    return 0;
}

int pl_stat_fresh(int fd, struct stat *out)
{
    return stat_at(fd, "", AT_EMPTY_PATH, out);
}

int pl_stat_fresh_at(int dir_fd, const char *name, struct stat *out)
{
    struct stat folder;
    if (stat_at(dir_fd, "", AT_EMPTY_PATH, &folder) != 0)
        return -1;
    return stat_at(dir_fd, name, 0, out);
}
