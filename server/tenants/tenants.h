/* tenants.h - users, their groups and their credentials, as requests read them: a copy in memory of what the
 * database has, made anew after each change. A credential that did not change keeps its principal; one that
 * did, or is gone, has its principal revoked, which ends its streams.
 *
 * `pliantd user|group|token` changes the database beside a running daemon: it then writes STATE/tenants.changed,
 * and waits until the daemon, which has read everything again, removes it.
 */
#ifndef PLIANT_SERVER_TENANTS_TENANTS_H
#define PLIANT_SERVER_TENANTS_TENANTS_H

#include "server/base/options.h"
#include "server/http/principal.h"
#include "server/store/store.h"

#include <sys/types.h>

#define PL_TENANTS_CHANGED "tenants.changed"
#define PL_TENANTS_TAKEN   "tenants.taken" /* the same, while the daemon reads everything again */
enum { PL_GROUPS_OF_USER_MAX = 32, PL_TOKENS_OF_USER_MAX = 100, PL_USERS_MAX = 10000 };

typedef struct pl_tenants pl_tenants;

typedef struct pl_tenants_setup {
    pl_store *store;
    const char *state; /* the directory, and a descriptor of it */
    int state_fd;
    int stop_fd;      /* readable once the daemon ends */
    pl_limits limits; /* of a user who has none of his own */
} pl_tenants_setup;

/* Reads everything; NULL with a line in the log. */
pl_tenants *pl_tenants_create(const pl_tenants_setup *setup);
/* Listen for changes until stop_fd is readable; `changed` is called after each. */
bool pl_tenants_start(pl_tenants *tenants, void (*changed)(void *context), void *context);
void pl_tenants_stop(pl_tenants *tenants);
void pl_tenants_destroy(pl_tenants *tenants);

/* Read everything again; after each change. False (with a line in the log) where the database failed: what
 * was there stays. */
bool pl_tenants_reload(pl_tenants *tenants);

/* The principal of a token, login or link, by the SHA-256 of its secret, with a reference; NULL where there
 * is none or its time is over. */
pl_principal *pl_tenants_find(pl_tenants *tenants, const char hash[65]);
/* That of the user that a uid of this machine is mapped to, or NULL. */
pl_principal *pl_tenants_peer(pl_tenants *tenants, uid_t uid);
/* One for what the daemon does for a user: with these scopes and the user's groups of now. NULL where there is no
 * such user or they are disabled, and without memory. */
pl_principal *pl_tenants_principal(pl_tenants *tenants, const char *user, unsigned scopes);

/* What a user may have at once: their own limits, and the daemon's where they have none. */
pl_limits pl_tenants_limits(pl_tenants *tenants, const char *user);
/* Whether there are users beside the daemon's owner. */
bool pl_tenants_shared(pl_tenants *tenants);
/* What a group's sessions may have together. */
pl_limits pl_tenants_group_limits(pl_tenants *tenants, const char *group);
bool pl_tenants_has_group(pl_tenants *tenants, const char *group);

#endif
