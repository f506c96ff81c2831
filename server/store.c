#include "server/store.h"

#include "server/busy_keys.h"
#include "server/say.h"

#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DAY_S = 24 * 3600, SQL_MAX = 1024 };

enum { FORMAT = 2 }; /* PRAGMA user_version; 1 had fewer columns of sessions and no checksum */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS sessions(id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT,"
    " state TEXT NOT NULL, reason TEXT, message TEXT, bodies TEXT, failure TEXT, worker TEXT,"
    " desired TEXT, created_us INTEGER, since_ms INTEGER, frames INTEGER, frame INTEGER,"
    " attempt INTEGER, cores INTEGER, memory REAL, time REAL, time_limit REAL, paused_by TEXT,"
    " crashes INTEGER, checkpoint INTEGER, restart_ms INTEGER, memory_retries INTEGER,"
    " memory_limit REAL, crc INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS keys(owner TEXT, route TEXT, key TEXT, body_hash TEXT NOT NULL,"
    " status INTEGER, reply TEXT, location TEXT, created INTEGER,"
    " PRIMARY KEY(owner, route, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS meshes(hash TEXT PRIMARY KEY, bytes INTEGER, report TEXT,"
    " last_used INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS grants(owner TEXT, hash TEXT, created INTEGER,"
    " PRIMARY KEY(owner, hash)) WITHOUT ROWID;"
    "PRAGMA user_version = 2;";

static const char from_format_1[] =
    "BEGIN; ALTER TABLE sessions ADD COLUMN paused_by TEXT;"
    "ALTER TABLE sessions ADD COLUMN crashes INTEGER DEFAULT 0;"
    "ALTER TABLE sessions ADD COLUMN checkpoint INTEGER DEFAULT -1;"
    "ALTER TABLE sessions ADD COLUMN restart_ms INTEGER DEFAULT 0;"
    "ALTER TABLE sessions ADD COLUMN memory_retries INTEGER DEFAULT 0;"
    "ALTER TABLE sessions ADD COLUMN memory_limit REAL DEFAULT 0;"
    "ALTER TABLE sessions ADD COLUMN crc INTEGER;"
    "PRAGMA user_version = 2; COMMIT;";

typedef enum op_kind {
    OP_CREATE,
    OP_REPLACE,
    OP_UPDATE,
    OP_DELETE,
    OP_MESH,
    OP_USE,
    OP_FORGET_MESH,
    OP_FORGET_KEYS
} op_kind;

typedef struct op {
    struct op *next;
    op_kind kind;
    bool waited, done, good;
    pl_row row;                /* OP_UPDATE owns it */
    const pl_row *lent;        /* OP_CREATE, OP_REPLACE */
    const pl_kept_reply *kept; /* OP_CREATE, may be NULL */
    char id[65];
    const char *owner, *report;
    int64_t bytes;
} op;

struct pl_store {
    pl_counters *counters;
    sqlite3 *writer, *reader;
    pthread_mutex_t read_mutex; /* guards reader */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t work, committed;
    op *first, **last;
    bool stopping;
    pl_busy_keys busy; /* has its own mutex */
};

/* ---- statements --------------------------------------------------------------------------------
 */

static void complain(sqlite3 *db, const char *what)
{
    pl_say(PL_LEVEL_ERROR, "database: %s: %s", what, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        complain(db, sql);
    }
    return s;
}

static void bind_text(sqlite3_stmt *s, int i, const char *text)
{
    sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
}

/* Run a statement that gives no rows, and release it. */
static bool finish(sqlite3 *db, sqlite3_stmt *s)
{
    if (!s) {
        return false;
    }
    int r = sqlite3_step(s);
    if (r != SQLITE_DONE) {
        complain(db, sqlite3_sql(s));
    }
    sqlite3_finalize(s);
    return r == SQLITE_DONE;
}

/* Column i of the table is parameter i + 1; the checksum comes after the last. */
static void bind_row(sqlite3_stmt *s, const pl_row *row)
{
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        const pl_column *c = &pl_row_columns[i];
        switch (c->kind) {
        case PL_COLUMN_ID:
            bind_text(s, i + 1, row->id);
            break;
        case PL_COLUMN_TEXT:
            bind_text(s, i + 1, *pl_row_text(row, c));
            break;
        case PL_COLUMN_INTEGER:
            sqlite3_bind_int64(s, i + 1, *pl_row_integer(row, c));
            break;
        case PL_COLUMN_NUMBER:
            sqlite3_bind_double(s, i + 1, *pl_row_number(row, c));
            break;
        }
    }
    sqlite3_bind_int64(s, PL_ROW_COLUMNS + 1, pl_row_checksum(row));
}

/* "id, owner, ..., crc", or with `set` "state=?4, ..., crc=?26" of what may change. */
static void list_columns(bool set, char out[SQL_MAX])
{
    int at = 0;
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        const pl_column *c = &pl_row_columns[i];
        if (set && !c->constant) {
            at += snprintf(out + at, (size_t)(SQL_MAX - at), "%s=?%d, ", c->name, i + 1);
        } else if (!set) {
            at += snprintf(out + at, (size_t)(SQL_MAX - at), "%s, ", c->name);
        }
    }
    snprintf(out + at, (size_t)(SQL_MAX - at), set ? "crc=?%d" : "crc", PL_ROW_COLUMNS + 1);
}

static bool put_row(sqlite3 *db, const char *verb, const pl_row *row)
{
    char columns[SQL_MAX], sql[2 * SQL_MAX], holes[2 * PL_ROW_COLUMNS + 2];
    list_columns(false, columns);
    memset(holes, 0, sizeof holes);
    for (int i = 0; i < 2 * PL_ROW_COLUMNS + 1; i++) {
        holes[i] = i % 2 ? ',' : '?';
    }
    snprintf(sql, sizeof sql, "%s INTO sessions(%s) VALUES(%s)", verb, columns, holes);
    sqlite3_stmt *s = prepare(db, sql);
    if (s) {
        bind_row(s, row);
    }
    return finish(db, s);
}

static bool apply_create(pl_store *store, const op *o)
{
    sqlite3 *db = store->writer;
    bool good = put_row(db, o->kind == OP_REPLACE ? "INSERT OR REPLACE" : "INSERT", o->lent);
    if (good && o->kept) {
        const pl_kept_reply *k = o->kept;
        sqlite3_stmt *s = prepare(db, "INSERT OR REPLACE INTO keys VALUES(?,?,?,?,?,?,?,?)");
        if (s) {
            bind_text(s, 1, k->owner);
            bind_text(s, 2, k->route);
            bind_text(s, 3, k->key);
            bind_text(s, 4, k->body_hash);
            sqlite3_bind_int(s, 5, k->status);
            bind_text(s, 6, k->reply);
            bind_text(s, 7, k->location);
            sqlite3_bind_int64(s, 8, time(NULL));
        }
        good = finish(db, s);
    }
    return good;
}

static bool apply_update(pl_store *store, const op *o)
{
    char columns[SQL_MAX], sql[2 * SQL_MAX];
    list_columns(true, columns);
    snprintf(sql, sizeof sql, "UPDATE sessions SET %s WHERE id=?1", columns);
    sqlite3_stmt *s = prepare(store->writer, sql);
    if (s) {
        bind_row(s, &o->row);
    }
    return finish(store->writer, s);
}

/* A statement whose ?1 is the operation's id and whose ?2 is a time in seconds. */
static bool apply_id(pl_store *store, const op *o, const char *sql, int64_t seconds)
{
    sqlite3_stmt *s = prepare(store->writer, sql);
    if (s) {
        bind_text(s, 1, o->id);
        sqlite3_bind_int64(s, 2, seconds);
    }
    return finish(store->writer, s);
}

static bool apply_forget_mesh(pl_store *store, const op *o)
{
    int64_t day_ago = time(NULL) - DAY_S;
    if (!apply_id(store, o, "DELETE FROM meshes WHERE hash=?1 AND last_used<?2", day_ago)) {
        return false;
    }
    /* Used again meanwhile: not deleted, so not forgotten. */
    return sqlite3_changes(store->writer) == 1 &&
           apply_id(store, o, "DELETE FROM grants WHERE hash=?1 AND ?2=?2", day_ago);
}

static bool apply_mesh(pl_store *store, const op *o)
{
    sqlite3 *db = store->writer;
    sqlite3_stmt *s = prepare(db, "INSERT OR REPLACE INTO meshes VALUES(?,?,?,?)");
    if (s) {
        bind_text(s, 1, o->id);
        sqlite3_bind_int64(s, 2, o->bytes);
        bind_text(s, 3, o->report);
        sqlite3_bind_int64(s, 4, time(NULL));
    }
    bool good = finish(db, s);
    if (!good || !o->owner) {
        return good;
    }
    s = prepare(db, "INSERT OR REPLACE INTO grants VALUES(?,?,?)");
    if (s) {
        bind_text(s, 1, o->owner);
        bind_text(s, 2, o->id);
        sqlite3_bind_int64(s, 3, time(NULL));
    }
    return finish(db, s);
}

static bool apply(pl_store *store, const op *o)
{
    switch (o->kind) {
    case OP_CREATE:
    case OP_REPLACE:
        return apply_create(store, o);
    case OP_UPDATE:
        return apply_update(store, o);
    case OP_DELETE:
        return apply_id(store, o, "DELETE FROM sessions WHERE id=?1 AND ?2=?2", 0);
    case OP_MESH:
        return apply_mesh(store, o);
    case OP_USE:
        return apply_id(store, o, "UPDATE meshes SET last_used=?2 WHERE hash=?1", time(NULL));
    case OP_FORGET_MESH:
        return apply_forget_mesh(store, o);
    case OP_FORGET_KEYS:
        return apply_id(store, o, "DELETE FROM keys WHERE created<?2 AND ?1=?1",
                        time(NULL) - DAY_S);
    }
    return false;
}

/* ---- the writer thread -------------------------------------------------------------------------
 */

static bool execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK) {
        return true;
    }
    complain(db, sql);
    return false;
}

/* One transaction for everything that gathered. One operation that fails takes back only itself. */
static void commit_batch(pl_store *store, op *batch)
{
    int64_t rows = 0;
    bool begun = execute(store->writer, "BEGIN IMMEDIATE");
    for (op *o = batch; o; o = o->next) {
        o->good = begun && execute(store->writer, "SAVEPOINT one") && apply(store, o);
        if (begun && !o->good) {
            execute(store->writer, "ROLLBACK TO one");
        }
        if (begun) {
            o->good = execute(store->writer, "RELEASE one") && o->good;
        }
        rows++;
    }
    if (begun && !execute(store->writer, "COMMIT")) {
        execute(store->writer, "ROLLBACK");
        begun = false;
    }
    atomic_fetch_add(&store->counters->store_commits, 1);
    atomic_fetch_add(&store->counters->store_rows, rows);
    pthread_mutex_lock(&store->mutex);
    for (op *o = batch, *next; o; o = next) {
        next = o->next;
        o->good = o->good && begun;
        o->done = true; /* a waited one belongs to its waiter from here on */
        if (!o->waited) {
            pl_row_clear(&o->row);
            free(o);
        }
    }
    pthread_cond_broadcast(&store->committed);
    pthread_mutex_unlock(&store->mutex);
}

static void *write_batches(void *context)
{
    pl_store *store = context;
    pthread_mutex_lock(&store->mutex);
    for (;;) {
        while (!store->first && !store->stopping) {
            pthread_cond_wait(&store->work, &store->mutex);
        }
        op *batch = store->first;
        if (!batch) {
            break;
        }
        store->first = NULL;
        store->last = &store->first;
        pthread_mutex_unlock(&store->mutex);
        commit_batch(store, batch);
        pthread_mutex_lock(&store->mutex);
    }
    pthread_mutex_unlock(&store->mutex);
    return NULL;
}

static void enqueue(pl_store *store, op *o)
{
    *store->last = o;
    store->last = &o->next;
    pthread_cond_signal(&store->work);
}

static bool commit_and_wait(pl_store *store, op *o)
{
    o->waited = true;
    pthread_mutex_lock(&store->mutex);
    enqueue(store, o);
    while (!o->done) {
        pthread_cond_wait(&store->committed, &store->mutex);
    }
    pthread_mutex_unlock(&store->mutex);
    return o->good;
}

static void commit_later(pl_store *store, const op *o)
{
    op *copy = malloc(sizeof *copy);
    if (copy) {
        *copy = *o;
        pthread_mutex_lock(&store->mutex);
        enqueue(store, copy);
        pthread_mutex_unlock(&store->mutex);
    }
}

bool pl_store_create(pl_store *store, const pl_row *row, const pl_kept_reply *kept)
{
    op o = {.kind = OP_CREATE, .lent = row, .kept = kept};
    return commit_and_wait(store, &o);
}

bool pl_store_replace(pl_store *store, const pl_row *row)
{
    op o = {.kind = OP_REPLACE, .lent = row};
    return commit_and_wait(store, &o);
}

bool pl_store_delete(pl_store *store, const char *id)
{
    op o = {.kind = OP_DELETE};
    snprintf(o.id, sizeof o.id, "%s", id);
    return commit_and_wait(store, &o);
}

bool pl_store_add_mesh(pl_store *store, const char *owner, const char *hash, int64_t bytes,
                       const char *report)
{
    op o = {.kind = OP_MESH, .owner = owner, .bytes = bytes, .report = report};
    snprintf(o.id, sizeof o.id, "%s", hash);
    return commit_and_wait(store, &o);
}

void pl_store_update(pl_store *store, pl_row *row)
{
    op o = {.kind = OP_UPDATE, .row = *row};
    memset(row, 0, sizeof *row);
    commit_later(store, &o);
}

void pl_store_use_mesh(pl_store *store, const char *hash)
{
    op o = {.kind = OP_USE};
    snprintf(o.id, sizeof o.id, "%s", hash);
    commit_later(store, &o);
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static bool ask_first(sqlite3 *db, const char *sql, char out[200])
{
    sqlite3_stmt *s = NULL;
    bool got = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
               sqlite3_step(s) == SQLITE_ROW;
    snprintf(out, 200, "%s", got ? (const char *)sqlite3_column_text(s, 0) : sqlite3_errmsg(db));
    sqlite3_finalize(s);
    return got;
}

/* Pages and their order; what lies in a row is guarded by its checksum. */
static bool sound(sqlite3 *db, const char *path)
{
    char said[200];
    if (ask_first(db, "PRAGMA quick_check(1)", said) && strcmp(said, "ok") == 0) {
        return true;
    }
    pl_say(PL_LEVEL_ERROR,
           "%s is damaged: %s. Sessions and frames are not lost: run pliantd --reindex on this "
           "state to rebuild it from the session directories",
           path, said);
    return false;
}

static bool bring_up_to_date(sqlite3 *db, const char *path)
{
    char said[200];
    if (!ask_first(db, "PRAGMA user_version", said)) {
        complain(db, path);
        return false;
    }
    int version = atoi(said);
    if (version > FORMAT) {
        pl_say(PL_LEVEL_ERROR, "%s has format %d of a newer pliantd; this one knows up to %d", path,
               version, FORMAT);
        return false;
    }
    return (version != 1 || execute(db, from_format_1)) && execute(db, schema);
}

static bool open_files(pl_store *store, const char *path, bool create)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    flags |= create ? SQLITE_OPEN_CREATE : 0;
    if (!create && access(path, F_OK) != 0) {
        pl_say(PL_LEVEL_ERROR,
               "%s is missing, but there are sessions: run pliantd --reindex on this state to "
               "rebuild it from their directories",
               path);
        return false;
    }
    if (sqlite3_open_v2(path, &store->writer, flags, NULL) != SQLITE_OK) {
        complain(store->writer, path);
        return false;
    }
    sqlite3_busy_timeout(store->writer, 5000);
    if (!sound(store->writer, path) ||
        !execute(store->writer, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL") ||
        !bring_up_to_date(store->writer, path)) {
        return false;
    }
    flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &store->reader, flags, NULL) != SQLITE_OK) {
        complain(store->reader, path);
        return false;
    }
    sqlite3_busy_timeout(store->reader, 5000);
    return true;
}

pl_store *pl_store_open(const char *state, bool create, pl_counters *counters)
{
    pl_store *store = calloc(1, sizeof *store);
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/pliant.db", state);
    if (!store) {
        return NULL;
    }
    store->counters = counters;
    store->last = &store->first;
    pthread_mutex_init(&store->mutex, NULL);
    pthread_mutex_init(&store->read_mutex, NULL);
    pl_busy_keys_init(&store->busy);
    pthread_cond_init(&store->work, NULL);
    pthread_cond_init(&store->committed, NULL);
    if (!open_files(store, path, create) ||
        pthread_create(&store->thread, NULL, write_batches, store) != 0) {
        sqlite3_close(store->writer);
        sqlite3_close(store->reader);
        free(store);
        return NULL;
    }
    pthread_setname_np(store->thread, "store");
    return store;
}

void pl_store_close(pl_store *store)
{
    if (!store) {
        return;
    }
    pthread_mutex_lock(&store->mutex);
    store->stopping = true;
    pthread_cond_signal(&store->work);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(store->thread, NULL);
    sqlite3_close(store->reader);
    sqlite3_close(store->writer);
    pl_busy_keys_clear(&store->busy);
    pthread_cond_destroy(&store->committed);
    pthread_cond_destroy(&store->work);
    pthread_mutex_destroy(&store->read_mutex);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static char *copy_column(sqlite3_stmt *s, int i)
{
    const char *text = (const char *)sqlite3_column_text(s, i);
    return text ? strdup(text) : NULL;
}

static void read_row(sqlite3_stmt *s, pl_row *row)
{
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        const pl_column *c = &pl_row_columns[i];
        const char *id;
        switch (c->kind) {
        case PL_COLUMN_ID:
            id = (const char *)sqlite3_column_text(s, i);
            snprintf(row->id, sizeof row->id, "%s", id ? id : "");
            break;
        case PL_COLUMN_TEXT:
            *pl_row_text(row, c) = copy_column(s, i);
            break;
        case PL_COLUMN_INTEGER:
            *pl_row_integer(row, c) = sqlite3_column_int64(s, i);
            break;
        case PL_COLUMN_NUMBER:
            *pl_row_number(row, c) = sqlite3_column_double(s, i);
            break;
        }
    }
}

int pl_store_each(pl_store *store, void (*see)(void *context, const pl_row *row, bool good),
                  void *context)
{
    char columns[SQL_MAX], sql[2 * SQL_MAX];
    list_columns(false, columns);
    snprintf(sql, sizeof sql, "SELECT %s FROM sessions ORDER BY created_us", columns);
    pthread_mutex_lock(&store->read_mutex);
    sqlite3_stmt *s = prepare(store->reader, sql);
    int r = SQLITE_ERROR;
    while (s && (r = sqlite3_step(s)) == SQLITE_ROW) {
        pl_row row = {0};
        read_row(s, &row);
        /* A row of format 1 has no checksum until it is written again. */
        bool good = sqlite3_column_type(s, PL_ROW_COLUMNS) == SQLITE_NULL ||
                    sqlite3_column_int64(s, PL_ROW_COLUMNS) == pl_row_checksum(&row);
        see(context, &row, good);
        pl_row_clear(&row);
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&store->read_mutex);
    return r == SQLITE_DONE ? 0 : -1;
}

bool pl_store_find_mesh(pl_store *store, const char *owner, const char *hash, int64_t *bytes,
                        char **report)
{
    pthread_mutex_lock(&store->read_mutex);
    sqlite3_stmt *s = prepare(store->reader, "SELECT m.bytes, m.report FROM grants g JOIN meshes m"
                                             " ON m.hash = g.hash WHERE g.owner=? AND g.hash=?");
    bool found = false;
    if (s) {
        bind_text(s, 1, owner);
        bind_text(s, 2, hash);
        found = sqlite3_step(s) == SQLITE_ROW;
        if (found && bytes) {
            *bytes = sqlite3_column_int64(s, 0);
        }
        if (found && report) {
            *report = copy_column(s, 1);
        }
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&store->read_mutex);
    return found;
}

/* ---- sweeping ----------------------------------------------------------------------------------
 */

/* Hashes of meshes not used for a day; at most `limit`. */
static int stale_meshes(pl_store *store, char (*out)[65], int limit)
{
    pthread_mutex_lock(&store->read_mutex);
    sqlite3_stmt *s = prepare(store->reader, "SELECT hash FROM meshes WHERE last_used<? LIMIT ?");
    int count = 0;
    if (s) {
        sqlite3_bind_int64(s, 1, time(NULL) - DAY_S);
        sqlite3_bind_int(s, 2, limit);
        while (count < limit && sqlite3_step(s) == SQLITE_ROW) {
            snprintf(out[count++], 65, "%s", (const char *)sqlite3_column_text(s, 0));
        }
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&store->read_mutex);
    return count;
}

int pl_store_sweep(pl_store *store, bool (*forget)(void *context, const char *hash), void *context)
{
    char(*hashes)[65] = malloc(1000 * sizeof *hashes);
    int gone = 0, count = hashes ? stale_meshes(store, hashes, 1000) : 0;
    for (int i = 0; i < count; i++) {
        gone += forget(context, hashes[i]);
    }
    free(hashes);
    op keys = {.kind = OP_FORGET_KEYS};
    commit_and_wait(store, &keys);
    return gone;
}

bool pl_store_forget_mesh(pl_store *store, const char *hash)
{
    op o = {.kind = OP_FORGET_MESH};
    snprintf(o.id, sizeof o.id, "%s", hash);
    return commit_and_wait(store, &o);
}

/* ---- idempotency keys --------------------------------------------------------------------------
 */

pl_key_verdict pl_store_key_begin(pl_store *store, const char *owner, const char *route,
                                  const char *key, const char *body_hash, int *status, char **reply,
                                  char **location)
{
    /* Reserved before looking: who commits a reply lets go of the key only afterwards. */
    if (!pl_busy_keys_take(&store->busy, owner, route, key)) {
        return PL_KEY_IN_PROGRESS;
    }
    pl_key_verdict verdict = PL_KEY_NEW;
    pthread_mutex_lock(&store->read_mutex);
    sqlite3_stmt *s = prepare(store->reader, "SELECT body_hash, status, reply, location FROM keys"
                                             " WHERE owner=? AND route=? AND key=? AND created>=?");
    if (s) {
        bind_text(s, 1, owner);
        bind_text(s, 2, route);
        bind_text(s, 3, key);
        sqlite3_bind_int64(s, 4, time(NULL) - DAY_S);
        if (sqlite3_step(s) == SQLITE_ROW) {
            bool same = strcmp((const char *)sqlite3_column_text(s, 0), body_hash) == 0;
            verdict = same ? PL_KEY_SEEN : PL_KEY_OTHER_BODY;
            *status = sqlite3_column_int(s, 1);
            *reply = same ? copy_column(s, 2) : NULL;
            *location = same ? copy_column(s, 3) : NULL;
        }
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&store->read_mutex);
    if (verdict != PL_KEY_NEW) {
        pl_store_key_end(store, owner, route, key);
    }
    return verdict;
}

void pl_store_key_end(pl_store *store, const char *owner, const char *route, const char *key)
{
    pl_busy_keys_drop(&store->busy, owner, route, key);
}
