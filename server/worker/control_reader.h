/* control_reader.h - reads commands to a running worker: records that the daemon (or `pliant run`) appends to
 * control.log, checked between steps. Costs one fstat per step if nothing is new.
 *
 *     {"action": "cancel"}                        wins over everything, and is final
 *     {"action": "pause"}, {"action": "resume"},  the newest of the three counts; a step pauses at
 *     {"action": "step", "until": k}              frame k
 *     {"action": "retention", "last": L, "every": N}      the newest counts, replacing the scene's
 *     {"action": "control", "id": N, "control": {...}}    queued, in the order of N, from 1
 */
#ifndef PLIANT_SERVER_WORKER_CONTROL_READER_H
#define PLIANT_SERVER_WORKER_CONTROL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_control_item {
    int64_t number; /* N */
    char *text;     /* the control as JSON, malloc'ed */
} pl_control_item;

typedef struct pl_control_reader {
    int directory;   /* borrowed */
    int fd;          /* of control.log, -1 if it does not exist yet */
    uint64_t offset; /* read up to here */
    uint64_t seen;   /* size of the file when it was last read to its end */
    bool cancelled;  /* final */
    bool has_keep;   /* the newest retention */
    int64_t keep_last, keep_every;
    bool paused;
    int64_t pause_at;       /* a step's last frame, -1: none in progress */
    int64_t newest;         /* number of the newest queued control */
    pl_control_item *items; /* not yet taken, [first] to [count - 1] */
    size_t item_first, item_count, item_room;
} pl_control_reader;

/* The log is read from its beginning, so that a cancel outlives the attempt that it was sent to. */
void pl_control_reader_init(pl_control_reader *c, int directory);
/* Read new records, and update cancelled and paused. An incomplete record is left for the next call. Bytes that are not
 * a record are skipped up to the next whole one, and unknown actions are ignored; both are reported in worker.log. */
void pl_control_reader_poll(pl_control_reader *c);
/* Take the next control, whose text then belongs to the caller; false if none. */
bool pl_control_reader_next(pl_control_reader *c, pl_control_item *item);
void pl_control_reader_clear(pl_control_reader *c);

#endif
