#include "server/store/store.h"

#include "engine/deadline.h"
#include "server/base/disk.h"
#include "server/base/logger.h"
#include "server/store/row_sql.h"
#include "server/store/schema.h"
#include "server/store/sql.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    NOTES_MAX = 10000,
    UNDOS_MAX = 64,
    GATHER_US = 10000 /* what nobody waits for is committed with what follows within this time */
};

typedef enum op_kind {
    OP_CREATE,
    OP_REPLACE,
    OP_UPDATE,
    OP_DELETE,
    OP_CHANGE,
    OP_NOTE,
    OP_NOTHING,
} op_kind;

typedef struct op {
    struct op *next;
    op_kind kind;
    bool waited, done, good;
    pl_row row;                /* OP_UPDATE owns it */
    const pl_row *given;       /* OP_CREATE, OP_REPLACE */
    const pl_kept_reply *kept; /* OP_CREATE, may be NULL */
    pl_created created;        /* OP_CREATE */
    char id[33];
    const pl_statement *statements; /* OP_CHANGE */
    int statement_count, changed;
    pl_statement note; /* OP_NOTE: owns its values */
} op;

struct pl_store {
    pl_counters *counters;
    sqlite3 *writer, *reader;
    pthread_mutex_t read_mutex; /* guards reader */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t work, committed;
    op *first, **last;
    int waited;                /* queued operations that are waited for */
    int state_fd;              /* of the state directory; -1: unknown */
    int64_t notes;             /* queued */
    char undos[UNDOS_MAX][33]; /* ids of sessions whose creation is to be undone */
    int undo_count;
    bool stopping;
    pl_busy_keys busy; /* has its own mutex */
};

/* The integer returned by a statement with one ?; -1 on failure. */
static int ask(sqlite3 *db, const char *sql, const char *value)
{
    sqlite3_stmt *s = pl_sql_again(db, sql);
    int found = -1;
    if (s) {
        pl_sql_bind_text(s, 1, value);
        found = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int(s, 0) : -1;
        pl_sql_keep(db, s);
    }
    return found;
}

/* Check that the new row's owner and group exist: otherwise the row would be inherited by the next user or group of
 * that name. */
static pl_created find_owners(sqlite3 *db, const pl_row *row)
{
    bool ours = strcmp(row->owner, PL_DEFAULT_OWNER) == 0;
    int user = ours ? 1 : ask(db, "SELECT count(*) FROM users WHERE name=?", row->owner);
    int group = row->group_name
                    ? ask(db, "SELECT count(*) FROM user_groups WHERE name=?", row->group_name)
                    : 1;
    return user < 0 || group < 0 ? PL_CREATED_BROKEN
           : !user               ? PL_CREATED_NO_USER
           : !group              ? PL_CREATED_NO_GROUP
                                 : PL_CREATED_DONE;
}

static bool apply_create(pl_store *store, op *o)
{
    sqlite3 *db = store->writer;
    o->created = o->kind == OP_CREATE ? find_owners(db, o->given) : PL_CREATED_DONE;
    bool good = o->created == PL_CREATED_DONE &&
                pl_sql_put_row(db, o->kind == OP_REPLACE ? "INSERT OR REPLACE" : "INSERT",
                               o->given);
    if (good && o->kept) {
        const pl_kept_reply *k = o->kept;
        sqlite3_stmt *s = pl_sql_again(db, "INSERT OR REPLACE INTO keys VALUES(?,?,?,?,?,?,?,?)");
        if (s) {
            pl_sql_bind_text(s, 1, k->owner);
            pl_sql_bind_text(s, 2, k->route);
            pl_sql_bind_text(s, 3, k->key);
            pl_sql_bind_text(s, 4, k->body_hash);
            sqlite3_bind_int(s, 5, k->status);
            pl_sql_bind_text(s, 6, k->reply);
            pl_sql_bind_text(s, 7, k->location);
            sqlite3_bind_int64(s, 8, time(NULL));
        }
        good = pl_sql_finish(db, s);
    }
    return good;
}

static bool apply_update(pl_store *store, const op *o)
{
    char sql[PL_SQL_MAX];
    pl_row_sql_update(sql);
    sqlite3_stmt *s = pl_sql_again(store->writer, sql);
    if (s) {
        pl_sql_bind_row(s, &o->row);
    }
    return pl_sql_finish(store->writer, s);
}

static bool apply_delete(pl_store *store, const op *o)
{
    sqlite3_stmt *s = pl_sql_again(store->writer, "DELETE FROM sessions WHERE id=?");
    if (s) {
        pl_sql_bind_text(s, 1, o->id);
    }
    return pl_sql_finish(store->writer, s);
}

static void bind_values(sqlite3_stmt *s, const char *const *values, int count)
{
    for (int i = 0; i < count; i++) {
        pl_sql_bind_text(s, i + 1, values[i]);
    }
}

static bool apply_change(pl_store *store, op *o)
{
    for (int i = 0; i < o->statement_count; i++) {
        const pl_statement *t = &o->statements[i];
        sqlite3_stmt *s = pl_sql_again(store->writer, t->sql);
        if (s) {
            bind_values(s, t->values, t->count);
        }
        if (!pl_sql_finish(store->writer, s)) {
            return false;
        }
        o->changed = i ? o->changed : sqlite3_changes(store->writer);
    }
    return true;
}

static bool apply(pl_store *store, op *o)
{
    switch (o->kind) {
    case OP_CREATE:
    case OP_REPLACE:
        return apply_create(store, o);
    case OP_UPDATE:
        return apply_update(store, o);
    case OP_DELETE:
        return apply_delete(store, o);
    case OP_CHANGE:
        return apply_change(store, o);
    case OP_NOTE:
        o->statements = &o->note;
        o->statement_count = 1;
        return apply_change(store, o);
    case OP_NOTHING:
        return true;
    }
    return false;
}

/* ---- the writer thread ---- */

static void statement_clear(pl_statement *s)
{
    for (int i = 0; i < s->count; i++) {
        free((char *)s->values[i]);
    }
}

static bool wants_room(sqlite3 *db)
{
    int code = sqlite3_errcode(db) & 0xFF;
    return code == SQLITE_FULL || code == SQLITE_IOERR;
}

/* True if the transaction was committed and each operation's `good` is valid. False if the transaction and all its
 * operations are lost: SQLite rolls back a whole transaction if memory or disk space runs out in it. */
static bool commit_together(pl_store *store, op *batch, bool *no_room)
{
    sqlite3 *db = store->writer;
    bool begun = pl_sql_run(db, "BEGIN IMMEDIATE");
    for (op *o = batch; o && begun; o = o->next) {
        o->good = pl_sql_run(db, "SAVEPOINT one") && apply(store, o);
        if (!o->good && !sqlite3_get_autocommit(db)) {
            pl_sql_run(db, "ROLLBACK TO one");
        }
        begun = !sqlite3_get_autocommit(db) && pl_sql_run(db, "RELEASE one");
    }
    if (begun && pl_sql_run(db, "COMMIT")) {
        return true;
    }
    *no_room = wants_room(db);
    if (!sqlite3_get_autocommit(db)) {
        pl_sql_run(db, "ROLLBACK");
    }
    return false;
}

static bool commit_alone(pl_store *store, op *o)
{
    sqlite3 *db = store->writer;
    bool good = pl_sql_run(db, "BEGIN IMMEDIATE") && apply(store, o) &&
                !sqlite3_get_autocommit(db) && pl_sql_run(db, "COMMIT");
    if (!good && !sqlite3_get_autocommit(db)) {
        pl_sql_run(db, "ROLLBACK");
    }
    return good;
}

/* Try to delete what the pending undos name. An undo that fails stays pending. Returns the number that stay. */
static int undo_creates(pl_store *store)
{
    pthread_mutex_lock(&store->mutex);
    int count = store->undo_count; /* others only append */
    pthread_mutex_unlock(&store->mutex);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const char *id = store->undos[i];
        pl_statement statements[2] = {
            {"DELETE FROM sessions WHERE id=?", {id}, 1},
            {"DELETE FROM keys WHERE location='/v1/sessions/'||?", {id}, 1},
        };
        op o = {.kind = OP_CHANGE, .statements = statements, .statement_count = 2};
        if (!commit_alone(store, &o)) {
            memmove(store->undos[kept++], id, sizeof store->undos[0]);
        }
    }
    pthread_mutex_lock(&store->mutex);
    memmove(store->undos[kept], store->undos[count],
            (size_t)(store->undo_count - count) * sizeof store->undos[0]);
    store->undo_count -= count - kept;
    kept = store->undo_count;
    pthread_mutex_unlock(&store->mutex);
    return kept;
}

/* One transaction for everything that gathered. One operation that fails takes back only itself. */
static void commit_batch(pl_store *store, op *batch)
{
    int64_t rows = 0, failures = 0;
    bool no_room = false, together = commit_together(store, batch, &no_room);
    if (!together && no_room && pl_reserve_release(store->state_fd)) {
        pl_logf(PL_LEVEL_WARN, "database: the disk is full; part of the reserve is released");
        together = commit_together(store, batch, &no_room);
    }
    for (op *o = batch; o; o = o->next) {
        o->good = together ? o->good : commit_alone(store, o);
        failures += o->kind == OP_UPDATE && !o->good;
        rows++;
    }
    atomic_fetch_add(&store->counters->store_commits, 1);
    atomic_fetch_add(&store->counters->store_rows, rows);
    atomic_fetch_add(&store->counters->store_failures, failures);
    pthread_mutex_lock(&store->mutex);
    for (op *o = batch, *next; o; o = next) {
        next = o->next;
        o->done = true; /* from here on a waited operation belongs to its waiter */
        if (!o->waited) {
            pl_row_clear(&o->row);
            store->notes -= o->kind == OP_NOTE;
            statement_clear(&o->note);
            free(o);
        }
    }
    pthread_cond_broadcast(&store->committed);
    pthread_mutex_unlock(&store->mutex);
}

/* Wait for work, with the mutex held, for one second at most if undos are pending; then for what follows it within
 * GATHER_US, unless somebody waits. */
static void wait_for_work(pl_store *store)
{
    enum { SECOND_US = 1000000 };
    int64_t until = pl_monotonic_us() + (store->undo_count ? 1 : 3600) * (int64_t)SECOND_US;
    bool on_time = true;
    while (!store->first && !store->stopping && on_time) {
        on_time = pl_condition_wait_until(&store->work, &store->mutex, until);
    }
    until = pl_monotonic_us() + GATHER_US;
    on_time = store->first;
    while (on_time && !store->waited && !store->stopping) {
        on_time = pl_condition_wait_until(&store->work, &store->mutex, until);
    }
}

static void *write_batches(void *context)
{
    pl_store *store = context;
    bool ends = false;
    while (!ends) {
        pthread_mutex_lock(&store->mutex);
        wait_for_work(store);
        op *batch = store->first;
        store->first = NULL;
        store->last = &store->first;
        store->waited = 0;
        ends = !batch && store->stopping;
        pthread_mutex_unlock(&store->mutex);
        int pending = undo_creates(store);
        if (batch) {
            commit_batch(store, batch);
        }
        if (ends && pending > 0) {
            pl_logf(PL_LEVEL_ERROR,
                    "database: %d sessions that could not be created are still in it", pending);
        }
    }
    return NULL;
}

static void enqueue(pl_store *store, op *o)
{
    if (!store->first || o->waited) {
        pthread_cond_signal(&store->work);
    }
    *store->last = o;
    store->last = &o->next;
    store->waited += o->waited;
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

pl_created pl_store_create(pl_store *store, const pl_row *row, const pl_kept_reply *kept)
{
    op o = {.kind = OP_CREATE, .given = row, .kept = kept};
    return commit_and_wait(store, &o)     ? PL_CREATED_DONE
           : o.created == PL_CREATED_DONE ? PL_CREATED_BROKEN
                                          : o.created;
}

bool pl_store_replace(pl_store *store, const pl_row *row)
{
    op o = {.kind = OP_REPLACE, .given = row};
    return commit_and_wait(store, &o);
}

bool pl_store_delete(pl_store *store, const char *id)
{
    op o = {.kind = OP_DELETE};
    snprintf(o.id, sizeof o.id, "%s", id);
    return commit_and_wait(store, &o);
}

void pl_store_undo_create(pl_store *store, const char *id)
{
    pthread_mutex_lock(&store->mutex);
    bool room = store->undo_count < UNDOS_MAX;
    if (room) {
        snprintf(store->undos[store->undo_count++], sizeof store->undos[0], "%s", id);
    }
    pthread_mutex_unlock(&store->mutex);
    if (room) {
        pl_store_flush(store);
    } else {
        pl_logf(PL_LEVEL_ERROR, "database: session %s could not be created, but stays in it", id);
    }
}

int pl_store_change(pl_store *store, const pl_statement *statements, int count)
{
    op o = {.kind = OP_CHANGE, .statements = statements, .statement_count = count};
    return commit_and_wait(store, &o) ? o.changed : -1;
}

bool pl_store_note(pl_store *store, const pl_statement *statement)
{
    op *o = calloc(1, sizeof *o);
    if (!o) {
        return false;
    }
    o->kind = OP_NOTE;
    o->note = (pl_statement){.sql = statement->sql, .count = statement->count};
    for (int i = 0; i < statement->count; i++) {
        o->note.values[i] = statement->values[i] ? strdup(statement->values[i]) : NULL;
    }
    pthread_mutex_lock(&store->mutex);
    bool room = store->notes < NOTES_MAX;
    if (room) {
        store->notes++;
        enqueue(store, o);
    }
    pthread_mutex_unlock(&store->mutex);
    if (!room) {
        statement_clear(&o->note);
        free(o);
    }
    return room;
}

void pl_store_update(pl_store *store, pl_row *row)
{
    op *o = malloc(sizeof *o);
    if (o) {
        *o = (op){.kind = OP_UPDATE, .row = *row};
        memset(row, 0, sizeof *row);
        pthread_mutex_lock(&store->mutex);
        enqueue(store, o);
        pthread_mutex_unlock(&store->mutex);
    } else {
        atomic_fetch_add(&store->counters->store_failures, 1);
        pl_logf(PL_LEVEL_ERROR, "database: out of memory: a session's row is not written");
        pl_row_clear(row);
    }
}

bool pl_store_flush(pl_store *store)
{
    op o = {.kind = OP_NOTHING};
    return commit_and_wait(store, &o);
}

/* ---- opening ---- */

static bool open_files(pl_store *store, const char *path, bool create)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    flags |= create ? SQLITE_OPEN_CREATE : 0;
    if (!create && access(path, F_OK) != 0) {
        pl_logf(PL_LEVEL_ERROR,
                "%s is missing, but sessions, usage.json or tenants.json exist: run pliantd "
                "--reindex on this state to rebuild it from them",
                path);
        return false;
    }
    if (sqlite3_open_v2(path, &store->writer, flags, NULL) != SQLITE_OK) {
        pl_sql_complain(store->writer, path);
        return false;
    }
    sqlite3_busy_timeout(store->writer, 5000);
    if (!pl_schema_sound(store->writer, path) ||
        !pl_sql_execute(store->writer, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL") ||
        !pl_schema_update(store->writer, path)) {
        return false;
    }
    flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &store->reader, flags, NULL) != SQLITE_OK) {
        pl_sql_complain(store->reader, path);
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
    store->state_fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    store->last = &store->first;
    pthread_mutex_init(&store->mutex, NULL);
    pthread_mutex_init(&store->read_mutex, NULL);
    pl_busy_keys_init(&store->busy);
    pthread_cond_init(&store->committed, NULL);
    if (!pl_condition_init(&store->work) || !open_files(store, path, create) ||
        pthread_create(&store->thread, NULL, write_batches, store) != 0) {
        pl_sql_close(store->writer);
        pl_sql_close(store->reader);
        close(store->state_fd);
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
    pl_sql_close(store->reader);
    pl_sql_close(store->writer);
    close(store->state_fd);
    pl_busy_keys_clear(&store->busy);
    pthread_cond_destroy(&store->committed);
    pthread_cond_destroy(&store->work);
    pthread_mutex_destroy(&store->read_mutex);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

/* ---- reading ---- */

int pl_store_each(pl_store *store, void (*see)(void *context, const pl_row *row, bool good),
                  void *context)
{
    char sql[PL_SQL_MAX];
    pl_row_sql_select(sql);
    pthread_mutex_lock(&store->read_mutex);
    sqlite3_stmt *s = pl_sql_prepare(store->reader, sql);
    int r = SQLITE_ERROR;
    bool whole = true; /* otherwise a row would appear damaged */
    while (s && whole && (r = sqlite3_step(s)) == SQLITE_ROW) {
        pl_row row = {0};
        whole = pl_sql_read_row(s, &row);
        /* A row of format 1 has no checksum until it is rewritten. */
        bool good = sqlite3_column_type(s, PL_ROW_COLUMNS) == SQLITE_NULL ||
                    sqlite3_column_int64(s, PL_ROW_COLUMNS) == pl_row_checksum(&row, PL_ROW_FORMAT);
        if (whole) {
            see(context, &row, good);
        }
        pl_row_clear(&row);
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&store->read_mutex);
    return r == SQLITE_DONE ? 0 : -1;
}

bool pl_store_read(pl_store *store, const pl_statement *statement, pl_store_see see, void *context)
{
    const char *columns[PL_STATEMENT_COLUMNS];
    int r = SQLITE_ERROR;
    pthread_mutex_lock(&store->read_mutex);
    sqlite3_stmt *s = pl_sql_again(store->reader, statement->sql);
    if (s) {
        bind_values(s, statement->values, statement->count);
    }
    while (s && (r = sqlite3_step(s)) == SQLITE_ROW) {
        int count = sqlite3_column_count(s);
        for (int i = 0; i < count && i < PL_STATEMENT_COLUMNS; i++) {
            columns[i] = (const char *)sqlite3_column_text(s, i);
        }
        see(context, columns);
    }
    if (s) {
        pl_sql_keep(store->reader, s);
    }
    pthread_mutex_unlock(&store->read_mutex);
    return r == SQLITE_DONE;
}

pl_store_digits pl_store_number(int64_t value)
{
    pl_store_digits d;
    snprintf(d.text, sizeof d.text, "%lld", (long long)value);
    return d;
}

static void see_integer(void *context, const char *const *columns)
{
    *(int64_t *)context = columns[0] ? strtoll(columns[0], NULL, 10) : 0;
}

bool pl_store_read_integer(pl_store *store, const pl_statement *statement, int64_t *out)
{
    return pl_store_read(store, statement, see_integer, out);
}

pl_busy_keys *pl_store_busy(pl_store *store)
{
    return &store->busy;
}
