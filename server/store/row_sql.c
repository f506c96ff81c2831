#include "server/store/row_sql.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct text {
    char *out;
    size_t at;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->out + t->at, PL_SQL_MAX - t->at, format, args);
    va_end(args);
    t->at += n > 0 ? (size_t)n : 0;
}

static const char *type_of(const pl_column *c)
{
    static const char *const types[] = {"TEXT PRIMARY KEY", "TEXT", "INTEGER", "REAL"};
    return types[c->kind];
}

void pl_row_sql_table(char out[PL_SQL_MAX])
{
    text t = {out, 0};
    put(&t, "CREATE TABLE IF NOT EXISTS sessions(");
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        put(&t, "%s %s, ", pl_row_columns[i].name, type_of(&pl_row_columns[i]));
    }
    put(&t, "crc INTEGER) WITHOUT ROWID");
}

static void put_columns(text *t)
{
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        put(t, "%s, ", pl_row_columns[i].name);
    }
    put(t, "crc");
}

void pl_row_sql_put(const char *verb, char out[PL_SQL_MAX])
{
    text t = {out, 0};
    put(&t, "%s INTO sessions(", verb);
    put_columns(&t);
    put(&t, ") VALUES(?");
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        put(&t, ",?");
    }
    put(&t, ")");
}

void pl_row_sql_update(char out[PL_SQL_MAX])
{
    text t = {out, 0};
    put(&t, "UPDATE sessions SET ");
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        if (!pl_row_columns[i].constant) {
            put(&t, "%s=?%d, ", pl_row_columns[i].name, i + 1);
        }
    }
    put(&t, "crc=?%d WHERE id=?1", PL_ROW_COLUMNS + 1);
}

void pl_row_sql_select(char out[PL_SQL_MAX])
{
    text t = {out, 0};
    put(&t, "SELECT ");
    put_columns(&t);
    put(&t, " FROM sessions ORDER BY created_us");
}

void pl_row_sql_add(const pl_column *c, char out[PL_SQL_MAX])
{
    text t = {out, 0};
    put(&t, "ALTER TABLE sessions ADD COLUMN %s %s", c->name, type_of(c));
    if (c->fallback) {
        put(&t, " DEFAULT %s", c->fallback);
    }
}
