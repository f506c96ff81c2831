#include "server/run/reindex.h"

#include "protocol/log/session_dir.h"
#include "server/tenants/grants.h"
#include "server/run/rebuild.h"
#include "server/run/reconcile.h"
#include "server/base/logger.h"
#include "server/sessions/sessions.h"
#include "server/store/usage_backup.h"
#include "server/tenants/tenant_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_EVERY = 1000, SHOWN_EVERY = 50, REPORT_LIMIT = 1 << 20 };

typedef struct reindex {
    int state_fd;
    pl_store *store;
    bool terminal; /* standard output is a terminal */
    int64_t sessions, guessed, refused, meshes, grants;
    int64_t tenants; /* rows */
    int64_t usage;   /* days of users */
    int64_t states[PL_STATE_COUNT];
} reindex;

/* Move STATE/pliant.db and its companion files to pliant.db.damaged-DATE; `aside` is "" if the database is missing. */
static int set_aside(int state_fd, char aside[64])
{
    static const char *const files[] = {"", "-wal", "-shm"};
    char from[32], to[96], date[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(aside, 64, "pliant.db.damaged-%s", date);
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "pliant.db%s", files[i]);
        snprintf(to, sizeof to, "%s%s", aside, files[i]);
        if (renameat(state_fd, from, state_fd, to) == 0) {
            continue;
        }
        if (errno != ENOENT) {
            return errno;
        }
        if (i == 0) {
            aside[0] = 0;
        }
    }
    return 0;
}

/* ---- meshes ---- */

/* Write the row of a stored mesh, with the grant of `owner` (NULL: none). False if the file is missing. */
static bool add_mesh(reindex *x, const char *owner, const char *hash)
{
    char path[96], beside[112], *report;
    size_t size;
    struct stat st;
    snprintf(path, sizeof path, "meshes/%.2s/%s", hash, hash);
    snprintf(beside, sizeof beside, "%s.json", path);
    if (fstatat(x->state_fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        pl_file_read(x->state_fd, beside, REPORT_LIMIT, &report, &size) != PL_OK) {
        return false;
    }
    bool good = pl_grant_add(x->store, owner, hash, st.st_size, report);
    free(report);
    return good;
}

/* Index every file, so that one without a session is removed after a day as usual. */
static void take_mesh(void *context, int parent_fd, const char *path, const char *name)
{
    reindex *x = context;
    if (strlen(name) == 64 && strspn(name, "0123456789abcdef") == 64) {
        x->meshes += add_mesh(x, NULL, name);
    }
}

/* ---- sessions ---- */

static void show(const reindex *x)
{
    if (x->terminal && x->sessions % SHOWN_EVERY == 0) {
        printf("\rreindex: %lld sessions", (long long)x->sessions);
        fflush(stdout);
    } else if (!x->terminal && x->sessions % LINE_EVERY == 0) {
        printf("reindex: %lld sessions\n", (long long)x->sessions);
        fflush(stdout);
    }
}

static void take_session(void *context, int parent_fd, const char *path, const char *name)
{
    reindex *x = context;
    pl_rebuilt r;
    pl_session_state state;
    if (!pl_rebuild_row(x->state_fd, name, &r)) {
        pl_logf(PL_LEVEL_WARN, "%s/%s is not a session directory and was skipped", path, name);
        x->refused++;
        return;
    }
    if (r.guessed) {
        pl_logf(PL_LEVEL_WARN,
                "session %s: session.json is missing or damaged; its owner is assumed to be '%s'",
                name, r.row.owner);
    }
    if (pl_store_replace(x->store, &r.row)) {
        x->sessions++;
        x->guessed += r.guessed;
        pl_state_parse(r.row.state, &state);
        x->states[state]++;
        for (int i = 0; i < r.upload_count; i++) {
            x->grants += add_mesh(x, r.row.owner, r.uploads[i]);
        }
        show(x);
    } else {
        x->refused++;
    }
    pl_rebuilt_clear(&r);
}

/* Print the age of the copy. */
static void print_age(int state_fd)
{
    struct stat st;
    struct tm utc;
    char text[40];
    if (fstatat(state_fd, "usage.json", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&st.st_mtime, &utc));
        printf(", written at %s", text);
    }
}

static void summarise(const reindex *x, const char *aside)
{
    printf("%s%lld sessions:", x->terminal ? "\r" : "", (long long)x->sessions);
    for (int i = 0; i < PL_STATE_COUNT; i++) {
        if (x->states[i]) {
            printf(" %lld %s", (long long)x->states[i], pl_state_name((pl_session_state)i));
        }
    }
    printf("; %lld meshes, %lld grants from scenes", (long long)x->meshes, (long long)x->grants);
    printf("; %lld users, groups, members and tokens.\n",
           (long long)(x->tenants > 0 ? x->tenants : 0));
    if (x->guessed || x->refused) {
        printf("%lld with a guessed owner, %lld directories skipped: see the lines above.\n",
               (long long)x->guessed, (long long)x->refused);
    }
    printf("Usage: %lld sums by day and user from usage.json",
           (long long)(x->usage > 0 ? x->usage : 0));
    if (x->usage > 0) {
        print_age(x->state_fd);
    }
    printf(".\nLost: later usage, idempotency keys, grants of meshes that no session uses, crash "
           "counts\nand the audit log.\n");
    if (*aside) {
        printf("The old database is %s in the state directory.\n", aside);
    }
}

int pl_reindex(const char *state_path, int state_fd, pl_counters *counters)
{
    reindex x = {.state_fd = state_fd, .terminal = isatty(STDOUT_FILENO)};
    char aside[64];
    int error = set_aside(state_fd, aside);
    if (error) {
        pl_logf(PL_LEVEL_ERROR, "%s/pliant.db could not be moved: %s", state_path, strerror(error));
        return -1;
    }
    x.store = pl_store_open(state_path, true, counters);
    if (!x.store) {
        return -1;
    }
    x.tenants = pl_tenant_backup_restore(x.store, state_fd);
    if (x.tenants < 0) {
        pl_logf(PL_LEVEL_WARN, "tenants.json is damaged: users, groups and tokens are lost");
    }
    x.usage = pl_usage_backup_restore(x.store, state_fd);
    if (x.usage < 0) {
        pl_logf(
            PL_LEVEL_WARN,
            "usage.json is damaged or could not be stored: usage and learned estimates are lost");
    }
    pl_each_below(state_fd, "meshes", take_mesh, &x);
    pl_each_below(state_fd, "sessions", take_session, &x);
    pl_store_close(x.store);
    summarise(&x, aside);
    return 0;
}

/* ---- nothing to index ---- */

static void note_session(void *context, int parent_fd, const char *path, const char *name)
{
    *(bool *)context = true;
}

bool pl_reindex_is_new(int state_fd)
{
    static const char *const copies[] = {"usage.json", "tenants.json"};
    bool sessions = false;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        if (faccessat(state_fd, copies[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
            return false; /* existing data would be overwritten */
        }
    }
    pl_each_below(state_fd, "sessions", note_session, &sessions);
    return !sessions;
}
