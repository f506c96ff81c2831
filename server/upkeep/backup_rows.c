#include "server/upkeep/backup_rows.h"

#include "protocol/log/session_dir.h"
#include "server/run/rebuild.h"
#include "server/sessions/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool copy_row(pl_row *to, const pl_row *from)
{
    *to = *from;
    bool good = true;
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        if (pl_row_columns[i].kind == PL_COLUMN_TEXT) {
            const char *text = *pl_row_text(from, &pl_row_columns[i]);
            char **member = pl_row_text(to, &pl_row_columns[i]);
            *member = text ? strdup(text) : NULL;
            good = good && (!text || *member);
        }
    }
    return good;
}

static void take_row(void *context, const pl_row *row, bool good)
{
    pl_backup_rows *r = context;
    r->damaged = r->damaged || !good;
    if (r->count == r->capacity) {
        size_t capacity = 2 * r->capacity + 64;
        pl_row *grown = realloc(r->rows, capacity * sizeof *grown);
        if (!grown) {
            r->failed = true;
            return;
        }
        r->rows = grown;
        r->capacity = capacity;
    }
    r->failed = !copy_row(&r->rows[r->count++], row) || r->failed;
}

bool pl_backup_rows_read(pl_backup_rows *r, pl_store *store)
{
    return pl_store_each(store, take_row, r) == 0 && !r->damaged && !r->failed;
}

void pl_backup_rows_clear(pl_backup_rows *r)
{
    for (size_t i = 0; i < r->count; i++) {
        pl_row_clear(&r->rows[i]);
    }
    free(r->rows);
    *r = (pl_backup_rows){0};
}

static bool has_ended(const pl_row *row)
{
    pl_session_state state;
    return pl_state_parse(row->state, &state) && pl_state_terminal(state);
}

/* True if the directory has an attempt or an end that the row lacks. */
static bool is_behind(const pl_row *row, int dir_fd)
{
    pl_head head = {0};
    pl_exit report = {0};
    bool later = pl_head_read(dir_fd, &head) == PL_OK && head.attempt > row->attempt;
    pl_head_clear(&head);
    return later || (pl_exit_read(dir_fd, &report) == PL_OK && report.attempt > row->attempt) ||
           faccessat(dir_fd, "verdict.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Replaces the boot id in a row's "BOOT PID START", so that the worker belongs to no machine. */
static bool move_worker(pl_store *store, pl_row *row)
{
    const char *rest = row->worker ? strchr(row->worker, ' ') : NULL;
    char *moved = NULL;
    if (!rest || asprintf(&moved, "restored%s", rest) < 0) {
        return !rest;
    }
    free(row->worker);
    row->worker = moved;
    return pl_store_replace(store, row);
}

bool pl_backup_row_mend(pl_store *store, int backup_fd, pl_row *row)
{
    char folder[64];
    pl_rebuilt rebuilt;
    if (has_ended(row)) {
        return true;
    }
    snprintf(folder, sizeof folder, "sessions/%.2s/%s", row->id, row->id);
    int dir_fd = openat(backup_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool behind = dir_fd >= 0 && is_behind(row, dir_fd);
    pl_close_fd(dir_fd);
    if (!behind) {
        return move_worker(store, row);
    }
    if (!pl_rebuild_row(backup_fd, row->id, &rebuilt)) {
        return false;
    }
    bool good = pl_store_replace(store, &rebuilt.row);
    pl_rebuilt_clear(&rebuilt);
    return good;
}
