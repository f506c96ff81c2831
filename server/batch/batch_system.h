/* batch_system.h - commands of a system that runs workers on other machines: the built-in set for Slurm, or a file.
 * Pure text: it starts nothing.
 *
 * A file has a line NAME = VALUE for each setting, `#` begins a comment, and `script:` is followed by the job's script,
 * to the end of the file. `use = slurm`, first, takes Slurm's set, which later lines change. Commands are split at
 * blanks and run without a shell. {NAME} in an argument is replaced. An argument with an empty value is left out, such
 * as `--account={account}` without an account. deploy/batch/README.md lists all names.
 */
#ifndef PLIANT_SERVER_BATCH_BATCH_SYSTEM_H
#define PLIANT_SERVER_BATCH_BATCH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pl_batch_system pl_batch_system;

typedef enum pl_batch_verb {
    PL_BATCH_SUBMIT, /* prints the job's id */
    PL_BATCH_QUERY,  /* prints a line for each job */
    PL_BATCH_CANCEL,
    PL_BATCH_SIGNAL, /* SIGTERM to the worker: it stops at a checkpoint */
    PL_BATCH_VERBS
} pl_batch_verb;

/* Lists of state words. A word outside all lists is an unknown state, from which nothing is concluded. */
typedef enum pl_batch_phase {
    PL_BATCH_UNKNOWN,
    PL_BATCH_PENDING,
    PL_BATCH_RUNNING,
    PL_BATCH_ENDED,     /* by itself, whether it succeeded or failed */
    PL_BATCH_AGAIN,     /* for a reason of the system: its node was lost, or it was preempted */
    PL_BATCH_OVERTIME,  /* its time limit was reached */
    PL_BATCH_MEMORY,    /* killed for memory */
    PL_BATCH_CANCELLED, /* by somebody */
    PL_BATCH_PHASES
} pl_batch_phase;

/* Columns of a query's line. */
typedef enum pl_batch_column {
    PL_BATCH_JOB,
    PL_BATCH_NAME,
    PL_BATCH_STATE,
    PL_BATCH_REASON,
    PL_BATCH_START,
    PL_BATCH_PRIORITY,
    PL_BATCH_COLUMNS
} pl_batch_column;

typedef enum pl_batch_number {
    PL_BATCH_INTERVAL,      /* s between queries */
    PL_BATCH_TIMEOUT,       /* s for a command */
    PL_BATCH_GRACE,         /* s after a job's end in which exit.json may appear */
    PL_BATCH_LEAD,          /* s between the signal to the worker and the end of a job's time */
    PL_BATCH_MINUTES,       /* most minutes of a job; longer sessions are chained */
    PL_BATCH_PILOT_SECONDS, /* sessions expected to be shorter run in pilots; 0: none */
    PL_BATCH_PILOT_JOBS,    /* most pilots of a user and group at once */
    PL_BATCH_PILOT_CORES,   /* of a pilot, at least */
    PL_BATCH_PILOT_MINUTES, /* most minutes of a pilot's job */
    PL_BATCH_PILOT_IDLE,    /* s without work after which a pilot ends */
    PL_BATCH_NUMBERS
} pl_batch_number;

/* A placeholder's value. Lists end with a name of NULL. */
typedef struct pl_batch_value {
    const char *name, *value;
} pl_batch_value;

/* Create a system from a file, or Slurm's if path is NULL. NULL with "FILE:LINE: ..." in `error`. */
pl_batch_system *pl_batch_system_create(const char *path, char *error, size_t size);
void pl_batch_system_destroy(pl_batch_system *system);

const char *pl_batch_system_name(const pl_batch_system *system);
long pl_batch_system_number(const pl_batch_system *system, pl_batch_number which);
pl_batch_phase pl_batch_system_phase(const pl_batch_system *system, const char *word);
/* Copy a column of a line into `out`; false if the line lacks it. */
bool pl_batch_system_field(const pl_batch_system *system, const char *line, pl_batch_column column,
                           char *out, size_t size);
/* The file's variable for this user, else this group, else everybody; "" if unset. */
const char *pl_batch_system_variable(const pl_batch_system *system, const char *name,
                                     const char *user, const char *group);

/* The command's arguments, malloc'ed as one list that ends with NULL; NULL: out of memory. */
char **pl_batch_system_command(const pl_batch_system *system, pl_batch_verb verb,
                               const pl_batch_value *values);
void pl_batch_command_free(char **argv);
/* The job's script, malloc'ed; NULL: out of memory. */
char *pl_batch_system_script(const pl_batch_system *system, const pl_batch_value *values);

#endif
