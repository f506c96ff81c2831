#include "server/tenants/tenants.h"

#include "server/base/logger.h"
#include "server/store/store.h"
#include "server/tenants/tenant_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

typedef struct user {
    char name[PL_NAME_MAX + 1];
    bool disabled;
    int64_t uid; /* -1: none */
    pl_limits limits;
    pl_principal *peer; /* if it has a uid */
    pl_membership groups[PL_GROUPS_OF_USER_MAX];
    int group_count;
} user;

typedef struct user_group {
    char name[PL_NAME_MAX + 1];
    pl_limits limits;
} user_group;

typedef struct credential {
    char hash[65];
    pl_principal *principal;
} credential;

/* A consistent copy. Users and groups are sorted by name, credentials by hash. */
typedef struct picture {
    user *users;
    size_t user_count;
    user_group *groups;
    size_t group_count;
    credential *credentials;
    size_t credential_count;
    bool failed; /* out of memory while reading */
} picture;

struct pl_tenants {
    pl_tenants_setup setup;
    pthread_rwlock_t lock; /* guards the picture */
    pthread_mutex_t reload;
    picture picture;
    _Atomic int64_t version;
    pthread_t thread;
    bool started;
    void (*changed)(void *context); /* or NULL */
    void *context;
    int inotify_fd;
};

static void picture_clear(picture *p)
{
    for (size_t i = 0; i < p->credential_count; i++) {
        pl_principal_release(p->credentials[i].principal);
    }
    for (size_t i = 0; i < p->user_count; i++) {
        pl_principal_release(p->users[i].peer);
    }
    free(p->credentials);
    free(p->groups);
    free(p->users);
    memset(p, 0, sizeof *p);
}

/* Every element begins with its key. */
static int by_key(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void *find(const char *key, void *items, size_t count, size_t size)
{
    return count ? bsearch(key, items, count, size, by_key) : NULL;
}

/* Room for one more of *items; doubles at powers of two. */
static void *grow(picture *p, void *items, size_t count, size_t size)
{
    if (count & (count - 1)) {
        return items;
    }
    void *grown = realloc(items, (count ? 2 * count : 1) * size);
    p->failed = p->failed || !grown;
    return grown;
}

/* ---- reading ---- */

static int64_t number(const char *text, int64_t fallback)
{
    return text ? strtoll(text, NULL, 10) : fallback;
}

static void read_limits(const char *const *columns, pl_limits *out)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        out->value[i] = number(columns[i], PL_LIMIT_UNSET);
    }
}

static void see_user(void *context, const char *const *columns)
{
    picture *p = context;
    user *grown = grow(p, p->users, p->user_count, sizeof *grown);
    if (!grown) {
        return;
    }
    p->users = grown;
    user *u = &grown[p->user_count++];
    memset(u, 0, sizeof *u);
    snprintf(u->name, sizeof u->name, "%s", columns[0] ? columns[0] : "");
    u->disabled = number(columns[1], 0) != 0;
    u->uid = number(columns[2], -1);
    read_limits(columns + 3, &u->limits);
}

static void see_group(void *context, const char *const *columns)
{
    picture *p = context;
    user_group *grown = grow(p, p->groups, p->group_count, sizeof *grown);
    if (grown) {
        p->groups = grown;
        user_group *g = &grown[p->group_count++];
        snprintf(g->name, sizeof g->name, "%s", columns[0] ? columns[0] : "");
        read_limits(columns + 1, &g->limits);
    }
}

static user *find_user(const picture *p, const char *name)
{
    return find(name, p->users, p->user_count, sizeof *p->users);
}

static void see_member(void *context, const char *const *columns)
{
    picture *p = context;
    user *u = columns[0] && columns[1] && columns[2] ? find_user(p, columns[0]) : NULL;
    if (u && u->group_count < PL_GROUPS_OF_USER_MAX) {
        pl_membership *m = &u->groups[u->group_count++];
        snprintf(m->group, sizeof m->group, "%s", columns[1]);
        m->access = strcmp(columns[2], "manage") == 0 ? PL_ACCESS_MANAGE : PL_ACCESS_VIEW;
    }
}

static pl_came came_of(const char *kind)
{
    return strcmp(kind, "login") == 0  ? PL_CAME_COOKIE
           : strcmp(kind, "link") == 0 ? PL_CAME_LINK
                                       : PL_CAME_TOKEN;
}

/* id, hash, kind, user, scopes, session, expires */
static void see_credential(void *context, const char *const *columns)
{
    picture *p = context;
    unsigned scopes = 0;
    if (!columns[0] || !columns[1] || !columns[2] || !columns[3] ||
        !pl_scopes_parse(columns[4] ? columns[4] : "", &scopes)) {
        return;
    }
    user *u = find_user(p, columns[3]);
    credential *grown = grow(p, p->credentials, p->credential_count, sizeof *grown);
    if ((u && u->disabled) || !grown) {
        p->credentials = grown ? grown : p->credentials;
        return;
    }
    p->credentials = grown;
    bool link = columns[5] && *columns[5];
    pl_principal *one = pl_principal_create(came_of(columns[2]), columns[3], scopes,
                                            u && !link ? u->groups : NULL,
                                            u && !link ? u->group_count : 0);
    if (!one) {
        p->failed = true;
        return;
    }
    snprintf(one->credential, sizeof one->credential, "%s", columns[0]);
    snprintf(one->session, sizeof one->session, "%s", columns[5] ? columns[5] : "");
    one->expires = number(columns[6], 0);
    credential *c = &grown[p->credential_count++];
    snprintf(c->hash, sizeof c->hash, "%s", columns[1]);
    c->principal = one;
}

static void make_peers(picture *p)
{
    for (size_t i = 0; i < p->user_count; i++) {
        user *u = &p->users[i];
        if (u->uid >= 0 && !u->disabled) {
            u->peer = pl_principal_create(PL_CAME_PEER, u->name, PL_SCOPE_READ | PL_SCOPE_SUBMIT,
                                          u->groups, u->group_count);
            p->failed = p->failed || !u->peer;
        }
    }
}

static bool read_all(pl_store *store, picture *p)
{
    static const struct {
        const char *sql;
        pl_store_see see;
    } parts[] = {
        {"SELECT name, disabled, uid, " PL_LIMIT_COLUMNS " FROM users ORDER BY name", see_user},
        {"SELECT name, " PL_LIMIT_COLUMNS " FROM user_groups ORDER BY name", see_group},
        {"SELECT user, grp, role FROM members ORDER BY user, grp", see_member},
        {"SELECT id, hash, kind, user, scopes, session, expires FROM tokens ORDER BY hash",
         see_credential},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!pl_store_read(store, &(pl_statement){.sql = parts[i].sql}, parts[i].see, p)) {
            return false;
        }
    }
    make_peers(p);
    return !p->failed;
}

/* ---- replacing ---- */

static bool same_principal(const pl_principal *a, const pl_principal *b)
{
    bool same = a->came == b->came && a->scopes == b->scopes && a->expires == b->expires &&
                strcmp(a->user, b->user) == 0 && strcmp(a->session, b->session) == 0 &&
                strcmp(a->credential, b->credential) == 0 && a->group_count == b->group_count;
    for (int i = 0; same && i < a->group_count; i++) {
        same = strcmp(a->groups[i].group, b->groups[i].group) == 0 &&
               a->groups[i].access == b->groups[i].access;
    }
    return same;
}

/* Keep the old principal if nothing in it changed, so that its requests and streams continue; otherwise revoke it. */
static void carry_over(pl_principal *old, pl_principal **new)
{
    if (new &&*new &&same_principal(old, *new)) {
        pl_principal_release(*new);
        *new = pl_principal_acquire(old);
    } else {
        atomic_store(&old->revoked, true);
    }
}

static void carry_over_all(picture *old, picture *new)
{
    for (size_t i = 0; i < old->credential_count; i++) {
        credential *c = find(old->credentials[i].hash, new->credentials, new->credential_count,
                             sizeof *c);
        carry_over(old->credentials[i].principal, c ? &c->principal : NULL);
    }
    for (size_t i = 0; i < old->user_count; i++) {
        user *u = find_user(new, old->users[i].name);
        if (old->users[i].peer) {
            carry_over(old->users[i].peer, u && u->uid == old->users[i].uid ? &u->peer : NULL);
        }
    }
}

bool pl_tenants_reload(pl_tenants *t)
{
    picture new = {0};
    pthread_mutex_lock(&t->reload);
    bool good = read_all(t->setup.store, &new);
    if (good) {
        carry_over_all(&t->picture, &new);
        pthread_rwlock_wrlock(&t->lock);
        picture old = t->picture;
        t->picture = new;
        pthread_rwlock_unlock(&t->lock);
        atomic_fetch_add(&t->version, 1);
        new = old;
    } else {
        pl_logf(PL_LEVEL_ERROR, "users and tokens could not be read again");
    }
    picture_clear(&new);
    if (good && !pl_tenant_backup_write(t->setup.store, t->setup.state_fd)) {
        pl_logf(PL_LEVEL_ERROR, "users and tokens could not be written to tenants.json");
    }
    pthread_mutex_unlock(&t->reload);
    if (good && t->changed) {
        t->changed(t->context); /* a user may now use more cores */
    }
    return good;
}

/* ---- notifications of changes ---- */

/* The file is renamed before reading: a change made meanwhile creates a new one. */
static void take_changes(pl_tenants *t)
{
    int state_fd = t->setup.state_fd;
    if (renameat(state_fd, PL_TENANTS_CHANGED, state_fd, PL_TENANTS_TAKEN) == 0 &&
        pl_tenants_reload(t)) {
        unlinkat(state_fd, PL_TENANTS_TAKEN, 0);
    }
}

static void *listen_for_changes(void *context)
{
    pl_tenants *t = context;
    struct pollfd watched[] = {{t->inotify_fd, POLLIN, 0}, {t->setup.stop_fd, POLLIN, 0}};
    char events[4096];
    while (poll(watched, 2, -1) >= 0 || errno == EINTR) {
        if (watched[1].revents) {
            break;
        }
        if (read(t->inotify_fd, events, sizeof events) > 0) {
            take_changes(t);
        }
    }
    return NULL;
}

pl_tenants *pl_tenants_create(const pl_tenants_setup *setup)
{
    pl_tenants *t = calloc(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    t->setup = *setup;
    pthread_rwlock_init(&t->lock, NULL);
    pthread_mutex_init(&t->reload, NULL);
    t->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (t->inotify_fd < 0 ||
        inotify_add_watch(t->inotify_fd, setup->state, IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
        pl_logf(PL_LEVEL_ERROR, "users and tokens cannot be watched for changes: %s",
                strerror(errno));
        pl_tenants_destroy(t);
        return NULL;
    }
    /* a change made while no daemon was running */
    unlinkat(setup->state_fd, PL_TENANTS_CHANGED, 0);
    unlinkat(setup->state_fd, PL_TENANTS_TAKEN, 0);
    if (!pl_tenants_reload(t)) {
        pl_tenants_destroy(t);
        return NULL;
    }
    return t;
}

bool pl_tenants_start(pl_tenants *t, void (*changed)(void *context), void *context)
{
    t->changed = changed;
    t->context = context;
    t->started = pthread_create(&t->thread, NULL, listen_for_changes, t) == 0;
    if (t->started) {
        pthread_setname_np(t->thread, "tenants");
    }
    return t->started;
}

void pl_tenants_stop(pl_tenants *t)
{
    if (t && t->started) {
        pthread_join(t->thread, NULL);
        t->started = false;
    }
}

void pl_tenants_destroy(pl_tenants *t)
{
    if (!t) {
        return;
    }
    if (t->inotify_fd >= 0) {
        close(t->inotify_fd);
    }
    picture_clear(&t->picture);
    pthread_mutex_destroy(&t->reload);
    pthread_rwlock_destroy(&t->lock);
    free(t);
}

/* ---- look-ups ---- */

/* The search's steps depend on the hash of the credential, which reveals nothing about a secret of 256 random bits. */
pl_principal *pl_tenants_find(pl_tenants *t, const char hash[65])
{
    pl_principal *found = NULL;
    pthread_rwlock_rdlock(&t->lock);
    const credential *c = find(hash, t->picture.credentials, t->picture.credential_count,
                               sizeof *c);
    if (c && pl_principal_valid(c->principal)) {
        found = pl_principal_acquire(c->principal);
    }
    pthread_rwlock_unlock(&t->lock);
    return found;
}

pl_principal *pl_tenants_peer(pl_tenants *t, uid_t uid)
{
    pl_principal *found = NULL;
    pthread_rwlock_rdlock(&t->lock);
    for (size_t i = 0; i < t->picture.user_count && !found; i++) {
        const user *u = &t->picture.users[i];
        if (u->peer && u->uid == (int64_t)uid) {
            found = pl_principal_acquire(u->peer);
        }
    }
    pthread_rwlock_unlock(&t->lock);
    return found;
}

pl_principal *pl_tenants_principal(pl_tenants *t, const char *name, unsigned scopes)
{
    pl_principal *made = NULL;
    pthread_rwlock_rdlock(&t->lock);
    const user *u = find_user(&t->picture, name);
    if (u ? !u->disabled : strcmp(name, PL_DEFAULT_OWNER) == 0) {
        made = pl_principal_create(PL_CAME_OWNER, name, scopes, u ? u->groups : NULL,
                                   u ? u->group_count : 0);
    }
    pthread_rwlock_unlock(&t->lock);
    return made;
}

static void override(pl_limits *limits, const pl_limits *own)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        if (own->value[i] != PL_LIMIT_UNSET) {
            limits->value[i] = own->value[i];
        }
    }
}

pl_limits pl_tenants_limits(pl_tenants *t, const char *name)
{
    pl_limits limits = t->setup.limits;
    pthread_rwlock_rdlock(&t->lock);
    const user *u = find_user(&t->picture, name);
    if (u) {
        override(&limits, &u->limits);
    }
    pthread_rwlock_unlock(&t->lock);
    return limits;
}

int64_t pl_tenants_version(pl_tenants *t)
{
    return atomic_load(&t->version);
}

pl_limits pl_tenants_group_limits(pl_tenants *t, const char *name)
{
    pl_limits limits = pl_limits_all(INT64_MAX);
    pthread_rwlock_rdlock(&t->lock);
    const user_group *g = find(name, t->picture.groups, t->picture.group_count, sizeof *g);
    if (g) {
        override(&limits, &g->limits);
    }
    pthread_rwlock_unlock(&t->lock);
    return limits;
}

bool pl_tenants_shared(pl_tenants *t)
{
    bool shared = false;
    pthread_rwlock_rdlock(&t->lock);
    for (size_t i = 0; i < t->picture.user_count && !shared; i++) {
        shared = strcmp(t->picture.users[i].name, PL_DEFAULT_OWNER) != 0;
    }
    pthread_rwlock_unlock(&t->lock);
    return shared;
}

bool pl_tenants_has_group(pl_tenants *t, const char *group)
{
    pthread_rwlock_rdlock(&t->lock);
    bool found = find(group, t->picture.groups, t->picture.group_count,
                      sizeof *t->picture.groups) != NULL;
    pthread_rwlock_unlock(&t->lock);
    return found;
}
