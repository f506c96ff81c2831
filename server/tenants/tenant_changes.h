/* tenant_changes.h - making, changing and removing users, groups, memberships and tokens in the database: what
 * the requests of /v1/users, /v1/groups and /v1/tokens and the commands `pliantd user|group|token` have in common.
 * Each is one transaction that also judges whether it may be. Whoever calls it makes the tenants be read again.
 */
#ifndef PLIANT_SERVER_TENANTS_TENANT_CHANGES_H
#define PLIANT_SERVER_TENANTS_TENANT_CHANGES_H

#include "server/base/limits.h"
#include "server/http/principal.h"
#include "server/store/store.h"

typedef enum pl_change_outcome {
    PL_CHANGE_DONE,
    PL_CHANGE_INVALID,  /* a name or value that cannot be */
    PL_CHANGE_EXISTS,   /* it is there already */
    PL_CHANGE_MISSING,  /* what it is about is not there */
    PL_CHANGE_IN_USE,   /* it has sessions */
    PL_CHANGE_TOO_MANY, /* a bound of tenants.h */
    PL_CHANGE_BROKEN,   /* the database failed */
} pl_change_outcome;
/* A outcome's sentence for people. */
const char *pl_change_text(pl_change_outcome outcome);

enum { PL_NO_UID = -1 };

/* Limits that are PL_LIMIT_UNSET are the daemon's. */
pl_change_outcome pl_user_create(pl_store *store, const char *name, int64_t uid,
                                 const pl_limits *limits);
/* What is to stay is NULL, or PL_LIMIT_KEPT. */
typedef struct pl_user_edit {
    const bool *disabled;
    const int64_t *uid;
    const pl_limits *limits;
} pl_user_edit;
pl_change_outcome pl_user_change(pl_store *store, const char *name, const pl_user_edit *edit);
/* With tokens, logins, links and memberships; not while they have sessions. */
pl_change_outcome pl_user_remove(pl_store *store, const char *name);

/* A group has no limit of its own where it is PL_LIMIT_UNSET. */
pl_change_outcome pl_group_create(pl_store *store, const char *name, const pl_limits *limits);
pl_change_outcome pl_group_change(pl_store *store, const char *name, const pl_limits *limits);
pl_change_outcome pl_group_remove(pl_store *store, const char *name);
/* PL_ACCESS_NONE takes the user out. */
pl_change_outcome pl_group_member(pl_store *store, const char *group, const char *user,
                                  pl_access access);

typedef struct pl_token_request {
    const char *kind; /* "token", "login", "link" */
    const char *user, *name;
    unsigned scopes;
    const char *session; /* of a link; NULL */
    const char *parent;  /* the credential it was made with: revoked with it; "" for none */
    int64_t expires;     /* s since 1970; 0: never */
} pl_token_request;
typedef struct pl_token_made {
    char id[33], secret[80]; /* the secret is nowhere else */
} pl_token_made;
pl_change_outcome pl_token_create(pl_store *store, const pl_token_request *what,
                                  pl_token_made *out);
/* And every one that was made with it; of any user, or where `user` is not NULL of that one alone. */
pl_change_outcome pl_token_revoke(pl_store *store, const char *id, const char *user);
/* Forget those whose time is over. */
void pl_tokens_sweep(pl_store *store);

#endif
