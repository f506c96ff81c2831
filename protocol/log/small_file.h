/* small_file.h - small files of a session directory, read and replaced as a whole. */
#ifndef PLIANT_PROTOCOL_LOG_SMALL_FILE_H
#define PLIANT_PROTOCOL_LOG_SMALL_FILE_H

#include "engine/scene/fault.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes a whole small file by temporary + fsync + rename (+ fsync of the directory if `durable`).
 * The temporary is called NAME.PID.N.tmp. */
pl_status pl_file_replace(int dir_fd, const char *name, const void *data, size_t size,
                          bool durable);
/* The same for a file in pieces, if it is not small. */
struct iovec;
pl_status pl_file_replace_parts(int dir_fd, const char *name, const struct iovec *parts, int count,
                                bool durable);
/* The same without any sync, in a directory that is made durable as a whole (directory_sync.h). */
pl_status pl_file_put(int dir_fd, const char *name, const struct iovec *parts, int count);
pl_status pl_file_put_text(int dir_fd, const char *name, const char *text, size_t length);
/* Reads a whole regular file of at most `limit` bytes; *out malloc'ed, NUL-terminated. PL_IO with
 * errno EFBIG beyond it. */
pl_status pl_file_read(int dir_fd, const char *name, size_t limit, char **out, size_t *size);

/* Closes a descriptor that was only read from, or whose failure is already known; preserves errno. */
void pl_close_fd(int fd);

#endif
