#include "server/sessions/removal.h"

#include "server/base/pool.h"
#include "server/base/logger.h"
#include "server/sessions/sessions_locked.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Session directories are two levels deep; the bound protects the stack from deeper ones. */
enum { DEPTH_MAX = 16 };

static int remove_contents(int dir_fd, int depth);

/* Removes a file, or a folder with its contents. 0 or an errno. */
static int remove_entry(int dir_fd, const char *name, int depth)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(dir_fd, name, 0) == 0) {
        return 0;
    }
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = fd < 0 ? errno : remove_contents(fd, depth + 1);
    return error || unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 ? error : errno;
}

/* Takes the descriptor. Uses no malloc, so that a failed request can clean up without memory. The kernel continues the
 * listing at its position despite removals. */
static int remove_contents(int dir_fd, int depth)
{
    _Alignas(struct dirent64) char entries[2048];
    int error = depth > DEPTH_MAX ? ELOOP : 0;
    for (ssize_t n = 1; !error && n > 0;) {
        n = getdents64(dir_fd, entries, sizeof entries);
        error = n < 0 ? errno : 0;
        for (char *at = entries; !error && at < entries + n;) {
            struct dirent64 *entry = (struct dirent64 *)at;
            error = remove_entry(dir_fd, entry->d_name, depth);
            at += entry->d_reclen;
        }
    }
    close(dir_fd);
    return error;
}

int pl_remove_tree(int parent_fd, const char *name)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? 0 : errno;
    }
    int error = remove_contents(fd, 0);
    if (!error && unlinkat(parent_fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
        error = errno;
    }
    return error;
}

/* Moves it away in one step: a half-removed directory must not look like a session to --reindex, and the next start
 * removes the rest from incoming/. */
static int remove_directory(int state_fd, const pl_session *s)
{
    char name[64], hidden[64];
    snprintf(name, sizeof name, "sessions/%.2s/%s", s->id, s->id);
    snprintf(hidden, sizeof hidden, "incoming/%s.removed", s->id);
    bool moved = renameat(state_fd, name, state_fd, hidden) == 0;
    return pl_remove_tree(state_fd, moved ? hidden : name);
}

bool pl_removal_run(pl_sessions *t, pl_session *s)
{
    if (!pl_store_delete(t->setup.store, s->id)) {
        return false;
    }
    pl_sessions_remove(t, s);
    int error = remove_directory(t->setup.state_fd, s);
    if (error) {
        pl_logf(PL_LEVEL_ERROR, "session %s: its directory could not be removed: %s", s->id,
                strerror(error));
    }
    return true;
}

typedef struct removal {
    pl_sessions *sessions;
    pl_session *session;
} removal;

static void run(void *context)
{
    removal *r = context;
    pl_removal_run(r->sessions, r->session);
    pl_session_release(r->session);
    free(r);
}

void pl_removal_start(pl_sessions *t, pl_session *s)
{
    removal *r = malloc(sizeof *r);
    if (!r) {
        return; /* the removal is recorded in the database: the next start does it */
    }
    *r = (removal){t, s};
    pl_session_acquire(s);
    if (!pl_pool_submit(t->setup.files, run, r)) {
        run(r);
    }
}

/* ---- sweeping ---- */

static bool is_outlived(const pl_session *s, int64_t now_ms)
{
    return s->keep_days > 0 && pl_state_terminal((pl_session_state)atomic_load(&s->state)) &&
           (double)(now_ms - s->since_ms) > 86400e3 * s->keep_days;
}

void pl_removal_sweep(pl_sessions *t)
{
    size_t count, removed = 0;
    int64_t now = pl_clock_us() / 1000;
    pl_session **all = pl_sessions_all(t, &count);
    for (size_t i = 0; i < count; i++) {
        if (is_outlived(all[i], now)) {
            pl_sessions_set_desired(t, all[i], "deleted");
            removed += pl_removal_run(t, all[i]);
        }
        pl_session_release(all[i]);
    }
    free(all);
    if (removed > 0) {
        pl_logf(PL_LEVEL_INFO, "%zu sessions removed: the retention days of their scenes are over",
                removed);
    }
}
