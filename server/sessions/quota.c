#include "server/sessions/quota.h"

#include "protocol/text/json.h"
#include "protocol/log/snapshot.h"
#include "server/base/daemon.h"
#include "server/tenants/grants.h"
#include "server/tenants/rate.h"
#include "server/base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRESH_MS = 10000, DONE_FRESH_MS = 600000 };

/* ---- bytes of sessions ---- */

/* Bytes of the regular files in a directory; meshes are links of files that count elsewhere. */
static int64_t directory_bytes(const char *path)
{
    int64_t bytes = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
            bytes += st.st_size;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return bytes;
}

static int64_t session_bytes(pl_session *s)
{
    static const char *const folders[] = {"log", PL_SNAPSHOT_FOLDER, "parent"};
    int64_t now = pl_monotonic_ms(), seen = atomic_load(&s->bytes_ms);
    bool over = pl_state_terminal((pl_session_state)atomic_load(&s->state));
    if (!seen || now - seen > (over && atomic_load(&s->bytes_final) ? DONE_FRESH_MS : FRESH_MS)) {
        int64_t bytes = directory_bytes(s->directory);
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            char path[PATH_MAX + 16];
            snprintf(path, sizeof path, "%s/%s", s->directory, folders[i]);
            bytes += directory_bytes(path);
        }
        atomic_store(&s->bytes, bytes);
        atomic_store(&s->bytes_ms, now);
        atomic_store(&s->bytes_final, over);
    }
    return atomic_load(&s->bytes);
}

static int64_t stored_bytes(pl_sessions *sessions, const char *user)
{
    size_t count;
    int64_t bytes = 0;
    pl_session **all = pl_sessions_all(sessions, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i]->owner, user) == 0) {
            bytes += session_bytes(all[i]);
        }
        pl_session_release(all[i]);
    }
    free(all);
    return bytes;
}

/* ---- refusing ---- */

static const char *const nouns[] = {"sessions that have not ended", "sessions that wait",
                                    "cores at once", "bytes of sessions", "bytes of meshes"};

/* 429 where waiting helps; 403 where something must be removed or asked for. */
static bool refuse(pl_request *r, pl_limit limit, int64_t used, int64_t most)
{
    bool passes = limit == PL_LIMIT_SESSIONS || limit == PL_LIMIT_QUEUED;
    const char *what = nouns[limit];
    char pointer[64], got[96], expected[96];
    snprintf(pointer, sizeof pointer, "/limits/%s", pl_limit_name(limit));
    snprintf(got, sizeof got, "%lld %s", (long long)used, what);
    snprintf(expected, sizeof expected, "at most %lld", (long long)most);
    pl_faults faults = {0};
    pl_faults_add(&faults, pointer, "over_limit", got, expected,
                  passes ? "wait until one has ended, or cancel one"
                         : "delete what is not needed any more, or ask for a higher limit");
    pl_reply_problem(r, passes ? 429 : 403, "over_limit", "Over your limit",
                     "this would be more than you may have", &faults);
    if (passes) {
        pl_reply_header(r, "Retry-After", "10");
    }
    pl_faults_clear(&faults);
    return false;
}

/* Guards the holds; taken before the table of sessions. */
static pthread_mutex_t hold_mutex = PTHREAD_MUTEX_INITIALIZER;
static pl_quota_hold *holds;

static int64_t held_by(const char *user)
{
    int64_t n = 0;
    for (const pl_quota_hold *h = holds; h; h = h->next) {
        n += strcmp(h->user, user) == 0;
    }
    return n;
}

bool pl_quota_hold_session(pl_request *r, pl_tenants *tenants, pl_sessions *sessions, int64_t cores,
                           pl_quota_hold *hold)
{
    const char *user = pl_request_owner(r);
    pl_limits most = pl_tenants_limits(tenants, user);
    const int64_t *m = most.value;
    if (cores > m[PL_LIMIT_CORES]) {
        return refuse(r, PL_LIMIT_CORES, cores, m[PL_LIMIT_CORES]);
    }
    if (m[PL_LIMIT_BYTES] < INT64_MAX) {
        int64_t bytes = stored_bytes(sessions, user);
        if (bytes >= m[PL_LIMIT_BYTES]) {
            return refuse(r, PL_LIMIT_BYTES, bytes, m[PL_LIMIT_BYTES]);
        }
    }
    pthread_mutex_lock(&hold_mutex);
    pl_limits used = pl_sessions_usage(sessions, user);
    int64_t coming = held_by(user), living = used.value[PL_LIMIT_SESSIONS] + coming,
            queued = used.value[PL_LIMIT_QUEUED] + coming;
    bool fits = living < m[PL_LIMIT_SESSIONS] && queued < m[PL_LIMIT_QUEUED];
    if (fits) {
        *hold = (pl_quota_hold){holds, user};
        holds = hold;
    }
    pthread_mutex_unlock(&hold_mutex);
    if (living >= m[PL_LIMIT_SESSIONS]) {
        return refuse(r, PL_LIMIT_SESSIONS, living + 1, m[PL_LIMIT_SESSIONS]);
    }
    return fits || refuse(r, PL_LIMIT_QUEUED, queued + 1, m[PL_LIMIT_QUEUED]);
}

void pl_quota_release(pl_quota_hold *hold)
{
    if (hold->user) {
        pthread_mutex_lock(&hold_mutex);
        for (pl_quota_hold **h = &holds; *h; h = &(*h)->next) {
            if (*h == hold) {
                *h = hold->next;
                break;
            }
        }
        pthread_mutex_unlock(&hold_mutex);
        hold->user = NULL;
    }
}

bool pl_quota_allows_bytes(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                           const char *owner, int64_t bytes)
{
    int64_t most = pl_tenants_limits(tenants, owner).value[PL_LIMIT_BYTES];
    int64_t used = most < INT64_MAX ? stored_bytes(sessions, owner) : 0;
    return used + bytes <= most || refuse(r, PL_LIMIT_BYTES, used + bytes, most);
}

bool pl_quota_allows_mesh(pl_request *r, pl_tenants *tenants, pl_store *store, int64_t bytes)
{
    const char *user = pl_request_owner(r);
    int64_t most = pl_tenants_limits(tenants, user).value[PL_LIMIT_MESH_BYTES];
    int64_t used = most < INT64_MAX ? pl_grant_bytes(store, user) : 0;
    return used + bytes <= most || refuse(r, PL_LIMIT_MESH_BYTES, used + bytes, most);
}

/* ---- GET /v1/usage ---- */

static void put_values(pl_json_writer *w, const char *key, const pl_limits *limits)
{
    pl_json_key(w, key);
    pl_json_begin_object(w);
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        if (limits->value[i] == INT64_MAX) {
            pl_json_set_null(w, pl_limit_name((pl_limit)i));
        } else {
            pl_json_set_integer(w, pl_limit_name((pl_limit)i), limits->value[i]);
        }
    }
    pl_json_end_object(w);
}

void pl_handle_usage(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    const pl_principal *p = pl_request_principal(r);
    const char *user = pl_request_query(r, "user");
    user = user ? user : p->user;
    if (strcmp(user, p->user) != 0 && !pl_principal_has(p, PL_SCOPE_ADMIN)) {
        pl_reply_problem(r, 403, "missing_scope", "Not allowed",
                         "another user's usage is for administrators", NULL);
        return;
    }
    pl_limits most = pl_tenants_limits(d->tenants, user);
    pl_limits used = pl_sessions_usage(d->sessions, user);
    bool counted = most.value[PL_LIMIT_REQUESTS] < INT64_MAX;
    used.value[PL_LIMIT_BYTES] = stored_bytes(d->sessions, user);
    used.value[PL_LIMIT_MESH_BYTES] = pl_grant_bytes(d->store, user);
    used.value[PL_LIMIT_REQUESTS] = counted
                                        ? llround(pl_rate_of_user(d->rate, user, pl_monotonic_ms()))
                                        : INT64_MAX;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "user", user);
    put_values(&w, "used", &used);
    put_values(&w, "limits", &most);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}
