/* row.h - a session as a row of the database. One table describes the columns; storing, loading, copying and the row's
 * checksum all read it, so that a new field is one line here and one in row.c.
 */
#ifndef PLIANT_SERVER_STORE_ROW_H
#define PLIANT_SERVER_STORE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings are malloc'ed and owned by the row; NULL is SQL's NULL. */
/* The owner while there is only one. */
#define PL_DEFAULT_OWNER "owner"

/* Value of cores_most: as many as the check finds worthwhile. */
enum { PL_CORES_OPEN = -1 };

typedef struct pl_row {
    char id[33];
    char *owner, *name, *state, *reason, *message;
    char *group_name;        /* NULL: visible to its owner only */
    char *bodies, *failure;  /* JSON texts */
    char *warnings;          /* JSON array, or NULL: none */
    char *worker;            /* "BOOT-ID PID START" of the running attempt */
    char *desired;           /* "paused", "cancelled", "deleted" or NULL */
    char *paused_by;         /* "user" while paused, else NULL */
    char *labels, *metadata; /* JSON objects, or NULL: none */
    char *webhook;           /* URL, or NULL */
    char *webhook_status; /* "waiting", "delivered", "failed"; with ": why" behind; NULL before */
    int64_t created_us, since_ms; /* since 1970 */
    int64_t frames;               /* last frame's number */
    int64_t frame;                /* last committed, -1 none */
    int64_t attempt;
    int64_t cores;                    /* of the running worker, else the fewest */
    int64_t cores_least, cores_most;  /* requested; 0: from an earlier daemon, use `cores` */
    int64_t preemptible, interactive; /* 0 or 1 */
    char *after;                      /* ids of the sessions that it waits for, or NULL */
    double estimate;                  /* expected run time on its fewest cores, s; 0: unknown */
    int64_t crashes;                  /* restarts since the last new checkpoint */
    int64_t checkpoint; /* frame of the newest checkpoint when it last crashed, -1 none */
    int64_t restart_ms; /* since 1970: earliest restart; 0: at once */
    int64_t memory_retries;
    int64_t priority;
    char *gpu;         /* UUID of the GPU that it runs on, or last ran on */
    double gpu_memory; /* most bytes used on it; 0: it runs on the CPU */
    int64_t revision;  /* number of changes to name, labels, ... */
    double memory, time, time_limit;
    double keep_days;              /* days after its end until it is removed; 0: never */
    int64_t keep_last, keep_every; /* of its frames; -1: from an earlier daemon, use the scene's */
    double memory_limit;           /* bytes that its worker may use; 0: not known yet */
    char *executor;                /* name of its batch system; NULL: this machine */
    char *job;                     /* id in the batch system; "?": being submitted; NULL: none */
} pl_row;
void pl_row_clear(pl_row *row);

typedef enum pl_column_kind {
    PL_COLUMN_ID, /* char[33] */
    PL_COLUMN_TEXT,
    PL_COLUMN_INTEGER,
    PL_COLUMN_NUMBER
} pl_column_kind;

typedef struct pl_column {
    const char *name;
    pl_column_kind kind;
    size_t offset;        /* in pl_row */
    bool constant;        /* never changes once the row exists */
    int since;            /* the first database format that has it */
    const char *fallback; /* SQL: its value in rows of earlier formats; NULL: NULL or 0 */
} pl_column;

enum { PL_ROW_COLUMNS = 46, PL_ROW_FORMAT = 7 };
extern const pl_column pl_row_columns[PL_ROW_COLUMNS];

/* The member for a column. */
char **pl_row_text(const pl_row *row, const pl_column *column);
int64_t *pl_row_integer(const pl_row *row, const pl_column *column);
double *pl_row_number(const pl_row *row, const pl_column *column);

/* CRC-32C over every member that a database of this format has, so that a flipped bit is detected on loading. */
uint32_t pl_row_checksum(const pl_row *row, int format);

#endif
