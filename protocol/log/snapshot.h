/* snapshot.h - states of a session that are kept by name, DIR/snapshots: of each
 *
 *     NAME.bin     a checkpoint (checkpoint.h) that is not after the frame; none where the run begins there
 *     NAME.json    {"format": 1, "name", "frame": k, "checkpoint": c or null, "bytes", "class", "created": s,
 *                   "start": start.json of a branch from it}, sealed; written last: without it there is none
 *
 * Whoever writes sees to it that nobody else does at the same time.
 */
#ifndef PLIANT_PROTOCOL_LOG_SNAPSHOT_H
#define PLIANT_PROTOCOL_LOG_SNAPSHOT_H

#include "protocol/log/checkpoint.h"

#include <stdbool.h>

#define PL_SNAPSHOT_FOLDER "snapshots"
enum { PL_SNAPSHOTS_MAX = 32, PL_SNAPSHOT_NAME = 64 };

typedef struct pl_snapshot {
    char name[PL_SNAPSHOT_NAME + 1];
    int64_t frame;
    int64_t checkpoint; /* its frame, -1: none */
    int64_t bytes;      /* of the checkpoint */
    int64_t created;    /* s since 1970 */
    char numerics[PL_CHECKPOINT_CLASS];
    char *start; /* malloc'ed */
} pl_snapshot;
void pl_snapshot_clear(pl_snapshot *s);

/* Read one. PL_IO with errno: ENOENT where there is none, EBADMSG where it is damaged. */
pl_status pl_snapshot_read(int dir_fd, const char *name, pl_snapshot *out);
/* Keep one, durably, with the checkpoint pin_fd/pin linked as its own (where s->checkpoint is not -1). Either
 * all of it is there afterwards or nothing. PL_IO with errno: EEXIST where there is one of the name. */
pl_status pl_snapshot_write(int dir_fd, const pl_snapshot *s, int pin_fd, const char *pin);
/* PL_IO with errno ENOENT where there is none. */
pl_status pl_snapshot_remove(int dir_fd, const char *name);
/* Names in their order, of those that are whole; how many. What a
 * crash left half made is removed where `sweep`, as its writer may do. */
int pl_snapshot_names(int dir_fd, bool sweep, char names[PL_SNAPSHOTS_MAX][PL_SNAPSHOT_NAME + 1]);

/* "snapshots/NAME.bin". */
void pl_snapshot_file(const char *name, char out[PL_SNAPSHOT_NAME + 20]);

#endif
