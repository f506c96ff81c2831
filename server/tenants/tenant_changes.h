/* tenant_changes.h - creates, changes and removes users, groups, memberships and tokens in the database: shared by the
 * requests of /v1/users, /v1/groups and /v1/tokens and the commands `pliantd user|group|token`. Each is one transaction
 * that also checks whether the change is allowed. The caller must have the tenants read again.
 */
#ifndef PLIANT_SERVER_TENANTS_TENANT_CHANGES_H
#define PLIANT_SERVER_TENANTS_TENANT_CHANGES_H

#include "server/base/limits.h"
#include "server/http/principal.h"
#include "server/store/store.h"

typedef enum pl_change_outcome {
    PL_CHANGE_DONE,
    PL_CHANGE_INVALID,  /* an invalid name or value */
    PL_CHANGE_EXISTS,   /* already exists */
    PL_CHANGE_MISSING,  /* its subject does not exist */
    PL_CHANGE_IN_USE,   /* it has sessions */
    PL_CHANGE_TOO_MANY, /* a limit of tenants.h is exceeded */
    PL_CHANGE_BROKEN,   /* the database failed */
} pl_change_outcome;
/* An outcome as a sentence for people. */
const char *pl_change_text(pl_change_outcome outcome);

enum { PL_NO_UID = -1 };

/* Limits that are PL_LIMIT_UNSET default to the daemon's. */
pl_change_outcome pl_user_create(pl_store *store, const char *name, int64_t uid,
                                 const pl_limits *limits);
/* NULL or PL_LIMIT_KEPT leave a value unchanged. */
typedef struct pl_user_edit {
    const bool *disabled;
    const int64_t *uid;
    const pl_limits *limits;
} pl_user_edit;
pl_change_outcome pl_user_change(pl_store *store, const char *name, const pl_user_edit *edit);
/* Remove a user with tokens, logins, links and memberships; not allowed while they have sessions. */
pl_change_outcome pl_user_remove(pl_store *store, const char *name);

/* PL_LIMIT_UNSET: no limit for the group. */
pl_change_outcome pl_group_create(pl_store *store, const char *name, const pl_limits *limits);
pl_change_outcome pl_group_change(pl_store *store, const char *name, const pl_limits *limits);
pl_change_outcome pl_group_remove(pl_store *store, const char *name);
/* PL_ACCESS_NONE removes the user from the group. */
pl_change_outcome pl_group_member(pl_store *store, const char *group, const char *user,
                                  pl_access access);

typedef struct pl_token_request {
    const char *kind; /* "token", "login", "link" */
    const char *user, *name;
    unsigned scopes;
    const char *session; /* of a link; else NULL */
    const char *parent;  /* the credential that created it: revoked with it; "": none */
    int64_t expires;     /* s since 1970; 0: never */
} pl_token_request;
typedef struct pl_token_made {
    char id[33], secret[80]; /* the secret is not stored anywhere else */
} pl_token_made;
pl_change_outcome pl_token_create(pl_store *store, const pl_token_request *what,
                                  pl_token_made *out);
/* Revoke it and all that were created with it; of any user, or only of `user` if not NULL. */
pl_change_outcome pl_token_revoke(pl_store *store, const char *id, const char *user);
/* Remove expired ones. */
void pl_tokens_sweep(pl_store *store);

#endif
