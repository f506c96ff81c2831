#include "server/store/schema.h"

#include "server/base/limits.h"
#include "server/base/logger.h"
#include "server/store/row_sql.h"
#include "server/store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PRAGMA user_version is PL_ROW_FORMAT. Format 1 had no checksum of sessions; row.c says how the table of sessions is
 * created and extended. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS keys(owner TEXT, route TEXT, key TEXT, body_hash TEXT NOT NULL,"
    " status INTEGER, reply TEXT, location TEXT, created INTEGER,"
    " PRIMARY KEY(owner, route, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS meshes(hash TEXT PRIMARY KEY, bytes INTEGER, report TEXT,"
    " last_used INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS grants(owner TEXT, hash TEXT, created INTEGER,"
    " PRIMARY KEY(owner, hash)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS grants_by_hash ON grants(hash);"
    "CREATE TABLE IF NOT EXISTS users(name TEXT PRIMARY KEY, created INTEGER,"
    " disabled INTEGER DEFAULT 0, uid INTEGER, sessions INTEGER, queued INTEGER, cores INTEGER,"
    " bytes INTEGER, mesh_bytes INTEGER, requests INTEGER, running INTEGER, gpus INTEGER,"
    " share INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS user_groups(name TEXT PRIMARY KEY, created INTEGER,"
    " sessions INTEGER, queued INTEGER, cores INTEGER, bytes INTEGER, mesh_bytes INTEGER,"
    " requests INTEGER, running INTEGER, gpus INTEGER, share INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS members(grp TEXT, user TEXT, role TEXT NOT NULL,"
    " PRIMARY KEY(grp, user)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS tokens(id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, kind TEXT,"
    " user TEXT NOT NULL, name TEXT, scopes TEXT, session TEXT, parent TEXT, created INTEGER,"
    " expires INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS sweeps(id TEXT PRIMARY KEY, owner TEXT NOT NULL, grp TEXT,"
    " admin INTEGER, created_us INTEGER, halt TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS sweep_rows(sweep TEXT, row INTEGER, session TEXT, state TEXT,"
    " tries INTEGER, since_us INTEGER, message TEXT, results TEXT, warnings TEXT,"
    " PRIMARY KEY(sweep, row)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS run_times(kind TEXT PRIMARY KEY, log_ratio REAL, runs INTEGER)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS audit(seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, user TEXT,"
    " by TEXT, credential TEXT, action TEXT, target TEXT, status INTEGER, address TEXT);"
    "CREATE INDEX IF NOT EXISTS audit_by_user ON audit(user, seq);"
    /* Each piece of a run lies within one day of UTC, and a trigger adds it to that day's sum (usage.h). */
    "CREATE TABLE IF NOT EXISTS usage_spans(session TEXT, user TEXT, grp TEXT, from_ms INTEGER,"
    " to_ms INTEGER, cores INTEGER, gpu TEXT, runs INTEGER,"
    " PRIMARY KEY(session, from_ms, cores)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS usage_spans_by_time ON usage_spans(from_ms);"
    "CREATE TABLE IF NOT EXISTS usage_days(day INTEGER, user TEXT, grp TEXT,"
    " core_ms INTEGER DEFAULT 0, gpu_ms INTEGER DEFAULT 0, runs INTEGER DEFAULT 0, bytes INTEGER,"
    " PRIMARY KEY(day, user, grp)) WITHOUT ROWID;"
    "CREATE TRIGGER IF NOT EXISTS usage_counted AFTER INSERT ON usage_spans BEGIN"
    " INSERT OR IGNORE INTO usage_days(day, user, grp)"
    " VALUES(NEW.from_ms/86400000, NEW.user, NEW.grp);"
    " UPDATE usage_days SET core_ms=core_ms+NEW.cores*(NEW.to_ms-NEW.from_ms),"
    " gpu_ms=gpu_ms+(NEW.gpu IS NOT NULL)*(NEW.to_ms-NEW.from_ms), runs=runs+NEW.runs"
    " WHERE day=NEW.from_ms/86400000 AND user=NEW.user AND grp=NEW.grp; END;";

static bool ask_first(sqlite3 *db, const char *sql, char out[200])
{
    sqlite3_stmt *s = NULL;
    bool got = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
               sqlite3_step(s) == SQLITE_ROW;
    snprintf(out, 200, "%s", got ? (const char *)sqlite3_column_text(s, 0) : sqlite3_errmsg(db));
    sqlite3_finalize(s);
    return got;
}

/* Checks the pages and their order; rows are protected by their checksums. */
bool pl_schema_sound(sqlite3 *db, const char *path)
{
    char answer[200];
    if (ask_first(db, "PRAGMA quick_check(1)", answer) && strcmp(answer, "ok") == 0) {
        return true;
    }
    int code = sqlite3_errcode(db) & 0xFF;
    if (code == SQLITE_IOERR || code == SQLITE_FULL) {
        pl_logf(PL_LEVEL_ERROR, "%s cannot be used: %s. Check whether its disk is full or faulty",
                path, answer);
        return false;
    }
    pl_logf(PL_LEVEL_ERROR,
            "%s is damaged: %s. Sessions and frames are not lost: run pliantd --reindex on this "
            "state to rebuild it from the session directories",
            path, answer);
    return false;
}

/* Rows of an earlier format have a checksum over fewer columns: if correct, it is recomputed. An incorrect one is left,
 * so that it is found when the row is loaded. */
static bool renew_checksums(sqlite3 *db, int version)
{
    char sql[PL_SQL_MAX];
    pl_row_sql_select(sql);
    sqlite3_stmt *s = pl_sql_prepare(db, sql);
    int r = SQLITE_ERROR;
    bool good = true;
    while (s && good && (r = sqlite3_step(s)) == SQLITE_ROW) {
        pl_row row = {0};
        good = pl_sql_read_row(s, &row);
        if (good && sqlite3_column_int64(s, PL_ROW_COLUMNS) == pl_row_checksum(&row, version)) {
            sqlite3_stmt *u = pl_sql_prepare(db, "UPDATE sessions SET crc=?2 WHERE id=?1");
            if (u) {
                pl_sql_bind_text(u, 1, row.id);
                sqlite3_bind_int64(u, 2, pl_row_checksum(&row, PL_ROW_FORMAT));
            }
            good = pl_sql_finish(db, u);
        }
        pl_row_clear(&row);
    }
    sqlite3_finalize(s);
    return good && r == SQLITE_DONE;
}

static bool add_columns(sqlite3 *db, int version)
{
    char sql[PL_SQL_MAX];
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        pl_row_sql_add(&pl_row_columns[i], sql);
        if (pl_row_columns[i].since > version && !pl_sql_execute(db, sql)) {
            return false;
        }
    }
    return version == 1 ? pl_sql_execute(db, "ALTER TABLE sessions ADD COLUMN crc INTEGER")
                        : renew_checksums(db, version);
}

static bool add_column(sqlite3 *db, const char *table, const char *name, const char *type)
{
    char there[200], sql[200];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM pragma_table_info('%s') WHERE name='%s'", table,
             name);
    if (!ask_first(db, sql, there)) {
        return false;
    }
    snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN %s %s", table, name, type);
    return atoi(there) == 1 || pl_sql_execute(db, sql);
}

/* Columns unknown to earlier daemons: they can still open such a database. */
static bool add_later_columns(sqlite3 *db)
{
    bool good = add_column(db, "sweep_rows", "warnings", "TEXT");
    for (int i = 0; good && i < PL_LIMIT_COUNT; i++) {
        const char *limit = pl_limit_name((pl_limit)i);
        good = add_column(db, "users", limit, "INTEGER") &&
               add_column(db, "user_groups", limit, "INTEGER");
    }
    return good;
}

bool pl_schema_update(sqlite3 *db, const char *path)
{
    char answer[200], sql[PL_SQL_MAX];
    if (!ask_first(db, "PRAGMA user_version", answer)) {
        pl_sql_complain(db, path);
        return false;
    }
    int version = atoi(answer);
    if (version > PL_ROW_FORMAT) {
        pl_logf(PL_LEVEL_ERROR, "%s has format %d of a newer pliantd; this one supports up to %d",
                path, version, PL_ROW_FORMAT);
        return false;
    }
    pl_row_sql_table(sql);
    bool good = pl_sql_execute(db, "BEGIN IMMEDIATE") && pl_sql_execute(db, sql) &&
                pl_sql_execute(db, schema) && add_later_columns(db) &&
                (version == 0 || version == PL_ROW_FORMAT || add_columns(db, version));
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", PL_ROW_FORMAT);
    if (good && pl_sql_execute(db, sql) && pl_sql_execute(db, "COMMIT")) {
        return true;
    }
    pl_sql_execute(db, "ROLLBACK");
    return false;
}
