#include "server/store/sql.h"

#include "server/base/logger.h"
#include "server/store/row_sql.h"

#include <stdio.h>
#include <string.h>

enum { KEPT = 64 }; /* statements of a connection */

void pl_sql_complain(sqlite3 *db, const char *what)
{
    pl_logf(PL_LEVEL_ERROR, "database: %s: %s", what, sqlite3_errmsg(db));
}

sqlite3_stmt *pl_sql_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        pl_sql_complain(db, sql);
    }
    return s;
}

sqlite3_stmt *pl_sql_again(sqlite3 *db, const char *sql)
{
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db, s));) {
        if (!sqlite3_stmt_busy(s) && strcmp(sqlite3_sql(s), sql) == 0) {
            return s;
        }
    }
    return pl_sql_prepare(db, sql);
}

static int count_statements(sqlite3 *db)
{
    int count = 0;
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db, s));) {
        count++;
    }
    return count;
}

void pl_sql_bind_text(sqlite3_stmt *s, int i, const char *text)
{
    sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
}

void pl_sql_keep(sqlite3 *db, sqlite3_stmt *s)
{
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    if (count_statements(db) > KEPT) {
        sqlite3_finalize(s);
    }
}

int pl_sql_close(sqlite3 *db)
{
    for (sqlite3_stmt *s; db && (s = sqlite3_next_stmt(db, NULL));) {
        sqlite3_finalize(s);
    }
    return sqlite3_close(db);
}

bool pl_sql_finish(sqlite3 *db, sqlite3_stmt *s)
{
    if (!s) {
        return false;
    }
    int r = sqlite3_step(s);
    if (r != SQLITE_DONE) {
        pl_sql_complain(db, sqlite3_sql(s));
    }
    pl_sql_keep(db, s);
    return r == SQLITE_DONE;
}

/* Column i of the table is parameter i + 1; the checksum comes after the last. */
void pl_sql_bind_row(sqlite3_stmt *s, const pl_row *row)
{
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        const pl_column *c = &pl_row_columns[i];
        switch (c->kind) {
        case PL_COLUMN_ID:
            pl_sql_bind_text(s, i + 1, row->id);
            break;
        case PL_COLUMN_TEXT:
            pl_sql_bind_text(s, i + 1, *pl_row_text(row, c));
            break;
        case PL_COLUMN_INTEGER:
            sqlite3_bind_int64(s, i + 1, *pl_row_integer(row, c));
            break;
        case PL_COLUMN_NUMBER:
            sqlite3_bind_double(s, i + 1, *pl_row_number(row, c));
            break;
        }
    }
    sqlite3_bind_int64(s, PL_ROW_COLUMNS + 1, pl_row_checksum(row, PL_ROW_FORMAT));
}

/* The copy is malloc'ed; false if out of memory. */
static bool copy_column(sqlite3_stmt *s, int i, char **out)
{
    const char *text = (const char *)sqlite3_column_text(s, i);
    *out = text ? strdup(text) : NULL;
    return *out;
}

bool pl_sql_read_row(sqlite3_stmt *s, pl_row *row)
{
    bool whole = true;
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        const pl_column *c = &pl_row_columns[i];
        const char *id;
        switch (c->kind) {
        case PL_COLUMN_ID:
            id = (const char *)sqlite3_column_text(s, i);
            snprintf(row->id, sizeof row->id, "%s", id ? id : "");
            break;
        case PL_COLUMN_TEXT:
            whole = whole && (sqlite3_column_type(s, i) == SQLITE_NULL ||
                              copy_column(s, i, pl_row_text(row, c)));
            break;
        case PL_COLUMN_INTEGER:
            *pl_row_integer(row, c) = sqlite3_column_int64(s, i);
            break;
        case PL_COLUMN_NUMBER:
            *pl_row_number(row, c) = sqlite3_column_double(s, i);
            break;
        }
    }
    return whole;
}

bool pl_sql_put_row(sqlite3 *db, const char *verb, const pl_row *row)
{
    char sql[PL_SQL_MAX];
    pl_row_sql_put(verb, sql);
    sqlite3_stmt *s = pl_sql_again(db, sql);
    if (s) {
        pl_sql_bind_row(s, row);
    }
    return pl_sql_finish(db, s);
}

bool pl_sql_run(sqlite3 *db, const char *sql)
{
    return pl_sql_finish(db, pl_sql_again(db, sql));
}

bool pl_sql_execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK) {
        return true;
    }
    pl_sql_complain(db, sql);
    return false;
}
