#include "server/store/database_copy.h"

#include "server/store/sql.h"

#include <limits.h>
#include <stdio.h>

enum { BUSY_MS = 10000 };

static sqlite3 *open_database(const char *folder, int flags, char *why, size_t size)
{
    char path[PATH_MAX];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%.4000s/pliant.db", folder);
    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
        snprintf(why, size, "%s: %s", path, db ? sqlite3_errmsg(db) : "no memory");
        sqlite3_close(db);
        return NULL;
    }
    sqlite3_busy_timeout(db, BUSY_MS);
    return db;
}

/* Copies all pages in one read transaction, which does not block writers. */
static bool copy_pages(sqlite3 *from, sqlite3 *to, char *why, size_t size)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    int r = b ? sqlite3_backup_step(b, -1) : SQLITE_ERROR;
    if (b) {
        sqlite3_backup_finish(b);
    }
    if (r != SQLITE_DONE) {
        const char *said = b ? sqlite3_errstr(r) : sqlite3_errmsg(to);
        snprintf(why, size, "pliant.db could not be copied: %s", said);
    }
    return r == SQLITE_DONE;
}

bool pl_database_copy(const char *state, const char *to, char *why, size_t size)
{
    int flags = SQLITE_OPEN_READWRITE;
    sqlite3 *source = open_database(state, flags, why, size);
    sqlite3 *copy = source ? open_database(to, flags | SQLITE_OPEN_CREATE, why, size) : NULL;
    bool good = copy && copy_pages(source, copy, why, size);
    sqlite3_close(copy);
    sqlite3_close(source);
    return good;
}

bool pl_database_ask(const char *state, const char *name, char *answer, size_t size)
{
    char sql[80];
    sqlite3 *db = open_database(state, SQLITE_OPEN_READWRITE, answer, size);
    sqlite3_stmt *s = NULL;
    if (!db) {
        return false;
    }
    snprintf(sql, sizeof sql, "PRAGMA %.60s", name);
    bool good = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
                sqlite3_step(s) == SQLITE_ROW;
    const char *text = good ? (const char *)sqlite3_column_text(s, 0) : sqlite3_errmsg(db);
    snprintf(answer, size, "%s", text ? text : "no memory");
    sqlite3_finalize(s);
    sqlite3_close(db);
    return good;
}
