/* control.h - commands to a running worker: the records that the daemon (or `pliant run`) appends
 * to control.log, looked for between steps. One fstat a step where nothing is new.
 *
 *     {"action": "cancel"}                        wins over everything, and is never taken back
 *     {"action": "pause"}, {"action": "resume"}   the newest of the two counts
 */
#ifndef PLIANT_SERVER_WORKER_CONTROL_H
#define PLIANT_SERVER_WORKER_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_control {
    int directory;   /* borrowed */
    int fd;          /* of control.log, -1 while there is none */
    uint64_t offset; /* read up to here */
    uint64_t seen;   /* size of the file when last read */
    bool cancelled;  /* stays true once asked */
    bool paused;
} pl_control;

/* The log is read from its beginning, so that a cancel outlives the attempt it was sent to. */
void pl_control_init(pl_control *c, int directory);
/* Read what is new, and set cancelled and paused by it. A record that is not whole yet is left for
 * the next call; bytes that are no record are skipped to the next whole one, and an action that
 * this version does not know is ignored; both are said in worker.log. */
void pl_control_poll(pl_control *c);
void pl_control_clear(pl_control *c);

#endif
