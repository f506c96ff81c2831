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

/* Bytes of the regular files in a directory; meshes are links to files that count elsewhere. */
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

typedef struct account {
    char user[PL_NAME_MAX + 1], group[PL_NAME_MAX + 1];
    int64_t bytes;
} account;

/* For a user, or if NULL for a group. */
static int64_t bytes_of(pl_sessions *sessions, const char *user, const char *group)
{
    size_t count;
    int64_t bytes = 0;
    pl_session **all = pl_sessions_all(sessions, &count);
    for (size_t i = 0; i < count; i++) {
        account a;
        pl_sessions_account(sessions, all[i], a.user, a.group);
        if (strcmp(user ? a.user : a.group, user ? user : group) == 0) {
            bytes += session_bytes(all[i]);
        }
        pl_session_release(all[i]);
    }
    free(all);
    return bytes;
}

static int64_t stored_bytes(pl_sessions *sessions, const char *user)
{
    return bytes_of(sessions, user, NULL);
}

/* ---- a sample of all users' bytes ---- */

static int by_account(const void *a, const void *b)
{
    const account *x = a, *y = b;
    int users = strcmp(x->user, y->user);
    return users ? users : strcmp(x->group, y->group);
}

static char *encode_sums(account *all, size_t count)
{
    pl_json_writer w = {0};
    if (count) {
        qsort(all, count, sizeof *all, by_account);
    }
    pl_json_begin_array(&w);
    for (size_t i = 0; i < count;) {
        int64_t bytes = 0;
        size_t first = i;
        for (; i < count && by_account(&all[first], &all[i]) == 0; i++) {
            bytes += all[i].bytes;
        }
        pl_json_begin_array(&w);
        pl_json_put_string(&w, all[first].user);
        pl_json_put_string(&w, all[first].group);
        pl_json_put_integer(&w, bytes);
        pl_json_end_array(&w);
    }
    pl_json_end_array(&w);
    return pl_json_finish(&w, NULL);
}

char *pl_quota_bytes_of_all(pl_sessions *sessions)
{
    size_t count;
    pl_session **all = pl_sessions_all(sessions, &count);
    account *accounts = malloc((count + 1) * sizeof *accounts);
    for (size_t i = 0; i < count; i++) {
        bool known = atomic_load(&all[i]->bytes_final);
        if (accounts) {
            int64_t bytes = known ? atomic_load(&all[i]->bytes) : session_bytes(all[i]);
            pl_sessions_account(sessions, all[i], accounts[i].user, accounts[i].group);
            accounts[i].bytes = bytes;
        }
        pl_session_release(all[i]);
    }
    free(all);
    char *text = accounts ? encode_sums(accounts, count) : NULL;
    free(accounts);
    return text;
}

/* ---- rejecting ---- */

static const char *const nouns[PL_LIMIT_COUNT] = {
    [PL_LIMIT_SESSIONS] = "sessions that have not ended",
    [PL_LIMIT_QUEUED] = "waiting sessions",
    [PL_LIMIT_CORES] = "cores in use at once",
    [PL_LIMIT_BYTES] = "bytes of sessions",
    [PL_LIMIT_MESH_BYTES] = "bytes of meshes",
    [PL_LIMIT_GPUS] = "GPUs at once"};

/* 429 if waiting helps; 403 if something must be removed or requested. `group`: the group whose limit it is, NULL: the
 * user's. */
static bool refuse(pl_request *r, const char *group, pl_limit limit, int64_t used, int64_t most)
{
    bool passes = limit == PL_LIMIT_SESSIONS || limit == PL_LIMIT_QUEUED;
    const char *what = nouns[limit];
    char pointer[160], got[96], expected[96], detail[160];
    snprintf(pointer, sizeof pointer, "%s%s/limits/%s", group ? "/groups/" : "", group ? group : "",
             pl_limit_name(limit));
    snprintf(got, sizeof got, "%lld %s", (long long)used, what);
    snprintf(expected, sizeof expected, "at most %lld", (long long)most);
    snprintf(detail, sizeof detail, "the request would exceed %s%s",
             group ? "the limit of the group " : "your limit", group ? group : "");
    pl_faults faults = {0};
    pl_faults_add(&faults, pointer, "over_limit", got, expected,
                  passes ? "wait until one has ended, or cancel one"
                         : "delete what is no longer needed, or ask for a higher limit");
    pl_reply_problem(r, passes ? 429 : 403, "over_limit",
                     group ? "Over your group's limit" : "Over your limit", detail, &faults);
    if (passes) {
        pl_reply_header(r, "Retry-After", "10");
    }
    pl_faults_clear(&faults);
    return false;
}

/* Guards the holds; taken before the table of sessions. */
static pthread_mutex_t hold_mutex = PTHREAD_MUTEX_INITIALIZER;
static pl_quota_hold *holds;

/* Held by a user, or if NULL by a group. */
static int64_t held_by(const char *user, const char *group)
{
    int64_t n = 0;
    for (const pl_quota_hold *h = holds; h; h = h->next) {
        n += user ? strcmp(h->user, user) == 0 : h->group && group && strcmp(h->group, group) == 0;
    }
    return n;
}

/* Limits for which waiting does not help, except bytes. */
static bool may_hold(pl_request *r, const pl_quota_wish *wish, const char *group,
                     const int64_t *most)
{
    if (wish->cores > most[PL_LIMIT_CORES]) {
        return refuse(r, group, PL_LIMIT_CORES, wish->cores, most[PL_LIMIT_CORES]);
    }
    if (wish->gpu && most[PL_LIMIT_GPUS] < 1) {
        return refuse(r, group, PL_LIMIT_GPUS, 1, most[PL_LIMIT_GPUS]);
    }
    return true;
}

static bool may_have(pl_request *r, pl_sessions *sessions, const pl_quota_wish *wish,
                     const char *group, const int64_t *most)
{
    if (!may_hold(r, wish, group, most)) {
        return false;
    }
    if (most[PL_LIMIT_BYTES] < INT64_MAX) {
        int64_t bytes = bytes_of(sessions, group ? NULL : pl_request_owner(r), group);
        return bytes < most[PL_LIMIT_BYTES] ||
               refuse(r, group, PL_LIMIT_BYTES, bytes, most[PL_LIMIT_BYTES]);
    }
    return true;
}

/* The first limit that one more session would exceed, or PL_LIMIT_COUNT; *count is the resulting number. `waits`: the
 * session is a waiting one. */
static pl_limit passed(const pl_limits *used, int64_t coming, bool waits, const int64_t *most,
                       int64_t *count)
{
    static const pl_limit counted[] = {PL_LIMIT_SESSIONS, PL_LIMIT_QUEUED};
    for (size_t i = 0; i < (waits ? 2 : 1); i++) {
        *count = used->value[counted[i]] + coming + 1;
        if (*count > most[counted[i]]) {
            return counted[i];
        }
    }
    return PL_LIMIT_COUNT;
}

bool pl_quota_hold_session(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                           const pl_quota_wish *wish, pl_quota_hold *hold)
{
    const char *user = pl_request_owner(r), *group = wish->group, *whose = NULL;
    pl_limits most = pl_tenants_limits(tenants, user), all = pl_limits_all(INT64_MAX);
    if (!may_have(r, sessions, wish, NULL, most.value)) {
        return false;
    }
    if (group) {
        all = pl_tenants_group_limits(tenants, group);
        if (!may_have(r, sessions, wish, group, all.value)) {
            return false;
        }
    }
    int64_t count;
    pthread_mutex_lock(&hold_mutex);
    pl_limits used = pl_sessions_usage(sessions, user);
    pl_limit limit = passed(&used, held_by(user, NULL), true, most.value, &count);
    if (limit == PL_LIMIT_COUNT && group) {
        whose = group;
        used = pl_sessions_group_usage(sessions, group);
        limit = passed(&used, held_by(NULL, group), true, all.value, &count);
    }
    if (limit == PL_LIMIT_COUNT) {
        *hold = (pl_quota_hold){holds, user, group};
        holds = hold;
    }
    pthread_mutex_unlock(&hold_mutex);
    return limit == PL_LIMIT_COUNT ||
           refuse(r, whose, limit, count, (whose ? all : most).value[limit]);
}

bool pl_quota_hold_move(pl_request *r, pl_tenants *tenants, pl_sessions *sessions, pl_session *s,
                        const char *group, pl_quota_hold *hold)
{
    pl_limits all = pl_tenants_group_limits(tenants, group);
    pl_session_state state = (pl_session_state)atomic_load(&s->state);
    pl_quota_wish wish = {group, s->cores_least, s->gpu_memory > 0};
    bool lives = !pl_state_terminal(state);
    int64_t most = all.value[PL_LIMIT_BYTES], count;
    int64_t bytes = most < INT64_MAX ? bytes_of(sessions, NULL, group) + session_bytes(s) : 0;
    if (bytes > most) {
        return refuse(r, group, PL_LIMIT_BYTES, bytes, most);
    }
    if (lives && !may_hold(r, &wish, group, all.value)) {
        return false;
    }
    bool waits = state == PL_STATE_CHECKING || state == PL_STATE_QUEUED;
    pthread_mutex_lock(&hold_mutex);
    pl_limits used = pl_sessions_group_usage(sessions, group);
    pl_limit limit = lives ? passed(&used, held_by(NULL, group), waits, all.value, &count)
                           : PL_LIMIT_COUNT;
    if (limit == PL_LIMIT_COUNT) {
        /* counts for no user, because it already counts for its owner */
        *hold = (pl_quota_hold){holds, "", group};
        holds = hold;
    }
    pthread_mutex_unlock(&hold_mutex);
    return limit == PL_LIMIT_COUNT || refuse(r, group, limit, count, all.value[limit]);
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
    return used + bytes <= most || refuse(r, NULL, PL_LIMIT_BYTES, used + bytes, most);
}

bool pl_quota_allows_mesh(pl_request *r, pl_tenants *tenants, pl_store *store, int64_t bytes)
{
    const char *user = pl_request_owner(r);
    int64_t most = pl_tenants_limits(tenants, user).value[PL_LIMIT_MESH_BYTES];
    int64_t used = most < INT64_MAX ? pl_grant_bytes(store, user) : 0;
    return used + bytes <= most || refuse(r, NULL, PL_LIMIT_MESH_BYTES, used + bytes, most);
}

/* ---- a user's usage ---- */

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

void pl_quota_put(pl_request *r, const char *user, pl_json_writer *w)
{
    pl_daemon *d = pl_request_daemon(r);
    pl_limits most = pl_tenants_limits(d->tenants, user);
    pl_limits used = pl_sessions_usage(d->sessions, user);
    bool counted = most.value[PL_LIMIT_REQUESTS] < INT64_MAX;
    used.value[PL_LIMIT_BYTES] = stored_bytes(d->sessions, user);
    used.value[PL_LIMIT_MESH_BYTES] = pl_grant_bytes(d->store, user);
    used.value[PL_LIMIT_REQUESTS] = counted
                                        ? llround(pl_rate_of_user(d->rate, user, pl_monotonic_ms()))
                                        : INT64_MAX;
    used.value[PL_LIMIT_SHARE] = INT64_MAX; /* not an amount */
    pl_json_set_string(w, "user", user);
    put_values(w, "used", &used);
    put_values(w, "limits", &most);
}
