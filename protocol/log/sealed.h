/* sealed.h - small JSON documents of a session directory with their own checksum, so that a flipped bit is always
 * detected. The last member is "crc32c", eight hex digits over every byte before its comma.
 *
 *     {"format": 1, "attempt": 3, "crc32c": "a1b2c3d4"}
 */
#ifndef PLIANT_PROTOCOL_LOG_SEALED_H
#define PLIANT_PROTOCOL_LOG_SEALED_H

#include "engine/scene/fault.h"
#include "protocol/text/json.h"

#include <stdbool.h>
#include <stdint.h>

/* Ends the object that w holds open at its outermost level with its seal, and writes it by temporary, fsync and
 * rename; `durable` also syncs the directory. The writer is zeroed. PL_NO_MEMORY, PL_IO.
 */
pl_status pl_sealed_write(int dir_fd, const char *name, pl_json_writer *w, bool durable);
/* The same without any sync, in a directory that is made durable as a whole (directory_sync.h). */
pl_status pl_sealed_put(int dir_fd, const char *name, pl_json_writer *w);

/* The same for the text of an existing object. */
pl_status pl_sealed_write_text(int dir_fd, const char *name, const char *object, bool durable);
/* Returns the original text, malloc'ed, if the seal is right; ignores "format". */
pl_status pl_sealed_read_text(int dir_fd, const char *name, size_t limit, char **object);

/* Reads a sealed document of at most `limit` bytes whose "format" is from 1 to `format`. PL_IO with errno ENOENT,
 * or EBADMSG if it is damaged: not JSON, a future format, or a missing or wrong seal. Free with pl_json_free. */
pl_status pl_sealed_read(int dir_fd, const char *name, size_t limit, int32_t format, pl_json **out);
/* Reads a sealed document like pl_sealed_read, but accepts one without a seal if its format is below
 * `sealed_since`. A document with a "crc32c" always needs a valid seal. */
pl_status pl_sealed_read_since(int dir_fd, const char *name, size_t limit, int32_t sealed_since,
                               int32_t format, pl_json **out);

#endif
