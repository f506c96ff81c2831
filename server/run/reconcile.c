#include "server/run/reconcile.h"

#include "server/run/adoption.h"
#include "server/run/rebuild.h"
#include "server/sessions/removal.h"
#include "server/base/logger.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void (*see_entry)(void *context, int parent_fd, const char *path, const char *name);

/* Lifetime: the daemon's start. */
typedef struct reconciliation {
    const char *state_path;
    int state_fd;
    pl_store *store;
    pl_sessions *sessions;
    char (*bad)[33]; /* ids of rows that cannot be trusted; malloc'ed */
    size_t bad_count;
    bool starved; /* some rows could not be loaded: no directory may be removed */
} reconciliation;

static void load_session(reconciliation *x, const pl_row *row)
{
    pl_session *s = pl_session_create(x->state_path, row);
    if (!s || !pl_sessions_insert(x->sessions, s)) {
        pl_logf(PL_LEVEL_ERROR, "session %s could not be loaded: out of memory", row->id);
        x->starved = true;
    }
    pl_session_release(s);
}

static void load_row(void *context, const pl_row *row, bool good)
{
    reconciliation *x = context;
    if (good) {
        load_session(x, row);
        return;
    }
    char(*grown)[33] = realloc(x->bad, (x->bad_count + 1) * sizeof *grown);
    if (grown) {
        x->bad = grown;
        memcpy(x->bad[x->bad_count++], row->id, sizeof row->id);
    } else {
        x->starved = true;
    }
}

static bool rebuild(reconciliation *x, const char *id)
{
    pl_rebuilt r;
    if (!pl_rebuild_row(x->state_fd, id, &r)) {
        return false;
    }
    bool stored = pl_store_replace(x->store, &r.row);
    pl_logf(PL_LEVEL_WARN,
            "session %s: its row in the database was damaged and is rebuilt from "
            "its directory: %s",
            id, r.row.state);
    load_session(x, &r.row);
    pl_rebuilt_clear(&r);
    return stored;
}

static void mend_rows(reconciliation *x)
{
    for (size_t i = 0; i < x->bad_count; i++) {
        if (!rebuild(x, x->bad[i])) {
            pl_logf(PL_LEVEL_ERROR,
                    "a damaged row with the id '%s' has no directory and is dropped", x->bad[i]);
            pl_store_delete(x->store, x->bad[i]);
        }
    }
}

/* ---- directories ---- */

static void each_entry(int state_fd, const char *path, see_entry see, void *context)
{
    int fd = openat(state_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.') {
            see(context, fd, path, entry->d_name);
        }
    }
    closedir(dir);
}

typedef struct below {
    int state_fd;
    see_entry see;
    void *context;
} below;

static void look_into(void *context, int parent_fd, const char *path, const char *name)
{
    below *b = context;
    char inner[300];
    snprintf(inner, sizeof inner, "%s/%s", path, name);
    each_entry(b->state_fd, inner, b->see, b->context);
}

void pl_each_below(int state_fd, const char *path, see_entry see, void *context)
{
    each_entry(state_fd, path, look_into, &(below){state_fd, see, context});
}

/* The request of a directory in incoming/ was never answered, so remove it. */
static void drop_incoming(void *context, int parent_fd, const char *path, const char *name)
{
    if (unlinkat(parent_fd, name, 0) != 0) {
        pl_remove_tree(parent_fd, name);
    }
}

static void drop_unknown(void *context, int parent_fd, const char *path, const char *name)
{
    reconciliation *x = context;
    pl_session *s = pl_sessions_find_any(x->sessions, name);
    if (!s && x->bad_count && rebuild(x, name)) {
        return;
    }
    if (!s) {
        pl_logf(PL_LEVEL_WARN, "%s/%s has no row in the database and is removed", path, name);
        pl_remove_tree(parent_fd, name);
    }
    pl_session_release(s);
}

int pl_reconcile(const char *state_path, int state_fd, pl_store *store, pl_sessions *sessions)
{
    reconciliation x = {
        .state_path = state_path, .state_fd = state_fd, .store = store, .sessions = sessions};
    bool read = pl_store_each(store, load_row, &x) == 0 && !x.starved;
    if (read) {
        mend_rows(&x);
    }
    if (read && !x.starved) {
        each_entry(state_fd, "incoming", drop_incoming, NULL);
        pl_each_below(state_fd, "sessions", drop_unknown, &x);
    }
    free(x.bad);
    return read && !x.starved ? 0 : -1;
}

/* ---- taking over ---- */

static bool storage_lost(pl_sessions *sessions, pl_dispatcher *dispatcher, pl_session *s)
{
    struct stat st;
    if (stat(s->directory, &st) == 0 || pl_state_terminal((pl_session_state)s->state)) {
        return false;
    }
    if (s->state == PL_STATE_RUNNING) {
        /* so that its cores are given back below */
        pl_dispatcher_adopt(dispatcher, s, false, true, NULL);
    }
    pl_logf(PL_LEVEL_ERROR, "session %s: its directory is missing", s->id);
    pl_sessions_move(sessions, s, PL_STATE_FAILED,
                     &(pl_move){.reason = "storage_lost",
                                .message = "the session's directory is missing",
                                .failure = "{\"code\": \"storage_lost\", \"message\": \"the "
                                           "session's directory is missing\"}"});
    return true;
}

static void take_up(pl_sessions *sessions, pl_check_queue *check_queue, pl_executor *executor,
                    pl_session *s)
{
    pl_session_state state = (pl_session_state)s->state;
    if (pl_state_terminal(state)) {
        if (pl_sessions_desired(sessions, s) == PL_DESIRE_DELETED) {
            pl_removal_start(sessions, s);
        }
        pl_executor_adopt(executor, s); /* it may still have a job */
    } else if (state == PL_STATE_CHECKING) {
        pl_check_queue_add(check_queue, s, NULL);
    } else {
        pl_executor_adopt(executor, s);
    }
}

void pl_reconcile_take_up(pl_sessions *sessions, pl_dispatcher *dispatcher,
                          pl_check_queue *check_queue, pl_executor *executor)
{
    size_t count;
    pl_session **all = pl_sessions_all(sessions, &count);
    for (size_t i = 0; i < count; i++) {
        if (!storage_lost(sessions, dispatcher, all[i])) {
            take_up(sessions, check_queue, executor, all[i]);
        }
        pl_session_release(all[i]);
    }
    free(all);
    pl_logf(PL_LEVEL_INFO, "%zu sessions loaded", count);
}
