/* store.h - the database: an index of the session directories, plus what they can not hold (owners'
 * grants, idempotency keys, meshes). SQLite in WAL mode, synchronous FULL, written by one thread
 * that commits whatever has gathered meanwhile in one transaction. Requests read the table of
 * sessions in memory, never this.
 */
#ifndef PLIANT_SERVER_STORE_H
#define PLIANT_SERVER_STORE_H

#include "server/counters.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_store pl_store;

/* A session as a row. Strings are malloc'ed and owned by the row; NULL is SQL's NULL. */
typedef struct pl_row {
    char id[33];
    char *owner, *name, *state, *reason, *message;
    char *bodies, *failure;       /* JSON texts */
    char *worker;                 /* "BOOT-ID PID START" of the running attempt */
    char *desired;                /* "cancelled", "deleted" or NULL */
    int64_t created_us, since_ms; /* since 1970 */
    int64_t frames;               /* last frame's number */
    int64_t frame;                /* last committed, -1 none */
    int64_t attempt;
    int64_t cores;
    double memory, time, time_limit;
} pl_row;
void pl_row_clear(pl_row *row);

/* A reply to keep for an Idempotency-Key. */
typedef struct pl_kept_reply {
    const char *owner, *route, *key;
    char body_hash[65];
    int status;
    const char *reply, *location;
} pl_kept_reply;

/* Opens or makes STATE/pliant.db. NULL with a line in the log. */
pl_store *pl_store_open(const char *state, pl_counters *counters);
void pl_store_close(pl_store *store); /* commits what is queued */

/* Every session, oldest first. The row is lent. */
int pl_store_each(pl_store *store, void (*see)(void *context, const pl_row *row), void *context);

/* These wait for the commit; false where it failed (a line is in the log). */
bool pl_store_create(pl_store *store, const pl_row *row, const pl_kept_reply *kept); /* or NULL */
bool pl_store_delete(pl_store *store, const char *id);
bool pl_store_add_mesh(pl_store *store, const char *owner, const char *hash, int64_t bytes,
                       const char *report);
/* These are queued in order and not waited for. The row is taken. */
void pl_store_update(pl_store *store, pl_row *row);
void pl_store_use_mesh(pl_store *store, const char *hash);

/* Whether the owner has a grant for the mesh; *report (malloc'ed) and *bytes may be NULL. */
bool pl_store_find_mesh(pl_store *store, const char *owner, const char *hash, int64_t *bytes,
                        char **report);
/* Forget idempotency keys older than a day, and call `forget` for each mesh not used for one;
 * returns how often that was true. */
int pl_store_sweep(pl_store *store, bool (*forget)(void *context, const char *hash), void *context);
/* Remove a mesh and its grants, unless it was used within a day; waits. */
bool pl_store_forget_mesh(pl_store *store, const char *hash);

typedef enum pl_key_verdict {
    PL_KEY_NEW,  /* go on, and end with pl_store_key_end */
    PL_KEY_SEEN, /* *status, *reply and *location are those of the first time */
    PL_KEY_OTHER_BODY,
    PL_KEY_IN_PROGRESS,
} pl_key_verdict;
pl_key_verdict pl_store_key_begin(pl_store *store, const char *owner, const char *route,
                                  const char *key, const char *body_hash, int *status, char **reply,
                                  char **location);
void pl_store_key_end(pl_store *store, const char *owner, const char *route, const char *key);

#endif
