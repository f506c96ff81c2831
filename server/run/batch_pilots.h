/* batch_pilots.h - jobs that run many short sessions each. A job named pliant-pilot-ID shares the folder
 * STATE/pilots/ID with the daemon (server/worker/pilot.h describes its files). Private to the files batch_*.c of this
 * room; used only by the batch thread.
 *
 * Assignments exist only as files, which a starting daemon reads again. A pilot that has ended, or never began, is
 * removed with its folder once no session is left in it. An assignment that it had not taken is withdrawn, by an
 * unlink, and placed elsewhere as the same attempt.
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
    bool told; /* SIGTERM was sent, so it takes no more */
    /* of the last look at the folder */
    bool known, closed;
    pl_pilot_file *files; /* by name */
    size_t file_count, file_room;
    size_t entries, waiting; /* its sessions; of them, those that it has not taken, */
    size_t running;          /* and those that run */
    double load;             /* core-seconds that they are expected to take */
} pl_batch_pilot;

/* Load the pilots of an earlier daemon. */
void pl_pilots_load(pl_batch *batch);
void pl_pilots_free(pl_batch *batch);
/* Check all folders and jobs, submit, and remove finished pilots. `entries`: all entries. */
void pl_pilots_tend(pl_batch *batch, pl_batch_entry *entries, int64_t now);
/* SIGTERM to all that run. */
void pl_pilots_stop(pl_batch *batch);

/* Find the pilot that an earlier daemon assigned it to, once. */
void pl_pilots_find(pl_batch *batch, pl_batch_entry *entry);
/* Assign it to a pilot, if it qualifies. False: it gets its own job. */
bool pl_pilots_take(pl_batch *batch, pl_batch_entry *entry);
/* Move it from its pilot, which has not taken it, to an idle one. */
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
/* Index of the first file whose name is not less. */
size_t pl_pilot_find_file(const pl_batch_pilot *pilot, const char *name);
/* The place of an entry's assignment at the last look. */
pl_pilot_place pl_pilot_place_of(const pl_batch_entry *entry);
/* Write an assignment: cores, memory and the worker's arguments, a NUL after each. */
bool pl_pilot_put(const pl_batch *batch, const pl_batch_entry *entry, const pl_batch_pilot *pilot);
/* Withdraw the assignment. False: its pilot has taken it. */
bool pl_pilot_withdraw(pl_batch_entry *entry);
/* Ask for the end of its worker. */
void pl_pilot_end_worker(const pl_batch_entry *entry);
/* How its worker ended, as of waitpid; false: unknown. */
bool pl_pilot_status(const pl_batch_entry *entry, int *status);
/* Remove a finished assignment. */
void pl_pilot_forget(pl_batch_entry *entry);

#endif
