/* sql.h - SQLite statements, and conversion between rows of sessions and columns. Private to the files of this room. */
#ifndef PLIANT_SERVER_STORE_SQL_H
#define PLIANT_SERVER_STORE_SQL_H

#include "server/store/row.h"

#include <sqlite3.h>
#include <stdbool.h>

/* Log what failed, with SQLite's message. */
void pl_sql_complain(sqlite3 *db, const char *what);
sqlite3_stmt *pl_sql_prepare(sqlite3 *db, const char *sql); /* NULL after complaining */
/* The same, but a statement of this text that was kept is used again: parsing took longer than running it. */
sqlite3_stmt *pl_sql_again(sqlite3 *db, const char *sql);
/* Keep a statement for the next time; beyond some dozens it is finalized. */
void pl_sql_keep(sqlite3 *db, sqlite3_stmt *s);
/* Finalize what was kept, and close. Returns as sqlite3_close does; NULL is allowed. */
int pl_sql_close(sqlite3 *db);
/* The text outlives the statement. */
void pl_sql_bind_text(sqlite3_stmt *s, int i, const char *text);
/* Run a statement that returns no rows, and keep it; false for NULL and after complaining. */
bool pl_sql_finish(sqlite3 *db, sqlite3_stmt *s);
/* The same for a statement without parameters. */
bool pl_sql_run(sqlite3 *db, const char *sql);
/* Run several statements without parameters; false after complaining. */
bool pl_sql_execute(sqlite3 *db, const char *sql);

/* False if out of memory. */
bool pl_sql_read_row(sqlite3_stmt *s, pl_row *row);
/* Column i of the table is parameter i + 1; the checksum comes after the last. */
void pl_sql_bind_row(sqlite3_stmt *s, const pl_row *row);
/* `verb`: INSERT or REPLACE. */
bool pl_sql_put_row(sqlite3 *db, const char *verb, const pl_row *row);

#endif
