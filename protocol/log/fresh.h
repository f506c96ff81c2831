/* fresh.h - reads files that another machine writes on a shared file system.
 *
 * A client of NFS, SMB, Lustre or the like caches attributes and names for seconds, and dirty data for longer.
 * Readers therefore ask the server for attributes (statx with AT_STATX_FORCE_SYNC, which costs nothing on a local
 * file system), and a worker flushes its appends (pl_log_send).
 */
#ifndef PLIANT_PROTOCOL_LOG_FRESH_H
#define PLIANT_PROTOCOL_LOG_FRESH_H

#include <stdbool.h>
#include <sys/stat.h>

/* True if `fd` is on a network file system or FUSE, whose files other machines may change without an inotify event.
 * Also true if the file system cannot be determined. */
bool pl_is_on_network(int fd);

/* fstat and fstatat of the server's attributes. Symbolic links are not followed. Sets only st_dev, st_ino, st_mode,
 * st_nlink, st_uid, st_gid, st_size, st_mtim and st_ctim. 0, or -1 with errno. */
int pl_stat_fresh(int fd, struct stat *out);
/* Refreshes the folder first, to find a name that was created or replaced there. */
int pl_stat_fresh_at(int dir_fd, const char *name, struct stat *out);

#endif
