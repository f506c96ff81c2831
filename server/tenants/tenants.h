/* tenants.h - users, their groups and their credentials for requests: a copy in memory of the database, rebuilt after
 * each change. An unchanged credential keeps its principal; the principal of a changed or deleted one is revoked, which
 * ends its streams.
 *
 * `pliantd user|group|token` changes the database while a daemon runs: it then writes STATE/tenants.changed, and waits
 * until the daemon has read everything again and removes that file.
 */
#ifndef PLIANT_SERVER_TENANTS_TENANTS_H
#define PLIANT_SERVER_TENANTS_TENANTS_H

#include "server/base/options.h"
#include "server/http/principal.h"
#include "server/store/store.h"

#include <sys/types.h>

#define PL_TENANTS_CHANGED "tenants.changed"
/* the same, while the daemon is reading everything again */
#define PL_TENANTS_TAKEN "tenants.taken"
enum { PL_GROUPS_OF_USER_MAX = 32, PL_TOKENS_OF_USER_MAX = 100, PL_USERS_MAX = 10000 };

typedef struct pl_tenants pl_tenants;

typedef struct pl_tenants_setup {
    pl_store *store;
    const char *state; /* the directory, and a descriptor of it */
    int state_fd;
    int stop_fd;      /* readable when the daemon ends */
    pl_limits limits; /* of a user without limits of their own */
} pl_tenants_setup;

/* Read everything; NULL with a line in the log. */
pl_tenants *pl_tenants_create(const pl_tenants_setup *setup);
/* Watch for changes until stop_fd is readable; `changed` is called after each. */
bool pl_tenants_start(pl_tenants *tenants, void (*changed)(void *context), void *context);
void pl_tenants_stop(pl_tenants *tenants);
void pl_tenants_destroy(pl_tenants *tenants);

/* Read everything again, after each change. False (with a line in the log) if the database failed: the old data
 * stays. */
bool pl_tenants_reload(pl_tenants *tenants);

/* The principal of a token, login or link, by the SHA-256 of its secret, with a reference; NULL if unknown or
 * expired. */
pl_principal *pl_tenants_find(pl_tenants *tenants, const char hash[65]);
/* The principal of the user that a uid of this machine is mapped to, or NULL. */
pl_principal *pl_tenants_peer(pl_tenants *tenants, uid_t uid);
/* A principal for work that the daemon does for a user: with these scopes and the user's present groups. NULL if there
 * is no such user, if they are disabled, or if out of memory. */
pl_principal *pl_tenants_principal(pl_tenants *tenants, const char *user, unsigned scopes);

/* A user's limits: their own, or the daemon's by default. */
pl_limits pl_tenants_limits(pl_tenants *tenants, const char *user);
/* Another number after each change of users and groups, and so of their limits. */
int64_t pl_tenants_version(pl_tenants *tenants);
/* True if there are users besides the daemon's owner. */
bool pl_tenants_shared(pl_tenants *tenants);
/* Limits of a group's sessions together. */
pl_limits pl_tenants_group_limits(pl_tenants *tenants, const char *group);
bool pl_tenants_has_group(pl_tenants *tenants, const char *group);

#endif
