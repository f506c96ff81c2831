#include "server/reconcile.h"

#include "server/admission.h"
#include "server/executor.h"
#include "server/removal.h"
#include "server/say.h"
#include "server/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void load_row(void *context, const pl_row *row)
{
    pl_daemon *d = context;
    pl_session *s = pl_session_create(d, row);
    if (!s || !pl_sessions_insert(d->sessions, s)) {
        pl_say(PL_LEVEL_ERROR, "session %s could not be loaded: out of memory", row->id);
    }
    pl_session_release(s);
}

/* Call see(parent_fd, name) for each entry of STATE/path. */
static void each_entry(pl_daemon *d, const char *path,
                       void (*see)(pl_daemon *d, int parent_fd, const char *path, const char *name))
{
    int fd = openat(d->state_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.') {
            see(d, fd, path, entry->d_name);
        }
    }
    closedir(dir);
}

/* Whatever lies in incoming/ was never answered for. */
static void drop_incoming(pl_daemon *d, int parent_fd, const char *path, const char *name)
{
    if (unlinkat(parent_fd, name, 0) != 0) {
        pl_remove_tree(parent_fd, name);
    }
}

static void drop_unknown(pl_daemon *d, int parent_fd, const char *path, const char *name)
{
    pl_session *s = pl_sessions_find_any(d->sessions, name);
    if (!s) {
        pl_say(PL_LEVEL_WARN, "%s/%s has no row in the database and is removed", path, name);
        pl_remove_tree(parent_fd, name);
    }
    pl_session_release(s);
}

static void look_into(pl_daemon *d, int parent_fd, const char *path, const char *name)
{
    char below[300];
    snprintf(below, sizeof below, "%s/%s", path, name);
    each_entry(d, below, drop_unknown);
}

static bool storage_lost(pl_daemon *d, pl_session *s)
{
    struct stat st;
    if (stat(s->directory, &st) == 0 || pl_state_terminal((pl_session_state)s->state)) {
        return false;
    }
    if (s->state == PL_STATE_RUNNING) {
        pl_sessions_adopt(d->sessions, s); /* so that its cores are given back below */
    }
    pl_say(PL_LEVEL_ERROR, "session %s: its directory is gone", s->id);
    pl_sessions_move(d->sessions, s, PL_STATE_FAILED,
                     &(pl_move){.reason = "storage_lost",
                                .message = "the session's directory is gone",
                                .failure = "{\"code\": \"storage_lost\", \"message\": \"the "
                                           "session's directory is gone\"}"});
    return true;
}

static void take_up(pl_daemon *d, pl_session *s)
{
    pl_session_state state = (pl_session_state)s->state;
    bool unwanted = pl_sessions_desired(d->sessions, s) == 2;
    if (storage_lost(d, s)) {
        return;
    }
    if (pl_state_terminal(state)) {
        if (unwanted) {
            pl_removal_start(d, s);
        }
    } else if (state == PL_STATE_CHECKING) {
        pl_admission_resume(d, s);
    } else {
        pl_executor_adopt(d->executor, s);
    }
}

int pl_reconcile(pl_daemon *d)
{
    if (pl_store_each(d->store, load_row, d) != 0) {
        return -1;
    }
    each_entry(d, "incoming", drop_incoming);
    each_entry(d, "sessions", look_into);
    size_t count;
    pl_session **all = pl_sessions_all(d->sessions, &count);
    for (size_t i = 0; i < count; i++) {
        take_up(d, all[i]);
        pl_session_release(all[i]);
    }
    free(all);
    pl_say(PL_LEVEL_INFO, "%zu sessions loaded", count);
    return 0;
}
