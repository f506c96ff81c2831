/* store.h - the database: an index of the session directories, plus data that they cannot hold (owners' grants,
 * idempotency keys, meshes). SQLite in WAL mode, synchronous FULL, written by one thread that commits everything queued
 * meanwhile in one transaction; at once if an operation is waited for, otherwise 10 ms later. Requests read the table
 * of sessions in memory, never the database.
 */
#ifndef PLIANT_SERVER_STORE_STORE_H
#define PLIANT_SERVER_STORE_STORE_H

#include "server/store/busy_keys.h"
#include "server/base/counters.h"
#include "server/store/row.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_store pl_store;

/* A reply to keep for an Idempotency-Key. */
typedef struct pl_kept_reply {
    const char *owner, *route, *key;
    char body_hash[65];
    int status;
    const char *reply, *location;
} pl_kept_reply;

/* Open STATE/pliant.db, or create it with `create` (otherwise a missing one is an error). A database of the previous
 * format is upgraded. NULL with a line in the log, also if the database is damaged: PRAGMA quick_check runs first. */
pl_store *pl_store_open(const char *state, bool create, pl_counters *counters);
void pl_store_close(pl_store *store); /* commits what is queued */

/* Every session, oldest first. The row is lent; `good` is false if its checksum is wrong: then nothing in the row can
 * be trusted. */
int pl_store_each(pl_store *store, void (*see)(void *context, const pl_row *row, bool good),
                  void *context);

typedef enum pl_created {
    PL_CREATED_DONE,
    PL_CREATED_BROKEN,  /* a line is in the log */
    PL_CREATED_NO_USER, /* the row's owner was removed meanwhile */
    PL_CREATED_NO_GROUP /* its group was removed meanwhile */
} pl_created;

/* These wait for the commit; false if it failed (a line is in the log). */
pl_created pl_store_create(pl_store *store, const pl_row *row,
                           const pl_kept_reply *kept);     /* or NULL */
bool pl_store_replace(pl_store *store, const pl_row *row); /* whether it is there or not */
bool pl_store_delete(pl_store *store, const char *id);
/* Removes the row that pl_store_create has committed, and the reply kept with it. Allocates nothing itself. If
 * SQLite fails, for example without memory, the store tries again each second and when it closes; it keeps up to 64
 * such undos. Returns after the first attempt. */
void pl_store_undo_create(pl_store *store, const char *id);
/* A statement of a module that keeps its own tables; its ?s are texts, or NULL (SQLite makes numbers of
 * them where the column is of that kind). */
enum { PL_STATEMENT_VALUES = 16, PL_STATEMENT_COLUMNS = 16 };
typedef struct pl_statement {
    const char *sql;
    const char *values[PL_STATEMENT_VALUES];
    int count;
} pl_statement;
/* An integer as a statement's value. */
typedef struct pl_store_digits {
    char text[24];
} pl_store_digits;
pl_store_digits pl_store_number(int64_t value);
/* Run all of them or none, in one transaction, and wait for the commit. Returns how many rows the first one changed, or
 * -1 on failure. */
int pl_store_change(pl_store *store, const pl_statement *statements, int count);
/* Queue a statement without waiting; its text must be constant, its values are copied. False if too many are queued. */
bool pl_store_note(pl_store *store, const pl_statement *statement);
/* Call `see` with the columns of each row, as texts or NULL, lent; it must not call the store. False if the database
 * failed. */
typedef void (*pl_store_see)(void *context, const char *const *columns);
bool pl_store_read(pl_store *store, const pl_statement *statement, pl_store_see see, void *context);
/* The single integer that a statement selects, 0 for NULL; false if the database failed. */
bool pl_store_read_integer(pl_store *store, const pl_statement *statement, int64_t *out);

/* Queued in order and not waited for. Takes the row. Failures are counted (store_failures). */
void pl_store_update(pl_store *store, pl_row *row);
/* Wait until everything queued before was attempted; false if nothing can be committed. */
bool pl_store_flush(pl_store *store);

/* The idempotency keys of requests in progress (idempotency.h). */
pl_busy_keys *pl_store_busy(pl_store *store);

#endif
