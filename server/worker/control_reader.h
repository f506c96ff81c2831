/* control_reader.h - commands to a running worker: the records that the daemon (or `pliant run`) appends
 * to control.log, looked for between steps. One fstat a step where nothing is new.
 *
 *     {"action": "cancel"}                        wins over everything, and is never taken back
 *     {"action": "pause"}, {"action": "resume"},  the newest of the three counts; a step pauses at
 *     {"action": "step", "until": k}              frame k
 *     {"action": "retention", "last": L, "every": N}      the newest counts, in the place of the scene's
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
    int fd;          /* of control.log, -1 while there is none */
    uint64_t offset; /* read up to here */
    uint64_t seen;   /* size of the file when it was last read to its end */
    bool cancelled;  /* stays true once asked */
    bool has_keep;   /* since the owner of this last took it back */
    int64_t keep_last, keep_every;
    bool paused;
    int64_t pause_at;       /* a step's last frame, -1 where none is under way */
    int64_t newest;         /* number of the newest control that was queued */
    pl_control_item *items; /* those that nobody took, [first] to [count - 1] */
    size_t item_first, item_count, item_room;
} pl_control_reader;

/* The log is read from its beginning, so that a cancel outlives the attempt it was sent to. */
void pl_control_reader_init(pl_control_reader *c, int directory);
/* Read what is new, and set cancelled and paused by it. A record that is not whole yet is left for
 * the next call; bytes that are no record are skipped to the next whole one, and an action that
 * this version does not know is ignored; both are said in worker.log. */
void pl_control_reader_poll(pl_control_reader *c);
/* The next control, whose text is then the caller's; false where there is none. */
bool pl_control_reader_next(pl_control_reader *c, pl_control_item *item);
void pl_control_reader_clear(pl_control_reader *c);

#endif
