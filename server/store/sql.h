/* sql.h - SQLite statements, and conversion between rows of sessions and columns. Private to the files of this room. */
#ifndef PLIANT_SERVER_STORE_SQL_H
#define PLIANT_SERVER_STORE_SQL_H

#include "server/store/row.h"

#include <sqlite3.h>
#include <stdbool.h>

/* Log what failed, with SQLite's message. */
void pl_sql_complain(sqlite3 *db, const char *what);
sqlite3_stmt *pl_sql_prepare(sqlite3 *db, const char *sql); /* NULL after complaining */
/* The text outlives the statement. */
void pl_sql_bind_text(sqlite3_stmt *s, int i, const char *text);
/* Run a statement that returns no rows, and release it; false for NULL and after complaining. */
bool pl_sql_finish(sqlite3 *db, sqlite3_stmt *s);
/* Run several statements without parameters; false after complaining. */
bool pl_sql_execute(sqlite3 *db, const char *sql);

/* False if out of memory. */
bool pl_sql_read_row(sqlite3_stmt *s, pl_row *row);
/* Column i of the table is parameter i + 1; the checksum comes after the last. */
void pl_sql_bind_row(sqlite3_stmt *s, const pl_row *row);
/* `verb`: INSERT or REPLACE. */
bool pl_sql_put_row(sqlite3 *db, const char *verb, const pl_row *row);

#endif
