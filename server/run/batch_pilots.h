/* batch_pilots.h - jobs that run many short sessions each: STATE/pilots/ID is a folder that a job of the name
 * pliant-pilot-ID has in common with the daemon (server/worker/pilot.h says what its files mean). Private to the files
 * batch_*.c of this room; all is the batch thread's.
 *
 * Assignments are in files only. A daemon that starts reads the folders again; a pilot that has ended, or never began,
 * is forgotten with its folder once no session is left in it. What it had not taken is taken back, by an unlink, and
 * put elsewhere as the same attempt.
 */
#ifndef PLIANT_SERVER_RUN_BATCH_PILOTS_H
#define PLIANT_SERVER_RUN_BATCH_PILOTS_H

#include "server/run/batch_jobs.h"

#define PL_PILOTS "pilots"

enum { PL_PILOT_ENTRY_MAX = 72 };

/* A file of the folder. */
typedef struct pl_pilot_file {
    char name[PL_PILOT_ENTRY_MAX]; /* SESSION-ATTEMPT */
    pl_pilot_place place;
} pl_pilot_file;

typedef struct pl_batch_pilot {
    struct pl_batch_pilot *next;
    char id[33], *directory;
    int dir_fd;
    long cores, memory_mb;
    char user[PL_NAME_MAX + 1], group[PL_NAME_MAX + 1];
    /* its job, as in an entry */
    char job[PL_BATCH_ID_MAX], word[32];
    bool tried;
    int64_t after_ms, due_ms;
    int failures;
    char error[280]; /* of the last submission */
    pl_batch_phase phase;
    pl_batch_absence absence;
    bool gone; /* its job has ended */
    bool told; /* SIGTERM was sent, so it takes nothing more */
    /* of the last look at the folder */
    bool known, closed;
    pl_pilot_file *files; /* by name */
    size_t file_count, file_room;
    size_t entries, waiting; /* sessions that it has; of them, those that it has not taken, */
    size_t running;          /* and those that run */
    double load;             /* core-seconds that they are expected to take */
} pl_batch_pilot;

/* Of an earlier daemon. */
void pl_pilots_load(pl_batch *batch);
void pl_pilots_free(pl_batch *batch);
/* Look at all folders and jobs, submit, and forget what is over. `entries`: all that there are. */
void pl_pilots_tend(pl_batch *batch, pl_batch_entry *entries, int64_t now);
/* SIGTERM to all that run. */
void pl_pilots_stop(pl_batch *batch);

/* Find the pilot that an earlier daemon has put it into, once. */
void pl_pilots_find(pl_batch *batch, pl_batch_entry *entry);
/* Put it into a pilot, where it is one for them. False: it gets a job of its own. */
bool pl_pilots_take(pl_batch *batch, pl_batch_entry *entry);
/* From its pilot, which has not taken it, to one that has nothing to do. */
void pl_pilots_move(pl_batch *batch, pl_batch_entry *entry);

/* ---- batch_pilot_folder.c ---- */

/* Open an existing pilot. NULL: its folder cannot be opened. */
pl_batch_pilot *pl_pilot_open(const pl_batch *batch, const char *id);
void pl_pilot_release(pl_batch_pilot *pilot);
/* Remove the pilot and its folder. */
void pl_pilot_remove(pl_batch_pilot *pilot);
/* Store or load the pilot's cores, memory, user and group, for a daemon that starts later. */
bool pl_pilot_write_about(const pl_batch_pilot *pilot);
bool pl_pilot_read_about(pl_batch_pilot *pilot);
/* Read the list of assignment files. Opens the folder again, so that a network file system is asked. */
void pl_pilot_look(pl_batch_pilot *pilot);
/* The first file whose name is not less. */
size_t pl_pilot_find_file(const pl_batch_pilot *pilot, const char *name);
/* By the last look. */
pl_pilot_place pl_pilot_place_of(const pl_batch_entry *entry);
/* Put an assignment there: cores, memory and the worker's arguments, a NUL after each. */
bool pl_pilot_put(const pl_batch *batch, const pl_batch_entry *entry, const pl_batch_pilot *pilot);
/* Take it back. False: its pilot has taken it. */
bool pl_pilot_withdraw(pl_batch_entry *entry);
/* Ask for the end of its worker. */
void pl_pilot_end_worker(const pl_batch_entry *entry);
/* How its worker ended, as of waitpid; false: not known. */
bool pl_pilot_status(const pl_batch_entry *entry, int *status);
/* It is over. */
void pl_pilot_forget(pl_batch_entry *entry);

#endif
