/* checkpoint.h - a session's checkpoints: the whole state of a run at a committed frame, from which the run can
 * resume. Two files, checkpoint-A.bin and checkpoint-B.bin, are written in turn, so that the previous checkpoint
 * stays intact while a new one is being written.
 *
 * Layout, little-endian:
 *
 *   offset size
 *        0    4  magic "PLC1"
 *        4    4  format version: 2; 1 without changes by controls
 *        8    4  attempt that wrote it
 *       12    4  size of the header, 184: the payload begins there
 *       16    8  frame: the state is that after frame `frame`, which is committed in the log
 *       24    8  hash of the model (pl_model_hash)
 *       32    4  attempt and
 *       36    4    number of the log's segment that was open,
 *       40    8    and the end of its committed records
 *       48    8  offset in control.log up to which commands were applied
 *       56    8  seconds of running so far, over all attempts, f64
 *       64   96  numerics class (pl_engine_class), text, NUL-padded
 *      160    8  size of the payload
 *      168    8  size of the changes by controls (version 2; version 1: 0)
 *      176    4  0
 *      180    4  CRC-32C of bytes 0..179
 *      184       the payload, from pl_state_save; then, in version 2, the number of the last control in
 *                effect, i64, and the bytes of pl_changes_save
 *        +    4  CRC-32C of everything before it
 */
#ifndef PLIANT_PROTOCOL_LOG_CHECKPOINT_H
#define PLIANT_PROTOCOL_LOG_CHECKPOINT_H

#include "engine/scene/fault.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PL_CHECKPOINT_SLOTS = 2,
    PL_CHECKPOINT_HEADER = 184,
    PL_CHECKPOINT_CLASS = 96,
    PL_CHECKPOINT_VERSION = 2,
};
/* Maximum size: a larger payload is damage. */
#define PL_CHECKPOINT_MAX_PAYLOAD ((uint64_t)1 << 36)

typedef struct pl_checkpoint {
    int32_t attempt;
    int64_t frame;
    uint64_t model_hash;
    int32_t segment_attempt, segment_number;
    uint64_t segment_end, control_end;
    double seconds;
    char numerics[PL_CHECKPOINT_CLASS];
    uint64_t payload_size;
    uint64_t control_size; /* of what follows it */
    int slot;              /* the slot it was read from; not in the file */
} pl_checkpoint;

/* "checkpoint-A.bin", "checkpoint-B.bin". */
const char *pl_checkpoint_name(int slot);

/* Checks the beginning of a checkpoint, at least its header. PL_INVALID if the bytes are not a checkpoint, are
 * damaged, or have a format that this build does not read. Does not check the payload. */
pl_status pl_checkpoint_decode_header(const void *bytes, size_t size, pl_checkpoint *out);
/* Checks a whole checkpoint; *payload points into `bytes`, and the changes by controls follow it. PL_INVALID as
 * above, or if size or CRC of the payload are wrong. */
pl_status pl_checkpoint_decode(const void *bytes, size_t size, pl_checkpoint *out,
                               const void **payload);

/* Writes a slot by temporary, fsync, rename and fsync of the directory. payload_size and control_size of `c` give
 * the sizes of the payload and of the changes after it. The log must have been synced up to the frame. PL_IO with
 * errno; the slot is then unchanged. */
pl_status pl_checkpoint_write(int dir_fd, int slot, const pl_checkpoint *c, const void *payload);

/* Reads a whole slot, at most `limit` bytes; *payload is malloc'ed. PL_IO with errno (ENOENT: missing), PL_INVALID,
 * PL_NO_MEMORY. */
pl_status pl_checkpoint_read(int dir_fd, int slot, uint64_t limit, pl_checkpoint *out,
                             void **payload);
/* Reads only a slot's header; PL_INVALID also if the file's size does not match it. */
pl_status pl_checkpoint_peek(int dir_fd, int slot, pl_checkpoint *out);
/* The same for a file of another name: snapshots and parents of branches are checkpoints, too. */
pl_status pl_checkpoint_peek_file(int dir_fd, const char *name, pl_checkpoint *out);
/* Checks the whole checkpoint without holding it in memory. PL_IO, PL_INVALID as pl_checkpoint_read. */
pl_status pl_checkpoint_check_file(int dir_fd, const char *name, pl_checkpoint *out);
int64_t pl_checkpoint_file_size(const pl_checkpoint *c); /* bytes */
/* The number of the last control in effect in it, 0 for none; does not check the CRC. */
pl_status pl_checkpoint_last_control(int dir_fd, const char *name, int64_t *number);
/* The newest checkpoint by its header: the greater frame, then the greater attempt. PL_IO with errno ENOENT if
 * neither slot has a good header. */
pl_status pl_checkpoint_newest(int dir_fd, pl_checkpoint *out);

#endif
