/* snapshot.h - states of a session that are kept by name in DIR/snapshots, each as
 *
 *     NAME.bin     a checkpoint (checkpoint.h) at or before the frame; missing if the run begins there
 *     NAME.json    {"format": 1, "name", "frame": k, "checkpoint": c or null, "bytes", "class", "created": s,
 *                   "start": start.json of a branch from it}, sealed; written last: without it the snapshot
 *                   does not exist
 *
 * The caller ensures that there is only one writer at a time.
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

/* Reads a snapshot. PL_IO with errno: ENOENT if missing, EBADMSG if damaged. */
pl_status pl_snapshot_read(int dir_fd, const char *name, pl_snapshot *out);
/* Creates a snapshot, durably; the checkpoint pin_fd/pin is linked as its own (unless s->checkpoint is -1). Creates
 * everything or nothing. PL_IO with errno: EEXIST if the name is in use. */
pl_status pl_snapshot_write(int dir_fd, const pl_snapshot *s, int pin_fd, const char *pin);
/* PL_IO with errno ENOENT if missing. */
pl_status pl_snapshot_remove(int dir_fd, const char *name);
/* Lists the names of complete snapshots in order; returns their number. With `sweep`, which only the writer may
 * use, it removes incomplete ones that a crash left. */
int pl_snapshot_names(int dir_fd, bool sweep, char names[PL_SNAPSHOTS_MAX][PL_SNAPSHOT_NAME + 1]);

/* "snapshots/NAME.bin". */
void pl_snapshot_file(const char *name, char out[PL_SNAPSHOT_NAME + 20]);

#endif
