/* session_file.h - the files of a session whose sums are in preflight.json, read against these sums, so that a
 * changed bit is always detected.
 */
#ifndef PLIANT_PROTOCOL_LOG_SESSION_FILE_H
#define PLIANT_PROTOCOL_LOG_SESSION_FILE_H

#include "protocol/log/session_dir.h"

/* "scene.json", "effective.json", ... */
const char *pl_session_file_name(pl_session_file file);
/* The file with that name; PL_FILE_COUNT for another name. */
pl_session_file pl_session_file_named(const char *name);

/* Size and CRC-32C of bytes, and of an open file from its beginning. PL_IO with errno. */
pl_file_sum pl_file_sum_of(const void *bytes, size_t size);
pl_status pl_file_sum_read(int fd, pl_file_sum *out);

/* False only if preflight.json is readable and has a different sum. */
bool pl_session_file_fits(int dir_fd, pl_session_file file, const pl_file_sum *actual);

/* pl_file_read of one of the files; PL_IO with errno EBADMSG if its bytes differ from those that preflight read or
 * wrote. */
pl_status pl_session_file_read(int dir_fd, pl_session_file file, size_t limit, char **out,
                               size_t *size);

#endif
