#include "server/tenants/tenant_backup.h"

#include "protocol/log/sealed.h"
#include "server/base/limits.h"

#include <errno.h>
#include <stdio.h>

enum { FORMAT = 1, LIMIT = 64 << 20 };
static const char file_name[] = "tenants.json";

static const struct {
    const char *name, *read, *write;
    int columns;
} tables[] = {
    {"users", "SELECT name, created, disabled, uid, " PL_LIMIT_COLUMNS " FROM users",
     "INSERT OR IGNORE INTO users(name, created, disabled, uid, " PL_LIMIT_COLUMNS
     ") VALUES(?,?,?,?," PL_LIMIT_PLACES ")",
     4 + PL_LIMIT_COUNT},
    {"groups", "SELECT name, created, " PL_LIMIT_COLUMNS " FROM user_groups",
     "INSERT OR IGNORE INTO user_groups(name, created, " PL_LIMIT_COLUMNS
     ") VALUES(?,?," PL_LIMIT_PLACES ")",
     2 + PL_LIMIT_COUNT},
    {"members", "SELECT grp, user, role FROM members",
     "INSERT OR IGNORE INTO members(grp, user, role) VALUES(?,?,?)", 3},
    {"tokens",
     "SELECT id, hash, kind, user, name, scopes, session, parent, created, expires FROM tokens",
     "INSERT OR IGNORE INTO tokens(id, hash, kind, user, name, scopes, session, parent, created,"
     " expires) VALUES(?,?,?,?,?,?,?,?,?,?)",
     10},
};
enum { TABLES = sizeof tables / sizeof *tables };

typedef struct dump {
    pl_json_writer w;
    int columns;
} dump;

static void see_row(void *context, const char *const *columns)
{
    dump *d = context;
    pl_json_begin_array(&d->w);
    for (int i = 0; i < d->columns; i++) {
        pl_json_put_string(&d->w, columns[i]);
    }
    pl_json_end_array(&d->w);
}

bool pl_tenant_backup_write(pl_store *store, int state_fd)
{
    dump d = {0};
    bool good = true;
    pl_json_begin_object(&d.w);
    pl_json_set_integer(&d.w, "format", FORMAT);
    for (int t = 0; t < TABLES; t++) {
        d.columns = tables[t].columns;
        pl_json_key(&d.w, tables[t].name);
        pl_json_begin_array(&d.w);
        good = pl_store_read(store, &(pl_statement){.sql = tables[t].read}, see_row, &d) && good;
        pl_json_end_array(&d.w);
    }
    pl_status status = pl_sealed_write(state_fd, file_name, &d.w, true);
    return good && status == PL_OK;
}

static bool restore_row(pl_store *store, int table, const pl_json *row)
{
    pl_statement s = {.sql = tables[table].write, .count = tables[table].columns};
    for (int i = 0; i < s.count; i++) {
        const pl_json *value = pl_json_item(row, (size_t)i);
        s.values[i] = pl_json_is_null(value) ? NULL : pl_json_string(value, "", NULL);
    }
    return pl_store_change(store, &s, 1) == 1;
}

int64_t pl_tenant_backup_restore(pl_store *store, int state_fd)
{
    pl_json *document;
    if (pl_sealed_read(state_fd, file_name, LIMIT, FORMAT, &document) != PL_OK) {
        return errno == ENOENT ? 0 : -1;
    }
    int64_t rows = 0;
    for (int t = 0; t < TABLES; t++) {
        const pl_json *list = pl_json_at(document, tables[t].name);
        for (size_t i = 0; i < pl_json_count(list); i++) {
            rows += restore_row(store, t, pl_json_item(list, i));
        }
    }
    pl_json_free(document);
    return rows;
}
